"""The `--assume SWITCH=VALUE` option: departures from the assumptions of a topology."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum

import click
from click.decorators import FC
from pydantic import ValidationError

from policy_engine.assumptions import DEFAULT_UNIT, Assumptions
from policy_engine.topology.suggestions import did_you_mean

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_FLAG = "--assume"


def assume_option(function: FC) -> FC:
    """The option, given once for each switch or unit of a switch."""
    decorate: Callable[[FC], FC] = click.option(
        "assumed",
        _FLAG,
        metavar="SWITCH=VALUE",
        multiple=True,
        help="Depart from the topology's assumptions: head_of_line=per_unit, stop_seconds=5m, "
        "startup_seconds.ml.p5.48xlarge=10m. See `batch-quota assumptions`.",
    )
    return decorate(function)


def with_assumed(assumptions: Assumptions, texts: Iterable[str], units: Collection[str]) -> Assumptions:
    """The assumptions, changed as the options say, one after the other. Raises click.BadParameter with all faults.

    `units` are the instance types that a switch can be set for.
    """
    problems: list[str] = []
    for text in texts:
        try:
            assumptions = _changed(assumptions, text, units)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise click.BadParameter("\n".join(problems), param_hint=_FLAG)
    return assumptions


def _changed(assumptions: Assumptions, text: str, units: Collection[str]) -> Assumptions:
    left, separator, value = text.partition("=")
    if not separator or not left or not value:
        raise ValueError(f"expected SWITCH=VALUE, not {text!r}")
    name, dot, unit = left.partition(".")
    if name not in Assumptions.model_fields:
        raise ValueError(f"there is no switch {name!r}; {_suggestion(name, Assumptions.model_fields)}")
    written: object = float(value) if _NUMBER.fullmatch(value) else value
    if dot:
        written = _of_unit(assumptions, name, unit, written, units)
    try:
        return assumptions.replaced({name: written})
    except ValidationError as error:
        raise ValueError(f"{left}: {_explained(error, name, value)}") from error


def _of_unit(
    assumptions: Assumptions, name: str, unit: str, value: object, units: Collection[str]
) -> Mapping[str, object]:
    """The switch's table with another value for one unit."""
    table = assumptions.model_dump(mode="json")[name]
    if not isinstance(table, dict):
        raise ValueError(f"{name} has one value for all instance types; write {name}=VALUE")  # noqa: TRY004
    if unit != DEFAULT_UNIT and unit not in units:
        raise ValueError(f"the topology has no {unit!r}; {_suggestion(unit, units)}")
    return table | {unit: value}


def _explained(error: ValidationError, name: str, value: str) -> str:
    choices = Assumptions.model_fields[name].annotation
    if isinstance(choices, type) and issubclass(choices, StrEnum):
        names = [choice.value for choice in choices]
        return f"expected one of {', '.join(names)}, not {value!r}; {did_you_mean(value, names)}".removesuffix("; ")
    return error.errors()[0]["msg"].removeprefix("Value error, ")


def _suggestion(word: str, known: Collection[str]) -> str:
    return did_you_mean(word, known, f"there are {', '.join(known)}")

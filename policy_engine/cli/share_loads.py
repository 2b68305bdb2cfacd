"""The `--share` option of `batch-quota trace generate`: `search-prod:load=0.7,median=20m,size=1|2`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import click

from policy_engine.durations import parse_milliseconds
from policy_engine.topology.suggestions import did_you_mean
from policy_engine.trace.generation import ShareLoad, Weighted
from policy_engine.trace.jobs import ON_STOP
from policy_engine.trace.needs import MOST_INSTANCES

ALL = "*"


def with_changes(loads: Sequence[ShareLoad], texts: Sequence[str]) -> tuple[ShareLoad, ...]:
    """The loads, changed as the options say, one after the other. Raises click.BadParameter."""
    changed = {load.share: load for load in loads}
    for text in texts:
        name, separator, settings = text.partition(":")
        if not separator or not settings:
            raise _bad(f"expected SHARE:KEY=VALUE,…, not {text!r}")
        if name != ALL and name not in changed:
            raise _bad(f"the topology has no share {name!r}; {_suggestion(name, changed)}")
        fields = dict(_setting(setting) for setting in settings.split(","))
        for share in changed if name == ALL else (name,):
            changed[share] = replace(changed[share], **fields)  # type: ignore[arg-type]  # _VALUES has its fields' types
    return tuple(changed.values())


def _setting(text: str) -> tuple[str, object]:
    key, _, value = text.partition("=")
    if key not in _VALUES:
        raise _bad(f"a share has no setting {key!r}; {_suggestion(key, _VALUES)}")
    try:
        return key, _VALUES[key](value)
    except ValueError as error:
        raise _bad(f"{key}: {error}") from error


def _suggestion(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, known, f"there are {', '.join(known)}")


def _bad(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--share")


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise ValueError(f"expected a number from {low:g} to {high:g}, not {text!r}")
        return number

    return parse


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and low <= int(text) <= high):
            raise ValueError(f"expected a whole number from {low} to {high}, not {text!r}")
        return int(text)

    return parse


def _weighted(low: int, high: int) -> Callable[[str], Weighted]:
    """`1|2` or, with weights, `1:9|2:1`."""
    value, weight = _whole(low, high), _whole(1, 1_000_000)

    def parse(text: str) -> Weighted:
        parts = [part.partition(":") for part in text.split("|")]
        return Weighted(
            tuple(value(part[0]) for part in parts),
            tuple(weight(part[2]) if part[1] else 1 for part in parts),
        )

    return parse


def _duration(text: str) -> int:
    milliseconds = parse_milliseconds(text if not text.isdecimal() else int(text))
    if milliseconds < 1000:
        raise ValueError(f"expected at least 1s, not {text!r}")
    return milliseconds


def _checkpoint(text: str) -> int:
    return ON_STOP if text == "on_stop" else _duration(text)


_VALUES: Mapping[str, Callable[[str], object]] = {
    "load": _number(0, 100),
    "median": _duration,
    "sigma": _number(0, 5),
    "longest": _duration,
    "size": _weighted(1, MOST_INSTANCES),
    "priority": _weighted(0, 9999),
    "retries": _whole(0, 1_000_000),
    "checkpoint": _checkpoint,
    "fails": _number(0, 1),
}

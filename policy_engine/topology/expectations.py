"""What a replay must show: bounds on waits, preemptions, lost work and utilization, for shares, teams and the queue."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from policy_engine.diagnostics import described
from policy_engine.durations import DURATION_PATTERN, format_milliseconds, parse_milliseconds

QUEUE = "queue"
"""The key of `expectations` that stands for the whole queue."""


class Unit(StrEnum):
    """What a metric is measured in."""

    MILLISECONDS = "ms"
    PERCENT = "%"
    HOURS = "instance-hours"
    COUNT = "count"


class Metric(StrEnum):
    """A figure of a replay that can be expected of a share, a team or the queue."""

    WAIT_P50 = "wait_p50"
    WAIT_P95 = "wait_p95"
    WAIT_P99 = "wait_p99"
    WAIT_MAX = "wait_max"
    PREEMPTIONS = "preemptions"
    PREEMPTIONS_PER_DAY = "preemptions_per_day"
    LOST_INSTANCE_HOURS = "lost_instance_hours"
    LOST_INSTANCE_HOURS_PER_DAY = "lost_instance_hours_per_day"
    UTILIZATION = "utilization"
    GOODPUT = "goodput"
    NEVER_RAN = "never_ran"

    @property
    def unit(self) -> Unit:
        """What the metric is measured in."""
        if self.startswith("wait_"):
            return Unit.MILLISECONDS
        if self in {Metric.UTILIZATION, Metric.GOODPUT}:
            return Unit.PERCENT
        return Unit.HOURS if self.startswith("lost_") else Unit.COUNT


class Comparison(StrEnum):
    """How the measured figure must stand to the expected one."""

    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Expectation:
    """One bound on one metric, such as `wait_p95 <= 5m`."""

    metric: Metric
    comparison: Comparison
    value: int | float
    """In the metric's unit: whole milliseconds, percent (60 is 60 %), instance-hours, or a count."""

    @property
    def unit(self) -> Unit:
        """What `value` is measured in."""
        return self.metric.unit

    def holds(self, measured: float) -> bool:
        """Whether a measured figure, in the same unit, meets the expectation. NaN never does."""
        match self.comparison:
            case Comparison.LESS:
                return measured < self.value
            case Comparison.AT_MOST:
                return measured <= self.value
            case Comparison.MORE:
                return measured > self.value
            case Comparison.AT_LEAST:
                return measured >= self.value

    @property
    def bound(self) -> str:
        """The expectation as it is written in a topology: `<= 5m`, `>= 60%`."""
        if self.unit is Unit.MILLISECONDS:
            return f"{self.comparison} {format_milliseconds(int(self.value))}"
        return f"{self.comparison} {Decimal(str(self.value)):f}{'%' if self.unit is Unit.PERCENT else ''}"


def target_problem(name: str, shares_of: Mapping[str, Collection[str]]) -> str | None:
    """What is wrong with an entry of `expectations` of this name, given the share names of each team."""
    is_share = any(name in shares for shares in shares_of.values())
    is_team = name in shares_of
    if name == QUEUE:
        return (
            f"'{QUEUE}' means the whole queue here, and a share or team has that name too"
            if is_share or is_team
            else None
        )
    if not is_share and not is_team:
        return f"no share and no team has the name {described(name)}"
    if is_share and is_team and set(shares_of[name]) != {name}:
        return f"{described(name)} is the name of a share and of a team: it is not clear which is meant"
    return None


_BOUND = re.compile(r"\s*(?P<comparison><=|>=|<|>)?\s*(?P<value>[^\s<>=].*?)\s*")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_PERCENT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s?%")
_EXAMPLES = {
    Unit.MILLISECONDS: "5m or '<= 5m'",
    Unit.PERCENT: "'>= 60%'",
    Unit.HOURS: "20 or '<= 20'",
    Unit.COUNT: "0 or '<= 3'",
}


def parse_expectation(metric: Metric, value: object) -> Expectation:
    """Read a bound such as `0`, `5m`, `<= 20` or `>= 60%`. Without a comparison it is the most that is allowed.

    A percentage needs its comparison: `utilization: 60%` would otherwise demand that the capacity stands idle.
    Raises ValueError with what is expected.
    """
    expected = f"expected a bound such as {_EXAMPLES[metric.unit]}, not {described(value)}"
    if isinstance(value, Expectation):
        if value.metric is not metric:
            raise ValueError(f"expected a bound on {metric}, not on {value.metric}")
        return value
    if isinstance(value, str):
        match = _BOUND.fullmatch(value)
        if match is None:
            raise ValueError(expected)
        comparison, amount = match["comparison"], match["value"]
        return Expectation(metric, _comparison(metric, comparison, expected), _text_amount(metric, amount, expected))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(expected)  # noqa: TRY004 (pydantic reports ValueErrors only)
    comparison = _comparison(metric, None, expected)
    if metric.unit is Unit.MILLISECONDS:
        return Expectation(metric, comparison, parse_milliseconds(value))
    return Expectation(metric, comparison, _text_amount(metric, str(value), expected))


def _comparison(metric: Metric, written: str | None, expected: str) -> Comparison:
    if written is not None:
        return Comparison(written)
    if metric.unit is Unit.PERCENT:
        raise ValueError(f"{expected}; say with '>=' or '<=' which way it is meant")
    return Comparison.AT_MOST


def _text_amount(metric: Metric, text: str, expected: str) -> int | float:
    if metric.unit is Unit.MILLISECONDS:
        return parse_milliseconds(text)
    match = (_PERCENT if metric.unit is Unit.PERCENT else _NUMBER).fullmatch(text)
    if match is None:
        raise ValueError(expected)
    amount = Decimal(match[1] if metric.unit is Unit.PERCENT else text)
    return int(amount) if amount == int(amount) else float(amount)


def _validated(value: object, info: ValidationInfo) -> Expectation | None:
    return None if value is None else parse_expectation(Metric(info.field_name or ""), value)


def _written(expectation: Expectation | None) -> str | None:
    return None if expectation is None else expectation.bound


_read = PlainValidator(_validated)
_write = PlainSerializer(_written, return_type=str | None)
_SIGN = r"^\s*(<=|>=|<|>)?\s*"
_NUMBER_SCHEMA = {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": _SIGN + r"[0-9]+(\.[0-9]+)?\s*$"}]
}
_Duration = Annotated[
    Expectation | None,
    _read,
    _write,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {
                    "type": "string",
                    "pattern": _SIGN + DURATION_PATTERN + r"\s*$",
                },
            ],
            "examples": ["5m", "<= 1h30m"],
        }
    ),
]
_Percent = Annotated[
    Expectation | None,
    _read,
    _write,
    WithJsonSchema(
        {"type": "string", "pattern": r"^\s*(<=|>=|<|>)\s*[0-9]+(\.[0-9]+)?\s?%\s*$", "examples": [">= 60%"]}
    ),
]
_Hours = Annotated[Expectation | None, _read, _write, WithJsonSchema({**_NUMBER_SCHEMA, "examples": [20, "<= 20"]})]
_Count = Annotated[Expectation | None, _read, _write, WithJsonSchema({**_NUMBER_SCHEMA, "examples": [0, "<= 3"]})]


class Expectations(BaseModel):
    """What a replay must show of one share, one team or the queue: a bound for each metric that matters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wait_p50: _Duration = Field(None, description="Median wait from submission to the first dispatch.")
    wait_p95: _Duration = Field(None, description="95th percentile of the wait from submission to the first dispatch.")
    wait_p99: _Duration = Field(None, description="99th percentile of the wait from submission to the first dispatch.")
    wait_max: _Duration = Field(None, description="Longest wait from submission to the first dispatch.")
    preemptions: _Count = Field(None, description="Preemptions that its jobs suffer in the whole replay.")
    preemptions_per_day: _Count = Field(None, description="Preemptions that its jobs suffer, per day of the replay.")
    lost_instance_hours: _Hours = Field(None, description="Instance-hours of work that preemptions destroy.")
    lost_instance_hours_per_day: _Hours = Field(
        None, description="Instance-hours of work that preemptions destroy, per day of the replay."
    )
    utilization: _Percent = Field(None, description="Part of its capacity that is held by jobs.")
    goodput: _Percent = Field(None, description="Part of the held capacity whose work is not lost.")
    never_ran: _Count = Field(None, description="Jobs that were never dispatched.")

    def stated(self) -> tuple[Expectation, ...]:
        """The bounds that are set, in the order of the metrics."""
        values = (getattr(self, metric) for metric in Metric)
        return tuple(value for value in values if isinstance(value, Expectation))

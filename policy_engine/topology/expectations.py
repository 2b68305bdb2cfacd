"""What a replay must show: bounds on waits, preemptions, lost work and utilization, for shares, teams and the queue."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import isnan, nan
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from policy_engine.diagnostics import described
from policy_engine.durations import DURATION_PATTERN, format_milliseconds, parse_milliseconds

QUEUE = "queue"
"""The key of `expectations` that stands for the whole queue."""
BASELINE = "baseline"
"""In a bound, the same figure of the replay of a baseline."""
Number = TypeVar("Number", float, Decimal)


class Unit(StrEnum):
    """What a metric is measured in."""

    MILLISECONDS = "ms"
    PERCENT = "%"
    HOURS = "instance-hours"
    COUNT = "count"
    MONEY = "money"
    """In the currency of the prices that a replay is given."""


class Metric(StrEnum):
    """A figure of a replay that can be expected of a share, a team or the queue."""

    WAIT_P50 = "wait_p50"
    WAIT_P95 = "wait_p95"
    WAIT_P99 = "wait_p99"
    WAIT_MAX = "wait_max"
    PREEMPTIONS = "preemptions"
    PREEMPTIONS_PER_DAY = "preemptions_per_day"
    PREEMPTION_RATE = "preemption_rate"
    LOST_INSTANCE_HOURS = "lost_instance_hours"
    LOST_INSTANCE_HOURS_PER_DAY = "lost_instance_hours_per_day"
    UTILIZATION = "utilization"
    GOODPUT = "goodput"
    NEVER_RAN = "never_ran"
    COST = "cost"
    COST_PER_DAY = "cost_per_day"
    WASTED_COST = "wasted_cost"
    WASTED_COST_PER_DAY = "wasted_cost_per_day"

    @property
    def unit(self) -> Unit:
        """What the metric is measured in."""
        if self.startswith("wait_"):
            return Unit.MILLISECONDS
        if self in {Metric.UTILIZATION, Metric.GOODPUT, Metric.PREEMPTION_RATE}:
            return Unit.PERCENT
        if "cost" in self:
            return Unit.MONEY
        return Unit.HOURS if self.startswith("lost_") else Unit.COUNT


class Comparison(StrEnum):
    """How the measured figure must stand to the expected one."""

    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    def holds(self, measured: Number, bound: Number) -> bool:
        """Whether a measured figure stands so to a bound."""
        match self:
            case Comparison.LESS:
                return measured < bound
            case Comparison.AT_MOST:
                return measured <= bound
            case Comparison.MORE:
                return measured > bound
            case Comparison.AT_LEAST:
                return measured >= bound


@dataclass(frozen=True, slots=True)
class Expectation:
    """One bound on one metric, such as `wait_p95 <= 5m` or `wait_p95 <= baseline * 1.1`."""

    metric: Metric
    comparison: Comparison
    value: int | float
    """In the metric's unit: whole milliseconds, percent (60 is 60 %), instance-hours, money, or a count.

    If the bound is relative, what is added to the baseline's figure. It may be negative then.
    """
    factor: float | None = None
    """By what the same figure of a baseline is multiplied. None: the bound is absolute."""

    @property
    def unit(self) -> Unit:
        """What `value` is measured in."""
        return self.metric.unit

    @property
    def relative(self) -> bool:
        """Whether the bound is set by another replay, that of a baseline."""
        return self.factor is not None

    def holds(self, measured: float, baseline: float = nan) -> bool:
        """Whether a measured figure, in the same unit, meets the expectation. NaN, as either figure, never does."""
        if self.factor is None:
            return self.comparison.holds(measured, self.value)
        if isnan(measured) or isnan(baseline):
            return False
        # As people calculate: 3 * 1.1 is 3.3, which binary fractions miss.
        bound = Decimal(str(self.factor)) * Decimal(str(baseline)) + Decimal(str(self.value))
        return self.comparison.holds(Decimal(str(measured)), bound)

    @property
    def bound(self) -> str:
        """The expectation as it is written in a topology: `<= 5m`, `>= 60%`, `<= baseline * 1.1`."""
        if self.factor is None:
            return f"{self.comparison} {self._amount(self.value)}"
        times = "" if self.factor == 1 else f" * {_plain(self.factor)}"
        sign = "-" if self.value < 0 else "+"
        added = f" {sign} {self._amount(abs(self.value))}" if self.value else ""
        return f"{self.comparison} {BASELINE}{times}{added}"

    def _amount(self, value: float) -> str:
        if self.unit is Unit.MILLISECONDS:
            return format_milliseconds(int(value))
        return f"{_plain(value)}{'%' if self.unit is Unit.PERCENT else ''}"


def _plain(number: float) -> str:
    return f"{Decimal(str(number)):f}"


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
    Unit.MONEY: "500 or '<= 500'",
}
_RELATIVE = re.compile(
    rf"{BASELINE}\s*(?:\*\s*(?P<factor>[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)\s*)?(?:(?P<sign>[+-])\s*(?P<added>\S.*))?"
)


def parse_expectation(metric: Metric, value: object) -> Expectation:
    """Read a bound such as `0`, `5m`, `<= 20`, `>= 60%` or `<= baseline * 1.1 + 1m`.

    Without a comparison it is the most that is allowed. A percentage needs its comparison: `utilization: 60%` would
    otherwise demand that the capacity stands idle. Raises ValueError with what is expected.
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
        if amount.startswith(BASELINE):
            return _relative(metric, comparison, amount)
        return Expectation(metric, _comparison(metric, comparison, expected), _text_amount(metric, amount, expected))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(expected)  # noqa: TRY004 (pydantic reports ValueErrors only)
    comparison = _comparison(metric, None, expected)
    if metric.unit is Unit.MILLISECONDS:
        return Expectation(metric, comparison, parse_milliseconds(value))
    return Expectation(metric, comparison, _text_amount(metric, str(value), expected))


def _relative(metric: Metric, comparison: str | None, text: str) -> Expectation:
    """A bound that a baseline sets."""
    added = {Unit.MILLISECONDS: "1m", Unit.PERCENT: "5%"}.get(metric.unit, "1")
    sign = "'>= " if metric.unit is Unit.PERCENT else "'<= "
    forms = f"{sign}{BASELINE}', {sign}{BASELINE} * 1.1' or {sign}{BASELINE} + {added}'"
    expected = f"expected a bound such as {forms}, not {described(text)}"
    match = _RELATIVE.fullmatch(text)
    if match is None:
        raise ValueError(expected)
    factor = float(match["factor"] or 1)
    if not factor:
        raise ValueError(f"expected a factor above 0, not {described(text)}")
    amount = _text_amount(metric, match["added"], expected) if match["added"] else 0
    return Expectation(
        metric, _comparison(metric, comparison, expected), -amount if match["sign"] == "-" else amount, factor
    )


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
_BASE = rf"{BASELINE}\s*(\*\s*[0-9]{{1,6}}(\.[0-9]{{1,6}})?\s*)?"


def _schema(amount: str, *examples: object, sign: str = _SIGN, number: bool = True) -> WithJsonSchema:
    """A bound whose amount has this pattern: absolute, or relative to a baseline; or a number."""
    pattern = {"type": "string", "pattern": rf"{sign}({amount}|{_BASE}([+-]\s*{amount})?)\s*$"}
    one_of = {"anyOf": [{"type": "number", "minimum": 0}, pattern]} if number else pattern
    return WithJsonSchema({**one_of, "examples": list(examples)})


_PLAIN = r"[0-9]+(\.[0-9]+)?"
_Duration = Annotated[
    Expectation | None, _read, _write, _schema(DURATION_PATTERN, "5m", "<= 1h30m", "<= baseline * 1.1")
]
_Percent = Annotated[
    Expectation | None,
    _read,
    _write,
    _schema(rf"{_PLAIN}\s?%", ">= 60%", ">= baseline - 5%", sign=r"^\s*(<=|>=|<|>)\s*", number=False),
]
_Hours = Annotated[Expectation | None, _read, _write, _schema(_PLAIN, 20, "<= 20", "<= baseline")]
_Count = Annotated[Expectation | None, _read, _write, _schema(_PLAIN, 0, "<= 3", "<= baseline + 1")]
_Money = Annotated[Expectation | None, _read, _write, _schema(_PLAIN, 500, "<= 500", "<= baseline * 1.05")]


class Expectations(BaseModel):
    """What a replay must show of one share, one team or the queue: a bound for each metric that matters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wait_p50: _Duration = Field(None, description="Median wait from submission to the first dispatch.")
    wait_p95: _Duration = Field(None, description="95th percentile of the wait from submission to the first dispatch.")
    wait_p99: _Duration = Field(None, description="99th percentile of the wait from submission to the first dispatch.")
    wait_max: _Duration = Field(None, description="Longest wait from submission to the first dispatch.")
    preemptions: _Count = Field(None, description="Preemptions that its jobs suffer in the whole replay.")
    preemptions_per_day: _Count = Field(None, description="Preemptions that its jobs suffer, per day of the replay.")
    preemption_rate: _Percent = Field(None, description="Part of its jobs that ran that were preempted at least once.")
    lost_instance_hours: _Hours = Field(None, description="Instance-hours of work that preemptions destroy.")
    lost_instance_hours_per_day: _Hours = Field(
        None, description="Instance-hours of work that preemptions destroy, per day of the replay."
    )
    utilization: _Percent = Field(None, description="Part of its capacity that is held by jobs.")
    goodput: _Percent = Field(None, description="Part of the held capacity whose work is not lost.")
    never_ran: _Count = Field(None, description="Jobs that were never dispatched.")
    cost: _Money = Field(
        None, description="What the instance-hours cost that its jobs hold, own and borrowed, at the prices given."
    )
    cost_per_day: _Money = Field(None, description="The same, per day of the replay.")
    wasted_cost: _Money = Field(
        None, description="The part of the cost that became no lasting work: lost, starting, resuming, stopping."
    )
    wasted_cost_per_day: _Money = Field(None, description="The same, per day of the replay.")

    def stated(self) -> tuple[Expectation, ...]:
        """The bounds that are set, in the order of the metrics."""
        values = (getattr(self, metric) for metric in Metric)
        return tuple(value for value in values if isinstance(value, Expectation))

"""The figures of two replays side by side, with their difference."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isnan, nan

import polars as pl

from policy_engine.assessment import Assessment
from policy_engine.assessment.measuring import Target, has_target
from policy_engine.topology import Metric

_SCHEMA = {
    "name": pl.String,
    "metric": pl.String,
    "unit": pl.String,
    "current": pl.Float64,
    "proposed": pl.Float64,
    "difference": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that is compared."""

    name: str
    unit: str
    """`seconds`, `percent`, `count`, `instance-hours`, `GPU-hours` or `money`."""
    measure: Callable[[Target], float]
    lower_is_better: bool | None
    """None: neither is better by itself."""


def _of_metric(metric: Metric, unit: str, *, lower_is_better: bool = True, divisor: int = 1) -> Figure:
    def measure(target: Target) -> float:
        return target.measured(metric) / divisor

    return Figure(metric.value, unit, measure, lower_is_better)


def _of_hours(kind: str, measure: str, unit: str) -> Figure:
    column = f"{kind}_{measure}"

    def amount(target: Target) -> float:
        value = target.money[column]
        return nan if value is None else value

    return Figure(column, unit, amount, lower_is_better=None)


FIGURES: tuple[Figure, ...] = (
    *(
        _of_metric(metric, "seconds", divisor=1000)
        for metric in (Metric.WAIT_P50, Metric.WAIT_P95, Metric.WAIT_P99, Metric.WAIT_MAX)
    ),
    _of_metric(Metric.NEVER_RAN, "count"),
    _of_metric(Metric.PREEMPTIONS, "count"),
    _of_metric(Metric.PREEMPTION_RATE, "percent"),
    _of_metric(Metric.PREEMPTIONS_PER_DAY, "count"),
    _of_metric(Metric.LOST_INSTANCE_HOURS, "instance-hours"),
    *(_of_hours(kind, "instance_hours", "instance-hours") for kind in ("own", "borrowed", "lent", "idle", "wasted")),
    *(_of_hours(kind, "gpu_hours", "GPU-hours") for kind in ("used", "wasted")),
    _of_metric(Metric.UTILIZATION, "percent", lower_is_better=False),
    _of_metric(Metric.GOODPUT, "percent", lower_is_better=False),
    _of_metric(Metric.COST, "money"),
    _of_metric(Metric.WASTED_COST, "money"),
)
"""In the order in which they are told."""


def side_by_side(current: Assessment, proposed: Assessment, names: Iterable[str]) -> pl.DataFrame:
    """One row for each of these shares, teams, or `queue`, and each figure.

    Columns: `name`, `metric`, `unit`, `current`, `proposed`, `difference` (proposed - current). Waits count jobs that
    never ran as waits without end: infinite, since a queue that starves its jobs would otherwise look quick. Null where
    there is nothing to measure, such as a share that only one topology has. Infinite on both sides differs by 0.
    """
    rows = [
        (name, figure.name, figure.unit, *_values(figure, before, after))
        for name in names
        for before, after in [(_target(current, name), _target(proposed, name))]
        for figure in FIGURES
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _target(assessment: Assessment, name: str) -> Target | None:
    if not has_target(assessment.outcome, name):
        return None
    return Target(assessment.outcome, assessment.summary, assessment.costs, name)


def _values(
    figure: Figure, before: Target | None, after: Target | None
) -> tuple[float | None, float | None, float | None]:
    current, proposed = (_known(figure.measure(target)) if target is not None else None for target in (before, after))
    if current is None or proposed is None:
        return current, proposed, None
    return current, proposed, 0.0 if current == proposed else proposed - current


def _known(amount: float) -> float | None:
    return None if isnan(amount) else amount

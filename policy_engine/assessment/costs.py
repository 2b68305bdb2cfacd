"""What a replay's instance-hours come to in GPU-hours and in money: own, borrowed, lent, idle and wasted.

The split into own and borrowed is that of HyperPod's usage report. Money is each instance-hour at its type's price, as
if all were billed by the hour: what is idle costs as much as what is used wherever capacity is reserved.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from policy_engine.amounts import DAY, HOUR
from policy_engine.assessment.summary import Summary
from policy_engine.pricing import Prices, gpu_count

KINDS = ("own", "borrowed", "used", "lent", "idle", "lost", "wasted")
MEASURES = ("instance_hours", "gpu_hours", "cost")


@dataclass(frozen=True, eq=False, slots=True)
class Costs:
    """Hours and money as data frames, one row for what each is about, in declaration order.

    `shares`, `teams` and `queue` have these columns (after `share` and `team`, `team`, or nothing), for each of `own`,
    `borrowed`, `used` (own + borrowed), `lent`, `idle`, `lost` (work that preemptions destroyed) and `wasted` (used,
    but not for work that survived: lost, starting, resuming, stopping, and all of a job whose preemption retries were
    used up), rounded to millionths:

    - `own_instance_hours` …: instances times hours.
    - `own_gpu_hours` …: the same, times the instance type's GPUs. Null if that is not known of a type that was used so,
      or of any type.
    - `own_cost` …: the same, times the instance type's price, in `prices.currency`. Null without prices, or if there is
      none for a type that was used so.

    In `queue`, `idle` is what no job held of the service environment's capacity.
    """

    prices: Prices | None
    unpriced: tuple[str, ...]
    """Instance types of the topology without a price. Empty without prices at all."""
    uncounted: tuple[str, ...]
    """Instance types of the topology whose GPUs are not known."""
    days: float
    """Days of 24 h that the amounts are over."""
    shares: pl.DataFrame
    teams: pl.DataFrame
    queue: pl.DataFrame


def costs_of(summary: Summary, prices: Prices | None) -> Costs:
    """What the hours of a summary come to. Without prices, hours alone."""
    team_of = summary.shares.select("share", "team")
    by_share = summary.share_units.join(team_of, on="share", how="left", maintain_order="left")
    units = summary.units["unit"].to_list()
    rates = pl.DataFrame(
        {
            "unit": units,
            "instance_hours": [1.0] * len(units),
            "gpu_hours": [gpu_count(unit) for unit in units],
            "cost": [None if prices is None else prices.per_hour.get(unit) for unit in units],
        },
        schema={"unit": pl.String, "instance_hours": pl.Float64, "gpu_hours": pl.Float64, "cost": pl.Float64},
    )
    return Costs(
        prices=prices,
        unpriced=() if prices is None else tuple(unit for unit in units if unit not in prices.per_hour),
        uncounted=tuple(unit for unit in units if gpu_count(unit) is None),
        days=(summary.end - summary.start) / DAY,
        shares=_valued(by_share, rates, ["share", "team"]),
        teams=_valued(by_share, rates, ["team"]),
        queue=_valued(summary.units, rates, []),
    )


def _valued(rows: pl.DataFrame, rates: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The rows of each key, valued by unit and added up."""
    wasted = (pl.col("used") - pl.col("productive")).alias("wasted")
    joined = rows.with_columns(wasted).join(rates, on="unit", how="left", maintain_order="left")
    sums = list(_sums())
    return joined.group_by(keys, maintain_order=True).agg(sums) if keys else joined.select(sums)


def _sums() -> Iterator[pl.Expr]:
    for kind in KINDS:
        for measure in MEASURES:
            amount, each = pl.col(kind), pl.col(measure)
            unknown = ((amount != 0) & each.is_null()).any() | each.is_null().all()
            yield pl.when(~unknown).then(((amount * each).sum() / HOUR).round(6)).alias(f"{kind}_{measure}")

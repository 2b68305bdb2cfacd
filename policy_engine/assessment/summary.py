"""What a replay comes to, by share, team, instance type and in all: jobs, waits, preemptions, and who used what.

Sums are exact: whole milliseconds, whole instances, and their products. Only ratios are rounded.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from policy_engine.amounts import DAY
from policy_engine.scheduler import NEVER, JobStatus, Outcome, Reason
from policy_engine.trace.jobs import Int64

PERCENTILES = {"wait_p50": 50, "wait_p95": 95, "wait_p99": 99, "wait_max": 100}
_AMOUNTS = ("limit", "used", "own", "borrowed", "lent", "idle", "pending")
_WORK = ("lost", "productive")
_ENDINGS = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.RUNNABLE, JobStatus.RUNNING)


@dataclass(frozen=True, eq=False, slots=True)
class Summary:
    """A replay's figures as data frames, one row for what each is about, in declaration order.

    `shares`, `teams` and `queue` have these columns (after `share` and `team`, `team`, or nothing):

    - `jobs`: those that were submitted; of them `succeeded`, `failed`, `runnable` and `running` by the end, and
      `never_ran`, not once dispatched. `not_submitted`: those that the replay was stopped before.
    - `preemptions_suffered`, `preemptions_caused`: stops of its own jobs, and stops in favour of them; `preempted`,
      jobs that were stopped at least once.
    - `lost`: instance-ms of work that preemptions destroyed.
    - `productive`: instance-ms of work that they did not destroy. Nothing counts of a job that FAILED because its
      preemption retries were used up.
    - `limit`, `used`, `own`, `borrowed`, `lent`, `idle`, `pending`: instance-ms from the first submission to the end of
      the replay, as in `policy_engine.scheduler.usage`. In `queue`, `limit` is the service environment's capacity and
      `idle` the part of it that no job held.
    - `wait_p50`, `wait_p95`, `wait_p99`, `wait_max`: ms from submission to the first dispatch, over the jobs that were
      dispatched: the least that so many percent of them do not exceed. Null if there are none. Jobs that never ran are
      not in them; `never_ran` counts those.
    - `utilization`: used / limit; above 1 for a share that borrows more than it lends. Null without a limit.
    - `goodput`: productive / used. Null if nothing was used.
    - `preemption_rate`: preempted / (jobs - never_ran). Null if no job ran.
    - `preemptions_per_day`: preemptions_suffered, and `lost_per_day`: lost (instance-ms), for each 24 h of the replay.
      Null if it took no time.

    `units` (by `unit`) and `share_units` (by `share` and `unit`) have `limit` to `pending`, `lost`, `productive`, and
    `utilization`. In `units`, `limit` and `idle` are of the service environment, as in `queue`.
    """

    start: int
    """ms: the first submission."""
    end: int
    """ms: the end of the replay."""
    shares: pl.DataFrame
    teams: pl.DataFrame
    queue: pl.DataFrame
    units: pl.DataFrame
    share_units: pl.DataFrame


def summarize(outcome: Outcome) -> Summary:
    """Sum up an outcome."""
    owned = tuple(outcome.topology.quota_shares())
    teams = tuple(dict.fromkeys(share.team for share in owned))
    team_of_share = np.array([teams.index(share.team) for share in owned], dtype=np.int64)
    share_units = outcome.usage.instance_milliseconds.with_columns(**_work(outcome))
    names = {"share": [share.name for share in owned], "team": [share.team for share in owned]}
    counted = pl.DataFrame(names | _counts(outcome) | _amounts(share_units, len(owned)))
    of_team = counted.drop("share").group_by("team", maintain_order=True).sum()
    units = _of_environment(share_units, outcome.usage.capacity_milliseconds)
    span = outcome.ended_at - outcome.first_submitted_at
    of_queue = counted.drop("share", "team").sum().with_columns(units.select(pl.col("limit", "idle").sum()))
    waits = _Waits.of(outcome)
    nowhere = np.zeros(len(owned), dtype=np.int64)
    return Summary(
        start=outcome.first_submitted_at,
        end=outcome.ended_at,
        shares=_finished(counted, waits.percentiles(np.arange(len(owned)), len(owned)), span),
        teams=_finished(of_team, waits.percentiles(team_of_share, len(teams)), span),
        queue=_finished(of_queue, waits.percentiles(nowhere, 1), span),
        units=_with_utilization(units),
        share_units=_with_utilization(share_units),
    )


def _counts(outcome: Outcome) -> dict[str, Int64]:
    """By share, what jobs and preemptions count."""
    jobs, preemptions = outcome.jobs, outcome.preemptions
    share = outcome.share_of_job
    submitted = jobs.status != JobStatus.SUBMITTED

    def count(of: npt.NDArray[np.int32]) -> Int64:
        return np.bincount(of, minlength=len(outcome.share_names))

    return {
        "jobs": count(share[submitted]),
        **{ending.name.lower(): count(share[jobs.status == ending]) for ending in _ENDINGS},
        "never_ran": count(share[submitted & (jobs.first_scheduled_at == NEVER)]),
        "not_submitted": count(share[~submitted]),
        "preempted": count(share[jobs.preemptions > 0]),
        "preemptions_suffered": count(share[preemptions.victim]),
        "preemptions_caused": count(share[preemptions.claimant]),
    }


def _work(outcome: Outcome) -> dict[str, Int64]:
    """By share and unit, in instance-ms: the work that preemptions destroyed, and the work that they did not."""
    jobs, work, preemptions, trace = outcome.jobs, outcome.work, outcome.preemptions, outcome.trace
    attempted = outcome.attempts.job
    survived = work.worked - work.lost
    survived[jobs.reason[attempted] == Reason.PREEMPTION_RETRIES_EXHAUSTED] = 0
    units = outcome.usage.units
    amounts = {name: np.zeros((len(outcome.share_names), len(units)), dtype=np.int64) for name in _WORK}
    for column, unit in enumerate(trace.units):
        instances = trace.needs[trace.need, column]
        for name, job, milliseconds in (
            ("lost", preemptions.victim, preemptions.lost),
            ("productive", attempted, survived),
        ):
            of_unit = amounts[name][:, units.index(unit)]
            np.add.at(of_unit, outcome.share_of_job[job], milliseconds * instances[job])
    return {name: amount.ravel() for name, amount in amounts.items()}


def _amounts(share_units: pl.DataFrame, shares: int) -> dict[str, Int64]:
    """By share, the instance-ms of all its units. The frame stands by share, then unit, and has all pairs."""
    columns = (*_WORK, *_AMOUNTS)
    return {name: share_units[name].to_numpy().reshape(shares, -1).sum(axis=1) for name in columns}


def _of_environment(share_units: pl.DataFrame, capacity: pl.DataFrame) -> pl.DataFrame:
    """By unit: what all shares do with the service environment's capacity."""
    sums = share_units.drop("share", "limit", "idle").group_by("unit").sum()
    joined = capacity.rename({"capacity": "limit"}).join(sums, on="unit", how="left", maintain_order="left")
    filled = joined.with_columns(pl.exclude("unit").fill_null(0))
    return filled.with_columns((pl.col("limit") - pl.col("used")).clip(0).alias("idle")).select(
        "unit", *_AMOUNTS, *_WORK
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Waits:
    """The waits of the jobs that were dispatched, ascending, and their shares."""

    wait: Int64
    share: npt.NDArray[np.int32]

    @classmethod
    def of(cls, outcome: Outcome) -> "_Waits":
        ran = np.flatnonzero(outcome.jobs.first_scheduled_at != NEVER)
        wait = outcome.jobs.first_scheduled_at[ran] - outcome.trace.submitted_at[ran]
        order = np.argsort(wait, kind="stable")
        return cls(wait[order], outcome.share_of_job[ran[order]])

    def percentiles(self, group_of_share: Int64, groups: int) -> dict[str, pl.Series]:
        """Of the jobs of each group of shares."""
        group = group_of_share[self.share]
        wait = self.wait[np.argsort(group, kind="stable")]
        count = np.bincount(group, minlength=groups)
        first = np.cumsum(count) - count
        found = {}
        for name, percent in PERCENTILES.items():
            row = first + -(-count * percent // 100) - 1
            values = wait[np.where(count == 0, 0, row)] if len(wait) else np.zeros(groups, dtype=np.int64)
            found[name] = pl.Series(name, values).set(pl.Series(count == 0), None)
        return found


def _finished(counted: pl.DataFrame, waits: dict[str, pl.Series], span: int) -> pl.DataFrame:
    ran = pl.col("jobs") - pl.col("never_ran")
    days = pl.lit(span / DAY if span else None, dtype=pl.Float64)
    return _with_utilization(counted.with_columns(**waits)).with_columns(
        goodput=pl.when(pl.col("used") > 0).then(pl.col("productive") / pl.col("used")),
        preemption_rate=pl.when(ran > 0).then(pl.col("preempted") / ran),
        preemptions_per_day=pl.col("preemptions_suffered") / days,
        lost_per_day=pl.col("lost") / days,
    )


def _with_utilization(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.when(pl.col("limit") > 0).then(pl.col("used") / pl.col("limit")).alias("utilization"))

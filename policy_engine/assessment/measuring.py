"""The figure of each metric for a share, a team or the queue."""

from collections.abc import Mapping
from math import inf, nan

import numpy as np
import polars as pl

from policy_engine.amounts import DAY, HOUR
from policy_engine.assessment.costs import Costs
from policy_engine.assessment.summary import PERCENTILES, Summary
from policy_engine.scheduler import NEVER, JobStatus, Outcome, Reason
from policy_engine.topology import Metric
from policy_engine.topology.expectations import QUEUE
from policy_engine.trace.jobs import Bool, Int64

WITHOUT_END = np.iinfo(np.int64).max
"""A wait of a job that never runs, in ms."""
_COLUMNS = {
    Metric.PREEMPTIONS: ("preemptions_suffered", 1),
    Metric.PREEMPTIONS_PER_DAY: ("preemptions_suffered", 1),
    Metric.LOST_INSTANCE_HOURS: ("lost", HOUR),
    Metric.LOST_INSTANCE_HOURS_PER_DAY: ("lost", HOUR),
}
"""The column of the summary that a metric comes from, and by what it is divided."""
_RATIOS = {
    Metric.UTILIZATION: ("used", "limit", None),
    Metric.GOODPUT: ("productive", "used", None),
    Metric.PREEMPTION_RATE: ("preempted", "jobs", "never_ran"),
}
"""What a metric is the percentage of what, without what."""
_MONEY = {
    Metric.COST: "used_cost",
    Metric.COST_PER_DAY: "used_cost",
    Metric.WASTED_COST: "wasted_cost",
    Metric.WASTED_COST_PER_DAY: "wasted_cost",
}
_PER_DAY = frozenset(metric for metric in Metric if metric.endswith("_per_day"))
_NO_WAIT = (Reason.SHARE_DISABLED, Reason.TERMINATED)


def still_waiting(outcome: Outcome) -> Bool:
    """Jobs that might have run, had the replay not been stopped early."""
    waiting: Bool = (outcome.jobs.status == JobStatus.RUNNABLE) & (outcome.jobs.reason == Reason.NONE)
    return waiting & outcome.stopped_early


def has_target(outcome: Outcome, name: str) -> bool:
    """Whether the outcome's topology has a share or a team of this name, or it is the queue."""
    return name == QUEUE or any(name in {owned.name, owned.team} for owned in outcome.topology.quota_shares())


class Target:
    """What figures of one name are about: some shares, their jobs, and their rows of the data frames."""

    def __init__(self, outcome: Outcome, summary: Summary, costs: Costs, name: str) -> None:
        self.name = name
        self.outcome = outcome
        self.summary = summary
        self.costs = costs
        names = np.array(outcome.share_names)
        teams = np.array([owned.team for owned in outcome.topology.quota_shares()])
        is_share = names == name
        shares = np.ones(len(names), dtype=np.bool_) if name == QUEUE else is_share if is_share.any() else teams == name
        self.jobs: Bool = shares[outcome.share_of_job]
        """Whose jobs they are."""
        self.shares = frozenset(names[shares].tolist())
        kind = "queue" if name == QUEUE else "share" if is_share.any() else "team"
        self._row: Mapping[str, float] = _row(summary, kind, name)
        self.money: Mapping[str, float | None] = _row(costs, kind, name)
        """Its row of the costs."""

    def measured(self, metric: Metric) -> float:
        """The figure in the metric's unit. Infinite if a job waits without end, NaN if there is nothing to measure."""
        if metric in PERCENTILES:
            return self._wait(PERCENTILES[metric])
        if metric in _MONEY:
            cost = self.money[_MONEY[metric]]
            return nan if cost is None else self._of_days(metric, cost)
        if metric is Metric.NEVER_RAN:
            return len(self.never_ran())
        if metric in _RATIOS:
            part, whole, without = _RATIOS[metric]
            of = self._row[whole] - (self._row[without] if without else 0)
            return 100 * self._row[part] / of if of else nan
        column, scale = _COLUMNS[metric]
        return self._of_days(metric, self._row[column] / scale)

    def waits(self) -> tuple[Int64, Int64]:
        """The jobs whose waits count, and their waits in ms: every job that nobody refused or terminated first."""
        jobs, outcome = self.outcome.jobs, self.outcome
        ran = jobs.first_scheduled_at != NEVER
        counts = self.jobs & (jobs.status != JobStatus.SUBMITTED) & (ran | ~np.isin(jobs.reason, _NO_WAIT))
        rows = np.flatnonzero(counts)
        since = outcome.trace.submitted_at
        wait = np.where(still_waiting(outcome), outcome.ended_at - since, WITHOUT_END)
        wait = np.where(ran, jobs.first_scheduled_at - since, wait)
        return rows, wait[rows]

    def never_ran(self) -> Int64:
        """Jobs that were not once dispatched, and cannot be any more."""
        outcome, jobs = self.outcome, self.outcome.jobs
        rows = self.jobs & (jobs.status != JobStatus.SUBMITTED) & (jobs.first_scheduled_at == NEVER)
        return np.flatnonzero(rows & ~still_waiting(outcome))

    def suffered(self) -> Int64:
        """Rows of the preemptions that its jobs suffered, by time."""
        return np.flatnonzero(self.jobs[self.outcome.preemptions.victim])

    def _wait(self, percent: int) -> float:
        _, wait = self.waits()
        if not len(wait):
            return nan
        value = int(np.sort(wait)[-(-len(wait) * percent // 100) - 1])
        return inf if value == WITHOUT_END else value

    def _of_days(self, metric: Metric, amount: float) -> float:
        if metric not in _PER_DAY:
            return amount
        days = (self.summary.end - self.summary.start) / DAY
        return amount / days if days else inf if amount else 0


def _row(frames: Summary | Costs, kind: str, name: str) -> Mapping[str, float]:
    frame: pl.DataFrame = frames.queue
    if kind != "queue":
        frame = frames.shares if kind == "share" else frames.teams
        frame = frame.filter(frame[kind] == name)
    return frame.row(0, named=True)

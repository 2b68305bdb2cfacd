"""Whether a replay shows what its topology expects: each bound with the figure, and what broke it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan

import numpy as np

from policy_engine.amounts import DAY, HOUR, brief_duration, counted, decimal, in_hours, moment
from policy_engine.assessment.summary import PERCENTILES, Summary
from policy_engine.scheduler import NEVER, JobStatus, Outcome, Reason
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.topology import Expectation, Metric, Unit
from policy_engine.topology.expectations import QUEUE
from policy_engine.trace.jobs import Bool, Int64

_WITHOUT_END = np.iinfo(np.int64).max
_PER_DAY = (Metric.PREEMPTIONS_PER_DAY, Metric.LOST_INSTANCE_HOURS_PER_DAY)
_COLUMNS = {
    Metric.PREEMPTIONS: ("preemptions_suffered", 1),
    Metric.PREEMPTIONS_PER_DAY: ("preemptions_suffered", 1),
    Metric.LOST_INSTANCE_HOURS: ("lost", HOUR),
    Metric.LOST_INSTANCE_HOURS_PER_DAY: ("lost", HOUR),
}
"""The column of the summary that a metric comes from, and by what it is divided."""
_PERCENTAGES = {Metric.UTILIZATION: ("used", "limit"), Metric.GOODPUT: ("productive", "used")}
"""What a metric is the percentage of what."""
_NO_WAIT = (Reason.SHARE_DISABLED, Reason.TERMINATED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One expectation of a topology, and what the replay shows."""

    target: str
    """A share, a team, or `queue`."""
    expectation: Expectation
    measured: float
    """In the expectation's unit. Infinite if a job waits without end, NaN if there is nothing to measure."""
    because: str
    """What broke it: the worst job, the first preemption. Empty if it holds."""
    job: str | None = None
    """The job that `because` is about."""
    at: int | None = None
    """The time, in ms, that `because` is about."""

    @property
    def held(self) -> bool:
        """Whether the expectation is met. One that cannot be measured is not."""
        return self.expectation.holds(self.measured)


@dataclass(frozen=True, slots=True)
class _Culprit:
    because: str
    job: str | None = None
    at: int | None = None


_NONE_AT_ALL = _Culprit("there was none at all")


def check_expectations(outcome: Outcome, summary: Summary) -> tuple[Verdict, ...]:
    """Judge every expectation of the outcome's topology, in the order of the topology.

    Waits count every job that was submitted, but not those that were refused or terminated before they ran. A job that
    was never dispatched has waited without end. If the replay was stopped early, jobs that could still run have waited
    until then, and have not `never_ran`.
    """
    return tuple(
        _Target(outcome, summary, name).verdict(expectation)
        for name, expectations in outcome.topology.expectations.items()
        for expectation in expectations.stated()
    )


def still_waiting(outcome: Outcome) -> Bool:
    """Jobs that might have run, had the replay not been stopped early."""
    waiting: Bool = (outcome.jobs.status == JobStatus.RUNNABLE) & (outcome.jobs.reason == Reason.NONE)
    return waiting & outcome.stopped_early


class _Target:
    """What expectations of one name are about: some shares, their jobs, and their row of the summary."""

    def __init__(self, outcome: Outcome, summary: Summary, name: str) -> None:
        self.name = name
        self._outcome = outcome
        self._summary = summary
        names = np.array(outcome.share_names)
        teams = np.array([owned.team for owned in outcome.topology.quota_shares()])
        is_share = names == name
        shares = np.ones(len(names), dtype=np.bool_) if name == QUEUE else is_share if is_share.any() else teams == name
        self._jobs: Bool = shares[outcome.share_of_job]
        self._shares = set(names[shares].tolist())
        frame, key = (
            (summary.queue, None)
            if name == QUEUE
            else ((summary.shares, "share") if is_share.any() else (summary.teams, "team"))
        )
        self._row: Mapping[str, int] = (frame if key is None else frame.filter(frame[key] == name)).row(0, named=True)

    def verdict(self, expectation: Expectation) -> Verdict:
        measured = self._measured(expectation.metric)
        if expectation.holds(measured):
            return Verdict(self.name, expectation, measured, "")
        culprit = _Culprit("there is nothing to measure") if isnan(measured) else self._culprit(expectation)
        return Verdict(self.name, expectation, measured, culprit.because, culprit.job, culprit.at)

    def _measured(self, metric: Metric) -> float:
        if metric in PERCENTILES:
            return self._wait(PERCENTILES[metric])
        if metric is Metric.NEVER_RAN:
            return len(self._never_ran())
        if metric in _PERCENTAGES:
            part, whole = (self._row[column] for column in _PERCENTAGES[metric])
            return 100 * part / whole if whole else nan
        column, scale = _COLUMNS[metric]
        amount = self._row[column] / scale
        return self._per_day(amount) if metric in _PER_DAY else amount

    def _per_day(self, amount: float) -> float:
        days = (self._summary.end - self._summary.start) / DAY
        return amount / days if days else inf if amount else 0

    def _waits(self) -> tuple[Int64, Int64]:
        """The jobs whose waits count, and their waits."""
        jobs, outcome = self._outcome.jobs, self._outcome
        ran = jobs.first_scheduled_at != NEVER
        counts = self._jobs & (jobs.status != JobStatus.SUBMITTED) & (ran | ~np.isin(jobs.reason, _NO_WAIT))
        rows = np.flatnonzero(counts)
        since = outcome.trace.submitted_at
        wait = np.where(still_waiting(outcome), outcome.ended_at - since, _WITHOUT_END)
        wait = np.where(ran, jobs.first_scheduled_at - since, wait)
        return rows, wait[rows]

    def _wait(self, percent: int) -> float:
        _, wait = self._waits()
        if not len(wait):
            return nan
        value = int(np.sort(wait)[-(-len(wait) * percent // 100) - 1])
        return inf if value == _WITHOUT_END else value

    def _never_ran(self) -> Int64:
        """Jobs that were not once dispatched, and cannot be any more."""
        outcome, jobs = self._outcome, self._outcome.jobs
        rows = self._jobs & (jobs.status != JobStatus.SUBMITTED) & (jobs.first_scheduled_at == NEVER)
        return np.flatnonzero(rows & ~still_waiting(outcome))

    def _culprit(self, expectation: Expectation) -> _Culprit:
        metric = expectation.metric
        if metric in PERCENTILES:
            return self._longest_wait(int(expectation.value))
        if metric in _PER_DAY:
            return self._worst_day(hours=expectation.unit is Unit.HOURS)
        match metric:
            case Metric.PREEMPTIONS:
                return self._first_preemption()
            case Metric.UTILIZATION:
                return self._units()
            case Metric.NEVER_RAN:
                return self._first_that_never_ran()
            case _:
                return self._largest_loss()

    def _id(self, job: int) -> str:
        return str(self._outcome.trace.job_id[job])

    def _longest_wait(self, bound: int) -> _Culprit:
        rows, wait = self._waits()
        worst = int(np.argmax(wait))
        job, longest = int(rows[worst]), int(wait[worst])
        over = int((wait > bound).sum())
        waited = "never ran" if longest == _WITHOUT_END else f"waited {brief_duration(longest)}"
        because = f"{over:,} of {counted(len(wait), 'job')} waited longer; {self._id(job)} {waited}"
        return _Culprit(because, self._id(job), int(self._outcome.trace.submitted_at[job]))

    def _suffered(self) -> Int64:
        """Rows of the preemptions that the target's jobs suffered, by time."""
        return np.flatnonzero(self._jobs[self._outcome.preemptions.victim])

    def _first_preemption(self) -> _Culprit:
        rows = self._suffered()
        return self._preemption("the first", int(rows[0])) if len(rows) else _NONE_AT_ALL

    def _largest_loss(self) -> _Culprit:
        rows, made = self._suffered(), self._outcome.preemptions
        if not len(rows):
            return _Culprit("no work was lost; what is missing went into starting, resuming and stopping")
        lost = made.lost[rows] * self._outcome.instances_of_job[made.victim[rows]]
        worst = int(np.argmax(lost))
        return self._preemption(f"the largest loss, {in_hours(int(lost[worst]))} instance-hours", int(rows[worst]))

    def _preemption(self, which: str, row: int) -> _Culprit:
        outcome, made = self._outcome, self._outcome.preemptions
        at, victim, claimant = int(made.at[row]), int(made.victim[row]), int(made.claimant[row])
        claiming = outcome.share_names[outcome.share_of_job[claimant]]
        when = moment(at, outcome.trace.epoch)
        because = f"{which}: {self._id(victim)} at {when}, for {self._id(claimant)} of {claiming}"
        return _Culprit(because, self._id(victim), at)

    def _worst_day(self, *, hours: bool) -> _Culprit:
        rows, made = self._suffered(), self._outcome.preemptions
        if not len(rows):
            return _NONE_AT_ALL
        day = (made.at[rows] - self._summary.start) // DAY
        each = made.lost[rows] * self._outcome.instances_of_job[made.victim[rows]] / HOUR if hours else None
        of_day = np.bincount(day, weights=each)
        worst = int(np.argmax(of_day))
        amount = f"{decimal(of_day[worst])} instance-hours" if hours else counted(int(of_day[worst]), "preemption")
        at = self._summary.start + worst * DAY
        return _Culprit(f"most on the day from {moment(at, self._outcome.trace.epoch)}: {amount}", None, at)

    def _units(self) -> _Culprit:
        """Utilization by unit: with several units one may stand idle while another is full."""
        return _Culprit(
            ", ".join(f"{unit} {used:.0%}" for unit, used in sorted(self._utilization(), key=lambda x: x[1]))
        )

    def _utilization(self) -> Iterator[tuple[str, float]]:
        if self.name == QUEUE:
            for row in self._summary.units.filter(self._summary.units["limit"] > 0).iter_rows(named=True):
                yield row["unit"], row["utilization"]
            return
        held = self._summary.share_units.filter(self._summary.share_units["share"].is_in(self._shares))
        for unit, part in held.group_by("unit", maintain_order=True):
            limit = int(part["limit"].sum())
            if limit:
                yield str(unit[0]), int(part["used"].sum()) / limit

    def _first_that_never_ran(self) -> _Culprit:
        jobs, rows = self._outcome.jobs, self._never_ran()
        if not len(rows):
            return _NONE_AT_ALL
        job = int(rows[0])
        reason = STATUS_REASON.get(Reason(int(jobs.reason[job])), "still RUNNABLE at the end")
        return _Culprit(
            f"the first: {self._id(job)}: {reason}", self._id(job), int(self._outcome.trace.submitted_at[job])
        )

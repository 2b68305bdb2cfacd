"""What broke an expectation: the worst job, the first preemption, the worst day or hour."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from policy_engine.amounts import DAY, HOUR, brief_duration, counted, decimal, in_hours, moment
from policy_engine.assessment.measuring import WITHOUT_END, Target
from policy_engine.assessment.summary import PERCENTILES
from policy_engine.scheduler import Reason
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.topology import Comparison, Expectation, Metric
from policy_engine.topology.expectations import QUEUE
from policy_engine.trace.jobs import Int64


@dataclass(frozen=True, slots=True)
class Culprit:
    """What broke an expectation, in words, and the job and the time (ms) that this is about, if there is one."""

    because: str
    job: str | None = None
    at: int | None = None


_NONE_AT_ALL = Culprit("there was none at all")


def culprit(target: Target, expectation: Expectation, bound: float) -> Culprit:
    """What broke an expectation, whose bound came to this figure."""
    metric = expectation.metric
    if metric in PERCENTILES:
        return _longest_wait(target, bound)
    if metric is Metric.UTILIZATION:
        return _units_and_hour(target, expectation.comparison)
    return _FINDERS[metric](target)


def _id(target: Target, job: int) -> str:
    return str(target.outcome.trace.job_id[job])


def _moment(target: Target, at: int) -> str:
    return moment(at, target.outcome.trace.epoch)


def _submitted_at(target: Target, job: int) -> int:
    return int(target.outcome.trace.submitted_at[job])


def _longest_wait(target: Target, bound: float) -> Culprit:
    rows, wait = target.waits()
    worst = int(np.argmax(wait))
    job, longest = int(rows[worst]), int(wait[worst])
    over = int((wait > bound).sum())
    waited = "never ran" if longest == WITHOUT_END else f"waited {brief_duration(longest)}"
    because = f"{over:,} of {counted(len(wait), 'job')} waited longer; {_id(target, job)} {waited}"
    return Culprit(because, _id(target, job), _submitted_at(target, job))


def _first_preemption(target: Target) -> Culprit:
    rows = target.suffered()
    return _preemption(target, "the first", int(rows[0])) if len(rows) else _NONE_AT_ALL


def _losses(target: Target, rows: Int64) -> Int64:
    """Instance-ms that these preemptions destroyed."""
    made = target.outcome.preemptions
    lost: Int64 = made.lost[rows] * target.outcome.instances_of_job[made.victim[rows]]
    return lost


def _largest_loss(target: Target) -> Culprit:
    rows = target.suffered()
    if not len(rows):
        return Culprit("no work was lost; what is missing went into starting, resuming and stopping")
    lost = _losses(target, rows)
    worst = int(np.argmax(lost))
    return _preemption(target, f"the largest loss, {in_hours(int(lost[worst]))} instance-hours", int(rows[worst]))


def _preemption(target: Target, which: str, row: int) -> Culprit:
    outcome, made = target.outcome, target.outcome.preemptions
    at, victim, claimant = int(made.at[row]), int(made.victim[row]), int(made.claimant[row])
    claiming = outcome.share_names[outcome.share_of_job[claimant]]
    because = f"{which}: {_id(target, victim)} at {_moment(target, at)}, for {_id(target, claimant)} of {claiming}"
    return Culprit(because, _id(target, victim), at)


def _most_preempted(target: Target) -> Culprit:
    rows = target.suffered()
    if not len(rows):
        return _NONE_AT_ALL
    victims = target.outcome.preemptions.victim[rows]
    times = np.bincount(victims)
    job = int(np.argmax(times))
    first = int(target.outcome.preemptions.at[rows[np.argmax(victims == job)]])
    stopped = counted(len(np.unique(victims)), "job")
    because = f"{stopped} stopped; most often {_id(target, job)}, {counted(int(times[job]), 'time')}"
    return Culprit(f"{because}, first at {_moment(target, first)}", _id(target, job), first)


def _day_of_most_preemptions(target: Target) -> Culprit:
    return _worst_day(target, lost=False)


def _day_of_most_lost(target: Target) -> Culprit:
    return _worst_day(target, lost=True)


def _worst_day(target: Target, *, lost: bool) -> Culprit:
    rows = target.suffered()
    if not len(rows):
        return _NONE_AT_ALL
    start = target.summary.start
    day = (target.outcome.preemptions.at[rows] - start) // DAY
    of_day = np.bincount(day, weights=_losses(target, rows) / HOUR if lost else None)
    worst = int(np.argmax(of_day))
    amount = f"{decimal(of_day[worst])} instance-hours" if lost else counted(int(of_day[worst]), "preemption")
    at = start + worst * DAY
    return Culprit(f"most on the day from {_moment(target, at)}: {amount}", None, at)


def _costliest(target: Target) -> Culprit:
    """The job whose attempts cost most."""
    outcome, prices = target.outcome, target.costs.prices
    attempts, trace = outcome.attempts, outcome.trace
    per_hour = np.array([0.0 if prices is None else prices.per_hour.get(unit, 0.0) for unit in trace.units])
    rate = (trace.needs @ per_hour)[trace.need]
    rows = np.flatnonzero(target.jobs[attempts.job])
    if prices is None or not len(rows):
        return _NONE_AT_ALL
    held = outcome.work.held_until[rows] - attempts.scheduled_at[rows]
    cost = np.bincount(attempts.job[rows], weights=held / HOUR * rate[attempts.job[rows]])
    job = int(np.argmax(cost))
    runs = counted(int((attempts.job[rows] == job).sum()), "attempt")
    because = f"the costliest: {_id(target, job)}, {cost[job]:,.2f} {prices.currency} in {runs}"
    return Culprit(because, _id(target, job), _submitted_at(target, job))


def _units_and_hour(target: Target, comparison: Comparison) -> Culprit:
    """Utilization by unit, since one may stand idle while another is full; and the hour that is most to blame."""
    by_unit = sorted(_utilization(target), key=lambda each: each[1])
    because = ", ".join(f"{unit} {used:.0%}" for unit, used in by_unit)
    use = _use_of_hours(target)
    if not len(use):
        return Culprit(because)
    too_much = comparison in {Comparison.LESS, Comparison.AT_MOST}
    worst = int(np.argmax(use) if too_much else np.argmin(use))
    at = target.summary.start + worst * HOUR
    which = "most" if too_much else "least"
    instances = f"{decimal(use[worst] / HOUR)} instances"
    return Culprit(f"{because}; {which} in the hour from {_moment(target, at)}: {instances} in use", None, at)


def _utilization(target: Target) -> Iterator[tuple[str, float]]:
    summary = target.summary
    if target.name == QUEUE:
        for row in summary.units.filter(summary.units["limit"] > 0).iter_rows(named=True):
            yield row["unit"], row["utilization"]
        return
    held = summary.share_units.filter(summary.share_units["share"].is_in(target.shares))
    for unit, part in held.group_by("unit", maintain_order=True):
        limit = int(part["limit"].sum())
        if limit:
            yield str(unit[0]), int(part["used"].sum()) / limit


def _use_of_hours(target: Target) -> Int64:
    """Instance-ms that its jobs held in each whole hour of the replay."""
    outcome, summary = target.outcome, target.summary
    edges = np.arange(summary.start, summary.end + 1, HOUR)
    rows = np.flatnonzero(target.jobs[outcome.attempts.job])
    instances = outcome.instances_of_job[outcome.attempts.job[rows]]
    until = _held_until(edges, outcome.attempts.scheduled_at[rows], instances)
    return np.diff(until - _held_until(edges, outcome.work.held_until[rows], instances))


def _held_until(times: Int64, since: Int64, instances: Int64) -> Int64:
    """Instance-ms up to each of these times, if so many instances were held from each `since` on for ever."""
    order = np.argsort(since, kind="stable")
    count = np.append(0, np.cumsum(instances[order]))
    moments = np.append(0, np.cumsum((instances * since)[order]))
    row = np.searchsorted(since[order], times, side="right")
    held: Int64 = times * count[row] - moments[row]
    return held


def _first_that_never_ran(target: Target) -> Culprit:
    rows = target.never_ran()
    if not len(rows):
        return _NONE_AT_ALL
    job = int(rows[0])
    reason = STATUS_REASON.get(Reason(int(target.outcome.jobs.reason[job])), "still RUNNABLE at the end")
    return Culprit(f"the first: {_id(target, job)}: {reason}", _id(target, job), _submitted_at(target, job))


_FINDERS: Mapping[Metric, Callable[[Target], Culprit]] = {
    Metric.PREEMPTIONS: _first_preemption,
    Metric.PREEMPTIONS_PER_DAY: _day_of_most_preemptions,
    Metric.PREEMPTION_RATE: _most_preempted,
    Metric.LOST_INSTANCE_HOURS: _largest_loss,
    Metric.LOST_INSTANCE_HOURS_PER_DAY: _day_of_most_lost,
    Metric.GOODPUT: _largest_loss,
    Metric.NEVER_RAN: _first_that_never_ran,
    Metric.COST: _costliest,
    Metric.COST_PER_DAY: _costliest,
    Metric.WASTED_COST: _largest_loss,
    Metric.WASTED_COST_PER_DAY: _largest_loss,
}

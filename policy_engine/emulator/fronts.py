"""The first RUNNABLE job of each share of a queue."""

from dataclasses import dataclass

import numpy as np

from policy_engine.assumptions import RequeuePosition
from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome
from policy_engine.trace.jobs import Int64


@dataclass(frozen=True, slots=True)
class Front:
    """A job at the front of its share."""

    row: int
    """The job's, in the outcome."""
    free_since: int
    """When the last job that stands before it left the queue, in ms of the trace; 0 if there is none."""


def fronts(outcome: Outcome, priority: Int64) -> dict[str, Front]:
    """The fronts by share. `priority` is what each job has now; its length says how many jobs were seen so far."""
    count = len(priority)
    if not count:
        return {}
    share, status = outcome.trace.share[:count], outcome.jobs.status[:count]
    order = np.lexsort((np.arange(count), _queued_at(outcome)[:count], -priority, share))
    runnable, left_at = status[order] == JobStatus.RUNNABLE, _last_runnable_at(outcome)[order]
    begin = np.searchsorted(share[order], np.arange(len(outcome.trace.share_names) + 1))
    found = {}
    for number, name in enumerate(outcome.trace.share_names):
        places = np.flatnonzero(runnable[begin[number] : begin[number + 1]])
        if len(places):
            first = int(begin[number] + places[0])
            before = left_at[begin[number] : first]
            found[name] = Front(row=int(order[first]), free_since=int(before.max(initial=0)))
    return found


def _queued_at(outcome: Outcome) -> Int64:
    """What the jobs of one priority stand by."""
    queued_at = outcome.trace.submitted_at.copy()
    if outcome.assumptions.requeue_position is RequeuePosition.BACK:
        preempted = outcome.attempts.outcome == AttemptOutcome.PREEMPTED
        queued_at[outcome.attempts.job[preempted]] = outcome.attempts.stopped_at[preempted]  # The last one counts.
    return queued_at


def _last_runnable_at(outcome: Outcome) -> Int64:
    """When each job that is not RUNNABLE was so for the last time."""
    attempts, finished_at = outcome.attempts, outcome.jobs.finished_at
    last = np.where(finished_at == NEVER, outcome.trace.submitted_at, finished_at)
    latest = np.full(len(last), -1)
    latest[attempts.job] = np.arange(len(attempts.job))  # The last one written is the latest.
    dispatched = np.flatnonzero(latest >= 0)
    of = latest[dispatched]
    returned = np.isin(attempts.outcome[of], (AttemptOutcome.PREEMPTED, AttemptOutcome.NO_CAPACITY))
    ended_runnable = returned & (finished_at[dispatched] != NEVER)
    last[dispatched] = np.where(ended_runnable, finished_at[dispatched], attempts.scheduled_at[of])
    return last

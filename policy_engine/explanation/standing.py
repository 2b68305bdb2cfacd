"""Who stands before whom in a share, and who stands at its front, over time (scheduling model, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import HeadOfLine, RequeuePosition
from policy_engine.scheduler.outcome import NEVER, AttemptOutcome, JobStatus, Outcome
from policy_engine.trace import UpdatePriority
from policy_engine.trace.jobs import Int64

Key = tuple[int, int, int]
"""Where a job stands: inverted priority, queue time, row. The smaller goes first."""


@dataclass(frozen=True, order=True, slots=True)
class Standing:
    """A job that is RUNNABLE from `start` to before `end`, in one place of its share's order."""

    key: Key
    start: int = field(compare=False)
    """ms."""
    end: int = field(compare=False)
    turn: int = field(compare=False)
    """Which of the job's stays in RUNNABLE this is part of. A change of its priority divides one."""

    @property
    def job(self) -> int:
        """Row of the trace."""
        return self.key[2]


@dataclass(frozen=True, slots=True)
class Front:
    """Who stands at the front from `start` to before `end`."""

    start: int
    end: int
    job: int
    """Row of the trace."""


def standings(outcome: Outcome, jobs: npt.NDArray[np.signedinteger], *, after: int, before: int) -> list[Standing]:
    """When these jobs are RUNNABLE between two times, and where they stand meanwhile, by start.

    A job that is still RUNNABLE at the end of the replay is so until just after it.
    """
    job, start, end, queue_time, turn = _runnable(outcome, jobs)
    rows = np.flatnonzero((start < before) & (end > after) & (end > start))
    changed = _priorities(outcome)
    plain = outcome.trace.priority
    found: list[Standing] = []
    for row in rows.tolist():
        number = int(job[row])
        first, last, time = int(start[row]), int(end[row]), int(queue_time[row])
        for since, until, priority in _priority_within(int(plain[number]), changed.get(number, ()), first, last):
            if since < before and until > after:
                found.append(Standing((-priority, time, number), since, until, int(turn[row])))
    return sorted(found, key=lambda standing: standing.start)


def stays(outcome: Outcome, job: int) -> list[tuple[int, int]]:
    """A job's stays in RUNNABLE that took any time, in order: from and to, in ms, to the end of the replay at most."""
    _, start, end, _, _ = _runnable(outcome, np.array([job], dtype=np.int64))
    ends = np.minimum(end, outcome.ended_at)
    return [(int(first), int(last)) for first, last in zip(start, ends, strict=True) if last > first]


def rivals(outcome: Outcome, job: int) -> npt.NDArray[np.signedinteger]:
    """All jobs that stand in one line with a job, itself included: of its share and, under `per_unit`, of its units."""
    same = outcome.share_of_job == outcome.share_of_job[job]
    if outcome.assumptions.head_of_line is HeadOfLine.PER_UNIT:
        trace = outcome.trace
        uses = trace.needs > 0
        alike = (uses == uses[trace.need[job]]).all(axis=1)
        same &= alike[trace.need]
    return np.flatnonzero(same)


def fronts(standing: Sequence[Standing], start: int, end: int) -> list[Front]:
    """Who stands at the front, from `start` to `end`. The standings are by start; there is always somebody."""
    waiting: list[Standing] = []
    found: list[Front] = []
    at, following = start, 0
    while at < end:
        while following < len(standing) and standing[following].start <= at:
            heappush(waiting, standing[following])
            following += 1
        while waiting and waiting[0].end <= at:
            heappop(waiting)
        until = min(end, waiting[0].end) if waiting else end
        first = waiting[0] if waiting else None
        while following < len(standing) and standing[following].start < until:
            newcomer = standing[following]
            if newcomer.end > newcomer.start and (first is None or newcomer < first):
                until = newcomer.start
                break
            heappush(waiting, newcomer)
            following += 1
        if first is not None:
            if found and found[-1].job == first.job and found[-1].end == at:
                found[-1] = Front(found[-1].start, until, first.job)
            else:
                found.append(Front(at, until, first.job))
        at = until
    return found


def _runnable(outcome: Outcome, jobs: npt.NDArray[np.signedinteger]) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    """The stays of these jobs in RUNNABLE: job, start, end, queue time, which of the job's; by job, then in order."""
    attempts = outcome.attempts
    wanted = np.zeros(len(outcome.trace), dtype=np.bool_)
    wanted[jobs] = True
    made = np.flatnonzero(wanted[attempts.job])
    made = made[np.argsort(attempts.job[made], kind="stable")]
    kind = attempts.outcome[made]
    returned = made[(kind == AttemptOutcome.PREEMPTED) | (kind == AttemptOutcome.NO_CAPACITY)]
    submitted = jobs[outcome.jobs.status[jobs] != JobStatus.SUBMITTED]
    job = np.concatenate([submitted, attempts.job[returned]]).astype(np.int64)
    start = np.concatenate([outcome.trace.submitted_at[submitted], attempts.stopped_at[returned]])
    preempted = np.concatenate(
        [np.zeros(len(submitted), dtype=np.bool_), attempts.outcome[returned] == AttemptOutcome.PREEMPTED]
    )
    order = np.argsort(job, kind="stable")
    job, start, preempted = job[order], start[order], preempted[order]
    finished = outcome.jobs.finished_at[job]
    end = np.where(finished == NEVER, outcome.ended_at + 1, finished)
    of_job = attempts.job[made]
    rank = np.arange(len(job)) - np.searchsorted(job, job)
    dispatch = np.searchsorted(of_job, job) + rank
    dispatched = rank < np.searchsorted(of_job, job, side="right") - np.searchsorted(of_job, job)
    end[dispatched] = attempts.scheduled_at[made[dispatch[dispatched]]]
    queue_time = outcome.trace.submitted_at[job].copy()
    if outcome.assumptions.requeue_position is RequeuePosition.BACK:
        queue_time = _at_the_back(rank, start, preempted)
    return job, start, end, queue_time, rank


def _at_the_back(rank: Int64, start: Int64, preempted: npt.NDArray[np.bool_]) -> Int64:
    """Each stretch's queue time where preempted jobs take a new one: that of the last preemption, or of submission."""
    sets = np.where((rank == 0) | preempted, np.arange(len(rank)), 0)
    return start[np.maximum.accumulate(sets)] if len(rank) else start


def _priorities(outcome: Outcome) -> dict[int, list[tuple[int, int]]]:
    """Of the jobs whose priority is updated: when and to what."""
    updates = [e for e in outcome.events if isinstance(e, UpdatePriority) and e.at <= outcome.ended_at]
    if not updates:
        return {}
    named = outcome.trace.job_id.is_in(list({update.job for update in updates}))
    row_of = {str(outcome.trace.job_id[row]): row for row in np.flatnonzero(named.to_numpy()).tolist()}
    found: dict[int, list[tuple[int, int]]] = {}
    for update in updates:
        found.setdefault(row_of[update.job], []).append((update.at, update.priority))
    return found


def priorities_at(outcome: Outcome, at: int) -> Int64:
    """Each job's priority at a time."""
    priorities = outcome.trace.priority.astype(np.int64)
    for job, changes in _priorities(outcome).items():
        for when, priority in changes:
            if when <= at:
                priorities[job] = priority
    return priorities


def _priority_within(
    priority: int, changes: Sequence[tuple[int, int]], start: int, end: int
) -> list[tuple[int, int, int]]:
    """Stretches of one priority between two times: start, end, priority."""
    found = []
    since = start
    for at, changed in changes:
        if at <= start:
            priority = changed
        elif at < end:
            found.append((since, at, priority))
            since, priority = at, changed
    return [stretch for stretch in [*found, (since, end, priority)] if stretch[1] > stretch[0]]

"""What happened to a queue's jobs in a span of time: each change of a job's status, with its state right after it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from policy_engine.emulator.schedule import Attempt, JobState, Schedule, ServiceJobStatus
from policy_engine.scheduler import NEVER, AttemptOutcome, Reason

_RETURNS = frozenset({AttemptOutcome.PREEMPTED, AttemptOutcome.NO_CAPACITY})


@dataclass(frozen=True, slots=True)
class Step:
    """A job's status changed."""

    at: int
    """ms since 1970-01-01 UTC."""
    job_id: str
    state: JobState
    """The job's right after it."""


def steps(schedule: Schedule, since: int, until: int) -> list[Step]:
    """All after `since` and up to `until`, in order of time. The schedule goes to `until`."""
    start, job_ids = schedule.started_at, schedule.outcome.trace.job_id
    found = [
        step
        for row in _rows(schedule, since - start, until - start)
        for step in _of_job(schedule, job_ids[row], start + int(schedule.outcome.trace.submitted_at[row]))
        if since < step.at <= until
    ]
    return sorted(found, key=lambda step: step.at)


def _rows(schedule: Schedule, since: int, until: int) -> list[int]:
    """Rows of jobs that something may have happened to, between two times of the replay."""
    outcome, attempts = schedule.outcome, schedule.outcome.attempts

    def within(times: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return (times > since) & (times <= until)

    # One that is dispatched but not RUNNING may have got its instances.
    starting = (attempts.running_at == NEVER) | (attempts.running_at > since)
    starting &= (attempts.stopped_at == NEVER) | (attempts.stopped_at > since)
    moved = starting | within(attempts.scheduled_at) | within(attempts.running_at) | within(attempts.stopped_at)
    moved_jobs = np.zeros(len(outcome.trace), dtype=np.bool_)
    moved_jobs[attempts.job[moved]] = True
    moved_jobs |= within(outcome.trace.submitted_at) | within(outcome.jobs.finished_at)
    return list(np.flatnonzero(moved_jobs).tolist())


def _of_job(schedule: Schedule, job_id: str, submitted_at: int) -> Iterator[Step]:
    """All of a job's steps after its submission."""
    last = schedule.job(job_id)

    def step(at: int, status: ServiceJobStatus, attempts: tuple[Attempt, ...]) -> Step:
        return Step(at, job_id, JobState(status=status, reason=Reason.NONE, attempts=attempts, finished_at=None))

    yield step(submitted_at, ServiceJobStatus.RUNNABLE, ())
    for number, attempt in enumerate(last.attempts):
        before = last.attempts[:number]
        begun = replace(attempt, running_at=None, stopped_at=None, outcome=AttemptOutcome.RUNNING)
        stopped_at, running_at = attempt.stopped_at, attempt.running_at
        yield step(attempt.scheduled_at, ServiceJobStatus.SCHEDULED, (*before, begun))
        if attempt.starting_at is not None and (stopped_at is None or attempt.starting_at < stopped_at):
            yield step(attempt.starting_at, ServiceJobStatus.STARTING, (*before, begun))
        if running_at is not None and (stopped_at is None or running_at <= stopped_at):
            yield step(running_at, ServiceJobStatus.RUNNING, (*before, replace(begun, running_at=running_at)))
        if stopped_at is not None and attempt.outcome in _RETURNS and stopped_at != last.finished_at:
            yield step(stopped_at, ServiceJobStatus.RUNNABLE, (*before, attempt))
    if last.finished_at is not None:
        yield Step(last.finished_at, job_id, last)

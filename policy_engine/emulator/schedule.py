"""What a replay says of each job at its end, in the API's words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, Reason
from policy_engine.scheduler.reasons import STATUS_REASON


class ServiceJobStatus(StrEnum):
    """ServiceJobStatus of the API, without PENDING, which service jobs never are."""

    SUBMITTED = "SUBMITTED"
    RUNNABLE = "RUNNABLE"
    SCHEDULED = "SCHEDULED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def dispatched(self) -> bool:
        """Whether a job with this status holds capacity."""
        return self in {ServiceJobStatus.SCHEDULED, ServiceJobStatus.STARTING, ServiceJobStatus.RUNNING}

    @property
    def ended(self) -> bool:
        """Whether a job with this status keeps it."""
        return self in {ServiceJobStatus.SUCCEEDED, ServiceJobStatus.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One dispatch of a job. Times in ms since 1970-01-01 UTC; None if that has not come."""

    number: int
    """From 0."""
    scheduled_at: int
    running_at: int | None
    stopped_at: int | None
    outcome: AttemptOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job at one moment."""

    status: ServiceJobStatus
    reason: Reason
    attempts: tuple[Attempt, ...]
    finished_at: int | None

    @property
    def latest(self) -> Attempt | None:
        """The last dispatch."""
        return self.attempts[-1] if self.attempts else None

    @property
    def preempted(self) -> tuple[Attempt, ...]:
        """The attempts that a preemption has stopped, the latest first."""
        return tuple(attempt for attempt in reversed(self.attempts) if attempt.outcome is AttemptOutcome.PREEMPTED)

    @property
    def status_reason(self) -> str | None:
        """The `statusReason` of the replay, if there is one."""
        return STATUS_REASON.get(self.reason)


_STATUS = {
    JobStatus.SUBMITTED: ServiceJobStatus.SUBMITTED,
    JobStatus.RUNNABLE: ServiceJobStatus.RUNNABLE,
    JobStatus.SUCCEEDED: ServiceJobStatus.SUCCEEDED,
    JobStatus.FAILED: ServiceJobStatus.FAILED,
}


class Schedule:
    """All jobs of a queue at the moment at which a replay ended."""

    def __init__(self, outcome: Outcome, started_at: int) -> None:
        self.outcome = outcome
        self._started_at = started_at

    @property
    def ended_at(self) -> int:
        """The moment, or that of the last event if the replay went on as long as there was any. ms since 1970."""
        return self._started_at + self.outcome.ended_at

    def shows_the_same_as(self, other: "Schedule") -> bool:
        """Whether all jobs have had the same attempts, and have the same status."""
        mine, others = self.outcome, other.outcome
        pairs = (
            (mine.attempts.job, others.attempts.job),
            (mine.attempts.scheduled_at, others.attempts.scheduled_at),
            (mine.attempts.stopped_at, others.attempts.stopped_at),
            (mine.jobs.status, others.jobs.status),
            (mine.jobs.finished_at, others.jobs.finished_at),
        )
        return all(np.array_equal(one, another) for one, another in pairs)

    def job(self, job_id: str) -> JobState:
        """A job's state. Raises KeyError for one that is not of the trace."""
        row = self._rows[job_id]
        attempts = tuple(self._attempts(row))
        finished_at = int(self.outcome.jobs.finished_at[row])
        return JobState(
            status=self.status(job_id),
            reason=Reason(int(self.outcome.jobs.reason[row])),
            attempts=attempts,
            finished_at=self._moment(finished_at),
        )

    def status(self, job_id: str) -> ServiceJobStatus:
        """A job's status alone, which costs less than its state. Raises KeyError."""
        row = self._rows[job_id]
        status = JobStatus(int(self.outcome.jobs.status[row]))
        return self._dispatched_status(row) if status is JobStatus.RUNNING else _STATUS[status]

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {job_id: row for row, job_id in enumerate(self.outcome.trace.job_id.to_list())}

    @cached_property
    def _attempts_of_row(self) -> Mapping[int, list[int]]:
        of_row: dict[int, list[int]] = {}
        for index, row in enumerate(self.outcome.attempts.job.tolist()):
            of_row.setdefault(row, []).append(index)
        return of_row

    def _attempts(self, row: int) -> Iterator[Attempt]:
        table = self.outcome.attempts
        for number, index in enumerate(self._attempts_of_row.get(row, ())):
            yield Attempt(
                number=number,
                scheduled_at=self._started_at + int(table.scheduled_at[index]),
                running_at=self._moment(int(table.running_at[index])),
                stopped_at=self._moment(int(table.stopped_at[index])),
                outcome=AttemptOutcome(int(table.outcome[index])),
            )

    def _dispatched_status(self, row: int) -> ServiceJobStatus:
        latest = self._attempts_of_row[row][-1]
        now, running_at = self.outcome.ended_at, int(self.outcome.attempts.running_at[latest])
        if running_at != NEVER and running_at <= now:
            return ServiceJobStatus.RUNNING
        trace = self.outcome.trace
        units = tuple(trace.units[unit] for unit in np.flatnonzero(trace.needs[trace.need[row]]))
        provisioning, _ = self.outcome.assumptions.latency(units)
        provisioned = now >= int(self.outcome.attempts.scheduled_at[latest]) + provisioning
        return ServiceJobStatus.STARTING if provisioned else ServiceJobStatus.SCHEDULED

    def _moment(self, at: int) -> int | None:
        return None if at == NEVER else self._started_at + at

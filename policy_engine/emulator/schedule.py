"""What a replay says of each job at its end, in the API's words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, Reason
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.trace import Unavailable


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
        return self in _DISPATCHED

    @property
    def ended(self) -> bool:
        """Whether a job with this status keeps it."""
        return self in _ENDED


_DISPATCHED = frozenset({ServiceJobStatus.SCHEDULED, ServiceJobStatus.STARTING, ServiceJobStatus.RUNNING})
_ENDED = frozenset({ServiceJobStatus.SUCCEEDED, ServiceJobStatus.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One dispatch of a job. Times in ms since 1970-01-01 UTC; None if that has not come."""

    number: int
    """From 0."""
    scheduled_at: int
    starting_at: int | None
    """When its instances are there; None also if SageMaker lacked them."""
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


_NOT_SEEN_YET = JobState(status=ServiceJobStatus.SUBMITTED, reason=Reason.NONE, attempts=(), finished_at=None)
_STATUS: Mapping[int, ServiceJobStatus] = {
    JobStatus.SUBMITTED: ServiceJobStatus.SUBMITTED,
    JobStatus.RUNNABLE: ServiceJobStatus.RUNNABLE,
    JobStatus.RUNNING: ServiceJobStatus.RUNNING,
    JobStatus.SUCCEEDED: ServiceJobStatus.SUCCEEDED,
    JobStatus.FAILED: ServiceJobStatus.FAILED,
}
_STATUSES = np.array([_STATUS[status] for status in sorted(_STATUS)], dtype=object)
_COARSE: Mapping[str | None, JobStatus] = {
    ServiceJobStatus.RUNNABLE: JobStatus.RUNNABLE,
    ServiceJobStatus.SCHEDULED: JobStatus.RUNNING,
    ServiceJobStatus.STARTING: JobStatus.RUNNING,
    ServiceJobStatus.RUNNING: JobStatus.RUNNING,
    ServiceJobStatus.SUCCEEDED: JobStatus.SUCCEEDED,
}
"""The replay's status of jobs with a status of the API. SUBMITTED and FAILED are shown of others too."""


class Schedule:
    """All jobs of a queue at the moment at which a replay ended."""

    def __init__(self, outcome: Outcome, started_at: int, row_of: Mapping[str, int] | None = None) -> None:
        """`row_of` has the row of each job, and may have rows that the outcome does not."""
        self.outcome = outcome
        self._started_at = started_at
        self._row_of = row_of if row_of is not None else {job: row for row, job in enumerate(outcome.trace.job_id)}

    @property
    def ended_at(self) -> int:
        """The moment, or that of the last event if the replay went on as long as there was any. ms since 1970."""
        return self._started_at + self.outcome.ended_at

    @property
    def started_at(self) -> int:
        """When the queue was created. ms since 1970."""
        return self._started_at

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
        """A job's state. One that is not of the trace is SUBMITTED: it came after the replay's end."""
        row = self._row(job_id)
        if row is None:
            return _NOT_SEEN_YET
        return JobState(
            status=self._statuses[row],
            reason=Reason(int(self.outcome.jobs.reason[row])),
            attempts=tuple(self._attempts(row)),
            finished_at=self._moment(int(self.outcome.jobs.finished_at[row])),
        )

    def status(self, job_id: str) -> ServiceJobStatus:
        """A job's status alone, which costs less than its state."""
        row = self._row(job_id)
        return _NOT_SEEN_YET.status if row is None else self._statuses[row]

    @property
    def seen(self) -> int:
        """How many jobs were submitted before the end, which are the first rows of the trace."""
        return int(np.searchsorted(self.outcome.trace.submitted_at, self.outcome.ended_at, side="right"))

    def rows_that_may_be(self, status: str | None) -> list[int] | None:
        """The rows with this status, and perhaps more. None if jobs that the replay has not seen may have it too."""
        coarse = _COARSE.get(status)
        return None if coarse is None else list(np.flatnonzero(self.outcome.jobs.status == coarse).tolist())

    def knows(self, job_id: str) -> bool:
        """Whether a job is one of the queue's, and came before the replay's end."""
        return self._row(job_id) is not None

    def blocked(self) -> dict[str, Reason]:
        """The jobs at the front of their shares that can never run, with the reason."""
        jobs = self.outcome.jobs
        rows = np.flatnonzero((jobs.status == JobStatus.RUNNABLE) & (jobs.reason != Reason.NONE)).tolist()
        return {self.outcome.trace.job_id[row]: Reason(int(jobs.reason[row])) for row in rows}

    def _row(self, job_id: str) -> int | None:
        row = self._row_of.get(job_id)
        return row if row is not None and row < len(self.outcome.trace) else None

    @cached_property
    def _statuses(self) -> list[ServiceJobStatus]:
        statuses: list[ServiceJobStatus] = _STATUSES[self.outcome.jobs.status].tolist()
        for row in np.flatnonzero(self.outcome.jobs.status == JobStatus.RUNNING).tolist():
            statuses[row] = self._dispatched_status(row)
        return statuses

    @cached_property
    def _attempts_by_row(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Places of attempts in the outcome, by row and time, and where each row's begin among them."""
        of_rows = self.outcome.attempts.job
        places = np.argsort(of_rows, kind="stable")
        return places, np.searchsorted(of_rows[places], np.arange(len(self.outcome.trace) + 1))

    def _places(self, row: int) -> list[int]:
        places, begin = self._attempts_by_row
        return list(places[begin[row] : begin[row + 1]].tolist())

    def _attempts(self, row: int) -> Iterator[Attempt]:
        table = self.outcome.attempts
        for number, place in enumerate(self._places(row)):
            yield Attempt(
                number=number,
                scheduled_at=self._started_at + int(table.scheduled_at[place]),
                starting_at=self._moment(self._starting_at(row, place)),
                running_at=self._moment(int(table.running_at[place])),
                stopped_at=self._moment(int(table.stopped_at[place])),
                outcome=AttemptOutcome(int(table.outcome[place])),
            )

    def _dispatched_status(self, row: int) -> ServiceJobStatus:
        latest = self._places(row)[-1]
        now, running_at = self.outcome.ended_at, int(self.outcome.attempts.running_at[latest])
        if running_at != NEVER and running_at <= now:
            return ServiceJobStatus.RUNNING
        starting_at = self._starting_at(row, latest)
        return ServiceJobStatus.STARTING if NEVER != starting_at <= now else ServiceJobStatus.SCHEDULED

    def _starting_at(self, row: int, place: int) -> int:
        """When a job's attempt has, or had, its instances. NEVER if SageMaker lacked one of their types."""
        trace = self.outcome.trace
        units = tuple(trace.units[unit] for unit in np.flatnonzero(trace.needs[trace.need[row]]))
        scheduled_at = int(self.outcome.attempts.scheduled_at[place])
        if self._is_unavailable(units, scheduled_at):
            return NEVER
        provisioning, _ = self.outcome.assumptions.latency(units)
        return scheduled_at + provisioning

    def _is_unavailable(self, units: Sequence[str], at: int) -> bool:
        """Whether SageMaker lacked one of these units then."""
        return any(
            isinstance(event, Unavailable) and event.unit in units and event.at <= at < event.until
            for event in self.outcome.events
        )

    def _moment(self, at: int) -> int | None:
        return None if at == NEVER else self._started_at + at

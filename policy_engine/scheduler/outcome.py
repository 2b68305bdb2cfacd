"""What a replay predicts: jobs, attempts and preemptions as columns."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import Assumptions
from policy_engine.topology import Topology
from policy_engine.trace import ControlEvent, JobTrace
from policy_engine.trace.jobs import Int32, Int64

if TYPE_CHECKING:
    from policy_engine.scheduler.attempt_work import AttemptWork
    from policy_engine.scheduler.usage import Usage

NEVER = -1
"""A time that did not come."""

Int8 = npt.NDArray[np.int8]


class JobStatus(IntEnum):
    """A job at the end of the replay. SUBMITTED: the replay was stopped before it was submitted."""

    SUBMITTED = 0
    RUNNABLE = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4


class AttemptOutcome(IntEnum):
    """How an attempt ended. RUNNING: it had not, at the end of the replay."""

    RUNNING = 0
    SUCCEEDED = 1
    FAILED = 2
    PREEMPTED = 3
    TERMINATED = 4
    TIMED_OUT = 5
    NO_CAPACITY = 6


class Reason(IntEnum):
    """Why a job FAILED, or why a RUNNABLE one at the head of its share can never run."""

    NONE = 0
    SERVICE_ENVIRONMENT_MAX_RESOURCE = 1
    LIMIT_EXCEEDED = 2
    BORROW_LIMIT_EXCEEDED = 3
    BORROWABLE_EXCEEDED = 4
    JOB_FAILED = 5
    ATTEMPT_TIMED_OUT = 6
    TERMINATED = 7
    PREEMPTION_RETRIES_EXHAUSTED = 8
    SHARE_DISABLED = 9
    TIME_LIMIT_SERVICE_ENVIRONMENT = 10
    TIME_LIMIT_QUOTA_MANAGEMENT = 11


class PreemptionKind(IntEnum):
    """Which rule stopped the job."""

    CROSS_SHARE = 0
    IN_SHARE = 1


@dataclass(frozen=True, eq=False, slots=True)
class Jobs:
    """One row a job, in the order of the trace's columns. Times in ms, NEVER where they did not come."""

    status: Int8
    reason: Int8
    first_scheduled_at: Int64
    finished_at: Int64
    preemptions: Int32
    lost: Int64
    """Productive ms that preemptions destroyed (of the job, not multiplied by its instances)."""


@dataclass(frozen=True, eq=False, slots=True)
class Attempts:
    """One row an attempt, in order of dispatch. Times in ms; `running_at` and `stopped_at` may be NEVER."""

    job: Int32
    scheduled_at: Int64
    running_at: Int64
    stopped_at: Int64
    """When the attempt's capacity was released."""
    outcome: Int8


@dataclass(frozen=True, eq=False, slots=True)
class Preemptions:
    """One row a victim, in the order of decision."""

    at: Int64
    victim: Int32
    claimant: Int32
    kind: Int8
    lost: Int64
    """Productive ms of the victim that this stop destroyed."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A replay's whole result, with what it was made from. What can be derived from it is made when first asked for."""

    topology: Topology
    trace: JobTrace
    events: tuple[ControlEvent, ...]
    assumptions: Assumptions
    ended_at: int
    """ms: the time of the last event, or the time at which the replay was told to stop."""
    jobs: Jobs
    attempts: Attempts
    preemptions: Preemptions

    @cached_property
    def share_names(self) -> tuple[str, ...]:
        """The topology's quota shares, in declaration order."""
        return tuple(owned.name for owned in self.topology.quota_shares())

    @cached_property
    def share_of_job(self) -> Int32:
        """Each job's share, as a number in `share_names`."""
        numbers = np.array([self.share_names.index(name) for name in self.trace.share_names], dtype=np.int32)
        return numbers[self.trace.share] if len(self.trace) else np.zeros(0, dtype=np.int32)

    @cached_property
    def instances_of_job(self) -> Int64:
        """How many instances each job needs, of all units together."""
        totals: Int64 = self.trace.needs.sum(axis=1, dtype=np.int64)[self.trace.need]
        return totals

    @cached_property
    def first_submitted_at(self) -> int:
        """ms: the start of the time that figures are taken over. It ends at `ended_at`."""
        return min(int(self.trace.submitted_at[0]), self.ended_at) if len(self.trace) else self.ended_at

    @cached_property
    def stopped_early(self) -> bool:
        """Whether the replay was told to stop while jobs were running, or before all were submitted."""
        going_on = (self.jobs.status == JobStatus.RUNNING) | (self.jobs.status == JobStatus.SUBMITTED)
        return bool(going_on.any())

    @cached_property
    def work(self) -> "AttemptWork":
        """What each attempt held, did and lost."""
        from policy_engine.scheduler.attempt_work import attempt_work

        return attempt_work(self)

    @cached_property
    def usage(self) -> "Usage":
        """Who used, borrowed, lent and waited for what, over time."""
        from policy_engine.scheduler.usage import usage_of

        return usage_of(self)

"""A service job, and how the API describes it at a moment."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from policy_engine.emulator.batch.models.job_queues import TrainingQueue
from policy_engine.emulator.schedule import Attempt, JobState, Schedule, ServiceJobStatus
from policy_engine.emulator.training_request import TrainingRequest
from policy_engine.scheduler import AttemptOutcome, Reason
from policy_engine.scheduler.reasons import SIMULATED
from policy_engine.topology.status_reasons import NO_INSTANCES

RECENT_PREEMPTIONS = 10
"""Preempted attempts that are described. AWS does not publish how many it shows."""
_FROM_SAGEMAKER = "Received status from SageMaker: "
_LONGEST_TRAINING_JOB_NAME = 63

_ATTEMPT_REASONS = {
    AttemptOutcome.SUCCEEDED: f"{_FROM_SAGEMAKER}{SIMULATED}the training job has completed.",
    AttemptOutcome.FAILED: f"{_FROM_SAGEMAKER}{SIMULATED}the training job has failed, as its request says.",
    AttemptOutcome.PREEMPTED: f"{SIMULATED}preempted.",
    AttemptOutcome.NO_CAPACITY: NO_INSTANCES,
    AttemptOutcome.TIMED_OUT: f"{SIMULATED}the attempt ran as long as its timeout allows.",
}


@dataclass(eq=False, kw_only=True)
class ServiceJob:
    """A submitted service job."""

    number: int
    job_id: str
    arn: str
    training_job_arn_prefix: str
    request: dict[str, Any]
    training: TrainingRequest
    queue: TrainingQueue
    created_at: int
    priority: int
    priority_since: int
    termination: str | None = None
    """The reason given when it was terminated."""
    withdrawn: bool = field(default=False)
    """Terminated before the scheduler has seen it."""

    @property
    def name(self) -> str:
        """The job's name."""
        return str(self.request["jobName"])

    @property
    def share(self) -> str:
        """The name of its quota share."""
        return str(self.request["quotaShareName"])

    def state(self, now: int) -> JobState:
        """Where it is when `now` begins."""
        if self.withdrawn:
            return JobState(
                status=ServiceJobStatus.FAILED, reason=Reason.TERMINATED, attempts=(), finished_at=self.created_at
            )
        return self.queue.history.schedule(now).job(self.job_id)

    def status(self, now: int) -> ServiceJobStatus:
        """The status alone, which costs less."""
        return self.status_in(self.queue.history.schedule(now))

    def status_in(self, schedule: Schedule) -> ServiceJobStatus:
        """The status in a schedule of its queue."""
        return ServiceJobStatus.FAILED if self.withdrawn else schedule.status(self.job_id)

    def summarize(self, state: JobState) -> dict[str, Any]:
        """ServiceJobSummary of the API."""
        latest = state.latest
        summary = {
            "jobArn": self.arn,
            "jobId": self.job_id,
            "jobName": self.name,
            "serviceJobType": self.request["serviceJobType"],
            "quotaShareName": self.share,
            "capacityUsage": [{"capacityUnit": unit, "quantity": float(n)} for unit, n in self.training.need.items()],
            "createdAt": self.created_at,
            "scheduledAt": latest.scheduled_at if latest else None,
            "startedAt": (latest.running_at if latest else None) or 0,
            "stoppedAt": state.finished_at,
            "status": state.status.value,
            "statusReason": self._status_reason(state),
            "isTerminated": self.termination is not None,
            "latestAttempt": {"serviceResourceId": self._resource_id(latest)} if latest else None,
        }
        return {field: value for field, value in summary.items() if value is not None}

    def describe(self, state: JobState, tags: dict[str, str]) -> dict[str, Any]:
        """DescribeServiceJobResponse of the API."""
        echoed = ("preemptionConfiguration", "retryStrategy", "serviceRequestPayload", "timeoutConfig")
        described = {
            **self.summarize(state),
            **{field: self.request[field] for field in echoed if field in self.request},
            "jobQueue": self.queue.arn,
            "schedulingPriority": self.priority,
            "attempts": [self._attempt(attempt) for attempt in state.attempts if _is_an_attempt(attempt)],
            "tags": tags,
        }
        preempted = state.preempted
        if preempted:
            described["preemptionSummary"] = {
                "preemptedAttemptCount": len(preempted),
                "recentPreemptedAttempts": [self._attempt(attempt) for attempt in preempted[:RECENT_PREEMPTIONS]],
            }
        return described

    def _attempt(self, attempt: Attempt) -> dict[str, Any]:
        described = {
            "serviceResourceId": self._resource_id(attempt),
            "startedAt": attempt.running_at,
            "stoppedAt": attempt.stopped_at,
            "statusReason": self._attempt_reason(attempt),
        }
        return {field: value for field, value in described.items() if value is not None}

    def _attempt_reason(self, attempt: Attempt) -> str | None:
        if attempt.outcome is AttemptOutcome.TERMINATED:
            return self.termination
        return _ATTEMPT_REASONS.get(attempt.outcome)

    def _status_reason(self, state: JobState) -> str | None:
        if self.termination is not None and state.reason is Reason.TERMINATED:
            return self.termination
        if state.reason is Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE and self.queue.environment.state == "DISABLED":
            return f"{SIMULATED}the service environment is DISABLED."
        latest = state.latest
        if latest is not None and state.reason in {Reason.NONE, Reason.JOB_FAILED, Reason.ATTEMPT_TIMED_OUT}:
            return self._attempt_reason(latest)
        return state.status_reason

    def training_job_name(self, attempt: Attempt) -> str:
        """The name of an attempt's training job."""
        number = uuid.uuid5(uuid.UUID(self.job_id), str(attempt.number)).hex
        name = f"AWSBatch{self.training.name}"[: _LONGEST_TRAINING_JOB_NAME - len(number)].rstrip("-")
        return f"{name}{number}"

    def _resource_id(self, attempt: Attempt) -> dict[str, str]:
        return {"name": "TrainingJobArn", "value": f"{self.training_job_arn_prefix}{self.training_job_name(attempt)}"}


def _is_an_attempt(attempt: Attempt) -> bool:
    """Whether it counts as an attempt of the retry strategy: it has ended, and for another reason than Batch's own."""
    return attempt.outcome not in {AttemptOutcome.RUNNING, AttemptOutcome.PREEMPTED, AttemptOutcome.NO_CAPACITY}

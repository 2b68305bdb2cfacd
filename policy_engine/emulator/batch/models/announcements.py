"""What AWS Batch tells others by itself: events for EventBridge, and training jobs for SageMaker.

Source of the events: "AWS Batch service job events" and "Service job queue blocked events" in the user guide.
"""

import json
from typing import Any

from policy_engine.emulator import training_jobs
from policy_engine.emulator.batch.models.job_filters import Selection
from policy_engine.emulator.batch.models.job_queues import TrainingQueue
from policy_engine.emulator.batch.models.service_job import ServiceJob
from policy_engine.emulator.batch.models.tags import TagBackend
from policy_engine.emulator.event_bus import AccountEvents
from policy_engine.emulator.identifiers import identifiers_from
from policy_engine.emulator.schedule import JobState, ServiceJobStatus
from policy_engine.emulator.steps import Step, steps
from policy_engine.scheduler import Reason

STATE_CHANGE = "Batch Service Job State Change"
QUEUE_BLOCKED = "Batch Service Job Queue Blocked"
_LEFT_OUT = ("tags", "serviceRequestPayload")
"""Members of DescribeServiceJob that events do not have."""


class AnnouncingBackend(TagBackend):
    """Tells what has happened since it last did."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._told_until: dict[TrainingQueue, int] = {}
        self._blocked: dict[str, Reason] = {}
        self._events = AccountEvents(account_id, region_name)

    def announce(self) -> None:
        """Tell what has happened up to now, in order of time."""
        until = self.now - 1
        for queue in self.training_queues():
            self._told_until.setdefault(queue, queue.history.started_at - 1)
        for queue, since in list(self._told_until.items()):
            if since < until and queue.history.has_jobs:
                self._tell_of(queue, since, until)
            self._told_until[queue] = max(since, until)

    def describe_service_job(self, identifier: str) -> dict[str, Any]:
        """As it is; whoever sees a job dispatched finds its training job."""
        self.announce()
        return super().describe_service_job(identifier)

    def list_service_jobs(
        self, *, queue_identifier: str | None, selection: Selection, max_results: int | None, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """As they are; likewise."""
        self.announce()
        return super().list_service_jobs(
            queue_identifier=queue_identifier, selection=selection, max_results=max_results, token=token
        )

    def _tell_of(self, queue: TrainingQueue, since: int, until: int) -> None:
        schedule = queue.history.schedule(until + 1)
        for step in steps(schedule, since, until):
            job = self.get_service_job(step.job_id)
            self._show_training_job(job, step)
            self._send(STATE_CHANGE, job, step.state, step.at)
        blocked = schedule.blocked()
        for job_id, reason in blocked.items():
            if self._blocked.get(job_id) is not reason:
                self._send(QUEUE_BLOCKED, self.get_service_job(job_id), schedule.job(job_id), until)
        self._blocked = {job: reason for job, reason in self._blocked.items() if not schedule.knows(job)} | blocked

    def _send(self, detail_type: str, job: ServiceJob, state: JobState, at: int) -> None:
        described = job.describe(state, {})
        # The same event has the same identifiers, whenever it is sent: a server that starts again sends it again.
        with identifiers_from(f"{job.arn} {detail_type} {state.status} {at}"):
            self._events.send(
                at=at,
                detail_type=detail_type,
                resource=job.arn,
                detail={name: value for name, value in described.items() if name not in _LEFT_OUT},
            )

    def _show_training_job(self, job: ServiceJob, step: Step) -> None:
        attempt = step.state.latest
        if attempt is None or (step.state.status is ServiceJobStatus.FAILED and attempt.stopped_at != step.at):
            return  # it was RUNNABLE when it ended
        training_jobs.show(
            account_id=self.account_id,
            region_name=self.region_name,
            name=job.training_job_name(attempt),
            request=json.loads(job.request["serviceRequestPayload"]),
            attempt=attempt,
            status=step.state.status,
            at=step.at,
        )

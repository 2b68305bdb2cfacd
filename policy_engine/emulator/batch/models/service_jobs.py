"""Service jobs: submitting, describing, reprioritizing and terminating them."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from moto.batch.exceptions import ClientException
from moto.moto_api._internal import mock_random

from policy_engine.emulator.batch.exceptions import NotFoundError
from policy_engine.emulator.batch.models.base import named
from policy_engine.emulator.batch.models.job_filters import Selection
from policy_engine.emulator.batch.models.job_queues import TrainingQueue
from policy_engine.emulator.batch.models.quota_shares import QuotaShare, QuotaShareBackend
from policy_engine.emulator.batch.models.service_job import ServiceJob
from policy_engine.emulator.batch.paging import page
from policy_engine.emulator.batch.service_requests import check_priority, check_submission
from policy_engine.emulator.schedule import Schedule
from policy_engine.emulator.submissions import Submission
from policy_engine.emulator.training_request import TrainingRequest, TrainingRequestError, read_training_request
from policy_engine.trace import NONE

MAX_TERMINATED_AT_ONCE = 50


class ServiceJobBackend(QuotaShareBackend):
    """Submit-, Describe-, List-, Update-, TerminateServiceJob and TerminateServiceJobs."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._service_jobs: dict[str, ServiceJob] = {}
        self._jobs_of: defaultdict[TrainingQueue, list[ServiceJob]] = defaultdict(list)
        self._scheduled_jobs_of: defaultdict[TrainingQueue, list[ServiceJob]] = defaultdict(list)
        self._client_tokens: set[str] = set()

    def service_jobs_of(self, queue: TrainingQueue) -> Sequence[ServiceJob]:
        """All jobs that were submitted to a queue, in order of submission."""
        return self._jobs_of[queue]

    def seen_jobs_of(self, queue: TrainingQueue, schedule: Schedule) -> list[ServiceJob]:
        """The jobs that a schedule of the queue shows, by row: those that were submitted before its end."""
        return self._scheduled_jobs_of[queue][: schedule.seen]

    def find_service_job(self, identifier: str) -> ServiceJob | None:
        """By id or ARN."""
        return self._service_jobs.get(identifier.rpartition(":service-job/")[2])

    def get_service_job(self, identifier: str) -> ServiceJob:
        """By id or ARN. Raises NotFoundError."""
        job = self.find_service_job(identifier)
        if job is None:
            raise NotFoundError("Service job", identifier)
        return job

    def submit_service_job(self, request: dict[str, Any], size: int) -> ServiceJob:
        """Submit a job, by a request of so many bytes."""
        queue = self.get_training_queue(request["jobQueue"])
        check_submission(request, size)
        share = self._open_share(queue, request["quotaShareName"])
        tags = request.get("tags", {})
        try:
            training = read_training_request(request["serviceRequestPayload"], tags)
        except TrainingRequestError as error:
            raise ClientException(f"the emulator cannot run serviceRequestPayload: {error}") from error
        token = request.get("clientToken")
        if token is not None:
            if token in self._client_tokens:
                raise ClientException(f"a request with the clientToken {token} was received before")
            self._client_tokens.add(token)
        job_id = str(mock_random.uuid4())
        job = ServiceJob(
            number=len(self._service_jobs) + 1,
            job_id=job_id,
            arn=self.batch_arn(f"service-job/{job_id}"),
            training_job_arn_prefix=(
                f"arn:{self.partition}:sagemaker:{self.region_name}:{self.account_id}:training-job/"
            ),
            request=request,
            training=training,
            queue=queue,
            created_at=self.now,
            priority=request.get("schedulingPriority", 0),
            priority_since=self.now,
        )
        queue.history.submit(job_id, self._submission(job, share, training))
        self._service_jobs[job_id] = job
        self._jobs_of[queue].append(job)
        self._scheduled_jobs_of[queue].append(job)
        self.tag_resource(job.arn, tags)
        return job

    def describe_service_job(self, identifier: str) -> dict[str, Any]:
        """DescribeServiceJobResponse."""
        job = self.get_service_job(identifier)
        return job.describe(job.state(self.now), self.list_tags_for_resource(job.arn))

    def list_service_jobs(
        self, *, queue_identifier: str | None, selection: Selection, max_results: int | None, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of a queue's selected jobs, the latest first."""
        if queue_identifier is None:
            raise ClientException("jobQueue must be specified")
        queue, now = self.get_training_queue(queue_identifier), self.now
        schedule, jobs = queue.history.schedule(now), self.service_jobs_of(queue)
        rows = schedule.rows_that_may_be(selection.status)
        if rows is not None:
            seen = self.seen_jobs_of(queue, schedule)
            jobs = [seen[row] for row in rows]
        selected = (job for job in reversed(jobs) if selection.includes(job, job.status_in(schedule)))
        shown, next_token = page(selected, lambda job: -job.number, max_results, token)
        return [job.summarize(job.state(now)) for job in shown], next_token

    def update_service_job(self, identifier: str, priority: int) -> ServiceJob:
        """Give a job that has not ended another priority."""
        check_priority(priority)
        job = self.get_service_job(identifier)
        if job.status(self.now).ended:
            raise ClientException(f"Service job {job.job_id} has ended; its schedulingPriority cannot be changed")
        if priority != job.priority:
            job.priority, job.priority_since = priority, self.now
            job.queue.history.update_priority(job.job_id, priority, self.now)
        return job

    def terminate_service_job(self, identifier: str, reason: str) -> None:
        """Terminate a job. Nothing happens to one that has ended or does not exist."""
        job = self.find_service_job(identifier)
        if job is None or job.termination is not None or job.status(self.now).ended:
            return
        job.termination = reason
        job.withdrawn = job.created_at >= self.now
        if job.withdrawn:
            self._scheduled_jobs_of[job.queue].remove(job)
        job.queue.history.terminate(job.job_id, self.now)

    def terminate_service_jobs(self, identifiers: list[str], reason: str) -> tuple[list[str], list[dict[str, str]]]:
        """Terminate up to 50 jobs: those whose termination was accepted, and what is wrong with the others."""
        if not 1 <= len(identifiers) <= MAX_TERMINATED_AT_ONCE:
            raise ClientException(f"jobs must have 1 to {MAX_TERMINATED_AT_ONCE} entries, not {len(identifiers)}")
        accepted, errors = [], []
        for identifier in identifiers:
            if _is_job_id(identifier.rpartition(":service-job/")[2]):
                self.terminate_service_job(identifier, reason)
                accepted.append(identifier)
            else:
                message = "expected the id of a service job"
                errors.append({"job": identifier, "code": "ValidationException", "message": message})
        return accepted, errors

    def delete_quota_share(self, arn: str) -> None:
        """Delete a share that is DISABLED, and terminate its jobs."""
        share = self.get_quota_share(arn)
        super().delete_quota_share(arn)
        for job in self.service_jobs_of(share.queue):
            if job.share == share.name:
                self.terminate_service_job(job.job_id, "Simulated: the quota share was deleted.")

    def _open_share(self, queue: TrainingQueue, name: str) -> QuotaShare:
        """The share, if it and its queue take jobs. Raises ClientException."""
        if queue.lifecycle.status not in {"VALID", "UPDATING"}:
            raise ClientException(f"Job queue {queue.name} is not VALID")
        if queue.state != "ENABLED":
            raise ClientException(f"Job queue {queue.name} is DISABLED")
        share = named(self.quota_shares_of(queue), name)
        if share is None or share.name != name:
            raise NotFoundError("Quota share", name)
        if share.lifecycle.status not in {"VALID", "UPDATING"}:
            raise ClientException(f"Quota share {name} is not VALID")
        if share.state != "ENABLED":
            raise ClientException(f"Quota share {name} is DISABLED")
        return share

    def _submission(self, job: ServiceJob, share: QuotaShare, training: TrainingRequest) -> Submission:
        timeout = job.request.get("timeoutConfig", {}).get("attemptDurationSeconds")
        limits = [limit for limit in (timeout and timeout * 1000, training.max_runtime) if limit]
        retries = job.request.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination", NONE)
        return Submission(
            share=share.name,
            at=job.created_at,
            need=training.need,
            runtime=self.emulation.default_runtime if training.runtime is None else training.runtime,
            priority=job.priority,
            preemption_retries=retries,
            checkpoint=training.checkpoint,
            attempt_timeout=min(limits, default=NONE),
            fails=training.fails,
        )


def _is_job_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True

"""SageMaker Training job queues with quota management, beside moto's own queues."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.capacity_limits import NUM_INSTANCES, CapacityLimit
from policy_engine.emulator.batch.exceptions import AlreadyExistsError, NotFoundError
from policy_engine.emulator.batch.lifecycle import Lifecycle
from policy_engine.emulator.batch.models.base import named
from policy_engine.emulator.batch.models.scheduling_policies import QuotaSharePolicy, SchedulingPolicyBackend
from policy_engine.emulator.batch.models.service_environments import ServiceEnvironment, ServiceEnvironmentBackend
from policy_engine.emulator.batch.paging import page
from policy_engine.emulator.batch.time_limits import TimeLimitAction, check_time_limits
from policy_engine.emulator.batch.validation import check_name, check_range
from policy_engine.emulator.queue_history import HistoryError, QueueHistory
from policy_engine.topology.service_limits import MAX_QUEUE_PRIORITY

MAX_JOB_QUEUES = 50
"""Of an account and region ("AWS Batch service quotas" in the user guide)."""
TRAINING = "SAGEMAKER_TRAINING"


@dataclass(eq=False)
class TrainingQueue:
    """A quota-managed job queue, with what has happened to it."""

    number: int
    name: str
    arn: str
    state: str
    priority: int
    policy_arn: str
    environment: ServiceEnvironment
    environment_order: int
    time_limits: tuple[TimeLimitAction, ...]
    history: QueueHistory
    lifecycle: Lifecycle

    def describe(self, tags: dict[str, str]) -> dict[str, Any]:
        """JobQueueDetail of the API."""
        status = self.lifecycle.status
        return {
            "jobQueueName": self.name,
            "jobQueueArn": self.arn,
            "state": self.state,
            "schedulingPolicyArn": self.policy_arn,
            "status": status,
            **({"statusReason": "JobQueue Healthy"} if status == "VALID" else {}),
            "priority": self.priority,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [
                {"order": self.environment_order, "serviceEnvironment": self.environment.arn},
            ],
            "jobQueueType": TRAINING,
            "jobStateTimeLimitActions": list(self.time_limits),
            "tags": tags,
        }


class JobQueueBackend(ServiceEnvironmentBackend, SchedulingPolicyBackend):
    """Create-, Describe-, Update- and DeleteJobQueue, and what queues forbid to do with what they use."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._training_queues: dict[str, TrainingQueue] = {}
        self._training_queues_made = 0

    def training_queues(self) -> list[TrainingQueue]:
        """All quota-managed queues, in order of creation."""
        return self.present(self._training_queues)

    def find_training_queue(self, identifier: str) -> TrainingQueue | None:
        """By name or ARN. None if there is no such queue, or it is not quota-managed."""
        return named(self.training_queues(), identifier)

    def get_training_queue(self, identifier: str) -> TrainingQueue:
        """By name or ARN. Raises ClientException."""
        queue = self.find_training_queue(identifier)
        if queue is not None:
            return queue
        if self.get_job_queue(identifier) is not None:
            raise ClientException(f"Job queue {identifier} is not of the type {TRAINING}")
        raise NotFoundError("Job queue", identifier)

    def create_training_queue(
        self,
        *,
        name: str,
        type_: str | None,
        state: str | None,
        priority: int,
        policy_arn: str | None,
        environments: Sequence[dict[str, Any]] | None,
        time_limits: Sequence[TimeLimitAction] | None,
        tags: dict[str, str] | None,
    ) -> TrainingQueue:
        """Create a queue, ENABLED unless told otherwise."""
        check_name("jobQueueName", name)
        check_range("priority", priority, 0, MAX_QUEUE_PRIORITY)
        if type_ != TRAINING or not environments:
            raise ClientException(f"a queue of the jobQueueType {TRAINING} needs serviceEnvironmentOrder, and no other")
        actions, limits = check_time_limits(time_limits or ())
        self._check_policy(policy_arn)
        if self.find_training_queue(name) or self.get_job_queue_by_name(name):
            raise AlreadyExistsError
        if len(self.training_queues()) + len(self._job_queues) >= MAX_JOB_QUEUES:
            raise ClientException(f"an account has at most {MAX_JOB_QUEUES} job queues in a region")
        order, environment = self._only_environment(environments, None)
        self._training_queues_made += 1
        queue = TrainingQueue(
            number=self._training_queues_made,
            name=name,
            arn=self.batch_arn(f"job-queue/{name}"),
            state=state or "ENABLED",
            priority=priority,
            policy_arn=policy_arn or "",
            environment=environment,
            environment_order=order,
            time_limits=actions,
            history=QueueHistory(
                started_at=self.now,
                capacity=environment.capacity,
                time_limits=limits,
                assumptions=self.emulation.assumptions,
                outages=self.emulation.outages,
            ),
            lifecycle=Lifecycle(self.emulation),
        )
        self._training_queues[queue.arn] = queue
        self.tag_resource(queue.arn, tags or {})
        return queue

    def describe_queues(
        self, *, identifiers: list[str] | None, max_results: int | None, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of the queues with these names or ARNs, or of all: quota-managed ones, then the others."""
        described = [
            queue.describe(self.list_tags_for_resource(queue.arn))
            for queue in self.training_queues()
            if not identifiers or queue.name in identifiers or queue.arn in identifiers
        ]
        numbered = list(enumerate([*described, *self.describe_job_queues(identifiers)]))
        shown, next_token = page(numbered, lambda entry: entry[0], max_results, token)
        return [queue for _, queue in shown], next_token

    def update_training_queue(
        self,
        queue: TrainingQueue,
        *,
        state: str | None,
        priority: int | None,
        policy_arn: str | None,
        environments: Sequence[dict[str, Any]] | None,
        time_limits: Sequence[TimeLimitAction] | None,
    ) -> None:
        """Change a queue, at once."""
        if queue.lifecycle.status == "DELETING":
            raise ClientException(f"Job queue {queue.name} is being deleted")
        if priority is not None:
            check_range("priority", priority, 0, MAX_QUEUE_PRIORITY)
        if policy_arn is not None:
            self._check_policy(policy_arn)
        order, environment = queue.environment_order, queue.environment
        if environments is not None:
            order, environment = self._only_environment(environments, queue)
        if time_limits is not None:
            actions, limits = check_time_limits(time_limits)
            try:
                queue.history.set_time_limits(limits, self.now)
            except HistoryError as error:
                raise ClientException(f"the emulator cannot change jobStateTimeLimitActions now: {error}") from error
            queue.time_limits = actions
        queue.state = state or queue.state
        queue.priority = queue.priority if priority is None else priority
        queue.policy_arn = policy_arn or queue.policy_arn
        queue.environment, queue.environment_order = environment, order
        queue.history.set_capacity(environment.capacity, self.now)
        queue.lifecycle.update()

    def delete_training_queue(self, queue: TrainingQueue) -> None:
        """Delete a queue that is DISABLED. Repeating it does nothing."""
        if queue.state != "DISABLED":
            raise ClientException(f"Job queue {queue.name} must be DISABLED before it can be deleted")
        if queue.lifecycle.status == "CREATING":
            raise ClientException(f"Job queue {queue.name} is still being created")
        if queue.lifecycle.status != "DELETING":
            queue.lifecycle.delete()

    def update_service_environment(
        self, *, identifier: str, state: str | None, capacity_limits: Sequence[CapacityLimit] | None
    ) -> ServiceEnvironment:
        """Change state and limits, at once, for the queue that uses it too."""
        environment = super().update_service_environment(
            identifier=identifier, state=state, capacity_limits=capacity_limits
        )
        for queue in self.training_queues():
            if queue.environment is environment:
                queue.history.set_capacity(environment.capacity, self.now)
        return environment

    def delete_service_environment(self, identifier: str) -> None:
        """Delete one that is DISABLED, and that no queue uses."""
        environment = self.get_service_environment(identifier)
        for queue in self.training_queues():
            if queue.environment is environment:
                raise ClientException(
                    f"Service environment {environment.name} is used by the job queue {queue.name}, "
                    "and cannot be deleted"
                )
        super().delete_service_environment(identifier)

    def delete_scheduling_policy(self, arn: str) -> None:
        """Delete a policy that no queue uses."""
        users = [queue.name for queue in self.training_queues() if queue.policy_arn == arn]
        users += [queue.name for queue in self._job_queues.values() if queue.schedule_policy == arn]
        if users:
            raise ClientException(f"Scheduling policy {arn} is used by the job queue {users[0]}, and cannot be deleted")
        super().delete_scheduling_policy(arn)

    def _check_policy(self, arn: str | None) -> None:
        if arn is None or not isinstance(self.get_scheduling_policy(arn), QuotaSharePolicy):
            raise ClientException(
                f"only quota-managed {TRAINING} queues are emulated: schedulingPolicyArn must be that of a policy "
                "with a quotaSharePolicy"
            )

    def _only_environment(
        self, order: Sequence[dict[str, Any]], user: TrainingQueue | None
    ) -> tuple[int, ServiceEnvironment]:
        """The one environment of a queue, which no other queue uses."""
        if len(order) != 1:
            raise ClientException(f"serviceEnvironmentOrder must have 1 entry, not {len(order)}")
        environment = self.get_service_environment(order[0]["serviceEnvironment"])
        if environment.lifecycle.status not in {"VALID", "UPDATING"}:
            raise ClientException(f"Service environment {environment.name} is not VALID")
        if NUM_INSTANCES in environment.limits:
            raise ClientException(
                f"Service environment {environment.name} counts {NUM_INSTANCES}; quota management needs instance types"
            )
        for queue in self.training_queues():
            if queue.environment is environment and queue is not user:
                raise ClientException(
                    f"Service environment {environment.name} is used by the job queue {queue.name} already"
                )
        return int(order[0]["order"]), environment

"""The SageMaker Training job queue, with its service environment and its quota share scheduling policy."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

import jsii
from aws_cdk import ArnFormat, Duration, RemovalPolicy, Resource, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as references
from constructs import Construct

from batch_quota.access.granting import grant, queue_arns
from batch_quota.access.statements import operate_queue_statements, view_statements
from batch_quota.arns import JOB_QUEUE, arn_problems, name_in
from batch_quota.interfaces import IQuotaShare, ISageMakerTrainingQueue, IServiceEnvironment
from batch_quota.names import known, rendered
from batch_quota.removal import apply, removal_problems, retained_alone_problems
from batch_quota.scheduling_policy import QuotaShareSchedulingPolicy
from batch_quota.service_environment import SAGEMAKER_TRAINING, ServiceEnvironment
from batch_quota.state import State
from batch_quota.validation import (
    choice_problems,
    is_token,
    name_problems,
    require,
    resource_problems,
    tag_problems,
    whole_number_problems,
)
from policy_engine.topology.service_limits import MAX_QUEUE_PRIORITY, MAX_TIME_LIMIT_SECONDS, MIN_TIME_LIMIT_SECONDS


class RunnableReason(StrEnum):
    """Why a job at the front of its share stays RUNNABLE (AWS Batch user guide, jobs stuck in RUNNABLE)."""

    INSUFFICIENT_INSTANCE_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
    SERVICE_ENVIRONMENT_MAX_RESOURCE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnableTimeLimit:
    """Terminate a job that has been RUNNABLE at the front for one reason for about a time.

    It is the job state time limit action of the API. State RUNNABLE and action TERMINATE are the only ones that a
    SageMaker Training queue takes.
    """

    reason: str
    """A RunnableReason."""
    max_time: Duration
    """From 10 minutes to 24 hours."""


@jsii.implements(references.IJobQueueRef)
class _TrainingQueueBase(Resource):
    @property
    @abstractmethod
    def job_queue_arn(self) -> str: ...

    @property
    @abstractmethod
    def job_queue_name(self) -> str: ...

    @property
    def job_queue_ref(self) -> references.JobQueueReference:
        """What aws-cdk-lib's L1 constructs take for a job queue."""
        return references.JobQueueReference(job_queue_arn=self.job_queue_arn)

    @property
    def job_tag_prefix(self) -> str:
        """`QUEUE/`, how the tag `batch-quota:quota-share` of all the queue's jobs starts."""
        return f"{self.job_queue_name}/"

    def grant_operate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal change the priority of all the queue's jobs, to any, and terminate them.

        IAM tells jobs apart by tags alone: of this queue are those whose tag `batch-quota:quota-share` says so.
        """
        return grant(self, grantee, operate_queue_statements(queue_arns(self), self.job_tag_prefix))

    def grant_view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal read the queue, how it is used, and its quota shares.

        AWS lets nobody limit the reading of jobs, queues and environments to some of them: it is all of the account's.
        """
        return grant(self, grantee, view_statements(queue_arns(self)))


class SageMakerTrainingQueue(_TrainingQueueBase):
    """A job queue of type SAGEMAKER_TRAINING whose capacity is divided by quota shares.

    It refers to its policy and its service environment by ARN, so CloudFormation makes them first and deletes them
    after it.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        service_environment: IServiceEnvironment,
        scheduling_policy: batch.ISchedulingPolicy,
        job_queue_name: str | None = None,
        priority: float = 1,
        time_limits: Sequence[RunnableTimeLimit] = (),
        state: str = State.ENABLED,
        tags: Mapping[str, str] | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Make a job queue.

        :param service_environment: With limits by instance type, and used by no other queue.
        :param scheduling_policy: With a quota share policy. It may be replaced later, but not removed.
        :param job_queue_name: CloudFormation makes one up if left out. Another name is another queue.
        :param priority: 0 to 1000. It has no effect while the queue has its service environment for itself.
        :param time_limits: At most one a reason. Without one, a job that can never run blocks its share for ever.
        :param state: DISABLED refuses new jobs; jobs already submitted go on.
        :param tags: Tags of the queue, beside those that `Tags.of` adds.
        :param removal_policy: What becomes of it when it is removed, replaced, or its stack is deleted. If left out
            it is deleted, and all its jobs are terminated. If it is retained, its environment and its policy have to
            be, too.
        :raises ValueError: With every problem of the props.
        """
        require(
            scope,
            id_,
            resource_problems(
                "service_environment",
                service_environment,
                "service_environment_arn",
                "ServiceEnvironment.from_service_environment_arn",
            ),
            resource_problems(
                "scheduling_policy",
                scheduling_policy,
                "scheduling_policy_arn",
                "QuotaShareSchedulingPolicy.from_scheduling_policy_arn",
            ),
            _service_environment_problems(service_environment),
            _scheduling_policy_problems(scheduling_policy),
            name_problems("job_queue_name", job_queue_name),
            whole_number_problems("priority", priority, lowest=0, highest=MAX_QUEUE_PRIORITY),
            _time_limit_problems(time_limits),
            choice_problems("state", state, State),
            tag_problems(tags),
            removal_problems(removal_policy),
            _retention_problems(removal_policy, service_environment, scheduling_policy),
        )
        super().__init__(scope, id_, physical_name=job_queue_name)
        self._rendered_name = rendered(self, job_queue_name)
        self._known_name = known(job_queue_name)
        self._given_name = job_queue_name
        self._service_environment = service_environment
        self._quota_shares: dict[str, IQuotaShare] = {}
        self._resource = batch.CfnJobQueue(
            self,
            "Resource",
            job_queue_name=self._rendered_name,
            job_queue_type=SAGEMAKER_TRAINING,
            priority=priority,
            scheduling_policy_arn=scheduling_policy.scheduling_policy_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1, service_environment=service_environment.service_environment_arn
                )
            ],
            job_state_time_limit_actions=[_action(limit) for limit in time_limits] or None,
            state=state,
            tags=tags,
        )
        self._removal_policy = removal_policy
        apply(self._resource, removal_policy)
        if isinstance(service_environment, ServiceEnvironment):
            service_environment.attach(self)

    @staticmethod
    def from_job_queue_arn(scope: Construct, id_: str, job_queue_arn: str) -> ISageMakerTrainingQueue:
        """Refer to a queue that is made elsewhere."""
        return _ImportedTrainingQueue(scope, id_, job_queue_arn)

    @staticmethod
    def from_job_queue_name(scope: Construct, id_: str, job_queue_name: str) -> ISageMakerTrainingQueue:
        """Refer to a queue of this account and Region that is made elsewhere."""
        require(scope, id_, name_problems("job_queue_name", job_queue_name))
        arn = Stack.of(scope).format_arn(
            service="batch",
            resource="job-queue",
            resource_name=job_queue_name,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        return _ImportedTrainingQueue(scope, id_, arn, job_queue_name)

    @property
    def known_name(self) -> str | None:
        """Name of the queue in plain text, if it was given so. `job_queue_name` is an expression in any case."""
        return self._known_name

    @property
    def service_environment(self) -> IServiceEnvironment:
        """Whose capacity the queue's jobs use."""
        return self._service_environment

    @property
    def removal_policy(self) -> RemovalPolicy | None:
        """What becomes of it when it leaves its stack. None: it is deleted, as CloudFormation does."""
        return self._removal_policy

    @property
    def quota_shares(self) -> Mapping[str, IQuotaShare]:
        """The shares made for this queue so far, by name."""
        return MappingProxyType(self._quota_shares)

    def attach(self, quota_share_name: str, quota_share: IQuotaShare) -> None:
        """Note a share of this queue. `QuotaShare` does it."""
        self._quota_shares[quota_share_name] = quota_share

    @cached_property
    def job_queue_arn(self) -> str:
        """ARN of the queue."""
        return self._get_resource_arn_attribute(
            self._resource.attr_job_queue_arn,
            service="batch",
            resource="job-queue",
            resource_name=self._rendered_name,
        )

    @cached_property
    def job_queue_name(self) -> str:
        """Name of the queue."""
        return self._get_resource_name_attribute(name_in(self._resource.attr_job_queue_arn))

    @cached_property
    def job_tag_prefix(self) -> str:
        """`QUEUE/`, how the tag `batch-quota:quota-share` of all the queue's jobs starts."""
        given = self._given_name
        return f"{self.job_queue_name if given is None or is_token(given) else given}/"


class _ImportedTrainingQueue(_TrainingQueueBase):
    def __init__(self, scope: Construct, id_: str, job_queue_arn: str, job_queue_name: str | None = None) -> None:
        require(scope, id_, arn_problems("job_queue_arn", job_queue_arn, JOB_QUEUE))
        super().__init__(scope, id_, environment_from_arn=job_queue_arn)
        self._arn = job_queue_arn
        self._name = job_queue_name or name_in(job_queue_arn)

    @property
    def job_queue_arn(self) -> str:
        return self._arn

    @property
    def job_queue_name(self) -> str:
        return self._name


def _action(limit: RunnableTimeLimit) -> batch.CfnJobQueue.JobStateTimeLimitActionProperty:
    return batch.CfnJobQueue.JobStateTimeLimitActionProperty(
        action="TERMINATE",
        max_time_seconds=limit.max_time.to_seconds(),
        reason=limit.reason,
        state="RUNNABLE",
    )


def _service_environment_problems(environment: IServiceEnvironment) -> Iterator[str]:
    """AWS lets one quota-managed queue use a service environment (service limits)."""
    if isinstance(environment, ServiceEnvironment) and environment.queue is not None:
        yield f"service_environment: {environment.node.path} serves {environment.queue.node.path} already"


def _scheduling_policy_problems(policy: batch.ISchedulingPolicy) -> Iterator[str]:
    if isinstance(policy, batch.FairshareSchedulingPolicy):
        yield "scheduling_policy: a fair-share policy cannot manage quota shares; use QuotaShareSchedulingPolicy"


def _retention_problems(
    removal_policy: RemovalPolicy | None, environment: IServiceEnvironment, policy: batch.ISchedulingPolicy
) -> Iterator[str]:
    needed = [
        each for each in (environment, policy) if isinstance(each, ServiceEnvironment | QuotaShareSchedulingPolicy)
    ]
    yield from retained_alone_problems(
        "queue", removal_policy, needed, "AWS refuses to delete it while a queue uses it, and the deletion fails"
    )


def _time_limit_problems(limits: Sequence[RunnableTimeLimit]) -> Iterator[str]:
    for reason, count in Counter(limit.reason for limit in limits).items():
        yield from choice_problems("time_limits: reason", reason, RunnableReason)
        if count > 1:
            yield f"time_limits: {reason}: expected one time limit a reason, not {count}"
    for limit in limits:
        seconds = limit.max_time.to_seconds(integral=False)
        yield from whole_number_problems(
            f"time_limits: {limit.reason}: seconds",
            seconds,
            lowest=MIN_TIME_LIMIT_SECONDS,
            highest=MAX_TIME_LIMIT_SECONDS,
        )

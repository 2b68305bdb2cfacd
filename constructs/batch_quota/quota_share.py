"""A quota share: a virtual queue with capacity limits of its own and terms for lending and borrowing."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import jsii
from aws_cdk import Fn, IResolvable, RemovalPolicy, Resource, Token
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_batch as references
from constructs import Construct

from batch_quota.access.granting import grant, queue_arns, service_jobs_arn
from batch_quota.access.statements import (
    JobTag,
    QueueArns,
    ShareTerms,
    operate_statements,
    pass_role_statements,
    submit_statements,
    view_statements,
)
from batch_quota.arns import QUOTA_SHARE, arn_problems, name_in
from batch_quota.interfaces import IQuotaShare, ISageMakerTrainingQueue
from batch_quota.names import known, rendered
from batch_quota.removal import apply, removal_problems, retained_alone_problems
from batch_quota.service_environment import ServiceEnvironment
from batch_quota.state import State
from batch_quota.training_queue import SageMakerTrainingQueue
from batch_quota.validation import (
    capacity_problems,
    choice_problems,
    is_token,
    name_problems,
    require,
    resource_problems,
    tag_problems,
    whole_number_problems,
)
from policy_engine.topology import UNLIMITED, ResourceSharingStrategy
from policy_engine.topology.service_limits import MAX_QUOTA_SHARES, MAX_SCHEDULING_PRIORITY, MAX_TAG_VALUE_LENGTH


@jsii.implements(references.IQuotaShareRef)
class _QuotaShareBase(Resource):
    @property
    @abstractmethod
    def quota_share_arn(self) -> str: ...

    @property
    @abstractmethod
    def quota_share_name(self) -> str: ...

    @property
    def quota_share_ref(self) -> references.QuotaShareReference:
        """What aws-cdk-lib's L1 constructs take for a quota share."""
        return references.QuotaShareReference(quota_share_arn=self.quota_share_arn)

    @property
    @abstractmethod
    def job_tag_value(self) -> str: ...

    @property
    @abstractmethod
    def _queue_arns(self) -> QueueArns: ...

    def grant_submit(
        self,
        grantee: iam.IGrantable,
        *,
        max_priority: float | None = None,
        execution_roles: Sequence[iam.IRole] = (),
        job_tag: str = JobTag.REQUIRED,
    ) -> iam.Grant:
        """Let a principal submit jobs to this share and to no other.

        :param grantee: The principal.
        :param max_priority: Highest scheduling priority, 0 to 9999, that a submission may name. Left out: any.
        :param execution_roles: The roles (`RoleArn`) that the principal may pass to its training jobs.
        :param job_tag: Whether jobs need the tag `batch-quota:quota-share`, whose value is `job_tag_value`.
        :raises ValueError: With every problem of the arguments.
        """
        self._require(max_priority, choice_problems("job_tag", job_tag, JobTag))
        return grant(
            self,
            grantee,
            [
                *submit_statements(self._queue_arns, [self._terms(max_priority)], job_tag),
                *pass_role_statements([role.role_arn for role in execution_roles]),
            ],
        )

    def grant_operate(self, grantee: iam.IGrantable, *, max_priority: float | None = None) -> iam.Grant:
        """Let a principal change the priority of this share's jobs, and terminate them.

        IAM tells jobs apart by tags alone: of this share are those whose tag `batch-quota:quota-share` says so.

        :param grantee: The principal.
        :param max_priority: Highest scheduling priority, 0 to 9999, that it may give a job. Left out: any.
        :raises ValueError: With every problem of the arguments.
        """
        self._require(max_priority)
        return grant(self, grantee, operate_statements(self._queue_arns, [self._terms(max_priority)]))

    def grant_view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal read this share, its queue and how it is used.

        AWS lets nobody limit the reading of jobs, queues and environments to some of them: it is all of the account's.
        """
        return grant(self, grantee, view_statements(self._queue_arns, [self._terms(None)]))

    def _terms(self, max_priority: float | None) -> ShareTerms:
        return ShareTerms(
            quota_share_arn=self.quota_share_arn, job_tag_value=self.job_tag_value, max_priority=max_priority
        )

    def _require(self, max_priority: float | None, *problems: Iterable[str]) -> None:
        require(
            self,
            "",
            () if max_priority is None else _priority_problems(max_priority),
            _job_tag_problems(self.job_tag_value),
            *problems,
        )


class QuotaShare(_QuotaShareBase):
    """A quota share of a SageMaker Training queue.

    It refers to its queue by ARN, so CloudFormation makes the queue first. Removing a share terminates all its jobs.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue: ISageMakerTrainingQueue,
        quota_share_name: str,
        capacity_limits: Mapping[str, float],
        strategy: str,
        borrow_limit: float | None = None,
        in_share_preemption: bool | IResolvable = False,
        state: str = State.ENABLED,
        tags: Mapping[str, str] | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Make a quota share.

        :param job_queue: The queue; up to 20 shares each.
        :param quota_share_name: What submitters ask for. Another name is another share.
        :param capacity_limits: Whole instances of each instance type that the share's jobs hold without borrowing.
        :param strategy: A ResourceSharingStrategy: RESERVE, LEND or LEND_AND_BORROW.
        :param borrow_limit: Percent of each capacity limit that may be borrowed on top. 0 is none, -1 or left out is
            no limit. Only with LEND_AND_BORROW.
        :param in_share_preemption: Whether a job may displace running jobs of lower priority in this share. A token
            stands for the words ENABLED or DISABLED.
        :param state: DISABLED refuses new jobs; jobs already submitted go on.
        :param tags: Tags of the share, beside those that `Tags.of` adds.
        :param removal_policy: What becomes of it when it is removed, replaced, or its stack is deleted. If left out
            it is deleted, and all its jobs are terminated. If it is retained, its queue has to be, too.
        :raises ValueError: With every problem of the props.
        """
        require(
            scope,
            id_,
            resource_problems("job_queue", job_queue, "job_queue_arn", "SageMakerTrainingQueue.from_job_queue_arn"),
            name_problems("quota_share_name", quota_share_name),
            capacity_problems("capacity_limits", capacity_limits),
            choice_problems("strategy", strategy, ResourceSharingStrategy),
            _borrow_limit_problems(strategy, borrow_limit),
            _in_share_preemption_problems(in_share_preemption=in_share_preemption),
            choice_problems("state", state, State),
            tag_problems(tags),
            removal_problems(removal_policy),
            _retention_problems(removal_policy, job_queue),
            _queue_problems(job_queue, quota_share_name, capacity_limits),
        )
        super().__init__(scope, id_, physical_name=quota_share_name)
        self._rendered_name = rendered(self, quota_share_name)
        self._given_name = quota_share_name
        self._job_queue = job_queue
        self._capacity_limits = MappingProxyType(dict(capacity_limits))
        self._resource = batch.CfnQuotaShare(
            self,
            "Resource",
            quota_share_name=self._rendered_name,
            job_queue=job_queue.job_queue_arn,
            capacity_limits=[
                batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=unit, max_capacity=limit)
                for unit, limit in capacity_limits.items()
            ],
            resource_sharing_configuration=batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
                strategy=strategy, borrow_limit=_rendered_borrow_limit(strategy, borrow_limit)
            ),
            preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
                in_share_preemption=_rendered_in_share_preemption(in_share_preemption=in_share_preemption)
            ),
            state=state,
            tags=tags,
        )
        self._removal_policy = removal_policy
        apply(self._resource, removal_policy)
        if isinstance(job_queue, SageMakerTrainingQueue):
            job_queue.attach(quota_share_name, self)

    @staticmethod
    def from_quota_share_arn(scope: Construct, id_: str, quota_share_arn: str) -> IQuotaShare:
        """Refer to a quota share that is made elsewhere."""
        require(scope, id_, arn_problems("quota_share_arn", quota_share_arn, QUOTA_SHARE))
        name = name_in(quota_share_arn, after_slash=3)
        return _ImportedQuotaShare(scope, id_, quota_share_arn, name, f"{name_in(quota_share_arn)}/{name}")

    @staticmethod
    def from_quota_share_attributes(
        scope: Construct, id_: str, *, job_queue: ISageMakerTrainingQueue, quota_share_name: str
    ) -> IQuotaShare:
        """Refer to a quota share that is made elsewhere, by its queue and its name."""
        require(scope, id_, name_problems("quota_share_name", quota_share_name))
        arn = f"{job_queue.job_queue_arn}/quota-share/{quota_share_name}"
        return _ImportedQuotaShare(scope, id_, arn, quota_share_name, f"{job_queue.job_tag_prefix}{quota_share_name}")

    @property
    def job_queue(self) -> ISageMakerTrainingQueue:
        """The queue whose capacity the share has a part of."""
        return self._job_queue

    @property
    def removal_policy(self) -> RemovalPolicy | None:
        """What becomes of it when it leaves its stack. None: it is deleted, as CloudFormation does."""
        return self._removal_policy

    @property
    def capacity_limits(self) -> Mapping[str, float]:
        """Whole instances of each instance type that the share's jobs hold without borrowing."""
        return self._capacity_limits

    @cached_property
    def quota_share_arn(self) -> str:
        """ARN of the share. It contains the queue's name."""
        return self._get_resource_arn_attribute(
            self._resource.attr_quota_share_arn,
            service="batch",
            resource="job-queue",
            resource_name=f"{self._job_queue.job_queue_name}/quota-share/{self._rendered_name}",
        )

    @cached_property
    def quota_share_name(self) -> str:
        """Name of the share."""
        return self._get_resource_name_attribute(name_in(self._resource.attr_quota_share_arn, after_slash=3))

    @cached_property
    def job_tag_value(self) -> str:
        """`QUEUE/SHARE`, what the tag `batch-quota:quota-share` of the share's jobs has to be."""
        return f"{self._job_queue.job_tag_prefix}{known(self._given_name) or self.quota_share_name}"

    @cached_property
    def _queue_arns(self) -> QueueArns:
        return queue_arns(self._job_queue)


class _ImportedQuotaShare(_QuotaShareBase):
    def __init__(
        self, scope: Construct, id_: str, quota_share_arn: str, quota_share_name: str, job_tag_value: str
    ) -> None:
        super().__init__(scope, id_, environment_from_arn=quota_share_arn)
        self._arn = quota_share_arn
        self._name = quota_share_name
        self._job_tag_value = job_tag_value

    @property
    def quota_share_arn(self) -> str:
        return self._arn

    @property
    def quota_share_name(self) -> str:
        return self._name

    @property
    def job_tag_value(self) -> str:
        return self._job_tag_value

    @property
    def _queue_arns(self) -> QueueArns:
        return QueueArns(
            job_queue_arn=Fn.select(0, Fn.split("/quota-share/", self._arn)),
            service_jobs_arn=service_jobs_arn(self),
        )


def _rendered_borrow_limit(strategy: str, borrow_limit: float | None) -> float | None:
    """What the template says. Unlimited is written out, so that no update can leave an older limit in force."""
    if borrow_limit is None and strategy == ResourceSharingStrategy.LEND_AND_BORROW:
        return UNLIMITED
    return borrow_limit


def _rendered_in_share_preemption(*, in_share_preemption: bool | IResolvable) -> str:
    if isinstance(in_share_preemption, bool):
        return "ENABLED" if in_share_preemption else "DISABLED"
    return Token.as_string(in_share_preemption)


def _in_share_preemption_problems(*, in_share_preemption: bool | IResolvable) -> Iterator[str]:
    if not isinstance(in_share_preemption, bool) and not is_token(in_share_preemption):
        yield f"in_share_preemption: expected True or False, not {in_share_preemption!r}"


def _borrow_limit_problems(strategy: str, borrow_limit: float | None) -> Iterator[str]:
    if borrow_limit is None:
        return
    yield from whole_number_problems("borrow_limit", borrow_limit, lowest=UNLIMITED)
    if not is_token(strategy) and strategy != ResourceSharingStrategy.LEND_AND_BORROW:
        yield f"borrow_limit: only a share with strategy LEND_AND_BORROW may have one, not {strategy}"


def _priority_problems(max_priority: float) -> Iterator[str]:
    yield from whole_number_problems("max_priority", max_priority, lowest=0, highest=MAX_SCHEDULING_PRIORITY)


def _job_tag_problems(value: str) -> Iterator[str]:
    if not is_token(value) and len(value) > MAX_TAG_VALUE_LENGTH:
        yield (
            f"job_tag_value: the names of queue and share make a tag of {len(value)} characters; "
            f"AWS allows {MAX_TAG_VALUE_LENGTH}"
        )


def _retention_problems(removal_policy: RemovalPolicy | None, queue: ISageMakerTrainingQueue) -> Iterator[str]:
    if isinstance(queue, SageMakerTrainingQueue):
        yield from retained_alone_problems("share", removal_policy, [queue], "deleting it terminates the share's jobs")


def _queue_problems(queue: ISageMakerTrainingQueue, name: str, limits: Mapping[str, float]) -> Iterator[str]:
    """What a queue that is made here is known to refuse. Limits of AWS: 20 shares a queue, names unique in a queue."""
    if not isinstance(queue, SageMakerTrainingQueue) or not isinstance(limits, Mapping):
        return
    if len(queue.quota_shares) >= MAX_QUOTA_SHARES:
        yield f"job_queue: {queue.node.path} has {len(queue.quota_shares)} quota shares already; AWS allows no more"
    if name in queue.quota_shares:
        yield f"quota_share_name: {name} is a share of {queue.node.path} already"
    environment = queue.service_environment
    if isinstance(environment, ServiceEnvironment) and not any(map(is_token, environment.capacity_limits)):
        for unit in limits:
            if not is_token(unit) and unit not in environment.capacity_limits:
                yield f"capacity_limits: {unit}: {environment.node.path} has none, so its jobs would wait for ever"

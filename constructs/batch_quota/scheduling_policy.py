"""The scheduling policy that makes a job queue a quota-managed one."""

from abc import abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

import jsii
from aws_cdk import RemovalPolicy, Resource
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces import aws_batch as references
from constructs import Construct

from batch_quota.arns import SCHEDULING_POLICY, arn_problems, name_in
from batch_quota.names import rendered
from batch_quota.removal import apply, removal_problems
from batch_quota.validation import choice_problems, name_problems, require, tag_problems


class IdleResourceAssignmentStrategy(StrEnum):
    """In which order idle capacity goes to quota shares that borrow. AWS offers one."""

    FIFO = "FIFO"


@jsii.implements(batch.ISchedulingPolicy)
class _SchedulingPolicyBase(Resource):
    @property
    @abstractmethod
    def scheduling_policy_arn(self) -> str: ...

    @property
    @abstractmethod
    def scheduling_policy_name(self) -> str: ...

    @property
    def scheduling_policy_ref(self) -> references.SchedulingPolicyReference:
        """What aws-cdk-lib's L1 constructs take for a scheduling policy."""
        return references.SchedulingPolicyReference(scheduling_policy_arn=self.scheduling_policy_arn)


class QuotaShareSchedulingPolicy(_SchedulingPolicyBase):
    """A scheduling policy with a quota share policy.

    AWS lets nobody change a policy's kind later, and deletes a policy only when no queue uses it.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        scheduling_policy_name: str | None = None,
        idle_resource_assignment_strategy: str = IdleResourceAssignmentStrategy.FIFO,
        tags: Mapping[str, str] | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Make a scheduling policy.

        :param scheduling_policy_name: CloudFormation makes one up if left out. Another name is another policy.
        :param idle_resource_assignment_strategy: Order in which idle capacity goes to shares that borrow.
        :param tags: Tags of the policy, beside those that `Tags.of` adds.
        :param removal_policy: What becomes of it when it is removed, replaced, or its stack is deleted. If left out
            it is deleted; AWS refuses that while a queue uses it.
        :raises ValueError: With every problem of the props.
        """
        require(
            scope,
            id_,
            name_problems("scheduling_policy_name", scheduling_policy_name),
            choice_problems(
                "idle_resource_assignment_strategy", idle_resource_assignment_strategy, IdleResourceAssignmentStrategy
            ),
            tag_problems(tags),
            removal_problems(removal_policy),
        )
        super().__init__(scope, id_, physical_name=scheduling_policy_name)
        self._rendered_name = rendered(self, scheduling_policy_name)
        self._resource = batch.CfnSchedulingPolicy(
            self,
            "Resource",
            name=self._rendered_name,
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy=idle_resource_assignment_strategy
            ),
            tags=tags,
        )
        self._removal_policy = removal_policy
        apply(self._resource, removal_policy)

    @staticmethod
    def from_scheduling_policy_arn(scope: Construct, id_: str, scheduling_policy_arn: str) -> batch.ISchedulingPolicy:
        """Refer to a quota share scheduling policy that is made elsewhere."""
        return _ImportedSchedulingPolicy(scope, id_, scheduling_policy_arn)

    @property
    def removal_policy(self) -> RemovalPolicy | None:
        """What becomes of it when it leaves its stack. None: it is deleted, as CloudFormation does."""
        return self._removal_policy

    @cached_property
    def scheduling_policy_arn(self) -> str:
        """ARN of the policy."""
        return self._get_resource_arn_attribute(
            self._resource.attr_arn, service="batch", resource="scheduling-policy", resource_name=self._rendered_name
        )

    @cached_property
    def scheduling_policy_name(self) -> str:
        """Name of the policy."""
        return self._get_resource_name_attribute(name_in(self._resource.attr_arn))


class _ImportedSchedulingPolicy(_SchedulingPolicyBase):
    def __init__(self, scope: Construct, id_: str, scheduling_policy_arn: str) -> None:
        require(scope, id_, arn_problems("scheduling_policy_arn", scheduling_policy_arn, SCHEDULING_POLICY))
        super().__init__(scope, id_, environment_from_arn=scheduling_policy_arn)
        self._arn = scheduling_policy_arn

    @property
    def scheduling_policy_arn(self) -> str:
        return self._arn

    @property
    def scheduling_policy_name(self) -> str:
        return name_in(self._arn)

"""The service environment: how many instances of each type the queue's jobs may hold."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

import jsii
from aws_cdk import RemovalPolicy, Resource
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces import aws_batch as references
from constructs import Construct

from batch_quota.arns import SERVICE_ENVIRONMENT, arn_problems, name_in
from batch_quota.interfaces import ISageMakerTrainingQueue, IServiceEnvironment
from batch_quota.names import rendered
from batch_quota.removal import apply, removal_problems
from batch_quota.state import State
from batch_quota.validation import capacity_problems, choice_problems, name_problems, require, tag_problems

SAGEMAKER_TRAINING = "SAGEMAKER_TRAINING"


@jsii.implements(references.IServiceEnvironmentRef)
class _ServiceEnvironmentBase(Resource):
    @property
    @abstractmethod
    def service_environment_arn(self) -> str: ...

    @property
    @abstractmethod
    def service_environment_name(self) -> str: ...

    @property
    def service_environment_ref(self) -> references.ServiceEnvironmentReference:
        """What aws-cdk-lib's L1 constructs take for a service environment."""
        return references.ServiceEnvironmentReference(service_environment_arn=self.service_environment_arn)


class ServiceEnvironment(_ServiceEnvironmentBase):
    """A SageMaker Training service environment with capacity limits by instance type, as quota management needs.

    One quota-managed queue may use it. Lowering a limit stops no job: only new dispatches keep to it.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        capacity_limits: Mapping[str, float],
        service_environment_name: str | None = None,
        state: str = State.ENABLED,
        tags: Mapping[str, str] | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        """Make a service environment.

        :param capacity_limits: Whole instances of each SageMaker instance type; 1 to 5 types.
        :param service_environment_name: CloudFormation makes one up if left out. Another name is another environment.
        :param state: DISABLED makes the queue hold its jobs back until it is enabled again.
        :param tags: Tags of the environment, beside those that `Tags.of` adds.
        :param removal_policy: What becomes of it when it is removed, replaced, or its stack is deleted. If left out
            it is deleted; AWS refuses that while a queue uses it.
        :raises ValueError: With every problem of the props.
        """
        require(
            scope,
            id_,
            capacity_problems("capacity_limits", capacity_limits),
            name_problems("service_environment_name", service_environment_name),
            choice_problems("state", state, State),
            tag_problems(tags),
            removal_problems(removal_policy),
        )
        super().__init__(scope, id_, physical_name=service_environment_name)
        self._rendered_name = rendered(self, service_environment_name)
        self._queue: ISageMakerTrainingQueue | None = None
        self._capacity_limits = MappingProxyType(dict(capacity_limits))
        self._resource = batch.CfnServiceEnvironment(
            self,
            "Resource",
            service_environment_name=self._rendered_name,
            service_environment_type=SAGEMAKER_TRAINING,
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=unit, max_capacity=limit)
                for unit, limit in capacity_limits.items()
            ],
            state=state,
            tags=tags,
        )
        self._removal_policy = removal_policy
        apply(self._resource, removal_policy)

    @staticmethod
    def from_service_environment_arn(scope: Construct, id_: str, service_environment_arn: str) -> IServiceEnvironment:
        """Refer to a service environment that is made elsewhere."""
        return _ImportedServiceEnvironment(scope, id_, service_environment_arn)

    @property
    def capacity_limits(self) -> Mapping[str, float]:
        """Whole instances of each SageMaker instance type."""
        return self._capacity_limits

    @property
    def removal_policy(self) -> RemovalPolicy | None:
        """What becomes of it when it leaves its stack. None: it is deleted, as CloudFormation does."""
        return self._removal_policy

    @property
    def queue(self) -> ISageMakerTrainingQueue | None:
        """The queue made for this environment, if there is one so far."""
        return self._queue

    def attach(self, queue: ISageMakerTrainingQueue) -> None:
        """Note the queue that uses this environment. `SageMakerTrainingQueue` does it."""
        self._queue = queue

    @cached_property
    def service_environment_arn(self) -> str:
        """ARN of the service environment."""
        return self._get_resource_arn_attribute(
            self._resource.attr_service_environment_arn,
            service="batch",
            resource="service-environment",
            resource_name=self._rendered_name,
        )

    @cached_property
    def service_environment_name(self) -> str:
        """Name of the service environment."""
        return self._get_resource_name_attribute(name_in(self._resource.attr_service_environment_arn))


class _ImportedServiceEnvironment(_ServiceEnvironmentBase):
    def __init__(self, scope: Construct, id_: str, service_environment_arn: str) -> None:
        require(scope, id_, arn_problems("service_environment_arn", service_environment_arn, SERVICE_ENVIRONMENT))
        super().__init__(scope, id_, environment_from_arn=service_environment_arn)
        self._arn = service_environment_arn

    @property
    def service_environment_arn(self) -> str:
        return self._arn

    @property
    def service_environment_name(self) -> str:
        return name_in(self._arn)

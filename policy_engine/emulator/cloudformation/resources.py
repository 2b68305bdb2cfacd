"""The four resources of quota management as moto's CloudFormation takes them.

What `Ref` and `Fn::GetAtt` give, and which properties are create-only: CloudFormation's resource type schemas.
They are stable at once: CloudFormation waits for that, and the emulator's clock may stand still.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

import moto.batch.models
from moto.batch.models import JobQueue
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException, ValidationError

from policy_engine.emulator.batch.models import QuotaManagementBackend
from policy_engine.emulator.batch.models.job_queues import TRAINING
from policy_engine.emulator.cloudformation.requests import as_request
from policy_engine.template.resources import ResourceKind

Properties = Mapping[str, Any]


def backend_of(account_id: str, region_name: str) -> QuotaManagementBackend:
    """The Batch backend that is in place now."""
    return cast("QuotaManagementBackend", moto.batch.models.batch_backends[account_id][region_name])


class StackResource(ABC):
    """A resource that a stack made, in the shape of moto's `CloudFormationModel`.

    It is no subclass of that: moto would offer those to everybody, also to tests that do not use the emulator.
    """

    kind: ClassVar[ResourceKind]
    arn_attribute: ClassVar[str]
    create_only: ClassVar[frozenset[str]]
    """Besides its name."""
    logical_resource_id: str
    cf_resource_type: str
    # Set by moto.

    def __init__(self, backend: QuotaManagementBackend, arn: str, properties: Properties) -> None:
        self.backend = backend
        self.arn = arn
        self.properties = properties

    @classmethod
    @abstractmethod
    def create(cls, backend: QuotaManagementBackend, name: str, properties: Properties) -> Self:
        """Make it."""

    @abstractmethod
    def update(self, properties: Properties) -> None:
        """Change it in place."""

    @abstractmethod
    def remove(self) -> None:
        """Take it away, with the steps before it that the API asks for."""

    def delete(self, account_id: str, region_name: str) -> None:
        """What moto calls when the stack no longer has it."""
        self.remove()

    @property
    def physical_resource_id(self) -> str:
        """What `Ref` gives."""
        return self.arn

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """What `Fn::GetAtt` gives."""
        if not self.has_cfn_attr(attribute_name):
            raise UnformattedGetAttTemplateException
        return self.arn

    def is_created(self) -> bool:
        """It is stable as soon as it is there."""
        return True

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether it has this attribute."""
        return attr == cls.arn_attribute

    @classmethod
    def cloudformation_name_type(cls) -> str:
        """The property with its name."""
        return cls.kind.name_property

    @classmethod
    def cloudformation_type(cls) -> str:
        """The resource type."""
        return cls.kind.value

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
        **kwargs: Any,  # noqa: ANN401 (moto's signature)
    ) -> Any:  # noqa: ANN401 (StackResource, or moto's own JobQueue)
        """Make it for a stack."""
        return cls.create(backend_of(account_id, region_name), resource_name, cloudformation_json["Properties"])

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,  # noqa: ANN401 (moto's signature)
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Any:  # noqa: ANN401 (moto's signature)
        """The same, changed, or another in its place; then the stack removes the original at its end."""
        properties: Properties = cloudformation_json["Properties"]
        if isinstance(original_resource, cls) and not original_resource._replaced_by(properties):
            original_resource.update(properties)
            original_resource._set_tags(properties.get("Tags", {}))
            original_resource.properties = properties
            return original_resource
        return cls.create(backend_of(account_id, region_name), new_resource_name, properties)

    def _replaced_by(self, properties: Properties) -> bool:
        name = self.kind.name_property
        changed = [
            each for each in sorted({name} | self.create_only) if self.properties.get(each) != properties.get(each)
        ]
        if changed and self._would_have_its_arn(properties, changed):
            raise ValidationError(
                message="CloudFormation cannot update a stack when a custom-named resource requires replacing. "
                f"Rename {properties[name]} and update the stack again."
            )
        return bool(changed)

    def _would_have_its_arn(self, properties: Properties, changed: list[str]) -> bool:
        name = self.kind.name_property
        return name in properties and name not in changed

    def _set_tags(self, tags: Mapping[str, str]) -> None:
        present = self.backend.list_tags_for_resource(self.arn)
        self.backend.untag_resource(self.arn, [key for key in present if key not in tags])
        self.backend.tag_resource(self.arn, dict(tags))


class SchedulingPolicyResource(StackResource):
    """AWS::Batch::SchedulingPolicy."""

    kind = ResourceKind.SCHEDULING_POLICY
    arn_attribute = "Arn"
    create_only = frozenset()

    @classmethod
    def create(cls, backend: QuotaManagementBackend, name: str, properties: Properties) -> Self:
        request = as_request("CreateSchedulingPolicy", {**properties, "Name": name})
        if "quotaSharePolicy" in request:
            policy = backend.create_quota_share_policy(
                name=name,
                policy=request["quotaSharePolicy"],
                fairshare=request.get("fairsharePolicy"),
                tags=request.get("tags"),
            )
        else:
            policy = backend.create_scheduling_policy(name, request.get("fairsharePolicy", {}), request.get("tags", {}))
        return cls(backend, policy.arn, properties)

    def update(self, properties: Properties) -> None:
        changed = {name: value for name, value in properties.items() if name not in {"Name", "Tags"}}
        request = as_request("UpdateSchedulingPolicy", {**changed, "Arn": self.arn})
        self.backend.update_policy(
            arn=self.arn, quota_share=request.get("quotaSharePolicy"), fairshare=request.get("fairsharePolicy")
        )

    def remove(self) -> None:
        self.backend.delete_scheduling_policy(self.arn)


class ServiceEnvironmentResource(StackResource):
    """AWS::Batch::ServiceEnvironment."""

    kind = ResourceKind.SERVICE_ENVIRONMENT
    arn_attribute = "ServiceEnvironmentArn"
    create_only = frozenset({"ServiceEnvironmentType"})

    @classmethod
    def create(cls, backend: QuotaManagementBackend, name: str, properties: Properties) -> Self:
        request = as_request("CreateServiceEnvironment", {**properties, "ServiceEnvironmentName": name})
        environment = backend.create_service_environment(
            name=name,
            type_=request["serviceEnvironmentType"],
            state=request.get("state"),
            capacity_limits=request["capacityLimits"],
            tags=request.get("tags"),
        )
        environment.lifecycle.settle()
        return cls(backend, environment.arn, properties)

    def update(self, properties: Properties) -> None:
        changed = {name: properties[name] for name in ("State", "CapacityLimits") if name in properties}
        request = as_request(
            "UpdateServiceEnvironment", {"State": "ENABLED", **changed, "ServiceEnvironment": self.arn}
        )
        environment = self.backend.update_service_environment(
            identifier=self.arn, state=request["state"], capacity_limits=request.get("capacityLimits")
        )
        environment.lifecycle.settle()

    def remove(self) -> None:
        environment = self.backend.get_service_environment(self.arn)
        self.backend.update_service_environment(identifier=self.arn, state="DISABLED", capacity_limits=None)
        environment.lifecycle.settle()
        self.backend.delete_service_environment(self.arn)
        environment.lifecycle.settle()


class JobQueueResource(StackResource):
    """AWS::Batch::JobQueue with service environments. The others are moto's."""

    kind = ResourceKind.JOB_QUEUE
    arn_attribute = "JobQueueArn"
    create_only = frozenset({"JobQueueType"})

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
        **kwargs: Any,  # noqa: ANN401 (moto's signature)
    ) -> Any:  # noqa: ANN401 (StackResource, or moto's own JobQueue)
        """Make it for a stack."""
        of = super().create_from_cloudformation_json
        if not _is_training_queue(cloudformation_json):
            of = JobQueue.create_from_cloudformation_json
        return of(resource_name, cloudformation_json, account_id, region_name, **kwargs)

    @classmethod
    def create(cls, backend: QuotaManagementBackend, name: str, properties: Properties) -> Self:
        request = as_request("CreateJobQueue", {**properties, "JobQueueName": name})
        queue = backend.create_training_queue(
            name=name,
            type_=request.get("jobQueueType"),
            state=request.get("state"),
            priority=request["priority"],
            policy_arn=request.get("schedulingPolicyArn"),
            environments=request.get("serviceEnvironmentOrder"),
            time_limits=request.get("jobStateTimeLimitActions"),
            tags=request.get("tags"),
        )
        queue.lifecycle.settle()
        return cls(backend, queue.arn, properties)

    def update(self, properties: Properties) -> None:
        names = ("State", "Priority", "SchedulingPolicyArn", "ServiceEnvironmentOrder", "JobStateTimeLimitActions")
        changed = {name: properties[name] for name in names if name in properties}
        request = as_request("UpdateJobQueue", {"State": "ENABLED", **changed, "JobQueue": self.arn})
        queue = self.backend.get_training_queue(self.arn)
        actions = request.get("jobStateTimeLimitActions", [])
        self.backend.update_training_queue(
            queue,
            state=request["state"],
            priority=request["priority"],
            policy_arn=request.get("schedulingPolicyArn"),
            environments=request.get("serviceEnvironmentOrder"),
            time_limits=None if actions == list(queue.time_limits) else actions,
        )
        queue.lifecycle.settle()

    def remove(self) -> None:
        queue = self.backend.get_training_queue(self.arn)
        self.backend.update_training_queue(
            queue, state="DISABLED", priority=None, policy_arn=None, environments=None, time_limits=None
        )
        queue.lifecycle.settle()
        self.backend.delete_training_queue(queue)
        queue.lifecycle.settle()


class QuotaShareResource(StackResource):
    """AWS::Batch::QuotaShare."""

    kind = ResourceKind.QUOTA_SHARE
    arn_attribute = "QuotaShareArn"
    create_only = frozenset({"JobQueue"})

    @classmethod
    def create(cls, backend: QuotaManagementBackend, name: str, properties: Properties) -> Self:
        request = as_request("CreateQuotaShare", {**properties, "QuotaShareName": name})
        share = backend.create_quota_share(
            name=name,
            queue_identifier=request["jobQueue"],
            capacity_limits=request["capacityLimits"],
            sharing=request["resourceSharingConfiguration"],
            preemption=request["preemptionConfiguration"],
            state=request.get("state"),
            tags=request.get("tags"),
        )
        share.lifecycle.settle()
        return cls(backend, share.arn, properties)

    def update(self, properties: Properties) -> None:
        names = ("State", "CapacityLimits", "ResourceSharingConfiguration", "PreemptionConfiguration")
        changed = {name: properties[name] for name in names if name in properties}
        request = as_request("UpdateQuotaShare", {"State": "ENABLED", **changed, "QuotaShareArn": self.arn})
        share = self.backend.update_quota_share(
            arn=self.arn,
            capacity_limits=request["capacityLimits"],
            sharing=request["resourceSharingConfiguration"],
            preemption=request["preemptionConfiguration"],
            state=request["state"],
        )
        share.lifecycle.settle()

    def remove(self) -> None:
        share = self.backend.update_quota_share(
            arn=self.arn, capacity_limits=None, sharing=None, preemption=None, state="DISABLED"
        )
        share.lifecycle.settle()
        self.backend.delete_quota_share(self.arn)
        share.lifecycle.settle()

    def _would_have_its_arn(self, properties: Properties, changed: list[str]) -> bool:
        # A share of the same name in another queue is another share.
        return "JobQueue" not in changed and super()._would_have_its_arn(properties, changed)


def _is_training_queue(cloudformation_json: Mapping[str, Any]) -> bool:
    properties = cloudformation_json["Properties"]
    return properties.get("JobQueueType") == TRAINING or "ServiceEnvironmentOrder" in properties


STACK_RESOURCES: Mapping[str, type[StackResource]] = {
    each.kind.value: each
    for each in (SchedulingPolicyResource, ServiceEnvironmentResource, JobQueueResource, QuotaShareResource)
}
"""The models by resource type."""

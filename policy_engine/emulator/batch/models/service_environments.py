"""Service environments: capacity by instance type."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.capacity_limits import NUM_INSTANCES, CapacityLimit, check_capacity_limits
from policy_engine.emulator.batch.exceptions import AlreadyExistsError, NotFoundError
from policy_engine.emulator.batch.lifecycle import Lifecycle
from policy_engine.emulator.batch.models.base import EmulatedBatchBackend, named
from policy_engine.emulator.batch.paging import page
from policy_engine.emulator.batch.validation import check_name

MAX_SERVICE_ENVIRONMENTS = 50
"""Of an account and region ("AWS Batch service quotas" in the user guide)."""


@dataclass(eq=False)
class ServiceEnvironment:
    """A service environment."""

    number: int
    name: str
    arn: str
    type: str
    state: str
    limits: dict[str, int]
    lifecycle: Lifecycle

    @property
    def capacity(self) -> dict[str, int]:
        """Instances of each type that new jobs may use: none while it is DISABLED."""
        return self.limits if self.state == "ENABLED" else {}

    def describe(self, tags: dict[str, str]) -> dict[str, Any]:
        """ServiceEnvironmentDetail of the API."""
        return {
            "serviceEnvironmentName": self.name,
            "serviceEnvironmentArn": self.arn,
            "serviceEnvironmentType": self.type,
            "state": self.state,
            "status": self.lifecycle.status,
            "capacityLimits": [{"maxCapacity": most, "capacityUnit": unit} for unit, most in self.limits.items()],
            "tags": tags,
        }


class ServiceEnvironmentBackend(EmulatedBatchBackend):
    """Create-, Describe-, Update- and DeleteServiceEnvironment."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._service_environments: dict[str, ServiceEnvironment] = {}
        self._service_environments_made = 0

    def get_service_environment(self, identifier: str) -> ServiceEnvironment:
        """By name or ARN. Raises NotFoundError."""
        environment = named(self.present(self._service_environments), identifier)
        if environment is None:
            raise NotFoundError("Service environment", identifier)
        return environment

    def create_service_environment(
        self,
        *,
        name: str,
        type_: str,
        state: str | None,
        capacity_limits: Sequence[CapacityLimit],
        tags: dict[str, str] | None,
    ) -> ServiceEnvironment:
        """Create one, ENABLED unless told otherwise."""
        check_name("serviceEnvironmentName", name)
        limits = check_capacity_limits(capacity_limits, least=0, may_count_all=True)
        others = self.present(self._service_environments)
        if named(others, name):
            raise AlreadyExistsError
        if len(others) >= MAX_SERVICE_ENVIRONMENTS:
            raise ClientException(f"an account has at most {MAX_SERVICE_ENVIRONMENTS} service environments in a region")
        self._service_environments_made += 1
        environment = ServiceEnvironment(
            number=self._service_environments_made,
            name=name,
            arn=self.batch_arn(f"service-environment/{name}"),
            type=type_,
            state=state or "ENABLED",
            limits=limits,
            lifecycle=Lifecycle(self.emulation),
        )
        self._service_environments[environment.arn] = environment
        self.tag_resource(environment.arn, tags or {})
        return environment

    def describe_service_environments(
        self, *, identifiers: Sequence[str] | None, max_results: int | None, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of those with these names or ARNs, or of all."""
        environments = [
            environment
            for environment in self.present(self._service_environments)
            if not identifiers or environment.name in identifiers or environment.arn in identifiers
        ]
        shown, next_token = page(environments, lambda environment: environment.number, max_results, token)
        return [each.describe(self.list_tags_for_resource(each.arn)) for each in shown], next_token

    def update_service_environment(
        self, *, identifier: str, state: str | None, capacity_limits: Sequence[CapacityLimit] | None
    ) -> ServiceEnvironment:
        """Change state and limits, at once."""
        environment = self.get_service_environment(identifier)
        if environment.lifecycle.status == "DELETING":
            raise ClientException(f"Service environment {environment.name} is being deleted")
        if capacity_limits is not None:
            limits = check_capacity_limits(capacity_limits, least=0, may_count_all=True)
            if (NUM_INSTANCES in limits) != (NUM_INSTANCES in environment.limits):
                raise ClientException("capacityLimits cannot change between NUM_INSTANCES and instance types")
            environment.limits = limits
        environment.state = state or environment.state
        environment.lifecycle.update()
        return environment

    def delete_service_environment(self, identifier: str) -> None:
        """Delete one that is DISABLED. Repeating it does nothing."""
        environment = self.get_service_environment(identifier)
        if environment.state != "DISABLED":
            raise ClientException(f"Service environment {environment.name} must be DISABLED before it can be deleted")
        if environment.lifecycle.status == "CREATING":
            raise ClientException(f"Service environment {environment.name} is still being created")
        if environment.lifecycle.status != "DELETING":
            environment.lifecycle.delete()

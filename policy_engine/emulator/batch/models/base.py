"""What all parts of the backend share: the emulator's settings, and resources that are gone once they are deleted."""

from collections.abc import Iterable
from typing import ClassVar, Protocol, TypeVar

from moto.batch.models import BatchBackend

from policy_engine.emulator.batch.lifecycle import Lifecycle
from policy_engine.emulator.settings import Settings


class Resource(Protocol):
    """What has a name, an ARN and a status."""

    @property
    def name(self) -> str: ...
    @property
    def arn(self) -> str: ...
    @property
    def lifecycle(self) -> Lifecycle: ...


Kind = TypeVar("Kind", bound=Resource)


class EmulatedBatchBackend(BatchBackend):
    """moto's Batch backend with the emulator's settings."""

    emulation: ClassVar[Settings]

    @property
    def now(self) -> int:
        """The present millisecond, since 1970-01-01 UTC."""
        return self.emulation.clock.now()

    def batch_arn(self, resource: str) -> str:
        """The ARN of a resource of this account and region."""
        return f"arn:{self.partition}:batch:{self.region_name}:{self.account_id}:{resource}"

    def present(self, resources: dict[str, Kind]) -> list[Kind]:
        """The resources that are still there, in order of creation. The others are forgotten, with their tags."""
        for arn in [arn for arn, resource in resources.items() if resource.lifecycle.gone]:
            del resources[arn]
            self.tagger.delete_all_tags_for_resource(arn)
        return list(resources.values())


def named(resources: Iterable[Kind], identifier: str) -> Kind | None:
    """The resource with this name or ARN."""
    return next((resource for resource in resources if identifier in {resource.name, resource.arn}), None)

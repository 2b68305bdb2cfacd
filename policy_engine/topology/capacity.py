"""The service environment's capacity as it is written: on demand, by training plans with a start and an end, or both.

Batch knows of no plan: the environment has one number for each instance type, whatever backs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from policy_engine.topology.instants import Instant
from policy_engine.topology.quantities import Instances
from policy_engine.topology.source import Path

RECLAIMED_BEFORE_END = timedelta(minutes=30)
"""How long before a reserved capacity's end SageMaker begins to take its instances back.

Source: "Training plans utilization for SageMaker training jobs" in the SageMaker AI developer guide.
"""


class TrainingPlanCapacity(BaseModel):
    """Instances of one type that a SageMaker training plan reserves from a start to an end."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    count: Instances = Field(description="Whole instances that the plan reserves.")
    training_plan: str = Field(description="ARN of the SageMaker training plan.")
    starts_at: Instant = Field(alias="from", description="When the reserved capacity starts, with its zone.")
    ends_at: Instant = Field(
        alias="until",
        description="When the reserved capacity ends, with its zone. Its instances are taken back from 30 minutes "
        "before.",
    )

    @property
    def reclaimed_at(self) -> datetime:
        """When SageMaker begins to take the instances back."""
        return self.ends_at - RECLAIMED_BEFORE_END

    def is_there_at(self, instant: datetime) -> bool:
        """Whether jobs can have the instances at a point in time: from the start until they are taken back."""
        return self.starts_at <= instant < self.reclaimed_at


_COUNT, _PLAN, _LIST = "[count]", "[plan]", "[list]"
UNION_TAGS = frozenset({_COUNT, _PLAN, _LIST})
"""Steps that pydantic adds to the places of errors where one of several forms may stand."""


def _form_of_entry(value: object) -> str:
    """Which form a value has, or was most likely meant to have."""
    return _PLAN if isinstance(value, Mapping | TrainingPlanCapacity) else _COUNT


def _form(value: object) -> str:
    return _LIST if isinstance(value, list | tuple) else _form_of_entry(value)


_Count = Annotated[Instances, Tag(_COUNT)]
_Plan = Annotated[TrainingPlanCapacity, Tag(_PLAN)]
_Entries = tuple[Annotated[_Count | _Plan, Discriminator(_form_of_entry)], ...]
EnvironmentCapacity = dict[str, Annotated[_Count | _Plan | Annotated[_Entries, Tag(_LIST)], Discriminator(_form)]]
"""By instance type: a number of instances on demand, a training plan's instances, or a list of such entries."""


@dataclass(frozen=True, slots=True)
class CapacityEntry:
    """One entry of the environment's capacity."""

    unit: str
    """The instance type."""
    count: int
    """Instances."""
    plan: TrainingPlanCapacity | None
    """The training plan that backs them. None: they are on demand, and always there."""
    path: Path
    """Where the entry stands in the topology."""


def entries_of(capacity: EnvironmentCapacity) -> Iterator[CapacityEntry]:
    """All entries in declaration order."""
    for unit, written in capacity.items():
        if isinstance(written, tuple):
            for index, each in enumerate(written):
                yield _entry(unit, each, ("capacity", unit, index))
        else:
            yield _entry(unit, written, ("capacity", unit))


def _entry(unit: str, written: int | TrainingPlanCapacity, path: Path) -> CapacityEntry:
    if isinstance(written, TrainingPlanCapacity):
        return CapacityEntry(unit, written.count, written, path)
    return CapacityEntry(unit, written, None, path)


def most_at_once(entries: Sequence[CapacityEntry]) -> int:
    """The most instances that entries of one type have together at any one time.

    Plans that follow each other do not add up. A plan counts at its start even if its end makes no sense.
    """
    always = sum(entry.count for entry in entries if entry.plan is None)
    plans = [entry.plan for entry in entries if entry.plan is not None]
    return always + max(
        (sum(plan.count for plan in plans if plan is first or plan.is_there_at(first.starts_at)) for first in plans),
        default=0,
    )

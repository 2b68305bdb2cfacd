"""The assumptions of the scheduling model: every switch that AWS does not settle, typed, documented, with a default.

The model is described in docs/scheduling-model.md. What AWS documents is no switch here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from policy_engine.durations import Milliseconds, parse_milliseconds


class VictimOrder(StrEnum):
    """Which job is stopped first (scheduling model, section 5)."""

    LOWEST_PRIORITY_YOUNGEST = "lowest_priority_youngest"
    LOWEST_PRIORITY_OLDEST = "lowest_priority_oldest"
    YOUNGEST = "youngest"
    OLDEST = "oldest"
    FEWEST = "fewest"


class HeadOfLine(StrEnum):
    """Which jobs of a share are considered (section 3)."""

    STRICT = "strict"
    PER_UNIT = "per_unit"
    NONE = "none"


class ShareOrder(StrEnum):
    """In which order shares are visited for entitled heads (section 4, phase A)."""

    DECLARATION = "declaration"
    LEAST_USED = "least_used"
    OLDEST_HEAD = "oldest_head"


class IdleFifo(StrEnum):
    """By what time idle capacity is handed to borrowers (section 4, phase B)."""

    SUBMITTED = "submitted"
    RUNNABLE_SINCE = "runnable_since"


class RequeuePosition(StrEnum):
    """Where a preempted job stands afterwards (section 3)."""

    ORIGINAL = "original"
    BACK = "back"


class UnallocatedCapacity(StrEnum):
    """Who may use capacity of the service environment that no share has a limit for (section 1)."""

    UNUSABLE = "unusable"
    BORROWABLE = "borrowable"


@dataclass(frozen=True, slots=True)
class Switch:
    """What is known of one assumption: what AWS says, what it leaves open, the choices, and why the default."""

    disclosed: str
    unknown: str
    alternatives: str
    reason: str


DEFAULT_UNIT = "default"


def _per_unit(value: object) -> dict[str, int]:
    if isinstance(value, Mapping):
        return {str(unit): parse_milliseconds(seconds) for unit, seconds in value.items()}
    return {DEFAULT_UNIT: parse_milliseconds(value)}


def _per_unit_seconds(latency: dict[str, int]) -> dict[str, float | int]:
    return {unit: value // 1000 if value % 1000 == 0 else value / 1000 for unit, value in latency.items()}


_seconds_schema = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}
UnitMilliseconds = Annotated[
    dict[str, int],
    BeforeValidator(_per_unit),
    PlainSerializer(_per_unit_seconds, return_type=dict[str, float | int]),
    WithJsonSchema({"anyOf": [*_seconds_schema["anyOf"], {"type": "object", "additionalProperties": _seconds_schema}]}),
]
"""A duration for each unit: one for all, or a mapping of instance type (and `default`) to duration."""


class Assumptions(BaseModel):
    """One value for each switch of the scheduling model. Durations are read as `2m` or seconds, held as ms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    victim_order: Annotated[
        VictimOrder,
        Switch(
            disclosed="Batch weighs the number and type of borrowed instances, relative priorities and job durations.",
            unknown="How it weighs them, and whether young or old jobs go first.",
            alternatives="lowest_priority_youngest, lowest_priority_oldest, youngest, oldest, fewest",
            reason="Lowest priority first agrees with AWS's published example; the youngest has the least to lose.",
        ),
    ] = Field(VictimOrder.LOWEST_PRIORITY_YOUNGEST, description="Which job is stopped first.")
    head_of_line: Annotated[
        HeadOfLine,
        Switch(
            disclosed="A RUNNABLE job can block the front of its queue; the snapshot shows one front for each share.",
            unknown="Whether a blocked head also holds up jobs of other instance types, or smaller jobs, behind it.",
            alternatives="strict, per_unit (one queue for each set of instance types), none (backfill)",
            reason="AWS's texts speak of one front, and of no backfill.",
        ),
    ] = Field(HeadOfLine.STRICT, description="Which jobs of a share are considered when its first job cannot go.")
    share_order: Annotated[
        ShareOrder,
        Switch(
            disclosed="All shares are gone through; the snapshot says that order depends on priority and usage.",
            unknown="The order in which shares are visited.",
            alternatives="declaration, least_used, oldest_head",
            reason="The simplest order that can be read off the topology.",
        ),
    ] = Field(ShareOrder.DECLARATION, description="The order in which shares are visited for jobs within their limits.")
    idle_fifo: Annotated[
        IdleFifo,
        Switch(
            disclosed="Idle capacity goes to borrowing shares first in, first out.",
            unknown="First in by which time.",
            alternatives="submitted, runnable_since",
            reason="Submission time is what first in, first out means in the other Batch queues.",
        ),
    ] = Field(IdleFifo.SUBMITTED, description="The time by which idle capacity is handed to borrowers.")
    requeue_position: Annotated[
        RequeuePosition,
        Switch(
            disclosed="A preempted job returns to RUNNABLE.",
            unknown="Its place among jobs of the same priority.",
            alternatives="original, back",
            reason="Priority and submission time are the only order that AWS names.",
        ),
    ] = Field(RequeuePosition.ORIGINAL, description="Where a preempted job stands among its equals.")
    unallocated_capacity: Annotated[
        UnallocatedCapacity,
        Switch(
            disclosed="Shares borrow from other shares; the published limit formula leaves unallocated capacity out.",
            unknown="Whether capacity that no share has a limit for can be borrowed.",
            alternatives="unusable, borrowable",
            reason="The published formula.",
        ),
    ] = Field(
        UnallocatedCapacity.UNUSABLE, description="Whether capacity that no share has a limit for can be borrowed."
    )
    scheduler_interval: Annotated[
        Milliseconds,
        Switch(
            disclosed="Nothing.",
            unknown="How often the scheduler runs.",
            alternatives="0 (at every event), or a period",
            reason="At every event: the shortest waits that the rules allow.",
        ),
    ] = Field(0, description="Seconds between scheduling passes; 0 runs one at every event.")
    stop_seconds: Annotated[
        Milliseconds,
        Switch(
            disclosed="StopTrainingJob sends SIGTERM and waits up to 120 seconds.",
            unknown="How long a preempted job really takes, and when its capacity counts as free.",
            alternatives="0 or more seconds",
            reason="The whole grace period.",
        ),
    ] = Field(120_000, description="Seconds that a preempted RUNNING job still holds its capacity.")
    provision_seconds: Annotated[
        UnitMilliseconds,
        Switch(
            disclosed="A job is SCHEDULED until SageMaker has capacity for it.",
            unknown="How long that takes.",
            alternatives="0 or more seconds, for each instance type",
            reason="0 leaves the schedule to the queue alone; set what you measure.",
        ),
    ] = Field(default_factory=lambda: {DEFAULT_UNIT: 0}, description="Seconds from SCHEDULED to STARTING.")
    startup_seconds: Annotated[
        UnitMilliseconds,
        Switch(
            disclosed="A job is STARTING while images and data are downloaded.",
            unknown="How long that takes.",
            alternatives="0 or more seconds, for each instance type",
            reason="0 leaves the schedule to the queue alone; set what you measure.",
        ),
    ] = Field(default_factory=lambda: {DEFAULT_UNIT: 0}, description="Seconds from STARTING to RUNNING.")
    resume_seconds: Annotated[
        Milliseconds,
        Switch(
            disclosed="A requeued job runs as a new training job with the same request.",
            unknown="How long it takes to read its checkpoint back.",
            alternatives="0 or more seconds",
            reason="It depends on the job; set what you measure.",
        ),
    ] = Field(0, description="Seconds of unproductive work at the start of every attempt but the first.")
    capacity_retry_seconds: Annotated[
        Milliseconds,
        Switch(
            disclosed="A job that SageMaker has no capacity for is RUNNABLE again and tried anew; no attempt is used.",
            unknown="How long it stays SCHEDULED before.",
            alternatives="more than 0 seconds",
            reason="A round figure; only replays with `unavailable` events depend on it.",
        ),
    ] = Field(300_000, gt=0, description="Seconds that a job stays SCHEDULED while SageMaker has no capacity for it.")

    @classmethod
    def switches(cls) -> Iterator[tuple[str, str, object, Switch]]:
        """Each switch as (name, description, default, what is known of it), in the order of the documentation."""
        default = cls()
        for name, field in cls.model_fields.items():
            (switch,) = (entry for entry in field.metadata if isinstance(entry, Switch))
            yield name, field.description or "", default.model_dump(mode="json")[name], switch

    def latency(self, units: tuple[str, ...]) -> tuple[int, int]:
        """Provisioning and start-up milliseconds of a job that needs these units: the largest of each."""
        provision, startup = (
            max((table.get(unit, table.get(DEFAULT_UNIT, 0)) for unit in units), default=0)
            for table in (self.provision_seconds, self.startup_seconds)
        )
        return provision, startup

    def replaced(self, changes: Mapping[str, object]) -> Self:
        """A copy with these switches set, validated. Raises pydantic.ValidationError."""
        return type(self).model_validate(self.model_dump(mode="json") | dict(changes))

"""The team topology: who owns which part of the capacity, and on what terms. Plain data; rules judge it.

Types are checked here (a quantity is a whole number, a strategy is one of three). Limits, consistency and risk are
judged by `policy_engine.rules`, so that a reader gets all findings at once, each with its id.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from policy_engine.assumptions import Assumptions
from policy_engine.durations import Milliseconds
from policy_engine.topology.capacity import CapacityEntry, EnvironmentCapacity, entries_of, most_at_once
from policy_engine.topology.expectations import Expectations, target_problem
from policy_engine.topology.quantities import Capacity, WholeNumber
from policy_engine.topology.service_limits import (
    MAX_QUEUE_PRIORITY,
    MAX_SCHEDULING_PRIORITY,
    TIME_LIMIT_REASONS,
)

UNLIMITED = -1
WRONG_TARGET = "wrong_target"
"""The type of the error that an expectation of nothing in the topology raises."""


class ResourceSharingStrategy(StrEnum):
    """What a quota share does with its idle capacity, and whether it may use that of others."""

    RESERVE = "RESERVE"
    LEND = "LEND"
    LEND_AND_BORROW = "LEND_AND_BORROW"

    @property
    def lends(self) -> bool:
        """Whether other shares may use this share's idle capacity."""
        return self is not ResourceSharingStrategy.RESERVE

    @property
    def borrows(self) -> bool:
        """Whether this share may use other shares' idle capacity."""
        return self is ResourceSharingStrategy.LEND_AND_BORROW


class ShareState(StrEnum):
    """Whether a quota share takes submissions."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


Flag = Annotated[bool, Strict()]
BorrowLimit = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": UNLIMITED, "examples": [100]})]
QueuePriority = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_QUEUE_PRIORITY})]
SchedulingPriority = Annotated[
    WholeNumber, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_SCHEDULING_PRIORITY})
]
TimeLimitReason = Annotated[str, WithJsonSchema({"type": "string", "enum": list(TIME_LIMIT_REASONS)})]
Tags = dict[str, str]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TimeLimit(_Model):
    """A RUNNABLE time-limit action: end a job that has blocked the front of its share for a known reason."""

    reason: TimeLimitReason = Field(
        description="The reason as AWS writes it, such as MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED."
    )
    after: Milliseconds = Field(description="How long the job may block before it is terminated (10m to 24h).")


class Queue(_Model):
    """The SageMaker Training job queue."""

    priority: QueuePriority = Field(1, description="Queue priority, 0 to 1000.")
    time_limits: tuple[TimeLimit, ...] = Field(
        (),
        description="RUNNABLE time-limit actions. Without one, a job that can never run blocks its share for ever.",
    )
    tags: Tags = Field(
        default_factory=dict, description="Tags of the queue, the service environment and the scheduling policy."
    )


class QuotaShare(_Model):
    """One quota share: capacity limits and a resource sharing strategy."""

    capacity: Capacity = Field(
        description="Capacity limits: whole instances of each type that the share's jobs hold without borrowing."
    )
    strategy: ResourceSharingStrategy = Field(
        description="RESERVE keeps idle capacity, LEND lends it, LEND_AND_BORROW lends and borrows."
    )
    borrow_limit: BorrowLimit | None = Field(
        None,
        description="Percent of its own limits that the share may borrow on top. Left out or -1: unlimited. "
        "LEND_AND_BORROW only.",
    )
    in_share_preemption: Flag = Field(
        default=False, description="Whether a job may displace running jobs of lower priority in the same share."
    )
    max_priority: SchedulingPriority | None = Field(
        None, description="The highest scheduling priority that the share's submitters may ask for, 0 to 9999."
    )
    largest_job: Capacity | None = Field(
        None,
        description="The largest single job that the share is meant for, in instances of each type.",
    )
    state: ShareState = Field(
        ShareState.ENABLED, description="DISABLED refuses new jobs; jobs already submitted go on."
    )
    tags: Tags = Field(default_factory=dict, description="Tags of this share, on top of the team's.")

    @property
    def borrow_percent(self) -> int:
        """The borrow limit as the API takes it: a percentage, -1 for unlimited, 0 for a share that does not borrow."""
        if not self.strategy.borrows:
            return 0
        return UNLIMITED if self.borrow_limit is None else self.borrow_limit

    def borrow_cap(self, unit: str) -> int | None:
        """Most instances of a unit that the share may hold above its limit. None is unlimited."""
        limit = self.capacity.get(unit, 0)
        if limit == 0 or not self.strategy.borrows:
            return 0
        return None if self.borrow_percent == UNLIMITED else limit * self.borrow_percent // 100


class Team(_Model):
    """A team: its quota shares, and who may use them."""

    shares: dict[str, QuotaShare] = Field(description="Quota shares by name. Names are unique across teams.")
    submitters: tuple[str, ...] = Field(
        (), description="ARNs of IAM roles and users that may submit jobs to this team's shares, and read."
    )
    operators: tuple[str, ...] = Field(
        (),
        description="ARNs of IAM roles and users that may also change the priority of this team's jobs and terminate "
        "them.",
    )
    viewers: tuple[str, ...] = Field(
        (), description="ARNs of IAM roles and users that may only read: the queue, this team's shares, the jobs."
    )
    execution_roles: tuple[str, ...] = Field(
        (),
        description="ARNs of the SageMaker execution roles (RoleArn of a training job) that this team's submitters may "
        "pass to their jobs.",
    )
    tags: Tags = Field(default_factory=dict, description="Tags of all the team's shares.")


class Suppression(_Model):
    """A finding that the topology's owner accepts, with the reason."""

    rule: str = Field(description="The rule's id, such as QM304.")
    reason: str = Field(min_length=1, description="Why it is accepted.")
    at: str | None = Field(None, description="Where: a share, a team or an instance type. Left out: everywhere.")


class OwnedShare(NamedTuple):
    """A quota share with its team."""

    team: str
    name: str
    share: QuotaShare


class Topology(_Model):
    """One SageMaker Training queue with its service environment, scheduling policy and quota shares, by team."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: str = Field(description="Names the scheduling policy, the service environment and the queue.")
    written_capacity: EnvironmentCapacity = Field(
        alias="capacity",
        description="Capacity of the service environment, by SageMaker instance type: whole instances, or the training "
        "plan that backs them, or a list of both.",
    )
    queue: Queue = Field(Queue(), description="The queue's own settings.")
    teams: dict[str, Team] = Field(description="Teams by name.")
    expectations: dict[str, Expectations] = Field(
        default_factory=dict, description="What a replay must show, by share name, team name or `queue`."
    )
    assumptions: Assumptions = Field(
        Assumptions(), description="Departures from the default assumptions of the scheduling model."
    )
    suppressions: tuple[Suppression, ...] = Field((), description="Findings that are accepted, each with a reason.")

    @field_validator("expectations")
    @classmethod
    def _expected_of_something(
        cls, expectations: dict[str, Expectations], info: ValidationInfo
    ) -> dict[str, Expectations]:
        if "teams" in info.data:
            _check_targets(expectations, info.data["teams"])
        return expectations

    @property
    def scheduling_policy_name(self) -> str:
        """Name of the scheduling policy."""
        return f"{self.name}-scheduling-policy"

    @property
    def service_environment_name(self) -> str:
        """Name of the service environment."""
        return f"{self.name}-service-environment"

    @property
    def queue_name(self) -> str:
        """Name of the job queue."""
        return f"{self.name}-queue"

    @property
    def capacity(self) -> Capacity:
        """Capacity of the service environment: the most instances of each type that are there at any one time."""
        entries: dict[str, list[CapacityEntry]] = {unit: [] for unit in self.written_capacity}
        for entry in self.capacity_entries():
            entries[entry.unit].append(entry)
        return {unit: most_at_once(of_unit) for unit, of_unit in entries.items()}

    def capacity_entries(self) -> Iterator[CapacityEntry]:
        """All entries of the environment's capacity in declaration order: on demand, or of a training plan."""
        return entries_of(self.written_capacity)

    def quota_shares(self) -> Iterator[OwnedShare]:
        """All quota shares in declaration order."""
        for team_name, team in self.teams.items():
            for share_name, share in team.shares.items():
                yield OwnedShare(team_name, share_name, share)

    def units(self) -> tuple[str, ...]:
        """Every capacity unit that the environment or a share names, in order of first mention."""
        units = dict.fromkeys(self.capacity)
        for owned in self.quota_shares():
            units.update(dict.fromkeys(owned.share.capacity))
        return tuple(units)


def _check_targets(expectations: Iterable[str], teams: dict[str, Team]) -> None:
    shares_of = {team_name: frozenset(team.shares) for team_name, team in teams.items()}
    problems = ((name, target_problem(name, shares_of)) for name in expectations)
    errors: list[InitErrorDetails] = [
        {"type": PydanticCustomError(WRONG_TARGET, "{problem}", {"problem": problem}), "loc": (name,), "input": name}
        for name, problem in problems
        if problem
    ]
    if errors:
        raise ValidationError.from_exception_data("Topology", errors)

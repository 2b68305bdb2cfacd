"""The team topology: who owns which part of the capacity, and on what terms. Plain data; rules judge it.

Types are checked here (a quantity is a whole number, a strategy is one of three). Limits, consistency and risk are
judged by `policy_engine.rules`, so that a reader gets all findings at once, each with its id.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from policy_engine.assumptions import Assumptions
from policy_engine.durations import Milliseconds

UNLIMITED = -1


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


def _whole_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected a whole number, not {value!r}")
    return value


WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
Capacity = dict[str, WholeNumber]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class TimeLimit(_Model):
    """A RUNNABLE time-limit action: end a job that has blocked the front of its share for a known reason."""

    reason: str
    """The reason as AWS writes it, such as MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED."""
    after: Milliseconds
    """How long the job may block before it is terminated (600 s to 86400 s)."""


class Queue(_Model):
    """The SageMaker Training job queue."""

    priority: WholeNumber = 1
    """Queue priority, 0 to 1000."""
    time_limits: tuple[TimeLimit, ...] = ()
    """RUNNABLE time-limit actions. Without one, a job that can never run blocks its share for ever."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags of the queue, the service environment and the scheduling policy."""


class QuotaShare(_Model):
    """One quota share: capacity limits and a resource sharing strategy."""

    capacity: Capacity
    """Capacity limits: whole instances of each instance type that the share's jobs hold without borrowing."""
    strategy: ResourceSharingStrategy
    """RESERVE keeps idle capacity, LEND lends it, LEND_AND_BORROW lends and borrows."""
    borrow_limit: WholeNumber | None = None
    """Percent of the share's own limits that it may borrow on top. Left out: unlimited. LEND_AND_BORROW only."""
    in_share_preemption: bool = False
    """Whether a job may displace running jobs of lower priority in the same share."""
    max_priority: WholeNumber | None = None
    """The highest scheduling priority that the share's submitters may ask for, 0 to 9999."""
    largest_job: Capacity | None = None
    """The largest single job that the share is meant for, in instances of each type. Rules check that it can run."""
    state: ShareState = ShareState.ENABLED
    """DISABLED refuses new jobs; jobs already submitted go on."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags of this share, on top of the team's."""

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

    shares: dict[str, QuotaShare]
    """Quota shares by name. Names are unique across teams."""
    submitters: tuple[str, ...] = ()
    """ARNs of IAM principals that may submit to this team's shares."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags of all the team's shares."""


class Suppression(_Model):
    """A finding that the topology's owner accepts, with the reason."""

    rule: str
    """The rule's id, such as QM304."""
    reason: str = Field(min_length=1)
    """Why it is accepted."""
    at: str | None = None
    """The share or team that it is accepted for. Left out: everywhere."""


class OwnedShare(NamedTuple):
    """A quota share with its team."""

    team: str
    name: str
    share: QuotaShare


Expectations = dict[str, dict[str, WholeNumber | str]]


class Topology(_Model):
    """One SageMaker Training queue with its service environment, scheduling policy and quota shares, by team."""

    name: str
    """Names the scheduling policy, the service environment and the queue."""
    capacity: Capacity
    """Capacity of the service environment: whole instances of each SageMaker instance type."""
    queue: Queue = Queue()
    teams: dict[str, Team]
    """Teams by name."""
    expectations: Expectations = Field(default_factory=dict)
    """What a replay must show, by share name or `queue`."""
    assumptions: Assumptions = Assumptions()
    """Departures from the default assumptions of the scheduling model."""
    suppressions: tuple[Suppression, ...] = ()
    """Findings that are accepted, each with a reason."""

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

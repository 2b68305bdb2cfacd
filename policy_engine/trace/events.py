"""Control events: what an operator, or SageMaker, does to a queue while a trace runs."""

from dataclasses import dataclass, field
from typing import Literal

from policy_engine.topology import ResourceSharingStrategy, ShareState


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePriority:
    """UpdateServiceJob: a job's new scheduling priority."""

    at: int
    """ms since the trace's start."""
    job: str
    priority: int
    event: Literal["update_priority"] = field(default="update_priority", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateShare:
    """UpdateQuotaShare: the fields that are not None replace the share's; `limits` replaces all its limits."""

    at: int
    share: str
    limits: dict[str, int] | None = None
    strategy: ResourceSharingStrategy | None = None
    borrow_limit: int | None = None
    """Percent; -1 is unlimited."""
    in_share_preemption: bool | None = None
    event: Literal["update_share"] = field(default="update_share", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetShareState:
    """UpdateQuotaShare: the share's state."""

    at: int
    share: str
    state: ShareState
    event: Literal["set_share_state"] = field(default="set_share_state", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCapacity:
    """UpdateServiceEnvironment: the capacity of one unit."""

    at: int
    unit: str
    capacity: int
    event: Literal["update_capacity"] = field(default="update_capacity", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminate:
    """TerminateServiceJob."""

    at: int
    job: str
    event: Literal["terminate"] = field(default="terminate", init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """SageMaker cannot provide the unit from `at` until just before `until`."""

    at: int
    unit: str
    until: int
    """ms since the trace's start."""
    event: Literal["unavailable"] = field(default="unavailable", init=False)


ControlEvent = UpdatePriority | UpdateShare | SetShareState | UpdateCapacity | Terminate | Unavailable

"""What all backends of one emulator have in common, whatever their account and region."""

from dataclasses import dataclass, field
from threading import RLock

from policy_engine.assumptions import Assumptions
from policy_engine.emulator.clock import Clock
from policy_engine.emulator.faults import Outages, Throttle

DEFAULT_RUNTIME = 300_000
DEFAULT_SETTLING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an emulator behaves. Durations in ms of its clock."""

    clock: Clock
    assumptions: Assumptions = field(default_factory=Assumptions)
    default_runtime: int = DEFAULT_RUNTIME
    """What a job runs whose request does not say it."""
    settling: int = DEFAULT_SETTLING
    """How long a resource is CREATING, UPDATING or DELETING."""
    throttle: Throttle | None = None
    """Refuses what is submitted too fast."""
    outages: Outages = field(default_factory=Outages)
    """When SageMaker does not have which unit."""
    lock: RLock = field(default_factory=RLock)
    """Held during each call: moto's server answers calls in threads."""

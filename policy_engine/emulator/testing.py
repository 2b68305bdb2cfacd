"""The emulator in this process: for tests, with a clock that they step."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from moto import mock_aws

from policy_engine.assumptions import Assumptions
from policy_engine.durations import parse_milliseconds
from policy_engine.emulator.clock import SteppedClock
from policy_engine.emulator.extension import Backends, announce, quota_management
from policy_engine.emulator.faults import Outage, Outages, Throttle
from policy_engine.emulator.settings import DEFAULT_RUNTIME, DEFAULT_SETTLING, Settings


@dataclass(frozen=True, slots=True)
class Emulator:
    """AWS Batch with quota management, whose time goes on only as it is told to."""

    clock: SteppedClock
    backends: Backends
    outages: Outages

    def advance(self, duration: float | str) -> None:
        """Let time go on: seconds, or text such as `5m`. Raises ValueError."""
        self._go_on(parse_milliseconds(duration))

    def make_unavailable(self, instance_type: str, duration: float | str) -> None:
        """SageMaker has no more instances of this type from now on, for so long. Raises ValueError."""
        now = self.clock.now()
        self.outages.add(Outage(unit=instance_type, since=now, until=now + parse_milliseconds(duration)))

    def run_until_idle(self) -> None:
        """Let time go on until nothing more happens by itself: all jobs that can run have ended."""
        idle_from = (backend.idle_from() for regions in self.backends.values() for backend in regions.values())
        self._go_on(max(0, max(idle_from, default=0) - self.clock.now()))

    def _go_on(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        announce(self.backends)


@contextmanager
def emulated(
    *,
    assumptions: Assumptions | None = None,
    default_runtime: float | str = DEFAULT_RUNTIME / 1000,
    settling: float | str = DEFAULT_SETTLING / 1000,
    throttle: int | None = None,
) -> Iterator[Emulator]:
    """The `mock_aws` of moto, with quota management. Durations as seconds, or text such as `5m`.

    `settling` is how long each resource is CREATING, UPDATING or DELETING; `throttle` how many jobs can be submitted in
    a second, which goes by only as the clock is advanced.
    """
    clock = SteppedClock()
    settings = Settings(
        clock=clock,
        assumptions=assumptions or Assumptions(),
        default_runtime=parse_milliseconds(default_runtime),
        settling=parse_milliseconds(settling),
        throttle=None if throttle is None else Throttle(throttle, clock.waited),
    )
    with quota_management(settings) as backends, mock_aws():
        yield Emulator(clock, backends, settings.outages)

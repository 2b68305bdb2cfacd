"""What goes wrong on AWS now and then, on request: throttled submissions, and capacity that SageMaker does not have."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from policy_engine.trace import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """SageMaker does not have a unit, from a moment until just before another. ms since 1970-01-01 UTC."""

    unit: str
    since: int
    until: int


class Outages:
    """All outages of an emulator, for all its queues."""

    def __init__(self) -> None:
        self._outages: list[Outage] = []

    def __len__(self) -> int:
        return len(self._outages)

    def add(self, outage: Outage) -> None:
        """A unit becomes unavailable, not before the present moment."""
        self._outages.append(outage)

    def events(self, started_at: int) -> list[Unavailable]:
        """As control events of a queue that was created at `started_at`."""
        return [
            Unavailable(at=max(0, outage.since - started_at), unit=outage.unit, until=outage.until - started_at)
            for outage in self._outages
            if outage.until > started_at
        ]


class Throttle:
    """Lets so many submissions a second through in each account and region, and as many at once after a rest.

    A token bucket; AWS publishes the rate, not how it is measured.
    """

    def __init__(self, rate: int, waited: Callable[[], float]) -> None:
        self._rate = rate
        self._waited = waited
        self._left: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (waited(), float(rate)))
        self._suspended = False

    def admits(self, account: str, region: str) -> bool:
        """Whether one more submission may come now. It counts if so."""
        if self._suspended:
            return True
        now = self._waited()
        since, left = self._left[account, region]
        left = min(float(self._rate), left + (now - since) * self._rate)
        admitted = left >= 1
        self._left[account, region] = now, left - admitted
        return admitted

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """In this block all come through."""
        self._suspended = True
        try:
            yield
        finally:
            self._suspended = False

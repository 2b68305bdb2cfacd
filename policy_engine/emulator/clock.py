"""The emulator's time, in whole milliseconds since 1970-01-01 UTC. It never goes back."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

_2026 = 1_767_225_600_000


class Clock(Protocol):
    """What the emulator asks for the time."""

    def now(self) -> int:
        """The present millisecond."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """In this block it stands still: a call happens at one moment."""
        ...

    def waited(self) -> float:
        """Seconds as whoever calls sees them go by, from some moment on."""
        ...


class RunningClock:
    """A clock that runs by itself from the present time on, `speed` times as fast as time itself."""

    def __init__(self, speed: float = 1) -> None:
        if not speed > 0:
            raise ValueError(f"a clock's speed must be more than 0, not {speed}")
        self.speed = speed
        self._started_at = time.time_ns() // 1_000_000
        self._started = time.monotonic()
        self._held_at: int | None = None

    def now(self) -> int:
        """The present millisecond."""
        if self._held_at is not None:
            return self._held_at
        return self._started_at + int((time.monotonic() - self._started) * 1000 * self.speed)

    def go_on_from(self, now: int) -> None:
        """Run on from a millisecond that is not in its past."""
        self._started_at = now
        self._started = time.monotonic()

    @contextmanager
    def held(self, at: int | None = None) -> Iterator[None]:
        """In this block it stands still, here or at `at`. Blocks may be in each other, in one thread at a time."""
        outer, self._held_at = self._held_at, self.now() if at is None else at
        try:
            yield
        finally:
            self._held_at = outer

    def waited(self) -> float:
        """Seconds, not accelerated."""
        return time.monotonic()


class SteppedClock:
    """A clock that stands still until it is advanced: for tests."""

    def __init__(self, start: int = _2026) -> None:
        self._now = start

    def now(self) -> int:
        """The present millisecond."""
        return self._now

    def held(self) -> AbstractContextManager[None]:
        """It stands still in any block."""
        return nullcontext()

    def waited(self) -> float:
        """Seconds by which it was advanced."""
        return self._now / 1000

    def advance(self, milliseconds: int) -> None:
        """Go on by so many milliseconds. Raises ValueError if that is back."""
        if milliseconds < 0:
            raise ValueError("a clock cannot be set back")
        self._now += milliseconds

"""The emulator's time, in whole milliseconds since 1970-01-01 UTC. It never goes back."""

import time
from typing import Protocol

_2026 = 1_767_225_600_000


class Clock(Protocol):
    """What the emulator asks for the time."""

    def now(self) -> int:
        """The present millisecond."""
        ...


class RunningClock:
    """A clock that runs by itself from the present time on, `speed` times as fast as time itself."""

    def __init__(self, speed: float = 1) -> None:
        if not speed > 0:
            raise ValueError(f"a clock's speed must be more than 0, not {speed}")
        self._speed = speed
        self._started_at = time.time_ns() // 1_000_000
        self._started = time.monotonic()

    def now(self) -> int:
        """The present millisecond."""
        return self._started_at + int((time.monotonic() - self._started) * 1000 * self._speed)


class SteppedClock:
    """A clock that stands still until it is advanced: for tests."""

    def __init__(self, start: int = _2026) -> None:
        self._now = start

    def now(self) -> int:
        """The present millisecond."""
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Go on by so many milliseconds. Raises ValueError if that is back."""
        if milliseconds < 0:
            raise ValueError("a clock cannot be set back")
        self._now += milliseconds

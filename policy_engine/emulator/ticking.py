"""Lets AWS Batch tell of its jobs by itself, though nobody calls: for a clock that runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from policy_engine.emulator.settings import Settings

EVERY_SECONDS = 0.5
"""Of real time."""


@contextmanager
def ticking(settings: Settings, announce: Callable[[], None]) -> Iterator[None]:
    """In this block events are sent, and training jobs shown, within half a second."""
    over = Event()

    def tick() -> None:
        while not over.wait(EVERY_SECONDS):
            with settings.lock, settings.clock.held():
                announce()

    thread = Thread(target=tick, name="announcements", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()

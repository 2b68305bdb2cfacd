"""Ctrl-C while machine code runs that does not return to Python for a long time, such as a compiler."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread

INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as shells have it."""


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process within the block without waiting for Python's turn, and without any cleaning up.

    Python runs its signal handlers only between its own instructions, and what a handler raises is lost if a callback
    of the machine code is running. Here a thread waits for the signal instead.
    """
    if current_thread() is not main_thread():  # only the main thread gets signals
        yield
        return
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    watcher = Thread(target=_exit_on_interrupt, args=(receiver,), daemon=True)
    handler = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    earlier = signal.set_wakeup_fd(sender)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        signal.signal(signal.SIGINT, handler)
        os.close(sender)
        watcher.join()
        os.close(receiver)


def _exit_on_interrupt(receiver: int) -> None:
    """Wait for the numbers of signals until the other end is closed."""
    while numbers := os.read(receiver, 64):
        if signal.SIGINT in numbers:
            print("interrupted", file=sys.stderr, flush=True)  # noqa: T201 (the main thread may hold click's streams)
            os._exit(INTERRUPTED)

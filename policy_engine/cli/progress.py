"""A progress bar on standard error, for what takes long enough to be watched."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

_WORTH_SHOWING = 1.0
"""Seconds of silence before the bar appears."""

Note = Callable[[int], None]


@contextmanager
def progress(what: str, total: int, noun: str, afterwards: str) -> Iterator[Note]:
    """A function to call with how many of `total` are done. The bar has the rate and the time left; only on a terminal.

    The clock starts at the first call. Once all are done, `afterwards` says what still goes on.
    """
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    with ExitStack() as stack:
        began: float | None = None
        show: Note | None = None

        def note(done: int) -> None:
            nonlocal began, show
            if began is None:
                began = monotonic()
            elapsed = monotonic() - began
            if show is None and elapsed >= _WORTH_SHOWING:
                show = stack.enter_context(_bar(what, total, noun, afterwards, began))
            if show is not None:
                show(done)

        yield note


@contextmanager
def _bar(what: str, total: int, noun: str, afterwards: str, began: float) -> Iterator[Note]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(what, total=total, rate="")

        def show(done: int) -> None:
            rate = f"{done / max(monotonic() - began, 0.001):,.0f} {noun}/s"
            shown.update(task, completed=done, rate=rate if done < total else afterwards)

        yield show

"""Tables and paragraphs for a terminal, within 80 columns."""

import io
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from policy_engine.amounts import counted, printable
from policy_engine.report.wrapping import wrapped

WIDTH = 80


def rendered(parts: Iterable[RenderableType], *, color: bool) -> str:
    """The parts as text, one below the other, without spaces at the ends of lines."""
    console = Console(
        file=io.StringIO(),
        width=WIDTH,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        legacy_windows=False,
    )
    unbounded = console.options.update(max_width=10 * WIDTH)
    for part in parts:
        if isinstance(part, Table) and console.measure(part, options=unbounded).maximum > WIDTH:
            part.padding = 0
        console.print(part)
    file = console.file
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) if isinstance(file, io.StringIO) else ""


def section(title: str, *parts: RenderableType) -> Iterator[RenderableType]:
    """Parts below a heading."""
    yield Text()
    yield Text(printable(title), style="bold")
    yield from parts


def amounts_table(*columns: str, named: int = 1) -> Table:
    """A table whose first `named` columns hold names, and whose others amounts."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, heading in enumerate(columns):
        if number < named:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    return table


def hanging(text: str, *, indent: int = 2) -> Text:
    """A paragraph whose lines after the first stand further in."""
    lines = wrapped(printable(text), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
    return Text("\n".join(lines))


def more(count: int, noun: str) -> Iterator[RenderableType]:
    """How many are not shown, if any."""
    if count > 0:
        yield Text(f"  and {counted(count, f'more {noun}')}", style="dim")

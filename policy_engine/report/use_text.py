"""What each share uses over time, for people: a sparkline for each instance type, within 80 columns."""

from collections.abc import Iterator, Sequence

import polars as pl
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from policy_engine.amounts import brief_duration, printable
from policy_engine.report.peaks import peaks
from policy_engine.report.sparklines import sparkline
from policy_engine.report.tables import WIDTH, amounts_table, hanging, more, section
from policy_engine.scheduler.usage import Usage

_SHARE, _UNIT = "share", "instance type"
_FEWEST_BLOCKS, _MOST_BLOCKS = 16, 48
_ROWS_SHOWN = 24
_NAME_WIDTH = 30
"""Longer names are folded, so that there is room for time."""
_OTHER_WIDTH = len("   peak limit")
_ABOVE_LIMIT = "yellow"
_Row = tuple[str, str, pl.DataFrame]
"""A share, an instance type, and their steps."""


def use_section(usage: Usage) -> Iterator[RenderableType]:
    """Instances in use over time, of shares and instance types with a limit or a use; nothing if no time passed.

    What is above the limit, and so borrowed, is yellow where there is colour.
    """
    rows = [
        (printable(str(share)), printable(str(unit)), steps)
        for (share, unit), steps in usage.steps.group_by("share", "unit", maintain_order=True)
        if steps.select(pl.max_horizontal(pl.col("limit", "used").max())).item()
    ]
    if not rows or usage.end <= usage.start:
        return
    shown = rows[:_ROWS_SHOWN]
    blocks = _blocks(shown)
    table = amounts_table(_SHARE, _UNIT, "over time", "peak", "limit", named=3)
    table.columns[2].no_wrap = True
    for share, unit, steps in shown:
        at = steps["at"].to_numpy()
        used, limit = (peaks(at, steps[name].to_numpy(), usage.start, usage.end, blocks) for name in ("used", "limit"))
        peak, highest_limit = int(used.max()), int(limit.max())
        line = Text(sparkline(used.tolist(), max(peak, highest_limit, 1)))
        for block in (used > limit).nonzero()[0].tolist():
            line.stylize(_ABOVE_LIMIT, block, block + 1)
        table.add_row(Text(share), Text(unit), line, f"{peak:,}", f"{highest_limit:,}")
    yield from section("Instances in use over time", table)
    yield from more(len(rows) - len(shown), "row")
    span = brief_duration((usage.end - usage.start) // blocks)
    yield hanging(
        f"A block is the most within {span}, as high as that is of the limit, or of the peak if that is higher.",
        indent=0,
    )


def _blocks(rows: Sequence[_Row]) -> int:
    """How many fit beside the names."""
    shares, units = max(cell_len(share) for share, _, _ in rows), max(cell_len(unit) for _, unit, _ in rows)
    names = min(max(shares, len(_SHARE)), _NAME_WIDTH) + min(max(units, len(_UNIT)), _NAME_WIDTH)
    free = WIDTH - names - _OTHER_WIDTH
    return max(_FEWEST_BLOCKS, min(free, _MOST_BLOCKS))

"""A trace's description for people, within 80 columns, and as JSON for programs."""

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from policy_engine.durations import format_milliseconds
from policy_engine.trace.description import HOUR, Runtimes, ShareDescription, TraceDescription, UnitDescription

_WIDTH = 80
_BARS = "▁▂▃▄▅▆▇█"
_DAY = 24 * HOUR
_NAME = 20


def description_text(description: TraceDescription, name: str, *, color: bool) -> str:
    """Jobs, shares and units as tables, demand over time as small bars."""
    console = Console(
        file=io.StringIO(),
        width=_WIDTH,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        legacy_windows=False,
    )
    console.print(Text(_summary(description, name)))
    console.print()
    console.print(_share_table(description))
    if any(unit.capacity is not None for unit in description.units):
        console.print(Text(_strangers(description)), end="")
    console.print()
    console.print(_unit_table(description))
    console.print()
    console.print(_demand(description), end="")
    file = console.file
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) if isinstance(file, io.StringIO) else ""


def description_json(description: TraceDescription) -> str:
    """`{"version": 1, "jobs", …, "shares": [...], "units": [...]}`. Times and runtimes in seconds."""
    data = {
        "version": 1,
        "jobs": description.jobs,
        "started_at": None if description.epoch is None else _date(description.epoch, 0),
        "first_submitted_at": description.first_submitted_at / 1000,
        "last_submitted_at": description.last_submitted_at / 1000,
        "last_end": description.last_end / 1000,
        "window_seconds": description.window / 1000,
        "runtime_seconds": _runtime_data(description.runtime),
        "shares": [_share_data(share, description) for share in description.shares],
        "units": [_unit_data(unit) for unit in description.units],
    }
    return json.dumps(data, indent=2)


def _summary(description: TraceDescription, name: str) -> str:
    first, last = description.first_submitted_at, description.last_submitted_at
    lines = [
        f"{_printable(name)}: {description.jobs:,} jobs, submitted over {_long(last - first)}, "
        f"the last would end after {_long(description.last_end - first)}"
    ]
    if description.epoch is not None:
        lines.append(f"from {_date(description.epoch, first)} to {_date(description.epoch, last)}")
    return "\n".join(lines)


def _share_table(description: TraceDescription) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("share", overflow="fold")
    with_load = any(unit.capacity is not None for unit in description.units)
    for heading in ("jobs", "instance-h", "median", "p95", "priority", *(("load",) if with_load else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    for share in sorted(description.shares, key=lambda share: -sum(share.instance_hours.values())):
        priority = f"{share.lowest_priority}"
        if share.highest_priority != share.lowest_priority:
            priority += f"-{share.highest_priority}"
        row: list[Text | str] = [
            Text(_printable(share.share)),
            f"{share.jobs:,}",
            _count(sum(share.instance_hours.values())),
            _short(share.runtime.median),
            _short(share.runtime.p95),
            priority,
        ]
        table.add_row(*row, *([_percent(_share_load(share, description))] if with_load else []))
    return table


def _unit_table(description: TraceDescription) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("instance type", overflow="fold")
    with_load = any(unit.capacity is not None for unit in description.units)
    headings = ("jobs", "instance-h", "largest", "mean", "peak", *(("capacity", "load") if with_load else ()))
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for unit in description.units:
        capacity = [] if unit.capacity is None else [f"{unit.capacity:,}", _percent(_unit_load(unit))]
        row = [f"{unit.jobs:,}", _count(unit.instance_hours), f"{unit.largest:,}", _count(unit.mean), f"{unit.peak:,}"]
        table.add_row(Text(_printable(unit.unit)), *row, *capacity)
    return table


def _demand(description: TraceDescription) -> Text:
    """A line of bars for each unit, from no demand to the most that it has."""
    lines = ["demand over time if every job ran as it is submitted, and the highest bar"]
    for unit in description.units:
        top = max(unit.over_time)
        name = _printable(unit.unit)[:_NAME]
        lines.append(f"{name:<{_NAME}} {_bars(unit.over_time, top)} {_count(top):>9}")
    return Text("\n".join(lines))


def _strangers(description: TraceDescription) -> str:
    names = [share.share for share in description.shares if share.limits is None]
    shown = ", ".join(_printable(name) for name in names[:10]) + (", …" if len(names) > 10 else "")
    return f"not in the topology: {shown}\n" if names else ""


def _bars(values: Sequence[float], top: float) -> str:
    steps = len(_BARS) - 1
    return "".join(_BARS[round(value / top * steps) if top else 0] for value in values)


def _share_load(share: ShareDescription, description: TraceDescription) -> float | None:
    """The share's offered load against its limits, of the unit where it is highest. None if it has no limit for one."""
    if share.limits is None or any(not share.limits.get(unit) for unit in share.instance_hours):
        return None
    hours = description.window / HOUR
    return max((used / hours / share.limits[unit] for unit, used in share.instance_hours.items()), default=0.0)


def _unit_load(unit: UnitDescription) -> float | None:
    return unit.mean / unit.capacity if unit.capacity else None


def _runtime_data(runtime: Runtimes) -> dict[str, float]:
    return {"median": runtime.median / 1000, "p95": runtime.p95 / 1000, "longest": runtime.longest / 1000}


def _share_data(share: ShareDescription, description: TraceDescription) -> dict[str, object]:
    return {
        "share": share.share,
        "jobs": share.jobs,
        "instance_hours": dict(share.instance_hours),
        "runtime_seconds": _runtime_data(share.runtime),
        "priority": {"lowest": share.lowest_priority, "highest": share.highest_priority},
        "limits": None if share.limits is None else dict(share.limits),
        "load": _share_load(share, description),
    }


def _unit_data(unit: UnitDescription) -> dict[str, object]:
    return {
        "unit": unit.unit,
        "jobs": unit.jobs,
        "instance_hours": unit.instance_hours,
        "largest_job": unit.largest,
        "demand": {"mean": unit.mean, "peak": unit.peak, "over_time": list(unit.over_time)},
        "capacity": unit.capacity,
        "load": _unit_load(unit),
    }


def _date(epoch: int, at: int) -> str:
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch + at)
    return date.isoformat(timespec="seconds").replace("+00:00", "Z")


def _long(milliseconds: int) -> str:
    return f"{milliseconds / _DAY:,.1f} days" if milliseconds >= 2 * _DAY else _short(milliseconds)


def _short(milliseconds: int) -> str:
    """To the second, or to the minute for what takes an hour or more."""
    step = 1000 if milliseconds < HOUR else 60_000
    return format_milliseconds(round(milliseconds / step) * step) if milliseconds >= 1000 else f"{milliseconds}ms"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{fraction:.0%}"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in text)

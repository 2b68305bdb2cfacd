"""Durations, times and amounts as people read them. What programs read is exact, and elsewhere."""

from datetime import UTC, datetime, timedelta

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
"""Milliseconds."""


def brief_duration(milliseconds: int) -> str:
    """To two units, such as `38d18h`, `3h05m`, `2m30s`, and to one where that says enough: `1,234d`, `12s`, `350ms`."""
    if milliseconds < SECOND:
        return f"{milliseconds}ms" if milliseconds else "0s"
    seconds, minutes, hours = ((milliseconds + unit // 2) // unit for unit in (SECOND, MINUTE, HOUR))
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    if minutes < 24 * 60:
        return f"{minutes // 60}h{minutes % 60:02d}m"
    if hours < 100 * 24:
        return f"{hours // 24}d{hours % 24:02d}h"
    return f"{(hours + 12) // 24:,}d"


def moment(milliseconds: int, epoch: int | None) -> str:
    """A time of the replay: as a date if the trace has dates, else as `1d 03:05:12` since its start."""
    if epoch is not None:
        date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch + milliseconds)
        return date.strftime("%Y-%m-%d %H:%M:%S")
    days, rest = divmod(milliseconds, DAY)
    clock = f"{rest // HOUR:02d}:{rest % HOUR // MINUTE:02d}:{rest % MINUTE // SECOND:02d}"
    return f"{days}d {clock}" if days else clock


def iso_date(milliseconds: int, epoch: int) -> str:
    """A time of the replay as ISO 8601, in UTC."""
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch + milliseconds)
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_hours(instance_milliseconds: int) -> str:
    """Instance-hours: `1,234`, `12.3`, `<0.1`, `0`."""
    return decimal(instance_milliseconds / HOUR)


def decimal(number: float) -> str:
    """One decimal below 100, none above: `1,234`, `12.3`, `<0.1`, `0`."""
    if number == 0:
        return "0"
    if number < 0.05:
        return "<0.1"
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.1f}"


def percent(fraction: float | None) -> str:
    """`62%`, `-` for None."""
    return "-" if fraction is None else f"{fraction:.0%}"


def counted(count: int, noun: str) -> str:
    """`1 job`, `82,247 jobs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def printable(text: str) -> str:
    """The text with U+FFFD for what a terminal would act upon."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)

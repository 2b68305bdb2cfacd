"""Times in traces: seconds since the trace's start, or ISO 8601; held as whole milliseconds."""

import polars as pl

LONGEST = 10_000 * 86_400_000
"""ms: the longest duration, and the latest time, that a trace may hold (10,000 days)."""

_DATE = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ](\d{2}:\d{2})(?::(\d{2}(?:[.,]\d{1,9})?))?"
    r"(?:[Zz]|([+-])(\d{2}):?(\d{2}))?)?$"
)
_BEGINS_AS_DATE = r"^\d{4}-\d"


def like_dates(texts: pl.Series) -> pl.Series:
    """Whether each text begins as an ISO 8601 date does."""
    return texts.str.contains(_BEGINS_AS_DATE)


def dates_to_milliseconds(texts: pl.Series) -> pl.Series:
    """Milliseconds since 1970-01-01 UTC of ISO 8601 texts, null where a text is none. Without a zone they are UTC."""
    day, minute, second, sign, zone_hours, zone_minutes = (texts.str.extract(_DATE, group) for group in range(1, 7))
    clock = minute.fill_null("00:00") + ":" + second.fill_null("00").str.replace(",", ".", literal=True)
    local = (day + "T" + clock).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    offset = (zone_hours.cast(pl.Int64) * 60 + zone_minutes.cast(pl.Int64)).fill_null(0) * 60_000
    east = sign.fill_null("+") == "+"
    return datetimes_to_milliseconds(local) - offset.zip_with(east, -offset)


def datetimes_to_milliseconds(values: pl.Series) -> pl.Series:
    """Milliseconds since 1970-01-01 UTC of a polars Datetime or Date column, to the nearest."""
    return (values.cast(pl.Datetime("us")).cast(pl.Int64) + 500) // 1000


def seconds_to_milliseconds(seconds: pl.Series) -> pl.Series:
    """Whole milliseconds, to the nearest, of finite seconds within the longest duration."""
    if seconds.dtype.is_integer():
        return seconds.cast(pl.Int64) * 1000
    return (seconds * 1000).round().cast(pl.Int64)

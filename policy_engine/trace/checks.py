"""Checks whole columns of a table at once and turns them into what a trace holds. Bad rows are reported, not raised."""

from dataclasses import dataclass

import polars as pl

from policy_engine.diagnostics import Finding, Severity
from policy_engine.trace.bad_rows import BadRows
from policy_engine.trace.tables import Table
from policy_engine.trace.times import (
    LONGEST,
    dates_to_milliseconds,
    datetimes_to_milliseconds,
    like_dates,
    seconds_to_milliseconds,
)

ALL_SECONDS = LONGEST // 1000
_FIT_INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


@dataclass(frozen=True, slots=True)
class Number:
    """What a column's numbers must be."""

    id: str
    column: str
    expected: str
    low: float
    high: float
    whole: bool = False
    required: bool = False
    help: str = ""


def texts(table: Table, bad: BadRows, id_: str, column: str, expected: str) -> pl.Series:
    """A column of texts, none of them empty. Whole numbers become text, so that numbered jobs need no conversion."""
    values = optional_texts(table, bad, id_, column)
    if values is None:
        return pl.Series(column, [None], pl.String).new_from_index(0, len(table))
    bad.report(id_, column, values.is_null(), expected=expected, values=values)
    return values


def optional_texts(table: Table, bad: BadRows, id_: str, column: str) -> pl.Series | None:
    """A column of texts or whole numbers as text, null where it is empty. None if it holds anything else."""
    values = table.column(column)
    if values.dtype.is_integer() or values.dtype == pl.Null:
        return values.cast(pl.String)
    if values.dtype != pl.String:
        _wrong_type(table, bad, id_, values, "text")
        return None
    return values


def numbers(table: Table, bad: BadRows, rule: Number, *, among: pl.Series | None = None) -> pl.Series:
    """A column of numbers, null where it is empty. Rows that were reported hold the lowest."""
    values = table.column(rule.column)
    found = as_numbers(values)
    if found is None:
        return _wrong_type(table, bad, rule.id, values, "numbers").cast(pl.Float64).fill_null(rule.low)
    return check_numbers(bad, rule, values, found, among=among)


def check_numbers(
    bad: BadRows, rule: Number, values: pl.Series, found: pl.Series, *, among: pl.Series | None = None
) -> pl.Series:
    """Report rows, `among` these, with no number or one that the rule forbids; `values` is what the table says."""
    if _all_sound(rule, found, values):
        return found
    sound = (found.is_finite() & (found >= rule.low) & (found <= rule.high)).fill_null(value=False)
    if rule.whole:
        sound &= (found == found.floor()).fill_null(value=False)
    wrong = ~sound if rule.required else ~sound & values.is_not_null()
    if among is not None:
        wrong &= among
    if not wrong.any():
        return found
    bad.report(rule.id, rule.column, wrong, expected=rule.expected, values=values, help_=rule.help)
    return found.cast(pl.Float64).set(wrong, rule.low)


def as_numbers(values: pl.Series) -> pl.Series | None:
    """Int64 or Float64, null where a text is no number. None if the type holds no numbers. Durations are seconds."""
    if values.dtype == pl.Duration:
        return values.dt.total_microseconds() / 1e6
    if values.dtype in _FIT_INT64:
        return values.cast(pl.Int64)
    if values.dtype.is_numeric() or values.dtype in (pl.String, pl.Null):
        return values.cast(pl.Float64, strict=False)
    return None


def milliseconds(table: Table, bad: BadRows, rule: Number) -> pl.Series:
    """A column of seconds as whole milliseconds, null where it is empty."""
    return seconds_to_milliseconds(numbers(table, bad, rule))


def submissions(table: Table, bad: BadRows) -> tuple[pl.Series, int | None]:
    """`submitted_at` as ms since the trace's start, and the start as ms since 1970-01-01 UTC if it holds dates."""
    column = "submitted_at"
    values = table.column(column)
    if values.dtype.is_temporal() and values.dtype not in (pl.Duration, pl.Time):
        return _since_first(bad, values, datetimes_to_milliseconds(values))
    first = values.drop_nulls().head(1)
    if values.dtype == pl.String and like_dates(first).any():
        return _since_first(bad, values, dates_to_milliseconds(values))
    expected = f"seconds from the trace's start, 0 to {ALL_SECONDS}"
    help_ = "all rows have seconds, or all have dates; `batch-quota trace convert --unix` reads Unix times"
    found = as_numbers(values)
    if found is None:
        return _wrong_type(table, bad, "TR014", values, "seconds or dates").cast(pl.Int64).fill_null(0), None
    rule = Number("TR014", column, expected, 0, ALL_SECONDS, required=True, help=help_)
    return seconds_to_milliseconds(check_numbers(bad, rule, values, found)), None


def flags(table: Table, bad: BadRows, id_: str, column: str) -> pl.Series:
    """A column of true and false, false where it is empty."""
    values = table.column(column)
    if values.dtype == pl.Boolean:
        return values.fill_null(value=False)
    if values.dtype != pl.String:
        return _wrong_type(table, bad, id_, values, "true or false").is_not_null()
    lower = values.str.to_lowercase()
    bad.report(
        id_, column, ~lower.is_in(["true", "false"]).fill_null(value=True), expected="true or false", values=values
    )
    return (lower == "true").fill_null(value=False)


def _all_sound(rule: Number, found: pl.Series, values: pl.Series) -> bool:
    """Whether every row is sound, found without a column of answers: the usual case must be quick."""
    if found.null_count() > (0 if rule.required else values.null_count()):
        return False
    if found.null_count() == len(found):
        return True
    if found.dtype.is_float() and not (found.is_finite().all() and (not rule.whole or (found == found.floor()).all())):
        return False
    low, high = found.min(), found.max()
    return isinstance(low, int | float) and isinstance(high, int | float) and rule.low <= low and high <= rule.high


def _since_first(bad: BadRows, values: pl.Series, at: pl.Series) -> tuple[pl.Series, int | None]:
    expected = "a date and time as in the first row, such as 2026-01-31T08:00:00Z"
    bad.report("TR014", values.name, at.is_null(), expected=expected, values=values)
    start = at.min()
    if not isinstance(start, int):
        return at.fill_null(0), None
    since = at.fill_null(start) - start
    far = since > LONGEST
    bad.report("TR014", values.name, far, expected="a time within 10,000 days of the earliest", values=values)
    return since, start


def _wrong_type(table: Table, bad: BadRows, id_: str, values: pl.Series, expected: str) -> pl.Series:
    message = f"{values.name}: the column holds {values.dtype}, expected {expected}"
    position = table.position(0, values.name)
    bad.add(Finding(id_, Severity.ERROR, message, path=(values.name,), position=position))
    return pl.Series(values.name, [None], pl.String).new_from_index(0, len(values))

"""A native table in the making: columns drawn from a source's, rows left out with a reason, positions kept."""

from collections.abc import Mapping, Sequence

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace import columns as c
from policy_engine.trace.checks import as_numbers
from policy_engine.trace.formats.options import Options, Sizes, TimeUnit
from policy_engine.trace.tables import Table

_ROW = "\0row"
ANY_OTHER = "*"
_LARGEST = 1e9  # GPUs or CPUs of one job
_LATEST = 253_402_300_799_999  # the end of the year 9999


class Draft:
    """Native columns made from a source table. It is itself a table, whose positions are those of the source."""

    def __init__(self, source: Table, needed: Sequence[str]) -> None:
        """Raises InputError if the source lacks a column that is needed."""
        self.source = source
        self.findings = source.findings
        missing = [column for column in needed if column not in source.columns]
        if missing:
            message = f"the file has no column {', '.join(missing)}"
            help_ = f"this format has the columns {', '.join(needed)}"
            raise InputError([Finding("TR040", Severity.ERROR, message, help_, position=source.position(0, None))])
        self.notes: list[Finding] = []
        self._frame = pl.DataFrame({_ROW: pl.int_range(len(source), dtype=pl.UInt32, eager=True)})
        self._origins: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The source's name."""
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The native columns so far."""
        return tuple(column for column in self._frame.columns if column != _ROW)

    def __len__(self) -> int:
        return self._frame.height

    def column(self, name: str) -> pl.Series:
        """A native column."""
        return self._frame.get_column(name)

    def position(self, row: int, column: str | None) -> Position:
        """Where the row stands in the source, and the source column that a native one was made from."""
        if not len(self):
            return self.source.position(0, None)
        return self.source.position(self._frame[_ROW][row], self._origins.get(column or "") or None)

    def read(self, column: str) -> pl.Series:
        """A source column, without the rows that were left out. Raises InputError for one of lists or structures."""
        values = self.source.column(column)
        if values.dtype.is_nested() or values.dtype == pl.Time:
            raise self._wrong_type(values, "plain values")
        return values if len(values) == len(self) else values.gather(self._frame[_ROW])

    def read_text(self, column: str) -> pl.Series:
        """A source column as text, without the rows that were left out. Raises InputError for one of times."""
        values = self.read(column)
        if values.dtype.is_temporal():
            raise self._wrong_type(values, "text")
        return values.cast(pl.String)

    def read_number(self, column: str) -> pl.Series:
        """A source column as numbers, null where it holds none."""
        found = as_numbers(self.read(column))
        return pl.Series(column, [None], pl.Float64).new_from_index(0, len(self)) if found is None else found

    def _wrong_type(self, values: pl.Series, expected: str) -> InputError:
        message = f"{values.name}: the column holds {values.dtype}, expected {expected}"
        place = self.source.position(0, values.name)
        return InputError([Finding("TR040", Severity.ERROR, message, path=(values.name,), position=place)])

    def put(self, column: str, values: pl.Series, origin: str) -> None:
        """Set a native column that was made from the source column `origin`."""
        self._origins[column] = origin
        self._frame = self._frame.with_columns(values.alias(column))

    def put_all(self, column: str, value: str | int) -> None:
        """Set a native column to one value for all jobs."""
        self._frame = self._frame.with_columns(pl.lit(value).alias(column))

    def leave_out(self, rows: pl.Series, why: str) -> None:
        """Leave rows out and note how many. Null counts as not left out."""
        rows = rows.fill_null(value=False)
        count = int(rows.sum())
        if count:
            message = f"{count:,} of {len(self.source):,} rows are left out: {why}"
            self.notes.append(Finding("TR041", Severity.INFO, message))
            self._frame = self._frame.filter(~rows)

    def note(self, message: str, help_: str = "") -> None:
        """Note what a user should know of this conversion."""
        self.notes.append(Finding("TR042", Severity.INFO, message, help_))


def put_submission(draft: Draft, values: pl.Series, origin: str, unit: TimeUnit, *, unix: bool = False) -> None:
    """Submission times in `unit`, perhaps counted from 1970."""
    if not unix or not _may_be_scaled(values):
        draft.put(c.SUBMITTED_AT, scaled(values, unit), origin)
        return
    numbers = as_numbers(values)
    at = pl.Series([], dtype=pl.Int64) if numbers is None else (numbers * (unit.seconds * 1000)).round()
    sound = at.is_between(0, _LATEST).fill_null(value=False)
    if sound.all():
        draft.put(c.SUBMITTED_AT, at.cast(pl.Int64).cast(pl.Datetime("ms", "UTC")), origin)
    else:  # keep what is no time as it is, to be reported
        draft.put(c.SUBMITTED_AT, as_text(values).set(sound, "0"), origin)


def put_runtime(draft: Draft, values: pl.Series, origin: str, unit: TimeUnit) -> None:
    """Runtimes in `unit`."""
    draft.put(c.RUNTIME, scaled(values, unit), origin)


def _may_be_scaled(values: pl.Series) -> bool:
    return values.dtype == pl.String or values.dtype.is_numeric()


def as_text(values: pl.Series) -> pl.Series:
    """Any plain values as a message would show them."""
    return (values.cast(pl.Int64) if values.dtype == pl.Duration else values).cast(pl.String)


def scaled(values: pl.Series, unit: TimeUnit) -> pl.Series:
    """In seconds. What is no number stays as it is, to be reported."""
    if unit is TimeUnit.SECONDS or not _may_be_scaled(values):
        return values
    seconds = values.cast(pl.Float64, strict=False) * unit.seconds
    if seconds.null_count() == 0:
        return seconds
    return seconds.cast(pl.String).zip_with(seconds.is_not_null(), as_text(values))


def put_needs(draft: Draft, values: pl.Series, origin: str, sizes: Sizes) -> None:
    """Instance type and count from sizes (GPUs, vCPUs)."""
    found = as_numbers(values)
    numbers = values.clear(len(values)).cast(pl.Float64) if found is None else found
    sound = (numbers.is_between(1, _LARGEST) & (numbers == numbers.floor())).fill_null(value=False)
    size = pl.col("size")
    frame = numbers.set(~sound, 1).alias("size").to_frame()
    made = frame.select(type=sizes.instance_type(size), count=sizes.instance_count(size))
    counts = made["count"]
    if not sound.all():  # keep what is no size as it is, to be reported
        counts = counts.cast(pl.String).zip_with(sound, as_text(values))
    draft.put(c.INSTANCE_TYPE, made["type"], origin)
    draft.put(c.INSTANCE_COUNT, counts, origin)


def put_share(draft: Draft, options: Options, teams: pl.Series | None, origin: str = "") -> None:
    """Shares from the options: one for all, dealt out, or by team."""
    if options.share is not None:
        draft.put_all(c.SHARE, options.share)
    elif options.spread is not None:
        dealt = pl.int_range(len(draft), eager=True) % options.spread + 1
        draft.put(c.SHARE, (options.share_prefix or "share-") + dealt.cast(pl.String), origin)
    elif teams is None:
        message = "this trace names no teams"
        help_ = "put all jobs in one share with --share NAME, or deal them out with --spread N"
        raise InputError([Finding("TR043", Severity.ERROR, message, help_, position=draft.source.position(0, None))])
    else:
        shares = mapped(draft, teams, options.share_of, options.share_prefix, "--share-of")
        draft.put(c.SHARE, shares, origin)


def mapped(draft: Draft, values: pl.Series, mapping: Mapping[str, str], prefix: str, option: str) -> pl.Series:
    """Each value's entry in the mapping, `*` for any other, else the value after the prefix. Null stays null."""
    distinct = values.drop_nulls().unique(maintain_order=True)
    _note_unused(draft, mapping, distinct, option)
    other = mapping.get(ANY_OTHER)
    made = [mapping.get(value, f"{prefix}{value}" if other is None else other) for value in distinct]
    return values.replace_strict(distinct, pl.Series(made, dtype=pl.String), default=None)


def put_priority(draft: Draft, origin: str, priorities: Mapping[str, int]) -> None:
    """Priorities by the class in the source column `origin`. Raises InputError for a class that has none."""
    values = draft.read_text(origin)
    distinct = values.drop_nulls().unique(maintain_order=True)
    _note_unused(draft, priorities, distinct, "--priority-of")
    unknown = [value for value in distinct if value not in priorities and ANY_OTHER not in priorities]
    if unknown:
        message = f"no priority is given for the class {', '.join(unknown[:8])} of column {origin}"
        help_ = "give one with --priority-of CLASS=PRIORITY, or --priority-of '*=PRIORITY' for all others"
        raise InputError([Finding("TR044", Severity.ERROR, message, help_, position=draft.source.position(0, origin))])
    made = [priorities.get(value, priorities.get(ANY_OTHER, 0)) for value in distinct]
    draft.put(c.PRIORITY, values.replace_strict(distinct, pl.Series(made, dtype=pl.Int64), default=None), origin)


def _note_unused(draft: Draft, mapping: Mapping[str, object], distinct: pl.Series, option: str) -> None:
    unused = [key for key in mapping if key != ANY_OTHER and key not in set(distinct)]
    if unused:
        known = ", ".join(distinct.head(20))
        draft.note(f"{option} {', '.join(unused)}: the trace has no such value", f"it has {known}")

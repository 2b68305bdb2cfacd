"""CSV as a table of text: comma-separated, double quotes, a header line, UTF-8."""

import csv
import io

import numpy as np
import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace.tables.table import unreadable
from policy_engine.trace.tables.text_rows import CsvRows, csv_rows

_SHOWN = 20


class CsvTable:
    """A CSV file, read whole."""

    def __init__(self, name: str, content: bytes) -> None:
        """Raises InputError if the file is no CSV, has no header, or names a column twice."""
        self.name = name
        found = csv_rows(name, content)
        if not len(found.rows):
            raise InputError([Finding("TR002", Severity.ERROR, "the file is empty", position=Position(name, 1, 1))])
        self.columns = _header(name, found)
        if found.unclosed:
            line = found.rows.position(len(found.rows) - 1, 0).line
            raise unreadable(
                name, "a quote is opened and never closed", 'write a quote within a value as ""', line=line
            )
        body = np.ones(len(found.rows), np.bool_)
        body[0] = False
        ragged = body & (found.separators != len(self.columns) - 1)
        self.findings = _ragged_findings(found, ragged, len(self.columns))
        self._rows = found.rows.select(body & ~ragged)
        if ragged.any() or found.blank:
            self._frame = self._parse(self._rows.joined(), skip_lines=0)
        else:
            self._frame = self._parse(content, skip_lines=content.count(b"\n", 0, int(found.rows.ends[0])) + 1)

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> pl.Series:
        """One column, as text; null where it is empty."""
        values = self._frame.get_column(str(self.columns.index(name)))
        return values.set(values == "", None).alias(name)

    def position(self, row: int, column: str | None) -> Position:
        """Where a row's value begins."""
        if not len(self._rows):
            return Position(self.name, 1, 1)
        text = self._rows.text(row)
        offset = 0 if column not in self.columns else _field_offset(text, self.columns.index(column))
        return self._rows.position(row, offset)

    def _parse(self, body: bytes, *, skip_lines: int) -> pl.DataFrame:
        schema = {str(index): pl.String() for index in range(len(self.columns))}
        if not len(self._rows):
            return pl.DataFrame(schema=schema)
        try:
            frame = pl.read_csv(
                io.BytesIO(body), has_header=False, schema=schema, infer_schema=False, skip_lines=skip_lines
            )
        except pl.exceptions.PolarsError as error:
            raise self._misquoted() from error
        if frame.height != len(self._rows):
            raise self._misquoted()
        return frame

    def _misquoted(self) -> InputError:
        return unreadable(
            self.name,
            "the quotes of this file are not balanced",
            'quote whole values, and write a quote within them as ""',
        )


def _header(name: str, found: CsvRows) -> tuple[str, ...]:
    try:
        columns = next(csv.reader(io.StringIO(found.rows.text(0), newline=""), strict=True))
    except (csv.Error, StopIteration) as error:
        raise unreadable(name, f"the first line is no CSV header: {error}") from error
    twice = {column for column in columns if columns.count(column) > 1}
    if twice:
        names = ", ".join(sorted(twice))
        raise InputError(
            [
                Finding(
                    "TR004", Severity.ERROR, f"the header names a column twice: {names}", position=Position(name, 1, 1)
                )
            ]
        )
    return tuple(columns)


def _ragged_findings(
    found: CsvRows, ragged: np.ndarray[tuple[int], np.dtype[np.bool_]], width: int
) -> tuple[Finding, ...]:
    rows = np.flatnonzero(ragged).tolist()
    findings = []
    for row in rows[:_SHOWN]:
        message = f"the row has {found.separators[row] + 1} values, and the header {width} columns"
        help_ = "quote a value that holds a comma"
        findings.append(Finding("TR005", Severity.ERROR, message, help_, position=found.rows.position(row, 0)))
    if len(rows) > _SHOWN:
        message = f"rows with more or fewer values than the header: {len(rows):,} in all; the first {_SHOWN} are shown"
        findings.append(Finding("TR005", Severity.ERROR, message, position=found.rows.position(rows[0], 0)))
    return tuple(findings)


def _field_offset(row: str, index: int) -> int:
    """Characters before a row's field."""
    quoted, seen = False, 0
    for offset, character in enumerate(row):
        if seen == index:
            return offset
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            seen += 1
    return len(row)

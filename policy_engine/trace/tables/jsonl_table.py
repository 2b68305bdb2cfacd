"""JSON Lines as a table of text: one object a line, UTF-8."""

import io
import json
import re

import numpy as np
import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace.tables.table import unreadable
from policy_engine.trace.tables.text_rows import TextRows, lines

_SHOWN = 20


class JsonLinesTable:
    """A JSON Lines file, read whole. Numbers, true, false, lists and objects become their JSON text."""

    def __init__(self, name: str, content: bytes) -> None:
        """Raises InputError if the file is empty."""
        self.name = name
        self._rows = lines(name, content)
        self.findings: tuple[Finding, ...] = ()
        try:
            self.columns = tuple(pl.scan_ndjson(io.BytesIO(content), infer_schema_length=None).collect_schema())
            self._frame = self._parse(content)
        except pl.exceptions.PolarsError:  # also for values of one key with types that have nothing in common
            self._read_line_by_line()
        if not len(self._rows) and not self.findings:
            raise InputError([Finding("TR002", Severity.ERROR, "the file is empty", position=Position(name, 1, 1))])

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> pl.Series:
        """One column, as text; null where it is empty, null or absent."""
        values = self._frame.get_column(name)
        return values.set(values == "", None)

    def position(self, row: int, column: str | None) -> Position:
        """Where a row's value is named, or its line if it is absent."""
        if not len(self._rows):
            return Position(self.name, 1, 1)
        if column is None:
            return self._rows.position(row, 0)
        key = re.compile(re.escape(json.dumps(column, ensure_ascii=False)) + r"\s*:")
        found = key.search(self._rows.text(row))
        return self._rows.position(row, found.start() if found else 0)

    def _parse(self, content: bytes) -> pl.DataFrame:
        frame = pl.read_ndjson(io.BytesIO(content), schema=dict.fromkeys(self.columns, pl.String()))
        if frame.height != len(self._rows):
            raise pl.exceptions.ComputeError("there are lines of white space")
        return frame

    def _read_line_by_line(self) -> None:
        """Find the keys and the lines that are no objects; leave those out, and lines of white space."""
        keys: dict[str, None] = {}
        faults: dict[int, str] = {}
        sound = np.ones(len(self._rows), np.bool_)
        for row in range(len(self._rows)):
            text = self._rows.text(row)
            try:
                keys.update(dict.fromkeys(_object(text)))
            except (ValueError, RecursionError) as error:
                sound[row] = False
                if text.strip():
                    faults[row] = f"the line is no JSON object: {error}"
        self.findings = _malformed_findings(self._rows, faults)
        self._rows = self._rows.select(sound)
        self.columns = tuple(keys)
        try:
            self._frame = self._parse(self._rows.joined()) if keys else pl.DataFrame()
        except pl.exceptions.PolarsError as error:
            raise unreadable(self.name, f"the file is no JSON Lines: {str(error).splitlines()[0]}") from error


def _object(text: str) -> dict[str, object]:
    """Raises ValueError for what is no JSON object, RecursionError for one that is too deep."""
    value = json.loads(text, parse_constant=_no_constant)
    if not isinstance(value, dict):
        raise ValueError("expected {…}")  # noqa: TRY004  # it is the value that is wrong
    return value


def _no_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _malformed_findings(rows: TextRows, faults: dict[int, str]) -> tuple[Finding, ...]:
    findings = [
        Finding("TR006", Severity.ERROR, fault, position=rows.position(row, 0))
        for row, fault in list(faults.items())[:_SHOWN]
    ]
    if len(faults) > _SHOWN:
        message = f"malformed lines: {len(faults):,} in all; the first {_SHOWN} are shown"
        findings.append(Finding("TR006", Severity.ERROR, message, position=rows.position(next(iter(faults)), 0)))
    return tuple(findings)

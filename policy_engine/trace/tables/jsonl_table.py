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
        blank = np.fromiter((not self._rows.text(row).strip() for row in self._short_rows().tolist()), np.bool_)
        keep = np.ones(len(self._rows), np.bool_)
        keep[self._short_rows()] = ~blank
        self._rows = self._rows.select(keep)
        if not len(self._rows):
            raise InputError([Finding("TR002", Severity.ERROR, "the file is empty", position=Position(name, 1, 1))])
        self.findings: tuple[Finding, ...] = ()
        try:
            self.columns = _keys(self._rows, content)
            self._frame = self._parse(content)
        except pl.exceptions.PolarsError:
            self._leave_out_malformed()

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

    def _short_rows(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Rows too short for a job: only these can be white space alone without being looked at one by one."""
        return np.flatnonzero(self._rows.ends - self._rows.starts < 16)

    def _parse(self, content: bytes) -> pl.DataFrame:
        frame = pl.read_ndjson(io.BytesIO(content), schema=dict.fromkeys(self.columns, pl.String()))
        if frame.height != len(self._rows):
            raise pl.exceptions.ComputeError("blank lines are counted differently")
        return frame

    def _leave_out_malformed(self) -> None:
        faults = {row: fault for row in range(len(self._rows)) if (fault := _fault(self._rows.text(row)))}
        self.findings = _malformed_findings(self._rows, faults)
        sound = np.ones(len(self._rows), np.bool_)
        sound[list(faults)] = False
        self._rows = self._rows.select(sound)
        content = self._rows.joined()
        self.columns = _keys(self._rows, content) if len(self._rows) else ()
        try:
            self._frame = self._parse(content) if len(self._rows) else pl.DataFrame()
        except pl.exceptions.PolarsError as error:
            raise unreadable(self.name, f"the file is no JSON Lines: {str(error).splitlines()[0]}") from error


def _keys(rows: TextRows, content: bytes) -> tuple[str, ...]:
    """Every key of every object, in order of first mention."""
    try:
        return tuple(pl.scan_ndjson(io.BytesIO(content), infer_schema_length=None).collect_schema())
    except pl.exceptions.SchemaError:  # values of one key with types that have nothing in common
        keys: dict[str, None] = {}
        for row in range(len(rows)):
            keys.update(dict.fromkeys(json.loads(rows.text(row))))
        return tuple(keys)


def _no_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _fault(text: str) -> str:
    """What is wrong with a line, or nothing."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return f"the line is no JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        return f"the line is no JSON: {error}"
    return "" if isinstance(value, dict) else "the line is no JSON object"


def _malformed_findings(rows: TextRows, faults: dict[int, str]) -> tuple[Finding, ...]:
    findings = [
        Finding("TR006", Severity.ERROR, fault, position=rows.position(row, 0))
        for row, fault in list(faults.items())[:_SHOWN]
    ]
    if len(faults) > _SHOWN:
        message = f"malformed lines: {len(faults):,} in all; the first {_SHOWN} are shown"
        findings.append(Finding("TR006", Severity.ERROR, message, position=rows.position(next(iter(faults)), 0)))
    return tuple(findings)

"""Collects what is wrong with the rows of a table, as findings with positions: the first of each kind, and how many."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.trace.tables import Table

SHOWN = 20
"""Rows shown of each kind of fault; the rest is counted."""
_LONGEST_TEXT = 60


def show(value: object) -> str:
    """A value for a message: quoted if it is text, without control characters, cut if it is long."""
    if not isinstance(value, str):
        return str(value)[:_LONGEST_TEXT]
    cut = value if len(value) <= _LONGEST_TEXT else value[: _LONGEST_TEXT - 1] + "…"
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + '"'


class BadRow(NamedTuple):
    """One bad row, in words."""

    row: int
    message: str
    help: str


class BadRows:
    """The findings of one table, in the order in which they were reported."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.findings: list[Finding] = list(table.findings)

    def add(self, finding: Finding) -> None:
        """Report something that is wrong with the table as a whole."""
        self.findings.append(finding)

    def report(
        self, id_: str, column: str, bad: pl.Series, *, expected: str, values: pl.Series, help_: str = ""
    ) -> None:
        """Report each row where `bad` is true: `column: expected …, not <value>`. `values` are what the table says."""
        rows = bad.arg_true()
        for row in rows.head(SHOWN):
            value = values[row]
            found = "found nothing" if value is None else f"not {show(value)}"
            self._row(id_, row, column, f"{column}: expected {expected}, {found}", help_)
        self._count(id_, column, len(rows), f"{column}: expected {expected}")

    def report_rows(self, id_: str, column: str, rows: Sequence[BadRow], total: int, kind: str) -> None:
        """Report rows with a message each; `total` of this `kind` there are in all."""
        for bad in rows:
            self._row(id_, bad.row, column, bad.message, bad.help)
        self._count(id_, column, total, kind)

    def _row(self, id_: str, row: int, column: str, message: str, help_: str) -> None:
        position = self._table.position(row, column)
        self.findings.append(Finding(id_, Severity.ERROR, message, help_, (column,), position))

    def _count(self, id_: str, column: str, total: int, kind: str) -> None:
        if total > SHOWN:
            message = f"{kind}: {total:,} rows in all; the first {SHOWN} are shown"
            self.findings.append(
                Finding(id_, Severity.ERROR, message, path=(column,), position=self._table.position(0, None))
            )

    def raise_if_any(self) -> None:
        """Raise InputError with all findings, if there are any."""
        if self.findings:
            raise InputError(self.findings)

"""What every table offers, whatever the format of its file."""

from enum import StrEnum
from typing import Protocol

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity


class FileFormat(StrEnum):
    """How a table is written. CSV and JSON Lines may be compressed with gzip."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class Table(Protocol):
    """Rows under named columns. Rows count from 0 here; positions count as the file does."""

    @property
    def name(self) -> str:
        """The file, as messages name it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the file's order."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Rows that are no rows: they are left out of the table."""

    def __len__(self) -> int:
        """Number of rows."""

    def column(self, name: str) -> pl.Series:
        """One column: text for CSV and JSON Lines, any type for Parquet; null where it is empty."""

    def position(self, row: int, column: str | None) -> Position:
        """Where a row stands in the file. For Parquet the line is the row, counted from 1, and the column its index."""


def unreadable(name: str, message: str, help_: str = "", *, line: int = 1, text: str = "") -> InputError:
    """The error for a file that cannot be read as a table at all."""
    return InputError([Finding("TR001", Severity.ERROR, message, help_, position=Position(name, line, 1, text))])

"""Parquet as a table: columns are read one at a time, when they are asked for."""

import io
from pathlib import Path

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace.tables.table import unreadable

_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


class ParquetTable:
    """A Parquet file, or its bytes."""

    findings: tuple[Finding, ...] = ()

    def __init__(self, name: str, content: Path | bytes) -> None:
        """Raises InputError if it is truncated, damaged or no Parquet, or holds no rows."""
        self.name = name
        self._content = content
        try:
            self.columns = tuple(self._scan().collect_schema())
            self._height = int(self._scan().select(pl.len()).collect().item())
        except _DAMAGED as error:
            raise self._damaged(error) from error
        if not self._height:
            raise InputError([Finding("TR002", Severity.ERROR, "the file has no rows", position=Position(name, 1, 1))])

    def __len__(self) -> int:
        return self._height

    def column(self, name: str) -> pl.Series:
        """One column in the file's own type; texts are plain, null where they are empty.

        Raises InputError if the column is damaged.
        """
        try:
            values = self._scan().select(pl.col(name)).collect().to_series()
            if values.dtype in (pl.Categorical, pl.Enum, pl.Binary):
                values = values.cast(pl.String)
        except _DAMAGED as error:
            raise self._damaged(error) from error
        return values.set(values == "", None) if values.dtype == pl.String else values

    def position(self, row: int, column: str | None) -> Position:
        """The row, counted from 1, as line, and the column's index as column."""
        return Position(self.name, row + 1, self.columns.index(column) + 1 if column in self.columns else 1)

    def _scan(self) -> pl.LazyFrame:
        source = io.BytesIO(self._content) if isinstance(self._content, bytes) else self._content
        return pl.scan_parquet(source, glob=False, hive_partitioning=False)

    def _damaged(self, error: BaseException) -> InputError:
        return unreadable(self.name, f"the file is no readable Parquet: {(str(error).splitlines() or [''])[0]}")

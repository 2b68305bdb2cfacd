"""Columns of repeated values as small whole numbers."""

import numpy as np
import polars as pl

from policy_engine.trace.jobs import Int32


def encode(values: pl.Series) -> tuple[pl.Series, Int32]:
    """Distinct values in order of first occurrence, and which of them each row is. -1 for null."""
    distinct = values.drop_nulls().unique(maintain_order=True)
    if values.dtype == pl.String:
        codes = values.cast(pl.Enum(distinct)).to_physical()
    else:
        codes = values.replace_strict(distinct, pl.Series(range(len(distinct)), dtype=pl.Int32), default=None)
    return distinct, codes.cast(pl.Int32).fill_null(-1).to_numpy()


def by_first_occurrence(codes: Int32, size: int) -> tuple[Int32, Int32]:
    """The codes that occur, in order of first occurrence, and the new code of each old one (of `size`; -1: none)."""
    order = pl.Series(codes).unique(maintain_order=True).to_numpy()
    renumbered = np.full(size, -1, np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    return order, renumbered

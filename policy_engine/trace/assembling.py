"""Puts checked columns together as a trace: rows in submission order, names in order of first occurrence."""

import numpy as np
import polars as pl

from policy_engine.trace.codes import by_first_occurrence, encode
from policy_engine.trace.jobs import Int32, Int64, JobTrace
from policy_engine.trace.needs import Needs


def assemble(
    *,
    job_id: pl.Series,
    share: pl.Series,
    needs: Needs,
    submitted_at: pl.Series,
    runtime: pl.Series,
    priority: pl.Series | int,
    preemption_retries: pl.Series | int,
    checkpoint: pl.Series | int,
    attempt_timeout: pl.Series | int,
    fails: pl.Series | bool,
    epoch: int | None,
) -> JobTrace:
    """A trace of n checked jobs in any order. Times are ms; nothing is null; a plain value is every job's."""
    at = submitted_at.cast(pl.Int64).to_numpy()
    order = None if bool((at[1:] >= at[:-1]).all()) else pl.Series(np.argsort(at, kind="stable"))

    def column(values: pl.Series | int, dtype: type[pl.DataType]) -> pl.Series:
        if not isinstance(values, pl.Series):
            return pl.Series([values], dtype=dtype).new_from_index(0, len(at))
        narrow = values.cast(dtype)
        return narrow if order is None else narrow.gather(order)

    share_names, share_code = encode(share)
    share_order, share_code = _renumbered(column(pl.Series(share_code), pl.Int32), len(share_names))
    need_order, need_code = _renumbered(column(pl.Series(needs.of_job), pl.Int32), len(needs.rows))
    units, rows = _units_by_first_need(needs.units, needs.rows[need_order])
    return JobTrace(
        job_id=column(job_id, pl.String).alias("job_id"),
        share_names=tuple(share_names.gather(share_order)),
        share=share_code,
        units=units,
        needs=rows,
        need=need_code,
        submitted_at=column(submitted_at, pl.Int64).to_numpy(),
        runtime=column(runtime, pl.Int64).to_numpy(),
        priority=column(priority, pl.Int16).to_numpy(),
        preemption_retries=column(preemption_retries, pl.Int32).to_numpy(),
        checkpoint=column(checkpoint, pl.Int64).to_numpy(),
        attempt_timeout=column(attempt_timeout, pl.Int64).to_numpy(),
        fails=column(fails, pl.Boolean).to_numpy(),
        epoch=epoch,
    )


def _renumbered(codes: pl.Series, size: int) -> tuple[Int32, Int32]:
    order, renumbered = by_first_occurrence(codes.to_numpy(), size)
    return order, renumbered[codes.to_numpy()]


def _units_by_first_need(units: tuple[str, ...], rows: Int64) -> tuple[tuple[str, ...], Int64]:
    """Units in the order of the first need that has them, by name within one need."""
    first = np.argmax(rows > 0, axis=0).tolist()
    order = sorted(range(len(units)), key=lambda unit: (first[unit], units[unit]))
    return tuple(units[unit] for unit in order), np.ascontiguousarray(rows[:, order])

"""Writes traces in the native format."""

from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from policy_engine.files import writing
from policy_engine.trace import columns as c
from policy_engine.trace.jobs import NONE, ON_STOP, Int64, JobTrace
from policy_engine.trace.tables import FileFormat, format_of


def write_trace(
    trace: JobTrace,
    path: Path | str,
    *,
    format: FileFormat | None = None,  # noqa: A002
    overwrite: bool = False,
) -> None:
    """Write a trace to a file: in the given format, else in the one that its name shows, else as CSV.

    The file appears whole or not at all. Raises FileExistsError if it is there and `overwrite` is false, and OSError.
    """
    with writing(Path(path), overwrite=overwrite) as file:
        write_stream(trace, file, format or format_of(Path(path)) or FileFormat.CSV)


def write_stream(trace: JobTrace, stream: BinaryIO, format: FileFormat) -> None:  # noqa: A002
    """Write a trace to a binary stream."""
    frame = native_frame(trace, dates_as_text=format is not FileFormat.PARQUET)
    match format:
        case FileFormat.CSV:
            frame.write_csv(stream)
        case FileFormat.JSONL:
            frame.write_ndjson(stream)
        case FileFormat.PARQUET:
            frame.write_parquet(stream)


def native_frame(trace: JobTrace, *, dates_as_text: bool = False) -> pl.DataFrame:
    """A trace's columns in the native format. Optional columns that no job uses are left out."""
    columns: dict[str, pl.Series] = {
        c.JOB_ID: trace.job_id,
        c.SHARE: _named(trace.share_names, trace.share),
        c.SUBMITTED_AT: _submissions(trace, dates_as_text=dates_as_text),
        **_needs(trace),
        c.RUNTIME: _seconds(trace.runtime),
    }
    if (trace.priority != 0).any():
        columns[c.PRIORITY] = pl.Series(trace.priority)
    if (trace.preemption_retries != NONE).any():
        columns[c.RETRIES] = _without(pl.Series(trace.preemption_retries), trace.preemption_retries == NONE)
    if (trace.checkpoint != NONE).any():
        columns[c.CHECKPOINT] = _checkpoints(trace.checkpoint)
    if (trace.attempt_timeout != NONE).any():
        columns[c.ATTEMPT] = _without(_seconds(trace.attempt_timeout), trace.attempt_timeout == NONE)
    if trace.fails.any():
        columns[c.FAILS] = pl.Series(trace.fails)
    return pl.DataFrame(columns)


def need_text(units: tuple[str, ...], need: Int64) -> str:
    """One row of a trace's needs as `ml.g5.xlarge=2;ml.p4d.24xlarge=1`."""
    return ";".join(f"{units[unit]}={need[unit]}" for unit in np.flatnonzero(need))


def _named(names: tuple[str, ...], codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(pl.Series(codes))


def _needs(trace: JobTrace) -> dict[str, pl.Series]:
    kinds = (trace.needs > 0).sum(axis=1)
    if (kinds > 1).any():
        texts = [need_text(trace.units, need) for need in trace.needs]
        return {c.INSTANCES: _named(tuple(texts), trace.need)}
    unit = trace.needs.argmax(axis=1).astype(np.int32)
    return {
        c.INSTANCE_TYPE: _named(trace.units, unit[trace.need]),
        c.INSTANCE_COUNT: pl.Series(trace.needs.max(axis=1, initial=0)[trace.need]),
    }


def _submissions(trace: JobTrace, *, dates_as_text: bool) -> pl.Series:
    if trace.epoch is None:
        return _seconds(trace.submitted_at)
    dates = pl.Series(trace.submitted_at + trace.epoch).cast(pl.Datetime("ms", "UTC"))
    if not dates_as_text:
        return dates
    whole = not ((trace.submitted_at + trace.epoch) % 1000).any()
    return dates.dt.strftime("%Y-%m-%dT%H:%M:%SZ" if whole else "%Y-%m-%dT%H:%M:%S%.3fZ")


def _seconds(milliseconds: Int64) -> pl.Series:
    if not (milliseconds % 1000)[milliseconds != NONE].any():
        return pl.Series(milliseconds // 1000)
    return pl.Series(milliseconds / 1000)


def _checkpoints(checkpoint: Int64) -> pl.Series:
    """Numbers where every checkpoint is one, else texts."""
    on_stop = checkpoint == ON_STOP
    seconds = _without(_seconds(np.where(on_stop, NONE, checkpoint)), (checkpoint == NONE) | on_stop)
    if not on_stop.any():
        return seconds
    return seconds.cast(pl.String).set(pl.Series(on_stop), "on_stop")


def _without(values: pl.Series, missing: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pl.Series:
    return values.set(pl.Series(missing), None)

"""Submitted jobs as the scheduler takes them: one by one, and as a trace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl

from policy_engine.trace import JobTrace

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A job as it was submitted. Times are ms; NONE and ON_STOP mean what they do in `policy_engine.trace`."""

    share: str
    at: int
    """Since 1970-01-01 UTC."""
    need: Mapping[str, int]
    """Whole instances of each type."""
    runtime: int
    priority: int
    preemption_retries: int
    checkpoint: int
    attempt_timeout: int
    fails: bool


def as_trace(submissions: Mapping[str, Submission], started_at: int) -> JobTrace:
    """A trace of jobs by id, which stand in the order of their submission. Times count from `started_at`."""
    jobs = list(submissions.values())
    shares, share = _numbered(job.share for job in jobs)
    needs, need = _numbered(tuple(job.need.items()) for job in jobs)
    units, _ = _numbered(unit for entries in needs for unit, _ in entries)
    rows = np.zeros((len(needs), len(units)), dtype=np.int64)
    for row, entries in enumerate(needs):
        for unit, instances in entries:
            rows[row, units.index(unit)] = instances
    return JobTrace(
        job_id=pl.Series("job_id", list(submissions), dtype=pl.String),
        share_names=shares,
        share=np.array(share, dtype=np.int32),
        units=units,
        needs=rows,
        need=np.array(need, dtype=np.int32),
        submitted_at=np.array([job.at - started_at for job in jobs], dtype=np.int64),
        runtime=np.array([job.runtime for job in jobs], dtype=np.int64),
        priority=np.array([job.priority for job in jobs], dtype=np.int16),
        preemption_retries=np.array([job.preemption_retries for job in jobs], dtype=np.int32),
        checkpoint=np.array([job.checkpoint for job in jobs], dtype=np.int64),
        attempt_timeout=np.array([job.attempt_timeout for job in jobs], dtype=np.int64),
        fails=np.array([job.fails for job in jobs], dtype=np.bool_),
        epoch=started_at,
    )


def _numbered(values: Iterable[Value]) -> tuple[tuple[Value, ...], list[int]]:
    """Distinct values in order of first occurrence, and the number of each one given."""
    number: dict[Value, int] = {}
    numbers = [number.setdefault(value, len(number)) for value in values]
    return tuple(number), numbers

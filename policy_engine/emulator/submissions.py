"""Submitted jobs as the scheduler takes them: one by one, and as a trace.

A queue is replayed at nearly every call, so the rows of its trace are kept: each submission adds one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from policy_engine.trace import JobTrace

_FIRST_ROWS = 64
_ROW = np.dtype(
    [
        ("share", np.int32),
        ("need", np.int32),
        ("submitted_at", np.int64),
        ("runtime", np.int64),
        ("priority", np.int16),
        ("preemption_retries", np.int32),
        ("checkpoint", np.int64),
        ("attempt_timeout", np.int64),
        ("fails", np.bool_),
    ]
)


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


class Submissions:
    """A queue's jobs by id, in the order of their submission. Times of their trace count from `started_at`."""

    def __init__(self, started_at: int) -> None:
        self._started_at = started_at
        self._submissions: dict[str, Submission] = {}
        self._row_of: dict[str, int] = {}
        self._shares: dict[str, int] = {}
        self._needs: dict[tuple[tuple[str, int], ...], int] = {}
        self._rows: npt.NDArray[Any] = np.zeros(_FIRST_ROWS, dtype=_ROW)

    def __getitem__(self, job_id: str) -> Submission:
        return self._submissions[job_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._submissions)

    def __len__(self) -> int:
        return len(self._submissions)

    @property
    def row_of(self) -> Mapping[str, int]:
        """The row of each job in the trace. It grows with every job that is added."""
        return self._row_of

    def add(self, job_id: str, job: Submission) -> None:
        """A job was submitted, not before the one that was added last."""
        row = len(self._submissions)
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._submissions[job_id] = job
        self._row_of[job_id] = row
        self._rows[row] = (
            self._shares.setdefault(job.share, len(self._shares)),
            self._needs.setdefault(tuple(job.need.items()), len(self._needs)),
            job.at - self._started_at,
            job.runtime,
            job.priority,
            job.preemption_retries,
            job.checkpoint,
            job.attempt_timeout,
            job.fails,
        )

    def without(self, job_id: str) -> "Submissions":
        """The others, as if this job had never been submitted."""
        others = Submissions(self._started_at)
        for other, submission in self._submissions.items():
            if other != job_id:
                others.add(other, submission)
        return others

    def as_trace(self) -> JobTrace:
        """All jobs so far: later ones are not in it."""
        needs = [dict(need) for need in self._needs]
        units = tuple(dict.fromkeys(unit for need in needs for unit in need))
        rows = self._rows[: len(self)]
        return JobTrace(
            job_id=pl.Series("job_id", list(self), dtype=pl.String),
            share_names=tuple(self._shares),
            units=units,
            needs=np.array([[need.get(unit, 0) for unit in units] for need in needs], dtype=np.int64).reshape(
                len(needs), len(units)
            ),
            epoch=self._started_at,
            **{name: rows[name].copy() for name in _ROW.names or ()},
        )

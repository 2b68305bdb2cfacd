"""A job trace as columns: one row a job, in submission order, times in whole milliseconds since the trace's start."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

NONE = -1
"""In `preemption_retries`: unlimited. In `attempt_timeout` and `checkpoint`: none."""
ON_STOP = -2
"""In `checkpoint`: everything done survives a stop."""

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int16 = npt.NDArray[np.int16]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class JobTrace:
    """n jobs over k distinct needs, as columns. Rows stand by submission time, then by row of the source.

    A job's need is row `need[j]` of `needs`: whole instances of each of `units`. A job's share is
    `share_names[share[j]]`. Shares and units are those that the trace names; a topology may lack them.
    """

    job_id: pl.Series
    """n texts, unique."""
    share_names: tuple[str, ...]
    share: Int32
    units: tuple[str, ...]
    needs: Int64
    """k x len(units), distinct rows, in the order in which they first occur; each has a positive entry."""
    need: Int32
    submitted_at: Int64
    """ms, ascending, at least 0."""
    runtime: Int64
    """Productive ms that the job needs, at least 0."""
    priority: Int16
    """0 to 9999."""
    preemption_retries: Int32
    """Times that a preempted job may return to RUNNABLE; NONE is unlimited."""
    checkpoint: Int64
    """ms between checkpoints, NONE, or ON_STOP."""
    attempt_timeout: Int64
    """ms that one attempt may be RUNNING, or NONE."""
    fails: Bool
    """Whether the job fails by itself at its end."""
    epoch: int | None = None
    """The trace's start in ms since 1970-01-01 UTC, where the source gives dates."""

    def __len__(self) -> int:
        return len(self.submitted_at)

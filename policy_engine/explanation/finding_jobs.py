"""Finding the job that somebody means."""

from difflib import get_close_matches

import polars as pl

from policy_engine.trace import JobTrace

_MOST_SUGGESTED = 3
_MOST_COMPARED = 2_000
"""Names that are compared letter by letter, which is slow."""


def job_row(trace: JobTrace, name: str) -> int | None:
    """The row of the job with this id, if there is one."""
    found = (trace.job_id == name).arg_max()
    return found if found is not None and trace.job_id[found] == name else None


def similar_jobs(trace: JobTrace, name: str) -> list[str]:
    """Ids that may have been meant: those that contain the name, or are like it."""
    lower = trace.job_id.str.to_lowercase()
    containing = trace.job_id.filter(lower.str.contains(name.lower(), literal=True)).head(_MOST_SUGGESTED).to_list()
    if containing and name:
        return containing
    lengths = trace.job_id.str.len_chars().cast(pl.Int64)
    near = (lengths - len(name)).abs() <= max(2, len(name) // 4)
    starts = lower.str.starts_with(name[:1].lower())
    candidates = trace.job_id.filter(near & starts)
    if len(candidates) > _MOST_COMPARED:
        candidates = _most_alike(candidates, name)
    return get_close_matches(name, candidates.head(_MOST_COMPARED).to_list(), n=_MOST_SUGGESTED, cutoff=0.6)


def _most_alike(candidates: pl.Series, name: str) -> pl.Series:
    """Those that begin as the name does for as long as any does."""
    for length in range(len(name), 0, -1):
        alike = candidates.filter(candidates.str.starts_with(name[:length]))
        if len(alike):
            return alike
    return candidates

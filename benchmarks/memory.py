"""Peak memory of a replay in a process of its own: `python -m benchmarks.memory TRACE`.

TRACE is a trace's columns (.npz), or a native trace (.parquet). The number printed, in bytes, is the process's largest
resident set at the end (`getrusage`) minus its resident set when everything is imported and a small trace was replayed,
compiled. The trace's own columns, the kernel's state and the outcome are all in it; making the trace is not. Below a
hundred megabytes or so it says too much, since the largest resident set may be that of the imports. Linux only.
"""

import resource
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.contended import contended_topology, contended_trace
from policy_engine.scheduler import replay
from policy_engine.trace import JobTrace, read_trace

_COLUMNS = tuple(field.name for field in fields(JobTrace) if field.name not in {"job_id", "epoch"})


def save_columns(trace: JobTrace, path: Path) -> None:
    """Save a trace's columns, so that they can be loaded without further memory. Job ids are their numbers."""
    columns: dict[str, Any] = {name: np.asarray(getattr(trace, name)) for name in _COLUMNS}
    np.savez(path, **columns)


def _load_columns(path: Path) -> JobTrace:
    with np.load(path) as file:
        columns = {name: file[name] for name in _COLUMNS}
    for name in ("share_names", "units"):
        columns[name] = tuple(columns[name].tolist())
    return JobTrace(job_id=pl.Series(np.arange(len(columns["share"]))).cast(pl.String), **columns)


def _largest_resident_set() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident_set() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main(path: Path) -> None:
    """Print the bytes that reading and replaying the trace took at the peak."""
    topology = contended_topology()
    small = contended_trace(5_000, 0.9)
    replay(topology, small, use_compiled=True)
    before = _resident_set()
    trace = read_trace(path) if path.suffix == ".parquet" else _load_columns(path)
    outcome = replay(topology, trace, use_compiled=True)
    grown = _largest_resident_set() - before
    if len(outcome.jobs.status) != len(trace):
        raise AssertionError("the outcome must be alive until the memory is measured")
    print(grown)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

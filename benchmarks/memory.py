"""Peak memory of a replay in a process of its own: `python -m benchmarks.memory TRACE`.

TRACE is a trace's columns (.npz), or a native trace (.parquet). The number printed, in bytes, is the process's largest
resident set since everything was imported and a small trace was replayed, compiled, minus its resident set then. The
trace's own columns, the kernel's state and the outcome are all in it; making the trace is not. Linux only.
"""

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


def _forget_largest_resident_set() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _memory(name: str) -> int:
    """Bytes: `VmRSS`, the resident set, or `VmHWM`, the largest since it was forgotten.

    Not what `getrusage` says: that begins with what the parent process had.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kilobytes) * 1024


def main(path: Path) -> None:
    """Print the bytes that reading and replaying the trace took at the peak."""
    topology = contended_topology()
    small = contended_trace(5_000, 0.9)
    replay(topology, small, use_compiled=True)
    _forget_largest_resident_set()
    before = _memory("VmRSS")
    trace = read_trace(path) if path.suffix == ".parquet" else _load_columns(path)
    outcome = replay(topology, trace, use_compiled=True)
    grown = _memory("VmHWM") - before
    if len(outcome.jobs.status) != len(trace):
        raise AssertionError("the outcome must be alive until the memory is measured")
    print(grown)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

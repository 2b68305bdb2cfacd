"""Peak memory a job, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.contended import contended_trace
from benchmarks.memory import save_columns
from benchmarks.timing import timed
from policy_engine.trace import write_trace

CASES = {
    "1M": (1_000_000, 0.9, "npz"),
    "1M overloaded": (1_000_000, 1.02, "npz"),
    "10M": (10_000_000, 0.9, "npz"),
    "10M Parquet": (10_000_000, 0.9, "parquet"),
}
"""Jobs, load, and the form of the trace that the process loads."""


@pytest.mark.benchmark(group="memory")
@pytest.mark.parametrize("case", CASES)
def test_peak_memory_a_job(case: str, job_scale: float, tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    jobs, load, form = CASES[case]
    trace = contended_trace(max(100_000, int(jobs * job_scale)), load)
    path = tmp_path / f"trace.{form}"
    if form == "npz":
        save_columns(trace, path)
    else:
        write_trace(trace, path)
    command = [sys.executable, "-m", "benchmarks.memory", str(path)]

    def measure() -> int:
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    grown = timed(benchmark, measure, rounds=1)
    path.unlink()
    benchmark.extra_info.update(measure="memory", case=case, jobs=len(trace), bytes_a_job=round(grown / len(trace), 1))

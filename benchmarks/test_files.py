"""Reading a trace."""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.contended import contended_trace
from benchmarks.timing import timed
from policy_engine.trace import read_trace, write_trace


@pytest.mark.benchmark(group="files")
def test_reading_parquet(job_scale: float, tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    path = tmp_path / "trace.parquet"
    jobs = int(10_000_000 * job_scale)
    write_trace(contended_trace(jobs, 0.9), path)
    read = timed(benchmark, lambda: read_trace(path), rounds=3)
    if len(read) != jobs:
        pytest.fail("jobs are missing")
    size = path.stat().st_size
    path.unlink()
    benchmark.extra_info.update(measure="reading", case="Parquet", jobs=jobs, bytes_a_job=round(size / jobs, 1))

"""Whole commands as processes, from their start to their end."""

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.philly import philly_topology, philly_trace
from benchmarks.timing import timed
from policy_engine.trace import write_trace

EXAMPLE = Path(__file__).parents[1] / "examples" / "ml-training.yaml"
COMMAND = Path(sys.executable).with_name("batch-quota")


def run(*arguments: str | Path) -> None:
    subprocess.run([COMMAND, *arguments], check=True, capture_output=True)


@pytest.mark.benchmark(group="commands")
def test_validate(benchmark: BenchmarkFixture) -> None:
    timed(benchmark, lambda: run("validate", EXAMPLE), rounds=15, warmup_rounds=1)
    benchmark.extra_info.update(measure="command", case="validate")


@pytest.mark.benchmark(group="commands")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_replay_of_philly(form: str, tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    trace = philly_trace()
    topology_file, trace_file = tmp_path / "philly.json", tmp_path / f"philly.{form}"
    topology_file.write_text(philly_topology(trace).model_dump_json(exclude_unset=True))
    write_trace(trace, trace_file)
    timed(benchmark, lambda: run("replay", topology_file, trace_file), rounds=7, warmup_rounds=1)
    benchmark.extra_info.update(measure="command", case=f"replay {form}", jobs=len(trace))

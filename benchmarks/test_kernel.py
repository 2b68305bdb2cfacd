"""The cost of a job: the bare event loop, the kernel alone, and a whole replay in memory, each on the same traces."""

import time
from dataclasses import dataclass

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.bare_loop import bare_loop, heap_columns
from benchmarks.contended import contended_topology, contended_trace
from benchmarks.kernel import load_of, prepared, run_kernel
from benchmarks.timing import timed, timed_after
from policy_engine.scheduler import replay
from policy_engine.topology import Topology
from policy_engine.trace import JobTrace

CASES = {
    "10k": (10_000, 0.9, 1),
    "100k": (100_000, 0.9, 1),
    "1M": (1_000_000, 0.9, 1),
    "10M": (10_000_000, 0.9, 1),
    "1M overloaded": (1_000_000, 1.02, 1),
    "100k deep": (100_000, 1.25, 4),
    "1M deep": (1_000_000, 1.25, 4),
}
"""Jobs, load, and how many times the capacity."""


@dataclass(frozen=True)
class Case:
    name: str
    topology: Topology
    trace: JobTrace

    def describe(self, benchmark: BenchmarkFixture, measure: str) -> None:
        benchmark.extra_info.update(measure=measure, case=self.name, jobs=len(self.trace))

    def rounds(self, jobs: int, most: int) -> int:
        """Rounds that replay about so many jobs in all."""
        return max(1, min(most, jobs // len(self.trace)))


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, job_scale: float) -> Case:
    jobs, load, capacity = CASES[request.param]
    trace = contended_trace(max(3_000, int(jobs * job_scale)), load, capacity)
    return Case(request.param, contended_topology(capacity), trace)


@pytest.mark.benchmark(group="kernel", timer=time.process_time)
def test_the_bare_event_loop(case: Case, benchmark: BenchmarkFixture) -> None:
    trace = case.trace
    case.describe(benchmark, "bare loop")
    arguments = (trace.submitted_at, trace.runtime, *heap_columns(len(trace)))
    timed(benchmark, lambda: bare_loop(*arguments), rounds=case.rounds(30_000_000, 20), warmup_rounds=1)


@pytest.mark.benchmark(group="kernel", timer=time.process_time)
def test_the_kernel_alone(case: Case, benchmark: BenchmarkFixture) -> None:
    case.describe(benchmark, "kernel")
    finished = timed_after(
        benchmark, lambda: prepared(case.topology, case.trace), run_kernel, rounds=case.rounds(6_000_000, 10)
    )
    benchmark.extra_info.update(load_of(finished, case.trace).as_dict())


@pytest.mark.benchmark(group="kernel", timer=time.process_time)
def test_a_whole_replay_in_memory(case: Case, benchmark: BenchmarkFixture) -> None:
    case.describe(benchmark, "replay")
    timed(benchmark, lambda: replay(case.topology, case.trace), rounds=case.rounds(3_000_000, 10))

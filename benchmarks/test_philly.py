"""The Philly trace: our replay beside a bare heapq loop and a SimPy model of the same rules."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.by_hand import Quotas, Workload, workload_of
from benchmarks.heapq_loop import replay_with_heapq
from benchmarks.kernel import load_of, prepared, run_kernel
from benchmarks.philly import philly_topology, philly_trace
from benchmarks.simpy_model import replay_with_simpy
from benchmarks.timing import timed, timed_after
from policy_engine.scheduler import JobStatus, Outcome, replay
from policy_engine.topology import Topology
from policy_engine.trace import JobTrace


@pytest.fixture(scope="module")
def trace() -> JobTrace:
    return philly_trace()


@pytest.fixture(scope="module")
def topology(trace: JobTrace) -> Topology:
    return philly_topology(trace)


@pytest.fixture(scope="module")
def workload(topology: Topology, trace: JobTrace) -> Workload:
    return workload_of(trace, topology)


@pytest.fixture(scope="module")
def immediate(topology: Topology, trace: JobTrace) -> Outcome:
    """What our replay predicts if stopping takes no time, as in the models by hand."""
    return replay(topology, trace, assumptions=topology.assumptions.model_copy(update={"stop_seconds": 0}))


@pytest.mark.benchmark(group="philly", timer=time.process_time)
def test_our_replay(topology: Topology, trace: JobTrace, benchmark: BenchmarkFixture) -> None:
    outcome = timed(benchmark, lambda: replay(topology, trace), rounds=10)
    if (outcome.jobs.status != JobStatus.SUCCEEDED).any():
        pytest.fail("every job must run to its end")
    preemptions = len(outcome.preemptions.at)
    benchmark.extra_info.update(measure="philly", case="replay", jobs=len(trace), preemptions=preemptions)


@pytest.mark.benchmark(group="philly", timer=time.process_time)
def test_our_kernel_alone(topology: Topology, trace: JobTrace, benchmark: BenchmarkFixture) -> None:
    finished = timed_after(benchmark, lambda: prepared(topology, trace), run_kernel, rounds=10)
    benchmark.extra_info.update(measure="philly", case="kernel", jobs=len(trace))
    benchmark.extra_info.update(load_of(finished, trace).as_dict())


@pytest.mark.benchmark(group="philly", timer=time.process_time)
@pytest.mark.parametrize(
    ("case", "replay_by_hand"), [("heapq", replay_with_heapq), ("SimPy", replay_with_simpy)], ids=["heapq", "simpy"]
)
def test_the_same_by_hand(
    *,
    case: str,
    replay_by_hand: Callable[[Topology, tuple[str, ...], Workload], Quotas],
    topology: Topology,
    trace: JobTrace,
    workload: Workload,
    immediate: Outcome,
    benchmark: BenchmarkFixture,
) -> None:
    quotas = timed(benchmark, lambda: replay_by_hand(topology, trace.units, workload), rounds=3)
    last_start = np.zeros(len(trace), dtype=np.int64)
    last_start[immediate.attempts.job] = immediate.attempts.scheduled_at
    agreeing = float((last_start == np.array(quotas.started_at)).mean())
    if agreeing < 0.8:
        pytest.fail("the model by hand must do the same work, or its speed says nothing")
    benchmark.extra_info.update(measure="philly", case=case, jobs=len(trace), preemptions=quotas.preemptions)
    benchmark.extra_info.update(agreeing=round(agreeing, 4), preemptions_of_ours=len(immediate.preemptions.at))

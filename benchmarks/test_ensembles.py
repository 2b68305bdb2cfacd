"""Many replays at once: threads of one process, since the kernel releases the GIL."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.contended import contended_topology, contended_trace
from benchmarks.timing import timed
from policy_engine.scheduler import replay

THREADS = 2


@pytest.mark.benchmark(group="ensembles")
@pytest.mark.parametrize("threads", [1, THREADS])
def test_a_thousand_replays(threads: int, job_scale: float, benchmark: BenchmarkFixture) -> None:
    topology, traces = contended_topology(), [contended_trace(10_000, 0.9, seed=seed) for seed in range(10)]
    replays = max(10, int(1000 * job_scale))

    def replay_all() -> int:
        with ThreadPoolExecutor(threads) as pool:
            outcomes = pool.map(lambda number: replay(topology, traces[number % len(traces)]).ended_at, range(replays))
            return sum(outcomes)

    timed(benchmark, replay_all, rounds=1)
    benchmark.extra_info.update(measure="ensemble", case=f"{threads} threads", jobs=10_000, replays=replays)

"""What a call to the emulator costs, with 10,000 jobs in the queue: of one client, and while 20 use it at once."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.emulator import batch_client, calls, emulator, fill
from benchmarks.timing import timed

JOBS = 10_000
OPERATIONS = (
    "SubmitServiceJob",
    "DescribeServiceJob",
    "ListServiceJobs",
    "ListServiceJobs RUNNABLE",
    "UpdateServiceJob",
    "TerminateServiceJob",
    "GetJobQueueSnapshot",
)
CLIENTS = 20
SECONDS = 20


@pytest.fixture(scope="module")
def queue(job_scale: float) -> Iterator[tuple[str, list[str]]]:
    """The endpoint of an emulator, and the jobs in its queue."""
    with emulator() as endpoint:
        yield endpoint, fill(endpoint, max(100, int(JOBS * job_scale)))


@pytest.mark.benchmark(group="emulator")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_call(operation: str, queue: tuple[str, list[str]], benchmark: BenchmarkFixture) -> None:
    endpoint, jobs = queue
    call, numbers = calls(batch_client(endpoint), jobs)[operation], count()
    timed(benchmark, lambda: call(next(numbers)), rounds=41, warmup_rounds=2)
    benchmark.extra_info.update(measure="emulator", case=operation, jobs=len(jobs))


@pytest.mark.benchmark(group="emulator")
def test_twenty_clients_at_once(queue: tuple[str, list[str]], benchmark: BenchmarkFixture) -> None:
    """Each makes a call a second, of each operation in turn, as programs do that wait for their jobs."""
    endpoint, jobs = queue
    of_clients = [list(calls(batch_client(endpoint), jobs).values()) for _ in range(CLIENTS)]

    def use(client: int) -> list[float]:
        of, took = of_clients[client], []
        for number in range(SECONDS):
            due = started + number + client / CLIENTS
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            of[(number + client) % len(of)](number * CLIENTS + client)
            took.append(round(time.perf_counter() - began, 6))
        return took

    started = time.perf_counter() + 0.1

    def use_all() -> list[float]:
        with ThreadPoolExecutor(CLIENTS) as pool:
            return [seconds for some in pool.map(use, range(CLIENTS)) for seconds in some]

    took = timed(benchmark, use_all, rounds=1)
    benchmark.extra_info.update(measure="emulator", case="20 clients at once", jobs=len(jobs), calls=took)

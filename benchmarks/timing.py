"""A typed way to time something with pytest-benchmark."""

from collections.abc import Callable
from typing import TypeVar

from pytest_benchmark.fixture import BenchmarkFixture

Returned = TypeVar("Returned")
Prepared = TypeVar("Prepared")


def timed(
    benchmark: BenchmarkFixture, function: Callable[[], Returned], *, rounds: int, warmup_rounds: int = 0
) -> Returned:
    """Time a function for some rounds; what the last one returned."""
    returned: Returned = benchmark.pedantic(  # type: ignore[no-untyped-call]
        function, rounds=rounds, warmup_rounds=warmup_rounds
    )
    return returned


def timed_after(
    benchmark: BenchmarkFixture,
    setup: Callable[[], Prepared],
    function: Callable[[Prepared], Returned],
    *,
    rounds: int,
) -> Returned:
    """Time a function of what is set up anew, untimed, before each round."""
    returned: Returned = benchmark.pedantic(  # type: ignore[no-untyped-call]
        function, setup=lambda: ((setup(),), {}), rounds=rounds
    )
    return returned

"""The replay against queueing theory: mean waits of a share whose jobs arrive at random are what the formulas say.

Traces come from seeds, so that each test always sees the same ones. A mean is judged by its confidence interval, taken
over batches of jobs in the order of their submission, which are long enough to be all but independent; the first
jobs, which find the share empty, are left out. The interval must also be narrow, or the test would show little.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scenarios import share

from policy_engine.scheduler import JobStatus, Outcome, replay
from policy_engine.topology import QuotaShare, Team, Topology
from policy_engine.trace import NONE, ON_STOP, JobTrace
from policy_engine.trace.portable import exp as exps
from policy_engine.trace.portable import log, normal_quantile, uniforms

Float64 = npt.NDArray[np.float64]

UNIT = "ml.g5.xlarge"
MEAN_RUNTIME = 1000.0
"""Seconds: so long that rounding to milliseconds does not matter."""
BATCHES = 30
T_QUANTILE = 3.659
"""Student's t with 29 degrees of freedom: an interval holds the true mean with 99.9 percent."""
SEED = 20260319


@dataclass(frozen=True)
class Size:
    """How many jobs a test replays, and how narrow its interval must then be, as a fraction of the theory's value."""

    jobs: int
    use_compiled: bool
    precision: float


SMALL = Size(jobs=8_000, use_compiled=False, precision=0.35)
LARGE = pytest.param(Size(jobs=1_000_000, use_compiled=True, precision=0.04), marks=pytest.mark.slow, id="large")
SIZES = [pytest.param(SMALL, id="small"), LARGE]


@dataclass(frozen=True)
class Interval:
    mean: float
    half_width: float


def mean_of(values: Float64) -> Interval:
    """The mean by the method of batch means, without the first tenth."""
    settled = values[len(values) // 10 :]
    batches = np.array([batch.mean() for batch in np.array_split(settled, BATCHES)])
    return Interval(float(batches.mean()), T_QUANTILE * float(batches.std(ddof=1)) / sqrt(BATCHES))


def assert_agrees(found: Interval, theory: float, precision: float) -> None:
    assert abs(found.mean - theory) <= found.half_width, f"{found.mean:.4g} ± {found.half_width:.3g}, not {theory:.4g}"
    assert found.half_width <= precision * theory, f"± {found.half_width:.3g} is too wide for {theory:.4g}"


def exponential(count: int, mean: float, purpose: str) -> Float64:
    return -mean * log(1.0 - uniforms(count, SEED, purpose))


def milliseconds(seconds: Float64) -> npt.NDArray[np.int64]:
    return np.rint(seconds * 1000).astype(np.int64)


def make_trace(
    rate: float, runtimes: Float64, *, priority: npt.NDArray[np.int16] | None = None, checkpoint: int = NONE
) -> JobTrace:
    """Jobs of one instance each that arrive as a Poisson process, `rate` a second."""
    count = len(runtimes)
    return JobTrace(
        job_id=pl.int_range(count, eager=True).cast(pl.String).alias("job_id"),
        share_names=("share",),
        share=np.zeros(count, dtype=np.int32),
        units=(UNIT,),
        needs=np.array([[1]], dtype=np.int64),
        need=np.zeros(count, dtype=np.int32),
        submitted_at=milliseconds(np.cumsum(exponential(count, 1 / rate, "arrival"))),
        runtime=milliseconds(runtimes),
        priority=np.zeros(count, dtype=np.int16) if priority is None else priority,
        preemption_retries=np.full(count, NONE, dtype=np.int32),
        checkpoint=np.full(count, checkpoint, dtype=np.int64),
        attempt_timeout=np.full(count, NONE, dtype=np.int64),
        fails=np.zeros(count, dtype=np.bool_),
    )


def replayed(quota_share: QuotaShare, trace: JobTrace, size: Size, **assumptions: object) -> Outcome:
    topology = Topology(
        name="theory", capacity=quota_share.capacity, teams={"team": Team(shares={"share": quota_share})}
    )
    chosen = topology.assumptions.replaced(assumptions)
    outcome = replay(topology, trace, assumptions=chosen, use_compiled=size.use_compiled)
    assert (outcome.jobs.status == JobStatus.SUCCEEDED).all()
    return outcome


def waits(outcome: Outcome) -> Float64:
    """Seconds from submission to the first dispatch."""
    return (outcome.jobs.first_scheduled_at - outcome.trace.submitted_at) / 1000


def stays(outcome: Outcome) -> Float64:
    """Seconds from submission to the end."""
    return (outcome.jobs.finished_at - outcome.trace.submitted_at) / 1000


def chance_to_wait(servers: int, load: float) -> float:
    """Erlang's C: how likely a job of M/M/c has to wait. `load` is that of one server."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = servers * load * blocked / (n + servers * load * blocked)
    return blocked / (1 - load * (1 - blocked))


def test_the_formula_gives_what_tables_give() -> None:
    assert chance_to_wait(1, 0.7) == pytest.approx(0.7)
    assert chance_to_wait(2, 0.5) == pytest.approx(1 / 3)
    assert chance_to_wait(10, 0.8) == pytest.approx(0.4092, abs=5e-5)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("instances", "load"), [(1, 0.5), (3, 0.6)])
def test_poisson_arrivals_and_exponential_runtimes_wait_as_erlang_says(instances: int, load: float, size: Size) -> None:
    assert_erlang(instances, load, size)


@pytest.mark.slow
@pytest.mark.parametrize(("instances", "load"), [(1, 0.8), (2, 0.9), (8, 0.85), (32, 0.9)])
def test_busy_and_wide_shares_wait_as_erlang_says(instances: int, load: float) -> None:
    assert_erlang(instances, load, Size(jobs=2_000_000, use_compiled=True, precision=0.12))


def assert_erlang(instances: int, load: float, size: Size) -> None:
    runtimes = exponential(size.jobs, MEAN_RUNTIME, "runtime")
    trace = make_trace(instances * load / MEAN_RUNTIME, runtimes)
    found = waits(replayed(share({UNIT: instances}, "RESERVE"), trace, size))
    chance = chance_to_wait(instances, load)
    assert_agrees(mean_of((found > 0).astype(np.float64)), chance, size.precision)
    assert_agrees(mean_of(found), chance * MEAN_RUNTIME / (instances * (1 - load)), size.precision)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("load", "sigma"), [(0.5, 0.75)])
def test_lognormal_runtimes_wait_as_pollaczek_and_khinchine_say(load: float, sigma: float, size: Size) -> None:
    assert_pollaczek_khinchine(load, sigma, size)


@pytest.mark.slow
@pytest.mark.parametrize(("load", "sigma"), [(0.3, 1.25), (0.8, 1.0)])
def test_widely_spread_runtimes_wait_as_pollaczek_and_khinchine_say(load: float, sigma: float) -> None:
    assert_pollaczek_khinchine(load, sigma, Size(jobs=2_000_000, use_compiled=True, precision=0.12))


def assert_pollaczek_khinchine(load: float, sigma: float, size: Size) -> None:
    uniform = uniforms(size.jobs, SEED, "runtime") + 2.0**-54
    runtimes = MEAN_RUNTIME * exps(sigma * normal_quantile(uniform) - sigma * sigma / 2)
    rate = load / MEAN_RUNTIME
    found = waits(replayed(share({UNIT: 1}, "RESERVE"), make_trace(rate, runtimes), size))
    second_moment = MEAN_RUNTIME**2 * exp(sigma * sigma)
    assert_agrees(mean_of(found), rate * second_moment / (2 * (1 - load)), size.precision)


@dataclass(frozen=True)
class TwoClasses:
    """Jobs of a high and of a low priority at one instance, half of them each."""

    load: float

    @property
    def high(self) -> float:
        """The load of the high class alone."""
        return self.load / 2

    def trace(self, count: int, checkpoint: int) -> JobTrace:
        return make_trace(
            self.load / MEAN_RUNTIME,
            exponential(count, MEAN_RUNTIME, "runtime"),
            priority=(uniforms(count, SEED, "priority") < 0.5).astype(np.int16),
            checkpoint=checkpoint,
        )


def assert_classes_agree(found: Float64, trace: JobTrace, high: float, low: float, precision: float) -> None:
    assert_agrees(mean_of(found[trace.priority == 1]), high, precision)
    assert_agrees(mean_of(found[trace.priority == 0]), low, precision)


@pytest.mark.parametrize("size", SIZES)
def test_without_preemption_the_higher_priority_waits_as_cobham_says(size: Size) -> None:
    classes = TwoClasses(load=0.6)
    trace = classes.trace(size.jobs, NONE)
    found = waits(replayed(share({UNIT: 1}, "RESERVE"), trace, size))
    remaining = classes.load * MEAN_RUNTIME
    high = remaining / (1 - classes.high)
    assert_classes_agree(found, trace, high, high / (1 - classes.load), size.precision)


@pytest.mark.parametrize("size", SIZES)
def test_with_preemption_that_loses_nothing_the_lower_priority_stays_as_preemptive_resume_says(size: Size) -> None:
    classes = TwoClasses(load=0.6)
    trace = classes.trace(size.jobs, ON_STOP)
    preempting = share({UNIT: 1}, "RESERVE", in_share_preemption=True)
    found = stays(replayed(preempting, trace, size, stop_seconds=0))
    high = MEAN_RUNTIME / (1 - classes.high)
    assert_classes_agree(found, trace, high, high / (1 - classes.load), size.precision)


def test_an_interval_is_refused_that_misses_the_theory_or_says_little() -> None:
    checks: list[Callable[[], None]] = [
        lambda: assert_agrees(Interval(1.2, 0.1), theory=1.0, precision=0.5),
        lambda: assert_agrees(Interval(1.2, 0.6), theory=1.0, precision=0.5),
    ]
    for check in checks:
        with pytest.raises(AssertionError):
            check()

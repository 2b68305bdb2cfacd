"""Makes synthetic traces: arrivals, runtimes, sizes and priorities by share, the same bytes for the same seed anywhere.

Time 0 is a Monday, 00:00. As many jobs arrive as make the wanted load: the wanted instance-seconds over the mean
instance-seconds of a job. That number is fixed; the times, runtimes and sizes are random. All times are whole seconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from policy_engine.topology import Topology
from policy_engine.trace.assembling import assemble
from policy_engine.trace.jobs import NONE, Int64, JobTrace
from policy_engine.trace.needs import Needs
from policy_engine.trace.portable import Float64, choices, exp, normal_quantile, uniforms

HOUR, DAY = 3600, 86_400
_WEEKDAY = (24, 20, 17, 15, 15, 18, 28, 45, 70, 95, 110, 115, 108, 110, 118, 120, 115, 105, 88, 70, 55, 45, 36, 29)
"""Arrivals by hour of a weekday, as weights: most in the early afternoon, fewest before dawn."""
_WEEKEND = tuple(weight * 2 // 5 for weight in _WEEKDAY)
_WEEK = np.array(_WEEKDAY * 5 + _WEEKEND * 2, np.float64)
_LEAST_UNIFORM = 2.0**-54


class Arrivals(StrEnum):
    """How submissions spread over time."""

    POISSON = "poisson"
    DIURNAL = "diurnal"


@dataclass(frozen=True, slots=True)
class Weighted:
    """Whole numbers, each as often as its weight says."""

    values: tuple[int, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raises ValueError if there is nothing to choose from."""
        if not self.values or len(self.values) != len(self.weights) or min(self.weights) < 1:
            raise ValueError("expected values with a weight of at least 1 each")

    @property
    def mean(self) -> float:
        """The mean value."""
        return sum(v * w for v, w in zip(self.values, self.weights, strict=True)) / sum(self.weights)

    def draw(self, uniform: Float64) -> Int64:
        """A value for each number in [0, 1)."""
        return np.array(self.values, np.int64)[choices(uniform, self.weights)]


ONE, ZERO = Weighted((1,), (1,)), Weighted((0,), (1,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLoad:
    """The jobs of one share."""

    share: str
    capacity: dict[str, int]
    """Instances that a load of 1 keeps busy, by instance type; each type gets jobs of its own."""
    load: float = 0.7
    """Mean demand as a fraction of the capacity."""
    median: int = 1_200_000
    """Median runtime in ms."""
    sigma: float = 1.2
    """Spread of the runtimes: the standard deviation of their logarithm."""
    longest: int = 432_000_000
    """Longest runtime in ms."""
    size: Weighted = ONE
    """Instances of a job."""
    priority: Weighted = ZERO
    retries: int = NONE
    """Preemption retries."""
    checkpoint: int = NONE
    """ms between checkpoints, NONE or ON_STOP."""
    fails: float = 0.0
    """Fraction of jobs that fail by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpec:
    """What to generate."""

    shares: tuple[ShareLoad, ...]
    days: float = 7.0
    arrivals: Arrivals = Arrivals.DIURNAL
    jobs: int | None = None
    """Number of jobs in all; the loads are then only relative. None: what the loads make."""
    runtimes: Int64 | None = None
    """Runtimes in ms to sample from, in place of lognormal ones."""


def shares_of(topology: Topology) -> tuple[ShareLoad, ...]:
    """The default load of every share of a topology."""
    return tuple(ShareLoad(share=owned.name, capacity=dict(owned.share.capacity)) for owned in topology.quota_shares())


@dataclass(frozen=True, slots=True)
class _Lane:
    """The jobs of one share and instance type."""

    load: ShareLoad
    unit: str
    capacity: int
    count: int


def expected_jobs(spec: TraceSpec) -> int:
    """How many jobs a specification makes."""
    return sum(lane.count for lane in _lanes(spec))


def generate(spec: TraceSpec, seed: int) -> JobTrace:
    """Generate a trace. A share's jobs depend on the seed and on its own load, not on other shares'.

    Raises ValueError if no job would come of it.
    """
    lanes = list(_lanes(spec))
    if not any(lane.count for lane in lanes):
        raise ValueError("the loads make no jobs: ask for more days, a higher load or shorter runtimes")
    parts = [_lane_frame(lane, spec, seed) for lane in lanes]
    jobs = pl.concat(parts).sort("submitted_at", maintain_order=True)
    units = tuple(dict.fromkeys(lane.unit for lane in lanes))
    needs = jobs.select("unit", "size").unique(maintain_order=True).with_row_index("need")
    of_job = jobs.join(needs, on=["unit", "size"], how="left", maintain_order="left")["need"]
    rows = np.zeros((needs.height, len(units)), np.int64)
    rows[np.arange(needs.height), [units.index(unit) for unit in needs["unit"]]] = needs["size"].to_numpy()
    return assemble(
        job_id=jobs["job_id"],
        share=jobs["share"],
        needs=Needs(units, rows, of_job.cast(pl.Int32).to_numpy()),
        submitted_at=jobs["submitted_at"] * 1000,
        runtime=jobs["runtime"] * 1000,
        priority=jobs["priority"],
        preemption_retries=jobs["retries"],
        checkpoint=jobs["checkpoint"],
        attempt_timeout=NONE,
        fails=jobs["fails"],
        epoch=None,
    )


def _lanes(spec: TraceSpec) -> Iterator[_Lane]:
    """How many jobs each share and instance type gets: rounded one by one, or to a given sum by largest remainder."""
    wanted = [
        (load, unit, capacity, load.load * capacity * spec.days * DAY / (_mean_seconds(load, spec) * load.size.mean))
        for load in spec.shares
        for unit, capacity in load.capacity.items()
    ]
    numbers = np.array([number for *_, number in wanted])
    if spec.jobs is None:
        counts = np.floor(numbers + 0.5).astype(np.int64)
    else:
        numbers = numbers * (spec.jobs / numbers.sum()) if numbers.sum() else numbers
        counts = np.floor(numbers).astype(np.int64)
        missing = spec.jobs - int(counts.sum()) if numbers.sum() else 0
        counts[np.argsort(counts - numbers, kind="stable")[:missing]] += 1
    for (load, unit, capacity, _), count in zip(wanted, counts.tolist(), strict=True):
        yield _Lane(load, unit, capacity, count)


def _mean_seconds(load: ShareLoad, spec: TraceSpec) -> float:
    if spec.runtimes is not None:
        return max(int(spec.runtimes.sum()) / len(spec.runtimes) / 1000, 1.0)
    return load.median / 1000 * float(exp(np.array([load.sigma * load.sigma / 2]))[0])


def _lane_frame(lane: _Lane, spec: TraceSpec, seed: int) -> pl.DataFrame:
    """The lane's jobs by submission time."""
    load, count = lane.load, lane.count

    def draw(purpose: str) -> Float64:
        return uniforms(count, seed, load.share, lane.unit, purpose)

    at = np.sort(_arrivals(draw("arrival"), spec))
    number = pl.int_range(1, count + 1, eager=True).cast(pl.String).str.zfill(len(str(count)))
    prefix = load.share if len(load.capacity) == 1 else f"{load.share}-{lane.unit}"
    return pl.DataFrame(
        {
            "job_id": prefix + "-" + number,
            "submitted_at": at,
            "size": load.size.draw(draw("size")),
            "runtime": _runtimes(draw("runtime"), load, spec),
            "priority": load.priority.draw(draw("priority")).astype(np.int16),
            "fails": draw("fails") < load.fails,
        }
    ).with_columns(
        share=pl.lit(load.share),
        unit=pl.lit(lane.unit),
        retries=pl.lit(load.retries, pl.Int32),
        checkpoint=pl.lit(load.checkpoint, pl.Int64),
    )


def _arrivals(uniform: Float64, spec: TraceSpec) -> Int64:
    """Whole seconds from 0 to the end of the last day, unsorted."""
    span = spec.days * DAY
    if spec.arrivals is Arrivals.POISSON:
        return np.floor(uniform * span).astype(np.int64)
    edges = np.minimum(np.arange(int(np.ceil(span / HOUR)) + 1, dtype=np.float64) * HOUR, span)
    widths = np.diff(edges)
    weights = widths * _WEEK[np.arange(len(widths)) % len(_WEEK)]
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    target = uniform * sums[-1]
    hour = np.minimum(np.searchsorted(sums, target, side="right") - 1, len(widths) - 1)
    seconds: Float64 = edges[hour] + (target - sums[hour]) / weights[hour] * widths[hour]
    return np.floor(seconds).astype(np.int64)


def _runtimes(uniform: Float64, load: ShareLoad, spec: TraceSpec) -> Int64:
    """Whole seconds, at least 1."""
    if spec.runtimes is not None:
        seconds: Float64 = spec.runtimes[np.floor(uniform * len(spec.runtimes)).astype(np.int64)] / 1000
    else:
        seconds = load.median / 1000 * exp(load.sigma * normal_quantile(uniform + _LEAST_UNIFORM))
    whole: Int64 = np.clip(np.floor(seconds + 0.5), 1, load.longest / 1000).astype(np.int64)
    return whole

"""What a trace asks for: jobs, runtimes, and the demand over time if every job ran as it is submitted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from policy_engine.topology import Topology
from policy_engine.trace.jobs import Int64, JobTrace

Float64 = npt.NDArray[np.float64]
HOUR = 3_600_000
"""ms."""


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Runtimes in ms: the least that half, and 95 %, of the jobs do not exceed."""

    median: int
    p95: int
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDescription:
    """The jobs of one share."""

    share: str
    jobs: int
    instance_hours: Mapping[str, float]
    """By unit."""
    runtime: Runtimes
    lowest_priority: int
    highest_priority: int
    limits: Mapping[str, int] | None
    """The share's limits in the topology; None without a topology, or if it lacks the share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDescription:
    """The demand for one unit, were every job to run from its submission on."""

    unit: str
    jobs: int
    instance_hours: float
    mean: float
    """Instance-hours over the hours of submissions: the offered load, in instances."""
    peak: int
    """Most instances at one instant."""
    largest: int
    """Most instances that one job needs."""
    over_time: tuple[float, ...]
    """Mean demand in equal parts of the time from the first submission to the last end."""
    capacity: int | None
    """Of the topology's service environment; None without a topology, 0 if it lacks the unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceDescription:
    """A whole trace. Times in ms since its start."""

    jobs: int
    first_submitted_at: int
    last_submitted_at: int
    last_end: int
    """When the last job would end, had none to wait."""
    epoch: int | None
    runtime: Runtimes
    window: int
    """ms that means are taken over: from the first submission to the last, or to the last end if all are at once."""
    shares: tuple[ShareDescription, ...]
    units: tuple[UnitDescription, ...]


def describe(trace: JobTrace, topology: Topology | None = None, *, parts: int = 60) -> TraceDescription:
    """Describe a trace of at least one job; `parts` is the number of parts of each unit's demand over time."""
    ends = trace.submitted_at + trace.runtime
    first, last, end = int(trace.submitted_at[0]), int(trace.submitted_at[-1]), int(ends.max())
    window = (last - first) or (end - first) or 1
    return TraceDescription(
        jobs=len(trace),
        first_submitted_at=first,
        last_submitted_at=last,
        last_end=end,
        epoch=trace.epoch,
        runtime=_runtimes(trace.runtime),
        window=window,
        shares=tuple(_shares(trace, topology)),
        units=tuple(_unit(trace, unit, window, topology, parts=parts) for unit in range(len(trace.units))),
    )


def _shares(trace: JobTrace, topology: Topology | None) -> list[ShareDescription]:
    known = {} if topology is None else {owned.name: owned.share.capacity for owned in topology.quota_shares()}
    hours = _instance_hours(trace)
    order = np.argsort(trace.share, kind="stable")
    bounds = np.searchsorted(trace.share[order], np.arange(len(trace.share_names) + 1))
    described = []
    for code, name in enumerate(trace.share_names):
        rows = order[bounds[code] : bounds[code + 1]]
        priority = trace.priority[rows]
        described.append(
            ShareDescription(
                share=name,
                jobs=len(rows),
                instance_hours={unit: float(h) for unit, h in zip(trace.units, hours[code], strict=True) if h},
                runtime=_runtimes(trace.runtime[rows]),
                lowest_priority=int(priority.min()),
                highest_priority=int(priority.max()),
                limits=known.get(name),
            )
        )
    return described


def _instance_hours(trace: JobTrace) -> Float64:
    """Shares x units."""
    pair = trace.share.astype(np.int64) * len(trace.needs) + trace.need
    seconds = np.bincount(pair, weights=trace.runtime, minlength=len(trace.share_names) * len(trace.needs))
    hours: Float64 = seconds.reshape(len(trace.share_names), len(trace.needs)) @ trace.needs.astype(np.float64) / HOUR
    return hours


def _runtimes(runtime: Int64) -> Runtimes:
    ordered = np.sort(runtime)
    median, p95 = (int(ordered[-(-len(ordered) * percent // 100) - 1]) for percent in (50, 95))
    return Runtimes(median, p95, int(ordered[-1]))


def _unit(trace: JobTrace, unit: int, window: int, topology: Topology | None, *, parts: int) -> UnitDescription:
    count = trace.needs[trace.need, unit]
    ends = trace.submitted_at + trace.runtime
    rows = count > 0
    count, start, end = count[rows], trace.submitted_at[rows], ends[rows]
    at = np.concatenate([end, start])
    change = np.concatenate([-count, count])
    order = np.argsort(at, kind="stable")  # ends before starts at one instant
    at, level = at[order], np.cumsum(change[order])
    area = float((count * ((end - start) / HOUR)).sum())
    return UnitDescription(
        unit=trace.units[unit],
        jobs=len(count),
        instance_hours=area,
        mean=area / (window / HOUR),
        peak=int(level.max(initial=0)),
        largest=int(count.max()),
        over_time=_over_time(at, level, int(trace.submitted_at[0]), int(ends.max()), parts),
        capacity=None if topology is None else topology.capacity.get(trace.units[unit], 0),
    )


def _over_time(at: Int64, level: Int64, first: int, last: int, parts: int) -> tuple[float, ...]:
    """Mean level in equal parts of [first, last]. The level holds from each time to the next."""
    if last == first:
        return (0.0,) * parts
    areas = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at).astype(np.float64))])
    edges = np.linspace(first, last, parts + 1)
    return tuple((np.diff(np.interp(edges, at, areas)) / ((last - first) / parts)).tolist())

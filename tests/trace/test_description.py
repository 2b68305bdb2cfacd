"""What a trace asks for, worked out by hand and by brute force."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.topology import Topology
from policy_engine.trace import JobTrace, read_trace
from policy_engine.trace.description import Runtimes, describe

HEADER = "job_id,share,submitted_at,instances,runtime_seconds,priority"
TOPOLOGY = Topology.model_validate(
    {
        "name": "t",
        "capacity": {"ml.x": 4},
        "teams": {"a": {"shares": {"s": {"capacity": {"ml.x": 3}, "strategy": "LEND"}}}},
    }
)


def trace_of(*rows: str) -> JobTrace:
    return read_trace(io.BytesIO("\n".join([HEADER, *rows]).encode()))


HOUR = 3600
THREE = trace_of(
    f"a,s,0,ml.x=2,{HOUR},5",
    f"b,t,{HOUR},ml.x=1;ml.y=4,{2 * HOUR},0",
    f"c,s,{2 * HOUR},ml.x=3,{HOUR},9",
)


def test_jobs_hours_and_runtimes_by_share() -> None:
    description = describe(THREE, TOPOLOGY)
    s, t = description.shares
    assert (s.share, s.jobs, s.instance_hours, s.lowest_priority, s.highest_priority) == ("s", 2, {"ml.x": 5.0}, 5, 9)
    assert (t.share, t.jobs, t.instance_hours) == ("t", 1, {"ml.x": 2.0, "ml.y": 8.0})
    assert (s.limits, t.limits) == ({"ml.x": 3}, None)
    assert t.runtime == Runtimes(7_200_000, 7_200_000, 7_200_000)


def test_demand_by_unit_is_taken_over_the_hours_of_submissions() -> None:
    description = describe(THREE, TOPOLOGY, parts=3)
    x, y = description.units
    assert (description.window, description.last_end) == (2 * HOUR * 1000, 3 * HOUR * 1000)
    assert (x.unit, x.jobs, x.instance_hours, x.mean, x.peak, x.largest, x.capacity) == ("ml.x", 3, 7.0, 3.5, 4, 3, 4)
    assert x.over_time == pytest.approx((2, 1, 4))
    assert (y.jobs, y.peak, y.capacity) == (1, 4, 0)
    assert y.over_time == pytest.approx((0, 4, 4))
    assert describe(THREE).units[0].capacity is None


def test_a_job_that_ends_makes_room_for_one_that_is_submitted_in_that_instant() -> None:
    assert describe(trace_of("a,s,0,ml.x=2,10,0", "b,s,10,ml.x=3,10,0")).units[0].peak == 3


def test_jobs_that_are_all_at_once_or_take_no_time_can_be_described() -> None:
    at_once = describe(trace_of("a,s,5,ml.x=2,10,0", "b,s,5,ml.x=1,20,0"))
    assert (at_once.window, at_once.units[0].peak) == (20_000, 3)
    assert at_once.units[0].mean == pytest.approx(2.0)
    nothing = describe(trace_of("a,s,5,ml.x=2,0,0"), parts=2)
    assert (nothing.units[0].over_time, nothing.units[0].peak) == ((0.0, 0.0), 0)


def test_percentiles_are_runtimes_that_occur() -> None:
    runtimes = describe(trace_of(*(f"{n},s,0,ml.x=1,{n},0" for n in range(1, 101)))).runtime
    assert runtimes == Runtimes(median=50_000, p95=95_000, longest=100_000)
    assert describe(trace_of("a,s,0,ml.x=1,1,0", "b,s,0,ml.x=1,9,0")).runtime == Runtimes(1000, 9000, 9000)


jobs = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 30), st.integers(1, 5)), min_size=1, max_size=12)


@settings(max_examples=50, deadline=None)
@given(jobs, st.integers(1, 7))
def test_peak_and_parts_agree_with_counting_second_by_second(listed: list[tuple[int, int, int]], parts: int) -> None:
    trace = trace_of(*(f"{n},s,{at},ml.x={size},{run},0" for n, (at, run, size) in enumerate(listed)))
    unit = describe(trace, parts=parts).units[0]
    level = np.zeros(100)
    for at, run, size in listed:
        level[at : at + run] += size
    first, end = min(at for at, _, _ in listed), max(at + run for at, run, _ in listed)
    assert unit.peak == level.max()
    assert sum(unit.over_time) * (end - first) / parts == pytest.approx(level.sum())
    if (end - first) % parts == 0 and end > first:
        assert unit.over_time == pytest.approx(tuple(level[first:end].reshape(parts, -1).mean(axis=1)))

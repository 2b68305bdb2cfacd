"""The replay against arithmetic: schedules that follow from a recursion, or from another schedule."""

import csv
import io
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
import pytest
from differential import in_oracle_words
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenarios import RESERVE, Row, Scenario, make_scenario, make_trace, random_scenario, rows_of, scenarios, share

from policy_engine.assumptions import HeadOfLine
from policy_engine.scheduler import NEVER, Outcome, replay
from policy_engine.topology import QuotaShare, Team, TimeLimit, Topology
from policy_engine.trace import (
    ControlEvent,
    FileFormat,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
    read_trace,
)
from policy_engine.trace.writing import write_stream

UNIT = "ml.g5.xlarge"

some_queues = settings(max_examples=20, deadline=None)
some_scenarios = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def replayed(scenario: Scenario) -> Outcome:
    topology, trace, events = scenario.topology, scenario.trace, scenario.events
    return replay(topology, trace, events=events, until=scenario.until, use_compiled=False)


# First in, first out, on one share


@dataclass(frozen=True)
class Arrival:
    """A job that comes `gap` seconds after the one before it."""

    gap: int
    runs: int
    instances: int = 1


def arrivals(most_instances: int) -> st.SearchStrategy[list[Arrival]]:
    one = st.builds(Arrival, st.integers(0, 20), st.integers(1, 60), st.integers(1, most_instances))
    return st.lists(one, min_size=1, max_size=40)


def first_in_first_out(instances: int, jobs: Iterable[Arrival]) -> Scenario:
    rows, at = [], 0
    for number, job in enumerate(jobs):
        at += job.gap
        rows.append(Row(f"j{number}", "share", at, {UNIT: job.instances}, job.runs))
    return make_scenario({UNIT: instances}, {"share": share({UNIT: instances}, RESERVE)}, rows)


def starts(outcome: Outcome) -> list[int]:
    """When each job was dispatched, in ms."""
    times: list[int] = outcome.jobs.first_scheduled_at.tolist()
    return times


@some_queues
@given(arrivals(most_instances=1))
def test_one_instance_follows_lindleys_recursion(jobs: list[Arrival]) -> None:
    scenario = first_in_first_out(1, jobs)
    waits = [0]
    for job, following in pairwise(jobs):
        waits.append(max(0, waits[-1] + job.runs - following.gap))
    expected = [int(at) + 1000 * wait for at, wait in zip(scenario.trace.submitted_at, waits, strict=True)]
    assert starts(replayed(scenario)) == expected


def several_instances_recursion(instances: int, trace: JobTrace, jobs: Sequence[Arrival]) -> list[int]:
    """A job goes when the one before it has gone and as many instances as it needs are free.

    `free_at` is when each instance comes free; the earliest are taken.
    """
    free_at = [0] * instances
    found: list[int] = []
    for at, job in zip(trace.submitted_at.tolist(), jobs, strict=True):
        start = max(at, found[-1] if found else 0, free_at[job.instances - 1])
        free_at = sorted([start + 1000 * job.runs] * job.instances + free_at[job.instances :])
        found.append(start)
    return found


@some_queues
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), arrivals(n))))
def test_several_instances_follow_the_recursion_of_kiefer_and_wolfowitz(case: tuple[int, list[Arrival]]) -> None:
    instances, jobs = case
    scenario = first_in_first_out(instances, jobs)
    outcome = replayed(scenario)
    expected = several_instances_recursion(instances, scenario.trace, jobs)
    assert starts(outcome) == expected
    ends = [start + 1000 * job.runs for start, job in zip(expected, jobs, strict=True)]
    assert outcome.jobs.finished_at.tolist() == ends


def test_a_long_queue_follows_the_recursion() -> None:
    draw = random.Random(4)  # noqa: S311
    jobs = [Arrival(draw.randint(0, 12), draw.choice((1, 5, 30, 300)), draw.choice((1, 1, 2, 16))) for _ in range(2000)]
    scenario = first_in_first_out(16, jobs)
    assert starts(replayed(scenario)) == several_instances_recursion(16, scenario.trace, jobs)


# Shares that do not lend


def only(scenario: Scenario, kept: set[str]) -> Scenario:
    """These shares alone, as RESERVE shares, in an environment that has just their limits.

    Jobs above their share's limits are left out, since an environment that is too small is another reason to be stuck
    than a limit. So are the events that change limits or capacity, and `per_unit`, whose queues stand in an order that
    the whole trace gives (decision 11).
    """
    shares = {
        owned.name: owned.share.model_copy(update={"strategy": RESERVE, "borrow_limit": None})
        for owned in scenario.topology.quota_shares()
        if owned.name in kept
    }
    limits = Counter[str]()
    for quota_share in shares.values():
        limits.update(quota_share.capacity)
    rows = [
        row
        for row in rows_of(scenario.trace)
        if row.share in kept and all(n <= shares[row.share].capacity.get(unit, 0) for unit, n in row.need.items())
    ]
    jobs = {row.id for row in rows}

    def stays(event: ControlEvent) -> bool:
        match event:
            case UpdatePriority() | Terminate():
                return event.job in jobs
            case SetShareState():
                return event.share in kept
            case _:
                return isinstance(event, Unavailable)

    events = tuple(event for event in scenario.events if stays(event))
    assumptions = scenario.topology.assumptions
    if assumptions.head_of_line is HeadOfLine.PER_UNIT:
        assumptions = assumptions.replaced({"head_of_line": "strict"})
    topology = with_shares(scenario.topology, shares, limits).model_copy(update={"assumptions": assumptions})
    return Scenario(topology, make_trace(rows), events, scenario.until)


def with_shares(topology: Topology, shares: dict[str, QuotaShare], capacity: dict[str, int]) -> Topology:
    return topology.model_copy(update={"teams": {"team": Team(shares=shares)}, "written_capacity": dict(capacity)})


def assert_each_as_if_alone(scenario: Scenario) -> None:
    first, *others = (owned.name for owned in scenario.topology.quota_shares())
    whole = in_oracle_words(replayed(only(scenario, {first, *others})))
    parts = [in_oracle_words(replayed(only(scenario, kept))) for kept in ({first}, set(others))]
    assert {job.id: job for job in whole.jobs} == {job.id: job for part in parts for job in part.jobs}
    assert sorted(whole.dispatches) == sorted(dispatch for part in parts for dispatch in part.dispatches)
    preemptions = [one for part in parts for one in part.preemptions]
    assert sorted(whole.preemptions, key=repr) == sorted(preemptions, key=repr)


@some_scenarios
@given(scenarios())
def test_shares_that_do_not_lend_are_as_if_each_were_alone(scenario: Scenario) -> None:
    assert_each_as_if_alone(scenario)


# Scales


def columns(outcome: Outcome, times_by: int = 1) -> dict[str, list[int]]:
    """All columns of an outcome, with its times multiplied."""
    times = {
        "jobs": {"first_scheduled_at", "finished_at", "lost"},
        "attempts": {"scheduled_at", "running_at", "stopped_at"},
        "preemptions": {"at", "lost"},
    }
    found = {"ended_at": [outcome.ended_at * times_by]}
    for table, timed in times.items():
        rows = getattr(outcome, table)
        for column in (field.name for field in fields(rows)):
            values = getattr(rows, column).tolist()
            scale = times_by if column in timed else 1
            found[f"{table}.{column}"] = [value if value == NEVER else value * scale for value in values]
    return found


def slower(scenario: Scenario, k: int) -> Scenario:
    """The scenario with all times multiplied by k."""
    trace, topology = scenario.trace, scenario.topology
    limits = tuple(TimeLimit(reason=one.reason, after=one.after * k / 1000) for one in topology.queue.time_limits)
    return Scenario(
        topology.model_copy(
            update={
                "assumptions": topology.assumptions.model_copy(update=slower_assumptions(topology, k)),
                "queue": topology.queue.model_copy(update={"time_limits": limits}),
            }
        ),
        replace(
            trace,
            submitted_at=trace.submitted_at * k,
            runtime=trace.runtime * k,
            checkpoint=np.where(trace.checkpoint > 0, trace.checkpoint * k, trace.checkpoint),
            attempt_timeout=np.where(trace.attempt_timeout > 0, trace.attempt_timeout * k, trace.attempt_timeout),
        ),
        tuple(later(event, k) for event in scenario.events),
        None if scenario.until is None else scenario.until * k,
    )


def slower_assumptions(topology: Topology, k: int) -> dict[str, object]:
    """Every assumption that is a duration, or one for each unit."""
    slow: dict[str, object] = {}
    for name in type(topology.assumptions).model_fields:
        value = getattr(topology.assumptions, name)
        if isinstance(value, dict):
            slow[name] = {unit: latency * k for unit, latency in value.items()}
        elif isinstance(value, int):
            slow[name] = value * k
    return slow


def later(event: ControlEvent, k: int) -> ControlEvent:
    if isinstance(event, Unavailable):
        return replace(event, at=event.at * k, until=event.until * k)
    return replace(event, at=event.at * k)


def test_all_durations_among_the_assumptions_are_scaled() -> None:
    topology = make_scenario({UNIT: 1}, {"share": share({UNIT: 1}, RESERVE)}, []).topology
    names = {name for name, _, default, _ in topology.assumptions.switches() if not isinstance(default, str)}
    assert set(slower_assumptions(topology, 2)) == names


def assert_times_scale(scenario: Scenario, k: int) -> None:
    assert columns(replayed(slower(scenario, k))) == columns(replayed(scenario), times_by=k)


@some_scenarios
@given(scenarios(), st.integers(2, 1000))
def test_all_times_multiplied_multiply_the_schedule(scenario: Scenario, k: int) -> None:
    assert_times_scale(scenario, k)


def with_whole_borrow_limits(scenario: Scenario) -> Scenario:
    """Borrow limits in whole hundreds of percent, so that no borrow cap is rounded."""

    def whole(percent: int | None) -> int | None:
        return None if percent is None else percent if percent < 0 else -(-percent // 100) * 100

    shares = {
        owned.name: owned.share.model_copy(update={"borrow_limit": whole(owned.share.borrow_limit)})
        for owned in scenario.topology.quota_shares()
    }
    events = tuple(
        replace(event, borrow_limit=whole(event.borrow_limit)) if isinstance(event, UpdateShare) else event
        for event in scenario.events
    )
    topology = with_shares(scenario.topology, shares, scenario.topology.capacity)
    return Scenario(topology, scenario.trace, events, scenario.until)


def larger(scenario: Scenario, k: int) -> Scenario:
    """The scenario with all quantities multiplied by k."""
    topology = scenario.topology

    def multiplied(quantities: dict[str, int]) -> dict[str, int]:
        return {unit: k * n for unit, n in quantities.items()}

    def changed(event: ControlEvent) -> ControlEvent:
        match event:
            case UpdateCapacity():
                return replace(event, capacity=k * event.capacity)
            case UpdateShare(limits=dict(limits)):
                return replace(event, limits=multiplied(limits))
            case _:
                return event

    shares = {
        owned.name: owned.share.model_copy(update={"capacity": multiplied(owned.share.capacity)})
        for owned in topology.quota_shares()
    }
    return Scenario(
        with_shares(topology, shares, multiplied(topology.capacity)),
        replace(scenario.trace, needs=scenario.trace.needs * k),
        tuple(changed(event) for event in scenario.events),
        scenario.until,
    )


def assert_quantities_scale(scenario: Scenario, k: int) -> None:
    scenario = with_whole_borrow_limits(scenario)
    assert columns(replayed(larger(scenario, k))) == columns(replayed(scenario))


@some_scenarios
@given(scenarios(), st.integers(2, 1000))
def test_all_quantities_multiplied_leave_the_schedule_as_it_is(scenario: Scenario, k: int) -> None:
    assert_quantities_scale(scenario, k)


# Order of rows


def shuffled(trace: JobTrace, draw: random.Random) -> JobTrace:
    """The trace written to a file, its rows put in another order, and read back."""
    file = io.BytesIO()
    write_stream(trace, file, FileFormat.CSV)
    header, *rows = csv.reader(io.StringIO(file.getvalue().decode()))
    draw.shuffle(rows)
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return read_trace(io.BytesIO(text.getvalue().encode()), format=FileFormat.CSV)


def assert_rows_in_any_order(scenario: Scenario, draw: random.Random) -> None:
    trace = scenario.trace
    apart = replace(trace, submitted_at=trace.submitted_at + np.arange(len(trace)))
    once = replace(scenario, trace=apart)
    again = replace(scenario, trace=shuffled(apart, draw))
    assert in_oracle_words(replayed(again)) == in_oracle_words(replayed(once))


@some_scenarios
@given(scenarios(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_if_no_two_are_submitted_together(
    scenario: Scenario, draw: random.Random
) -> None:
    assert_rows_in_any_order(scenario, draw)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_a_thousand_scenarios_agree_with_their_likes(chunk: int) -> None:
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        scenario, draw = random_scenario(seed), random.Random(seed)  # noqa: S311
        assert_each_as_if_alone(scenario)
        assert_times_scale(scenario, draw.randint(2, 1000))
        assert_quantities_scale(scenario, draw.randint(2, 1000))
        assert_rows_in_any_order(scenario, draw)

"""Small scenarios for the scheduler: builders to write them by hand, and random ones in which much happens.

One description of the distribution serves both sources of randomness: hypothesis (`scenarios()`, which shrinks) and a
seeded generator (`random_scenario(seed)`, for mass runs). Times are on a coarse grid and quantities small, so that
ties, contention and preemption are frequent. `describe` prints a scenario as the Python that builds it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol, TypeVar

import numpy as np
import polars as pl
from hypothesis import strategies as st

from policy_engine.assumptions import (
    Assumptions,
    HeadOfLine,
    IdleFifo,
    RequeuePosition,
    ShareOrder,
    UnallocatedCapacity,
    VictimOrder,
)
from policy_engine.topology import (
    UNLIMITED,
    Queue,
    QuotaShare,
    ResourceSharingStrategy,
    ShareState,
    Team,
    TimeLimit,
    Topology,
)
from policy_engine.trace import (
    NONE,
    ON_STOP,
    ControlEvent,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)

T = TypeVar("T")
Seconds = int | float

RESERVE = ResourceSharingStrategy.RESERVE
LEND = ResourceSharingStrategy.LEND
LEND_AND_BORROW = ResourceSharingStrategy.LEND_AND_BORROW
UNITS = ("ml.g5.xlarge", "ml.p4d.24xlarge", "ml.p5.48xlarge")
ENVIRONMENT_EXCEEDED = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


# Builders


@dataclass(frozen=True)
class Row:
    """A job of a trace, as a test writes it. Times in seconds."""

    id: str
    share: str
    at: Seconds
    need: Mapping[str, int]
    runs: Seconds
    priority: int = 0
    retries: int | None = None
    checkpoint: Seconds | str | None = None
    """Seconds, "on_stop", or None: nothing survives."""
    timeout: Seconds | None = None
    fails: bool = False


@dataclass(frozen=True, eq=False)
class Scenario:
    """One input of a replay. `until` is in ms."""

    topology: Topology
    trace: JobTrace
    events: tuple[ControlEvent, ...] = ()
    until: int | None = None

    def __repr__(self) -> str:
        return describe(self)


def milliseconds(seconds: Seconds) -> int:
    return round(seconds * 1000)


def make_trace(rows: Sequence[Row]) -> JobTrace:
    """The columns of these jobs, which may stand in any order."""
    rows = sorted(rows, key=lambda row: row.at)
    share_names = tuple(dict.fromkeys(row.share for row in rows))
    units = tuple(dict.fromkeys(unit for row in rows for unit in row.need))
    needs = [tuple(row.need.get(unit, 0) for unit in units) for row in rows]
    distinct = list(dict.fromkeys(needs))
    checkpoints = {None: NONE, "on_stop": ON_STOP}

    def checkpoint(row: Row) -> int:
        return milliseconds(row.checkpoint) if isinstance(row.checkpoint, int | float) else checkpoints[row.checkpoint]

    return JobTrace(
        job_id=pl.Series("job_id", [row.id for row in rows], dtype=pl.String),
        share_names=share_names,
        share=np.array([share_names.index(row.share) for row in rows], dtype=np.int32),
        units=units,
        needs=np.array(distinct, dtype=np.int64).reshape(len(distinct), len(units)),
        need=np.array([distinct.index(need) for need in needs], dtype=np.int32),
        submitted_at=np.array([milliseconds(row.at) for row in rows], dtype=np.int64),
        runtime=np.array([milliseconds(row.runs) for row in rows], dtype=np.int64),
        priority=np.array([row.priority for row in rows], dtype=np.int16),
        preemption_retries=np.array([NONE if row.retries is None else row.retries for row in rows], dtype=np.int32),
        checkpoint=np.array([checkpoint(row) for row in rows], dtype=np.int64),
        attempt_timeout=np.array(
            [NONE if row.timeout is None else milliseconds(row.timeout) for row in rows], dtype=np.int64
        ),
        fails=np.array([row.fails for row in rows], dtype=np.bool_),
    )


def share(
    capacity: Mapping[str, int],
    strategy: str = "LEND_AND_BORROW",
    *,
    borrow_limit: int | None = None,
    in_share_preemption: bool = False,
    state: str = "ENABLED",
) -> QuotaShare:
    return QuotaShare(
        capacity=dict(capacity),
        strategy=ResourceSharingStrategy(strategy),
        borrow_limit=borrow_limit,
        in_share_preemption=in_share_preemption,
        state=ShareState(state),
    )


def make_scenario(
    capacity: Mapping[str, int],
    shares: Mapping[str, QuotaShare],
    jobs: Sequence[Row],
    *,
    events: Sequence[ControlEvent] = (),
    assumptions: Mapping[str, object] | None = None,
    time_limits: Mapping[str, Seconds] | None = None,
    until: int | None = None,
) -> Scenario:
    """A scenario. `assumptions` are departures from the default profile, as in a topology file."""
    topology = Topology(
        name="scenario",
        capacity=dict(capacity),
        queue=Queue(
            time_limits=tuple(
                TimeLimit(reason=reason, after=milliseconds(after) / 1000)
                for reason, after in (time_limits or {}).items()
            )
        ),
        teams={"team": Team(shares=dict(shares))},
        assumptions=Assumptions.model_validate(dict(assumptions or {})),
    )
    return Scenario(topology, make_trace(jobs), tuple(events), until)


# Describing


def _seconds(ms: int) -> Seconds:
    return ms // 1000 if ms % 1000 == 0 else ms / 1000


def _call(name: str, *arguments: object, **named: object) -> str:
    parts = [repr(argument) for argument in arguments] + [f"{key}={value!r}" for key, value in named.items()]
    return f"{name}({', '.join(parts)})"


def _describe_share(quota_share: QuotaShare) -> str:
    named: dict[str, object] = {}
    if quota_share.borrow_limit is not None:
        named["borrow_limit"] = quota_share.borrow_limit
    if quota_share.in_share_preemption:
        named["in_share_preemption"] = True
    if quota_share.state is ShareState.DISABLED:
        named["state"] = "DISABLED"
    return _call("share", quota_share.capacity, quota_share.strategy.value, **named)


def rows_of(trace: JobTrace) -> list[Row]:
    """The jobs of a trace, as a test writes them."""

    def row(j: int) -> Row:
        checkpoint = int(trace.checkpoint[j])
        retries = int(trace.preemption_retries[j])
        timeout = int(trace.attempt_timeout[j])
        return Row(
            id=str(trace.job_id[j]),
            share=trace.share_names[trace.share[j]],
            at=_seconds(int(trace.submitted_at[j])),
            need={unit: int(n) for unit, n in zip(trace.units, trace.needs[trace.need[j]], strict=True) if n},
            runs=_seconds(int(trace.runtime[j])),
            priority=int(trace.priority[j]),
            retries=None if retries == NONE else retries,
            checkpoint={NONE: None, ON_STOP: "on_stop"}.get(checkpoint, _seconds(checkpoint)),
            timeout=None if timeout == NONE else _seconds(timeout),
            fails=bool(trace.fails[j]),
        )

    return [row(j) for j in range(len(trace))]


def _describe_row(row: Row) -> str:
    defaults = {"priority": 0, "retries": None, "checkpoint": None, "timeout": None, "fails": False}
    named = {name: getattr(row, name) for name, default in defaults.items() if getattr(row, name) != default}
    return _call("Row", row.id, row.share, row.at, row.need, row.runs, **named)


def _describe_value(value: object) -> str:
    if isinstance(value, ResourceSharingStrategy | ShareState):
        return f"{type(value).__name__}.{value.name}"
    return repr(value)


def _describe_event(event: ControlEvent) -> str:
    named = {item.name: getattr(event, item.name) for item in fields(event) if item.init}
    parts = [f"{name}={_describe_value(value)}" for name, value in named.items() if value is not None]
    return f"{type(event).__name__}({', '.join(parts)})"


def describe(scenario: Scenario) -> str:
    """The scenario as the Python that builds it, with this module's names."""
    topology = scenario.topology
    default = Assumptions().model_dump(mode="json")
    assumptions = {
        name: value for name, value in topology.assumptions.model_dump(mode="json").items() if value != default[name]
    }
    lines = ["make_scenario(", f"    {topology.capacity!r},", "    {"]
    lines += [f"        {owned.name!r}: {_describe_share(owned.share)}," for owned in topology.quota_shares()]
    lines += ["    },", "    ["]
    lines += [f"        {_describe_row(row)}," for row in rows_of(scenario.trace)]
    lines += ["    ],"]
    if scenario.events:
        lines += ["    events=[", *[f"        {_describe_event(event)}," for event in scenario.events], "    ],"]
    if assumptions:
        lines += [f"    assumptions={assumptions!r},"]
    if topology.queue.time_limits:
        limits = {limit.reason: _seconds(limit.after) for limit in topology.queue.time_limits}
        lines += [f"    time_limits={limits!r},"]
    if scenario.until is not None:
        lines += [f"    until={scenario.until},"]
    return "\n".join([*lines, ")"])


# Random scenarios


class Source(Protocol):
    """Where random choices come from. The first option, the least number and the shortest list are the simplest."""

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        ...

    def between(self, least: int, most: int) -> int: ...

    def several(self, make: Callable[["Source"], T], least: int, most: int) -> list[T]:
        """A list of `least` to `most` things."""
        ...


class Seeded:
    """Choices of a seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def between(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def several(self, make: Callable[[Source], T], least: int, most: int) -> list[T]:
        return [make(self) for _ in range(self._random.randint(least, most))]


class Drawn:
    """Choices of hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def between(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def several(self, make: Callable[[Source], T], least: int, most: int) -> list[T]:
        one = st.composite(lambda draw: make(Drawn(draw)))()
        return self._draw(st.lists(one, min_size=least, max_size=most))


def chance(source: Source, percent: int) -> bool:
    return source.between(0, 99) >= 100 - percent


@dataclass(frozen=True)
class Traits:
    """What a scenario is like as a whole."""

    units: tuple[str, ...]
    misfits: bool
    """Some jobs need more than they can ever have, or units that their share or the environment lacks."""
    failures: bool
    """Some jobs fail by themselves, time out, or may be preempted only so often."""
    latest: int
    """Seconds within which jobs are submitted and control events happen."""


def _traits(source: Source) -> Traits:
    return Traits(
        units=UNITS[: source.pick((1, 1, 2, 2, 3))],
        misfits=chance(source, 40),
        failures=chance(source, 60),
        latest=source.pick((10, 20, 40)),
    )


def _limits(source: Source, traits: Traits) -> dict[str, int]:
    """Limits for at least one unit, now and then not for all."""
    named = [unit for unit in traits.units if not chance(source, 15)] or [source.pick(traits.units)]
    return {unit: source.pick((1, 1, 2, 2, 3, 4)) for unit in named}


def _share(source: Source, traits: Traits) -> QuotaShare:
    strategy = source.pick((*(LEND_AND_BORROW,) * 6, LEND, LEND, RESERVE, RESERVE))
    return share(
        _limits(source, traits),
        strategy,
        borrow_limit=source.pick((None, None, None, UNLIMITED, UNLIMITED, 200, 200, 100, 50, 0))
        if strategy.borrows
        else None,
        in_share_preemption=chance(source, 60),
        state="DISABLED" if chance(source, 1) else "ENABLED",
    )


def _capacity(source: Source, traits: Traits, shares: Mapping[str, QuotaShare]) -> dict[str, int]:
    """About what the shares add up to: exactly, less or more; now and then a unit is missing."""
    capacity = {}
    for unit in traits.units:
        allocated = sum(quota_share.capacity.get(unit, 0) for quota_share in shares.values())
        if not (traits.misfits and chance(source, 3)):
            capacity[unit] = max(1, allocated + source.pick((0, 0, 0, 0, 0, 0, -1, -2, 1, 4)))
    return capacity


def _need(source: Source, traits: Traits, quota_share: QuotaShare, *, small: bool) -> dict[str, int]:
    """Mostly what fits within the limits, sometimes what fits only by borrowing, seldom what never fits."""
    limits = quota_share.capacity
    foreign = traits.misfits and chance(source, 6)
    units = traits.units if foreign else tuple(limits)
    needed = {source.pick(units)}
    if len(units) > 1 and chance(source, 35):
        needed.add(source.pick(units))

    def quantity(unit: str) -> int:
        limit = limits.get(unit, 1)
        if traits.misfits and chance(source, 8):
            return limit + source.between(1, 6)
        if quota_share.strategy.borrows and quota_share.borrow_limit in (None, UNLIMITED, 200) and chance(source, 12):
            return limit + 1
        return 1 if small else source.pick((1, 1, min(2, limit), limit, limit, source.between(1, limit)))

    return {unit: quantity(unit) for unit in traits.units if unit in needed}


def _row(source: Source, traits: Traits, shares: Mapping[str, QuotaShare], bursts: Mapping[str, int]) -> Row:
    """A job. Those of one share come together, and the first has the most, so that others lend before they claim."""
    name = source.pick((*shares, *tuple(shares)[:1] * (len(shares) // 2)))
    at = source.pick((bursts[name], bursts[name] + source.between(0, 3), source.between(bursts[name], traits.latest)))
    return Row(
        id="",
        share=name,
        at=at,
        need=_need(source, traits, shares[name], small=chance(source, 75 if name == "s1" else 25)),
        runs=source.pick((2, 5, 10, 20, 30, 30, 40, 40, 60, 60, 0, 200)),
        priority=source.pick((0, 0, 0, 1, 1, 2, 5)),
        retries=source.pick((None, None, None, 0, 1, 2)) if traits.failures else None,
        checkpoint=source.pick((None, None, "on_stop", 1, 3, 5)),
        timeout=source.between(1, 30) if traits.failures and chance(source, 15) else None,
        fails=traits.failures and chance(source, 8),
    )


def _latency(source: Source, traits: Traits) -> object:
    match source.pick(("none", "none", "one", "by unit")):
        case "none":
            return 0
        case "one":
            return source.between(0, 3)
        case _:
            table = {unit: source.between(0, 3) for unit in traits.units if chance(source, 70)}
            return table | ({"default": source.between(0, 3)} if chance(source, 50) else {})


def _assumptions(source: Source, traits: Traits) -> dict[str, object]:
    """Every switch; in one of three scenarios, those that decide keep their defaults."""
    drawn: dict[str, object] = {
        "stop_seconds": source.pick((0, 1, 3, 3, 10, 120)),
        "provision_seconds": _latency(source, traits),
        "startup_seconds": _latency(source, traits),
        "resume_seconds": source.pick((0, 0, 1, 2)),
        "capacity_retry_seconds": source.pick((1, 2, 3, 5, 300)),
    }
    if source.pick(("default", "varied", "varied")) == "varied":
        drawn |= {
            "victim_order": source.pick(tuple(VictimOrder)),
            "head_of_line": source.pick(tuple(HeadOfLine)),
            "share_order": source.pick(tuple(ShareOrder)),
            "idle_fifo": source.pick(tuple(IdleFifo)),
            "requeue_position": source.pick(tuple(RequeuePosition)),
            "unallocated_capacity": source.pick(tuple(UnallocatedCapacity)),
            "scheduler_interval": source.pick((0, 0, 0, 1, 5, 7)),
        }
    return drawn


EVENT_KINDS = (
    "update_priority",
    "update_share",
    "update_share",
    "update_capacity",
    "terminate",
    "unavailable",
    "unavailable",
    "set_share_state",
)


def _event(source: Source, traits: Traits, shares: Mapping[str, QuotaShare], jobs: Sequence[Row]) -> ControlEvent:
    at = milliseconds(source.between(0, traits.latest + 10))
    match source.pick(EVENT_KINDS):
        case "update_priority":
            return UpdatePriority(at=at, job=source.pick(jobs).id, priority=source.pick((0, 1, 2, 5, 9999)))
        case "update_capacity":
            return UpdateCapacity(at=at, unit=source.pick(traits.units), capacity=source.between(0, 8))
        case "terminate":
            return Terminate(at=at, job=source.pick(jobs).id)
        case "unavailable":
            until = at + milliseconds(source.pick((1, 3, 8, 20, 60)))
            return Unavailable(at=at, unit=source.pick(traits.units), until=until)
        case "set_share_state":
            state = source.pick((ShareState.DISABLED, ShareState.DISABLED, ShareState.ENABLED))
            return SetShareState(at=at, share=source.pick(tuple(shares)), state=state)
        case _:
            return UpdateShare(
                at=at,
                share=source.pick(tuple(shares)),
                limits=_limits(source, traits) if chance(source, 60) else None,
                strategy=source.pick((None, None, LEND_AND_BORROW, LEND, RESERVE)),
                borrow_limit=source.pick((None, None, UNLIMITED, 0, 50, 100)),
                in_share_preemption=source.pick((None, None, True, False)),
            )


def make_random_scenario(source: Source) -> Scenario:
    traits = _traits(source)
    most_shares = source.pick((2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 20))
    quota_shares = source.several(lambda s: _share(s, traits), 2, most_shares)
    shares = {f"s{number}": quota_share for number, quota_share in enumerate(quota_shares, start=1)}
    bursts = {name: source.between(0, traits.latest // 2) for name in shares} | {"s1": 0}
    least_jobs = source.pick((1, 8, 16, 24))
    rows = source.several(lambda s: _row(s, traits, shares, bursts), least_jobs, 40 if least_jobs == 24 else 24)
    rows.sort(key=lambda row: row.at)
    jobs = [replace(row, id=f"j{number}") for number, row in enumerate(rows, start=1)]
    most_events = source.pick((0, 0, 0, 4, 10))
    return make_scenario(
        _capacity(source, traits, shares),
        shares,
        jobs,
        events=source.several(lambda s: _event(s, traits, shares, jobs), 0, most_events),
        assumptions=_assumptions(source, traits),
        time_limits={
            reason: source.pick((1, 2, 5, 10, 20))
            for reason in (ENVIRONMENT_EXCEEDED, LIMIT_EXCEEDED)
            if chance(source, 40)
        },
        until=source.between(0, 90) * 500 if chance(source, 15) else None,
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Random scenarios that hypothesis can shrink."""
    return make_random_scenario(Drawn(draw))


def random_scenario(seed: int) -> Scenario:
    """The scenario of a seed, from the same distribution."""
    return make_random_scenario(Seeded(seed))

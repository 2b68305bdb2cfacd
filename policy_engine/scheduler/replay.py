"""Replaying a trace on a topology."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from policy_engine.assumptions import Assumptions
from policy_engine.scheduler import loop
from policy_engine.scheduler.outcome import AttemptOutcome, Attempts, Jobs, JobStatus, Outcome, Preemptions
from policy_engine.scheduler.preparation import prepare
from policy_engine.scheduler.state import (
    FAILED,
    FOREVER,
    NEVER,
    RUNNABLE,
    RUNNING,
    SCHEDULED,
    STOPPING,
    SUCCEEDED,
    State,
)
from policy_engine.scheduler.storage import Table, make_room, to_arrays, to_lists
from policy_engine.topology import Topology
from policy_engine.trace import ControlEvent, JobTrace

Runner = Callable[[State, int, int], int]

COMPILE_FROM = 3_000
"""Jobs from which a compiled replay is faster, its start-up included."""
BUDGET = 500_000
"""Events and changes between two looks at progress and interruption: well under a second, compiled."""
INTERPRETED_BUDGET = 2_000

_STATUS_OF_PHASE = np.zeros(7, dtype=np.int8)
_STATUS_OF_PHASE[[RUNNABLE, SUCCEEDED, FAILED]] = JobStatus.RUNNABLE, JobStatus.SUCCEEDED, JobStatus.FAILED
_STATUS_OF_PHASE[[SCHEDULED, RUNNING, STOPPING]] = JobStatus.RUNNING


def replay(
    topology: Topology,
    trace: JobTrace,
    *,
    events: Sequence[ControlEvent] = (),
    assumptions: Assumptions | None = None,
    until: int | None = None,
    use_compiled: bool | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Replay a trace on a topology through the scheduling model.

    Every share of the trace must be one of the topology's, and every job and share of the events must exist
    (`policy_engine.trace` checks both). `assumptions` default to the topology's. `until` (ms) stops the replay after
    that instant. `use_compiled` overrides the choice that is made by the trace's size. `on_progress` is called now and
    then with the number of jobs submitted so far; what it raises ends the replay.
    """
    chosen = assumptions or topology.assumptions
    if use_compiled is None:
        use_compiled = len(trace) >= COMPILE_FROM
    ordered = tuple(sorted(events, key=lambda event: event.at))
    state = prepare(topology, trace, ordered, chosen)
    if use_compiled:
        from policy_engine.scheduler.machine_code import kernel

        state = _drive(state, kernel(), until, BUDGET, on_progress)
    else:
        state = to_arrays(_drive(to_lists(state), loop.run, until, INTERPRETED_BUDGET, on_progress))
    return _outcome(state, topology, trace, events=ordered, assumptions=chosen, until=until)


def _drive(
    state: State, run: Runner, until: int | None, budget: int, on_progress: Callable[[int], None] | None
) -> State:
    last = FOREVER - 1 if until is None else until
    while True:
        result = run(state, last, budget)
        if on_progress is not None:
            on_progress(int(state.register[0].next_submission))
        if result == loop.OVER:
            return state
        if result == loop.FULL:
            state = make_room(state)


def compilation_pending(job_count: int) -> Path | None:
    """Where the compiled kernel will be kept, if a replay of so many jobs must compile it first; else None.

    A folder that cannot be written to means that it is compiled every time.
    """
    if job_count < COMPILE_FROM:
        return None
    from policy_engine.scheduler.machine_code import cache_directory, is_kept

    return None if is_kept() else cache_directory()


def _outcome(
    state: State,
    topology: Topology,
    trace: JobTrace,
    *,
    events: tuple[ControlEvent, ...],
    assumptions: Assumptions,
    until: int | None,
) -> Outcome:
    register = state.register[0]
    jobs = cast("Table", state.jobs)
    lanes = cast("Table", state.lanes)
    attempts = cast("Table", state.attempts)[: register.attempts]
    preemptions = cast("Table", state.preemptions)[: register.preemptions]
    reason = jobs["reason"].copy()
    blocked = lanes[lanes["blocked"] != 0]
    blocked = blocked[jobs["phase"][blocked["judged_head"]] == RUNNABLE]  # It may have ended since the last pass.
    reason[blocked["judged_head"]] = blocked["blocked"]
    ended = attempts["stopped_at"] != NEVER
    first_scheduled_at = np.full(len(trace), NEVER, dtype=np.int64)
    first_scheduled_at[attempts["job"][::-1]] = attempts["scheduled_at"][::-1]  # The last one written is the first.
    lost = np.zeros(len(trace), dtype=np.int64)
    np.add.at(lost, preemptions["victim"], preemptions["lost"])
    return Outcome(
        topology=topology,
        trace=trace,
        events=events,
        assumptions=assumptions,
        ended_at=int(register.last_event_at) if until is None else until,
        jobs=Jobs(
            status=_STATUS_OF_PHASE[jobs["phase"]],
            reason=reason,
            first_scheduled_at=first_scheduled_at,
            finished_at=jobs["finished_at"],
            preemptions=jobs["preempted"],
            lost=lost,
        ),
        attempts=Attempts(
            job=attempts["job"],
            scheduled_at=attempts["scheduled_at"],
            running_at=attempts["running_at"],
            stopped_at=attempts["stopped_at"],
            outcome=np.where(ended, attempts["outcome"], np.int8(AttemptOutcome.RUNNING)),
        ),
        preemptions=Preemptions(
            at=preemptions["at"],
            victim=preemptions["victim"],
            claimant=preemptions["claimant"],
            kind=preemptions["kind"],
            lost=preemptions["lost"],
        ),
    )

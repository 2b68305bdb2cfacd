"""The compiled kernel alone, without the preparation of its state and the making of an outcome."""

from typing import Any, NamedTuple, cast

import numpy as np

from policy_engine.scheduler import AttemptOutcome, loop
from policy_engine.scheduler.machine_code import kernel
from policy_engine.scheduler.preparation import prepare
from policy_engine.scheduler.replay import BUDGET
from policy_engine.scheduler.state import FOREVER, NEVER, State
from policy_engine.scheduler.storage import Table, make_room
from policy_engine.topology import Topology
from policy_engine.trace import JobTrace
from policy_engine.trace.jobs import Int64


def prepared(topology: Topology, trace: JobTrace) -> State:
    """The state before the first instant."""
    return prepare(topology, trace, (), topology.assumptions)


def run_kernel(state: State) -> State:
    """Run to the end, making room in the logs where needed, as `policy_engine.scheduler.replay` does."""
    run = kernel()
    while True:
        result = run(state, FOREVER - 1, BUDGET)
        if result == loop.OVER:
            return state
        if result == loop.FULL:
            state = make_room(state)


class Load(NamedTuple):
    """What a replay went through."""

    attempts: int
    preemptions: int
    deepest_backlog: int
    """Most jobs RUNNABLE at once."""
    most_running: int
    """Most jobs dispatched at once."""

    def as_dict(self) -> dict[str, Any]:
        """For a benchmark's extra information."""
        return self._asdict()


def load_of(state: State, trace: JobTrace) -> Load:
    """What a finished run went through."""
    register = state.register[0]
    attempts = cast("Table", state.attempts)[: register.attempts]
    started = np.asarray(attempts["scheduled_at"])
    stopped = np.asarray(attempts["stopped_at"])[attempts["stopped_at"] != NEVER]
    preempted = np.asarray(attempts["stopped_at"])[np.asarray(attempts["outcome"]) == AttemptOutcome.PREEMPTED]
    return Load(
        attempts=int(register.attempts),
        preemptions=int(register.preemptions),
        deepest_backlog=_most(np.concatenate([trace.submitted_at, preempted]), started),
        most_running=_most(started, stopped),
    )


def _most(up: Int64, down: Int64) -> int:
    """The highest sum of steps up and down; at one time, down comes first."""
    times = np.concatenate([down, up])
    steps = np.concatenate([np.full(len(down), -1), np.ones(len(up), dtype=np.int64)])
    return int(np.cumsum(steps[np.argsort(times, kind="stable")]).max(initial=0))

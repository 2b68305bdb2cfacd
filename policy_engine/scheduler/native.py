"""The entry of the compiled kernel: the state as a numba struct, passed by reference to every function.

Imports numba. A struct keeps the arguments of the kernel's functions to one pointer; with a tuple of tables the same
code takes many minutes to compile.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.experimental import structref

from policy_engine.scheduler.loop import run
from policy_engine.scheduler.state import State, empty_table

Table = npt.NDArray[Any]


@structref.register
class StateType(numba.types.StructRef):  # type: ignore[misc]
    """The numba type of a `State` over arrays."""


class Tables(NamedTuple):
    """The fields of a `State`, each an array."""

    setting: Table
    register: Table
    jobs: Table
    submitted_at: Table
    runtime: Table
    retries: Table
    checkpoint: Table
    timeout: Table
    fails: Table
    runnable_since: Table
    needs: Table
    need_start: Table
    entries: Table
    set_has_unit: Table
    sets_meet: Table
    attempts: Table
    preemptions: Table
    end_time: Table
    end_job: Table
    start_time: Table
    start_job: Table
    queues: Table
    queue_job: Table
    lanes: Table
    shares: Table
    time_limit: Table
    cells: Table
    units: Table
    buckets: Table
    block_count: Table
    kept_by_rank: Table
    cursor: Table
    events: Table
    updates: Table
    limits_table: Table


STATE_TYPE = StateType([(name, numba.typeof(empty_table(name))) for name in Tables._fields])


def tables_of(state: State) -> Tables:
    """A state over arrays as what the compiled kernel takes."""
    return Tables(**{name: getattr(state, name).view(empty_table(name).dtype, np.ndarray) for name in Tables._fields})


def run_tables(tables: Tables, until: int, budget: int) -> int:
    """`loop.run` over arrays."""
    st = new_state(tables)
    return run(st, until, budget)


def new_state(tables: Tables) -> Any:
    """The struct over these tables."""
    st = structref.new(STATE_TYPE)
    st.setting = tables.setting
    st.register = tables.register
    st.jobs = tables.jobs
    st.submitted_at = tables.submitted_at
    st.runtime = tables.runtime
    st.retries = tables.retries
    st.checkpoint = tables.checkpoint
    st.timeout = tables.timeout
    st.fails = tables.fails
    st.runnable_since = tables.runnable_since
    st.needs = tables.needs
    st.need_start = tables.need_start
    st.entries = tables.entries
    st.set_has_unit = tables.set_has_unit
    st.sets_meet = tables.sets_meet
    st.attempts = tables.attempts
    st.preemptions = tables.preemptions
    st.end_time = tables.end_time
    st.end_job = tables.end_job
    st.start_time = tables.start_time
    st.start_job = tables.start_job
    st.queues = tables.queues
    st.queue_job = tables.queue_job
    st.lanes = tables.lanes
    st.shares = tables.shares
    st.time_limit = tables.time_limit
    st.cells = tables.cells
    st.units = tables.units
    st.buckets = tables.buckets
    st.block_count = tables.block_count
    st.kept_by_rank = tables.kept_by_rank
    st.cursor = tables.cursor
    st.events = tables.events
    st.updates = tables.updates
    st.limits_table = tables.limits_table
    return st

"""Storage of the state: record arrays or lists of rows, and more room in its logs and timers."""

from collections.abc import Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from policy_engine.scheduler.state import READ_ONLY, ROW_TYPES, Column, State, empty_table, row_dtype

Table = npt.NDArray[Any]

CACHE_LINE = 64


def state_over(tables: Mapping[str, Table]) -> State:
    """A state over these arrays, each made contiguous and of its type. Those of `READ_ONLY` are never written."""
    typed: dict[str, Any] = {}
    for name, table in tables.items():
        array = np.ascontiguousarray(table, dtype=empty_table(name).dtype).view()
        array.flags.writeable = name not in READ_ONLY
        typed[name] = array.view(np.recarray) if name in ROW_TYPES else array
    return State(**typed)


def rows_of_zeros(name: str, count: int) -> Table:
    """A table of the state that begins where a line of a processor's cache does."""
    dtype = row_dtype(ROW_TYPES[name])
    memory = np.zeros(count * dtype.itemsize + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + count * dtype.itemsize].view(dtype)


def to_lists(state: State) -> State:
    """The same state over lists, which the interpreter reads and writes many times faster than arrays."""
    lists: dict[str, Any] = {}
    for field in fields(state):
        values = getattr(state, field.name).tolist()
        row_type = ROW_TYPES.get(field.name)
        lists[field.name] = values if row_type is None else [row_type(*row) for row in values]
    return State(**lists)


def to_arrays(state: State) -> State:
    """A state over lists, back over arrays."""
    arrays: dict[str, Table] = {}
    for field in fields(state):
        values = getattr(state, field.name)
        if field.name in ROW_TYPES:
            values = list(map(attrgetter(*(column.name for column in fields(ROW_TYPES[field.name]))), values))
        arrays[field.name] = np.array(values, dtype=empty_table(field.name).dtype)
    return state_over(arrays)


def make_room(state: State) -> State:
    """Grow what is full among the logs and timers, so that the run can go on."""
    register = state.register[0]
    changes: dict[str, Any] = {}
    if register.attempts >= len(state.attempts):
        changes["attempts"] = _grown(state.attempts, "attempts", 0)
    if register.preemptions + register.dispatched >= len(state.preemptions):
        changes["preemptions"] = _grown(state.preemptions, "preemptions", register.dispatched)
    if register.ends + register.dispatched >= len(state.end_job):
        changes |= _tidied_ends(state)
    if register.starts >= len(state.start_job):
        changes |= {name: _grown(getattr(state, name), name, 0) for name in ("start_time", "start_job")}
    return replace(state, **changes)


def _grown(table: object, name: str, more: int) -> object:
    """Half as long again, and more."""
    if isinstance(table, list):
        row_type = ROW_TYPES.get(name)
        count = len(table) // 2 + more + 1
        if row_type is None:
            return table + [0] * count
        return table + [row_type(*([0] * len(fields(row_type)))) for _ in range(count)]
    array = cast("Table", table)
    grown = np.concatenate([array, np.zeros(len(array) // 2 + more + 1, dtype=array.dtype)])
    return grown.view(np.recarray) if name in ROW_TYPES else grown


def _tidied_ends(state: State) -> dict[str, object]:
    """Forget the ends that no longer hold; grow the heap unless that has emptied half of it."""
    register = state.register[0]
    times = np.asarray(state.end_time[: register.ends], dtype=np.int64)
    jobs = np.asarray(state.end_job[: register.ends], dtype=np.int64)
    if isinstance(state.jobs, list):
        due = np.array([state.jobs[job].due for job in jobs.tolist()], dtype=np.int64)
    else:
        due = cast("Table", state.jobs)["due"][jobs]
    holds = due == times
    entries = np.unique(np.stack([times[holds], jobs[holds]], axis=1), axis=0)  # Sorted, so a heap.
    needed = len(entries) + register.dispatched
    room = len(state.end_job) if 2 * needed < len(state.end_job) else 2 * len(state.end_job) + needed
    register.ends = len(entries)
    columns: dict[str, object] = {}
    for name, values in (("end_time", entries[:, 0]), ("end_job", entries[:, 1])):
        padded = np.zeros(room, dtype=empty_table(name).dtype)
        padded[: len(values)] = values
        columns[name] = padded.tolist() if isinstance(state.end_job, list) else cast("Column", padded)
    return columns

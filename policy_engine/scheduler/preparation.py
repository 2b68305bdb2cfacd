"""From topology, trace, events and assumptions to the kernel's state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import (
    Assumptions,
    HeadOfLine,
    IdleFifo,
    RequeuePosition,
    ShareOrder,
    UnallocatedCapacity,
    VictimOrder,
)
from policy_engine.scheduler.marks import BIT_PLACES
from policy_engine.scheduler.state import (
    BLOCK,
    FOREVER,
    NEVER,
    NOBODY,
    SET_SHARE_STATE,
    TERMINATE,
    UNAVAILABLE,
    UNCHANGED,
    UPDATE_CAPACITY,
    UPDATE_PRIORITY,
    UPDATE_SHARE,
    WORD_BITS,
    State,
)
from policy_engine.scheduler.storage import Table, rows_of_zeros, state_over
from policy_engine.topology import UNLIMITED, ResourceSharingStrategy, ShareState, Topology
from policy_engine.topology.status_reasons import QUOTA_MANAGEMENT_LIMIT_EXCEEDED, SERVICE_ENVIRONMENT_MAX_RESOURCE
from policy_engine.trace import (
    ControlEvent,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)
from policy_engine.trace.jobs import Int64

_TIME_LIMIT_REASONS = (SERVICE_ENVIRONMENT_MAX_RESOURCE, QUOTA_MANAGEMENT_LIMIT_EXCEEDED)
_FIRST_LOG_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Numbering:
    """How names became numbers."""

    shares: tuple[str, ...]
    units: tuple[str, ...]
    priorities: Int64
    """Distinct priorities, ascending: the priority of each rank."""


def number(topology: Topology, trace: JobTrace, events: Sequence[ControlEvent]) -> Numbering:
    """Number shares in declaration order, units in order of first mention, priorities by rank."""
    units = dict.fromkeys(topology.units())
    units.update(dict.fromkeys(trace.units))
    priorities = set(np.unique(trace.priority).tolist())
    for event in events:
        if isinstance(event, UpdateShare) and event.limits is not None:
            units.update(dict.fromkeys(event.limits))
        elif isinstance(event, UpdateCapacity | Unavailable):
            units.setdefault(event.unit)
        elif isinstance(event, UpdatePriority):
            priorities.add(event.priority)
    return Numbering(
        shares=tuple(owned.name for owned in topology.quota_shares()),
        units=tuple(units),
        priorities=np.array(sorted(priorities or {0}), dtype=np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Needs:
    """Distinct needs over the numbered units, and their distinct sets of units in order of first occurrence."""

    table: Int64
    set_of_need: Int64
    sets: tuple[tuple[int, ...], ...]


def _needs(trace: JobTrace, numbering: Numbering) -> _Needs:
    columns = [numbering.units.index(unit) for unit in trace.units]
    table = np.zeros((len(trace.needs), len(numbering.units)), dtype=np.int64)
    table[:, columns] = trace.needs
    used, first = np.unique(trace.need, return_index=True)
    sets: dict[tuple[int, ...], int] = {}
    set_of_need = np.zeros(len(table), dtype=np.int64)
    for need in used[np.argsort(first)]:
        units = tuple(np.flatnonzero(table[need]).tolist())
        set_of_need[need] = sets.setdefault(units, len(sets))
    return _Needs(table, set_of_need, tuple(sets))


def _rows(name: str, count: int, **fields: npt.ArrayLike) -> Table:
    """A table of the state with these fields set and the others 0."""
    table = rows_of_zeros(name, count)
    for field, values in fields.items():
        table[field] = values
    return table


def _need_tables(needs: _Needs, numbering: Numbering, assumptions: Assumptions) -> dict[str, Table]:
    rows, units = np.nonzero(needs.table)
    has_unit = np.zeros((len(needs.sets), len(numbering.units)), dtype=np.int64)
    for index, members in enumerate(needs.sets):
        has_unit[index, list(members)] = 1
    latency = [
        sum(assumptions.latency(tuple(numbering.units[unit] for unit in np.flatnonzero(row)))) for row in needs.table
    ]
    return {
        "needs": _rows("needs", len(needs.table), latency=latency, units=needs.set_of_need),
        "need_start": np.searchsorted(rows, np.arange(len(needs.table) + 1)),
        "entries": _rows("entries", len(rows), unit=units, quantity=needs.table[rows, units]),
        "set_has_unit": has_unit.ravel(),
        "sets_meet": ((has_unit @ has_unit.T) > 0).ravel(),
    }


def _queue_tables(
    share: npt.NDArray[np.int32], needs: _Needs, trace: JobTrace, numbering: Numbering, mode: HeadOfLine
) -> tuple[npt.NDArray[np.int32], dict[str, Table]]:
    """Each job's queue, the queues and the lanes.

    There is a queue for each share, or for each share and set of units, or for each share and need; see `HeadOfLine`.
    """
    share_count = len(numbering.shares)
    if mode is HeadOfLine.STRICT:
        queue_share, queue = np.arange(share_count), share
    else:
        per_unit = mode is HeadOfLine.PER_UNIT
        kinds, kind = (len(needs.sets), needs.set_of_need[trace.need]) if per_unit else (len(needs.table), trace.need)
        keys, inverse = np.unique(share.astype(np.int64) * max(kinds, 1) + kind, return_inverse=True)
        queue_share, queue = keys // max(kinds, 1), inverse.astype(np.int32)
    queue_count = len(queue_share)
    lane_share = queue_share if mode is HeadOfLine.PER_UNIT else np.arange(share_count)
    queue_lane = queue_share if mode is HeadOfLine.NONE else np.arange(queue_count)
    lane_count = len(lane_share)
    starts = np.cumsum(np.bincount(queue, minlength=queue_count)) - np.bincount(queue, minlength=queue_count)
    lanes = _rows(
        "lanes",
        lane_count + 1,
        first_queue=np.searchsorted(queue_lane, np.arange(lane_count + 1)),
        head=NOBODY,
        judged_head=NOBODY,
        stuck_action=NOBODY,
        stuck_until=FOREVER,
        claim_at=NEVER,
        in_share_claim_job=NOBODY,
    )
    lanes["share"][:lane_count] = lane_share
    return queue, {
        "queues": _rows("queues", queue_count, start=starts, lane=queue_lane, share=queue_share),
        "queue_key": np.zeros(len(trace)),
        "queue_job": np.zeros(len(trace)),
        "lanes": lanes,
        "marks": _rows("marks", _words(lane_count)),
        "unit_lanes": np.zeros(len(numbering.units) * _words(lane_count)),
        "bit_place": np.array(BIT_PLACES),
    }


def _words(lane_count: int) -> int:
    return -(-lane_count // WORD_BITS)


def _log_tables(job_count: int) -> dict[str, Table]:
    rows = job_count // 16 + _FIRST_LOG_ROWS
    return {
        "attempts": _rows("attempts", job_count + job_count // 8 + _FIRST_LOG_ROWS),
        "preemptions": _rows("preemptions", rows),
        "end_time": np.zeros(rows),
        "end_job": np.zeros(rows),
        "start_time": np.zeros(rows),
        "start_job": np.zeros(rows),
    }


def _share_tables(topology: Topology, numbering: Numbering, lane_share: Int64) -> dict[str, Table]:
    owned = [entry.share for entry in topology.quota_shares()]
    time_limit = [FOREVER] * len(_TIME_LIMIT_REASONS)
    for action in topology.queue.time_limits:
        if action.reason in _TIME_LIMIT_REASONS:
            time_limit[_TIME_LIMIT_REASONS.index(action.reason)] = action.after
    shares = _rows(
        "shares",
        len(owned),
        lends=[share.strategy.lends for share in owned],
        reserves=[not share.strategy.lends for share in owned],
        borrows=[share.strategy.borrows for share in owned],
        borrow_percent=[UNLIMITED if share.borrow_limit is None else share.borrow_limit for share in owned],
        in_share=[share.in_share_preemption for share in owned],
        disabled=[share.state is ShareState.DISABLED for share in owned],
        first_lane=np.searchsorted(lane_share, np.arange(len(owned))),
        last_lane=np.searchsorted(lane_share, np.arange(len(owned)), side="right") - 1,
    )
    limits = [share.capacity.get(unit, 0) for share in owned for unit in numbering.units]
    capacity = [topology.capacity.get(unit, 0) for unit in numbering.units]
    return {
        "shares": shares,
        "time_limit": np.array(time_limit),
        "cells": _rows("cells", len(limits), limit=limits),
        "units": _rows("units", len(capacity), capacity=capacity),
    }


def _event_tables(
    events: Sequence[ControlEvent], job_numbers: dict[str, int], numbering: Numbering
) -> dict[str, Table]:
    share_numbers = {name: index for index, name in enumerate(numbering.shares)}
    unit_numbers = {name: index for index, name in enumerate(numbering.units)}
    strategies = list(ResourceSharingStrategy)
    rows: list[tuple[int, int, int, int]] = []
    updates: list[tuple[int, int, int, int]] = []
    limits: list[int] = []
    for event in events:
        match event:
            case UpdatePriority():
                rank = int(np.searchsorted(numbering.priorities, event.priority))
                rows.append((event.at, UPDATE_PRIORITY, job_numbers[event.job], rank))
            case UpdateShare():
                rows.append((event.at, UPDATE_SHARE, share_numbers[event.share], len(updates)))
                table_row = UNCHANGED
                if event.limits is not None:
                    table_row = len(limits) // len(numbering.units)
                    limits += [event.limits.get(unit, 0) for unit in numbering.units]
                updates.append(
                    (
                        table_row,
                        UNCHANGED if event.strategy is None else strategies.index(event.strategy),
                        UNCHANGED if event.borrow_limit is None else event.borrow_limit,
                        UNCHANGED if event.in_share_preemption is None else int(event.in_share_preemption),
                    )
                )
            case SetShareState():
                rows.append(
                    (event.at, SET_SHARE_STATE, share_numbers[event.share], int(event.state is ShareState.DISABLED))
                )
            case UpdateCapacity():
                rows.append((event.at, UPDATE_CAPACITY, unit_numbers[event.unit], event.capacity))
            case Terminate():
                rows.append((event.at, TERMINATE, job_numbers[event.job], 0))
            case Unavailable():
                rows.append((event.at, UNAVAILABLE, unit_numbers[event.unit], event.until))
    return {
        "events": _rows("events", len(rows), **_fields(rows, ("at", "kind", "target", "value"))),
        "updates": _rows(
            "updates", len(updates), **_fields(updates, ("limits", "strategy", "borrow_percent", "in_share"))
        ),
        "limits_table": np.array(limits, dtype=np.int64),
    }


def _fields(rows: Sequence[tuple[int, ...]], names: tuple[str, ...]) -> dict[str, npt.ArrayLike]:
    return dict(zip(names, np.array(rows, dtype=np.int64).reshape(-1, len(names)).T, strict=True))


def _job_numbers(trace: JobTrace, events: Sequence[ControlEvent]) -> dict[str, int]:
    named = {event.job for event in events if isinstance(event, UpdatePriority | Terminate)}
    if not named:
        return {}
    rows = np.flatnonzero(trace.job_id.is_in(list(named)).to_numpy())
    return {str(trace.job_id[int(row)]): int(row) for row in rows}


def prepare(topology: Topology, trace: JobTrace, events: Sequence[ControlEvent], assumptions: Assumptions) -> State:
    """The state before the first instant, over numpy arrays. The trace's shares and the events' names must be known;
    the events stand by time.

    The columns of `READ_ONLY` are the trace's own.
    """
    numbering = number(topology, trace, events)
    share_numbers = np.array([numbering.shares.index(name) for name in trace.share_names], dtype=np.int32)
    share = share_numbers[trace.share] if len(trace) else np.zeros(0, dtype=np.int32)
    needs = _needs(trace, numbering)
    queue, queue_tables = _queue_tables(share, needs, trace, numbering, assumptions.head_of_line)
    setting = _setting(trace, len(queue_tables["lanes"]) - 1, numbering, needs, assumptions)
    groups = len(numbering.shares) * len(needs.sets)
    by_runnable_since = assumptions.idle_fifo is IdleFifo.RUNNABLE_SINCE
    tables: dict[str, Table] = {
        "setting": setting,
        "register": _rows("register", 1, pass_at=NEVER, next_deadline=FOREVER),
        "jobs": _rows(
            "jobs",
            len(trace),
            due=NEVER,
            finished_at=NEVER,
            need=trace.need,
            queue=queue,
            attempt=NOBODY,
            rank=np.searchsorted(numbering.priorities, trace.priority),
        ),
        "submitted_at": trace.submitted_at,
        "runtime": trace.runtime,
        "retries": trace.preemption_retries,
        "checkpoint": trace.checkpoint,
        "timeout": trace.attempt_timeout,
        "fails": trace.fails.view(np.int8),
        "runnable_since": np.zeros(len(trace) if by_runnable_since else 0),
        **_need_tables(needs, numbering, assumptions),
        **_log_tables(len(trace)),
        **queue_tables,
        **_share_tables(topology, numbering, queue_tables["lanes"]["share"][:-1]),
        **_event_tables(events, _job_numbers(trace, events), numbering),
        "buckets": _rows("buckets", groups * int(setting["bucket_ranks"][0]), first=NOBODY, last=NOBODY),
        "block_count": np.zeros(groups * int(setting["block_count"][0])),
        "kept_by_rank": np.zeros(len(numbering.shares) * len(numbering.units) * len(numbering.priorities)),
        "cursor": np.full(groups, NOBODY),
    }
    return state_over(tables)


def _setting(trace: JobTrace, lane_count: int, numbering: Numbering, needs: _Needs, assumptions: Assumptions) -> Table:
    rank_count = len(numbering.priorities)
    bucket_ranks = 1 if assumptions.victim_order in {VictimOrder.YOUNGEST, VictimOrder.OLDEST} else rank_count
    return _rows(
        "setting",
        1,
        job_count=len(trace),
        share_count=len(numbering.shares),
        unit_count=len(numbering.units),
        lane_count=lane_count,
        word_count=_words(lane_count),
        set_count=len(needs.sets),
        rank_count=rank_count,
        block_count=-(-bucket_ranks // BLOCK),
        bucket_ranks=bucket_ranks,
        victim_order=list(VictimOrder).index(assumptions.victim_order),
        head_of_line=list(HeadOfLine).index(assumptions.head_of_line),
        share_order=list(ShareOrder).index(assumptions.share_order),
        fifo_by_runnable_since=assumptions.idle_fifo is IdleFifo.RUNNABLE_SINCE,
        requeue_at_back=assumptions.requeue_position is RequeuePosition.BACK,
        borrow_unallocated=assumptions.unallocated_capacity is UnallocatedCapacity.BORROWABLE,
        scheduler_interval=assumptions.scheduler_interval,
        stop_time=assumptions.stop_seconds,
        resume_time=assumptions.resume_seconds,
        capacity_retry_time=assumptions.capacity_retry_seconds,
        some_fail=bool(trace.fails.any()),
        some_time_out=bool((trace.attempt_timeout != NEVER).any()),
    )

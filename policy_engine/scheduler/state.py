"""The replay's state: tables of integers, the only thing that the kernel's functions read and write.

The same functions run compiled over numpy record arrays and interpreted over lists of the row classes below, so a
table is indexed by row and a row's fields are attributes. Tables of two dimensions are stored row by row: the cell
of a share and a unit is `cells[share * unit_count + unit]`. Jobs are numbered by `seq`. Times are ms since the
trace's start. Sums over shares of the scheduling model (section 1) are kept up to date at each change instead of
being summed anew.
"""

from collections.abc import MutableSequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, get_type_hints

import numpy as np

Int64 = Annotated[int, np.int64]
Int32 = Annotated[int, np.int32]
Int16 = Annotated[int, np.int16]
Int8 = Annotated[int, np.int8]
Column = MutableSequence[int]

FOREVER = 1 << 62
"""A time that never comes, and a quantity without bound."""
NEVER = -1
NOBODY = -1

# Phases of a job.
UNSUBMITTED, RUNNABLE, SCHEDULED, RUNNING, STOPPING, SUCCEEDED, FAILED = range(7)

# Whether a job can be chosen as a victim. TAKEN: chosen by the search under way.
NO_CANDIDATE, CANDIDATE, TAKEN = range(3)

# Switches, in the order of the enumerations in policy_engine.assumptions.
LOWEST_PRIORITY_YOUNGEST, LOWEST_PRIORITY_OLDEST, YOUNGEST, OLDEST, FEWEST = range(5)
STRICT, PER_UNIT, BACKFILL = range(3)
BY_DECLARATION, LEAST_USED, OLDEST_HEAD = range(3)

# Order keys: inverted rank above queue time, so that one comparison settles both.
QUEUE_TIME_BITS = 48
QUEUE_TIME_MASK = (1 << QUEUE_TIME_BITS) - 1

# Buckets of candidates are counted in blocks, so that a search skips the empty ones.
BLOCK = 64

# Lanes are marked by the bits of words.
WORD_BITS = 32

# Kinds of control events.
UPDATE_PRIORITY, UPDATE_SHARE, SET_SHARE_STATE, UPDATE_CAPACITY, TERMINATE, UNAVAILABLE = range(6)
UNCHANGED = -9
"""In a share update: the field keeps its value."""


@dataclass(slots=True)
class Setting:
    """Sizes and switches; one row, never written."""

    job_count: Int64
    share_count: Int64
    unit_count: Int64
    lane_count: Int64
    word_count: Int64
    """Words of `WORD_BITS` bits that have one for each lane."""
    set_count: Int64
    """Distinct sets of units."""
    rank_count: Int64
    """Distinct priorities; rank 0 is the lowest."""
    block_count: Int64
    bucket_ranks: Int64
    """Buckets that a group of candidates has: one a rank, or 1 when the victim order does not begin with priority."""
    victim_order: Int64
    head_of_line: Int64
    share_order: Int64
    fifo_by_runnable_since: Int64
    requeue_at_back: Int64
    borrow_unallocated: Int64
    scheduler_interval: Int64
    stop_time: Int64
    resume_time: Int64
    capacity_retry_time: Int64
    some_fail: Int64
    some_time_out: Int64
    """Whether any job fails by itself, or has an attempt timeout: the kernel spares itself the columns if not."""


@dataclass(slots=True)
class Register:
    """The scalars that change; one row."""

    now: Int64
    next_submission: Int64
    next_event: Int64
    ends: Int64
    starts: Int64
    """Entries in the two timer heaps."""
    attempts: Int64
    preemptions: Int64
    """Rows in the two logs."""
    dispatched: Int64
    """Jobs that hold capacity."""
    pass_at: Int64
    """When the next pass is due, or NEVER."""
    in_pass: Int64
    opened: Int64
    """How many claims have been opened so far."""
    claims: Int64
    in_share_claims: Int64
    """Open claims of the two kinds."""
    claim_changes: Int64
    """How many claims have been opened or dropped so far."""
    settled_claim_changes: Int64
    """The same, when the last try of a pass began."""
    visit: Int64
    configuration: Int64
    """Version of limits, strategies and capacity; 0 before the first instant."""
    next_deadline: Int64
    last_event_at: Int64


@dataclass(slots=True)
class Job:
    """Where a job is, and what came of it. 64 bytes, so that a row is one line of a processor's cache.

    What the logs tell is not repeated: when it was first dispatched, what was lost.
    """

    order_key: Int64
    """Inverted rank above queue time: the smaller goes first."""
    due: Int64
    """When its attempt ends as things stand, or NEVER."""
    done: Int64
    """Productive ms of earlier attempts that survived."""
    finished_at: Int64
    need: Int32
    queue: Int32
    attempt: Int32
    """Row of its latest attempt, or NOBODY."""
    previous_candidate: Int32
    next_candidate: Int32
    preempted: Int32
    rank: Int16
    phase: Int8
    reason: Int8
    candidate: Int8


@dataclass(slots=True)
class Need:
    """A distinct need. Its entries are need_start[row] to need_start[row + 1]."""

    latency: Int64
    """Provisioning and start-up."""
    units: Int64
    """Its set of units."""


@dataclass(slots=True)
class Entry:
    """How much a need takes of a unit."""

    unit: Int64
    quantity: Int64


@dataclass(slots=True)
class Attempt:
    """An attempt, in order of dispatch."""

    scheduled_at: Int64
    running_at: Int64
    stopped_at: Int64
    job: Int32
    outcome: Int8
    """While the attempt goes on: how it ends as things stand."""


@dataclass(slots=True)
class Preemption:
    """A decision to stop a job. Behind the end of the log, a search notes the victims that it takes."""

    at: Int64
    lost: Int64
    victim: Int32
    claimant: Int32
    kind: Int8


@dataclass(slots=True)
class Queue:
    """A heap of RUNNABLE jobs: queue_key[start] and queue_job[start], and on."""

    start: Int64
    size: Int64
    lane: Int64
    share: Int64


@dataclass(slots=True)
class Lane:
    """What has a head: a share, or under `per_unit` a share and a set of units. Its queues stand in a row."""

    first_queue: Int64
    share: Int64
    head: Int64
    head_need: Int64
    """Of the head, or of the last one."""
    blocked: Int64
    """Reason that the head is misconfigured for, or 0."""
    judged_head: Int64
    judged_configuration: Int64
    stuck_action: Int64
    """Time-limit reason (0: service environment, 1: quota management) that the head is stuck for, or NOBODY."""
    stuck_until: Int64
    claim_at: Int64
    """Opening number of the lane's claim, or NEVER."""
    in_share_claim_job: Int64
    claim_order: Int64
    in_share_claim_order: Int64
    """Not of this lane: entry i is the lane of the i-th open claim."""
    claim_snapshot: Int64
    visited: Int64


@dataclass(slots=True)
class Share:
    """A quota share's terms."""

    lends: Int64
    reserves: Int64
    borrows: Int64
    borrow_percent: Int64
    in_share: Int64
    disabled: Int64
    stopping: Int64
    """How many of its jobs are stopping."""
    first_lane: Int64
    last_lane: Int64


@dataclass(slots=True)
class LaneMarks:
    """A bit for each of `WORD_BITS` lanes."""

    entitled: Int64
    borrowing: Int64
    in_share: Int64
    """Lanes that phases A, B and C of a pass have to look at."""
    headed: Int64
    """Lanes that have a head."""
    would_borrow: Int64
    would_preempt: Int64
    """Lanes whose head phase B or C looks at again once capacity of a unit that it needs becomes free."""
    may_borrow: Int64
    may_preempt: Int64
    """Lanes whose share borrows, or preempts in-share."""


@dataclass(slots=True)
class Cell:
    """A share's part of a unit."""

    limit: Int64
    borrow_cap: Int64
    used: Int64
    kept: Int64
    taken: Int64
    """What the search under way has taken from the share."""


@dataclass(slots=True)
class Unit:
    """A capacity unit, and sums over all shares."""

    capacity: Int64
    room: Int64
    """Capacity minus used."""
    free: Int64
    """Capacity minus kept: the model's room + incoming."""
    protected: Int64
    protected_now: Int64
    """Idle of all RESERVE shares, by kept and by used."""
    idle_to_lend: Int64
    borrowed: Int64
    unallocated: Int64
    limits_of_lenders: Int64
    hold: Int64
    hold_now: Int64
    unavailable_until: Int64
    short: Int64
    covered: Int64
    gone: Int64
    """Scratch of searches: still short; wanted in all; imagined out of the way."""


@dataclass(slots=True)
class Bucket:
    """Candidates of one group (share and set of units) and rank, linked by dispatch time."""

    first: Int32
    last: Int32
    count: Int32


@dataclass(slots=True)
class Event:
    """A control event, by time."""

    at: Int64
    kind: Int64
    target: Int64
    """Job, share or unit."""
    value: Int64


@dataclass(slots=True)
class Update:
    """What an `update_share` event changes; UNCHANGED where it does not."""

    limits: Int64
    """Row of `limits_table`."""
    strategy: Int64
    borrow_percent: Int64
    in_share: Int64


@dataclass(slots=True)
class State:
    """All tables (of rows) and columns (of integers)."""

    setting: MutableSequence[Setting]
    register: MutableSequence[Register]
    jobs: MutableSequence[Job]
    submitted_at: Column
    runtime: Column
    retries: Column
    checkpoint: Column
    timeout: Column
    fails: Column
    runnable_since: Column
    """Per job, where the FIFO of borrowers goes by it."""
    needs: MutableSequence[Need]
    need_start: Column
    entries: MutableSequence[Entry]
    set_has_unit: Column
    """sets x units, 0 or 1."""
    sets_meet: Column
    """sets x sets: whether two sets have a unit in common."""
    attempts: MutableSequence[Attempt]
    preemptions: MutableSequence[Preemption]
    end_time: Column
    end_job: Column
    start_time: Column
    start_job: Column
    queues: MutableSequence[Queue]
    queue_key: Column
    queue_job: Column
    lanes: MutableSequence[Lane]
    """One row more than there are lanes, for its `first_queue`."""
    marks: MutableSequence[LaneMarks]
    unit_lanes: Column
    """unit x word: a bit for each lane whose head needs the unit."""
    bit_place: Column
    """Of `marks`: where a bit stands in its word."""
    shares: MutableSequence[Share]
    time_limit: Column
    """For each of the two time-limit reasons: ms, or FOREVER."""
    cells: MutableSequence[Cell]
    units: MutableSequence[Unit]
    buckets: MutableSequence[Bucket]
    block_count: Column
    kept_by_rank: Column
    """share x unit x rank: instances that candidates hold."""
    cursor: Column
    """Per group: the next candidate of the search under way, or NOBODY."""
    events: MutableSequence[Event]
    updates: MutableSequence[Update]
    limits_table: Column


ROW_TYPES: dict[str, type] = {
    "setting": Setting,
    "register": Register,
    "jobs": Job,
    "needs": Need,
    "entries": Entry,
    "attempts": Attempt,
    "preemptions": Preemption,
    "queues": Queue,
    "lanes": Lane,
    "marks": LaneMarks,
    "shares": Share,
    "cells": Cell,
    "units": Unit,
    "buckets": Bucket,
    "events": Event,
    "updates": Update,
}
"""The tables of the state and the class of their rows; its other fields are columns."""


@cache
def row_dtype(row_type: type) -> np.dtype[np.void]:
    """The numpy record type of a row class."""
    hints = get_type_hints(row_type, include_extras=True)
    return np.dtype([(name, hint.__metadata__[0]) for name, hint in hints.items()], align=True)


COLUMN_TYPES: dict[str, type[np.generic]] = {
    "submitted_at": np.int64,
    "runtime": np.int64,
    "retries": np.int32,
    "checkpoint": np.int64,
    "timeout": np.int64,
    "fails": np.int8,
    "runnable_since": np.int64,
    "need_start": np.int64,
    "set_has_unit": np.int64,
    "sets_meet": np.int64,
    "end_time": np.int64,
    "end_job": np.int32,
    "start_time": np.int64,
    "start_job": np.int32,
    "queue_key": np.int64,
    "queue_job": np.int32,
    "unit_lanes": np.int64,
    "bit_place": np.int64,
    "time_limit": np.int64,
    "block_count": np.int64,
    "kept_by_rank": np.int64,
    "cursor": np.int64,
    "limits_table": np.int64,
}
"""The columns of the state and the type of their numbers."""

READ_ONLY = frozenset({"submitted_at", "runtime", "retries", "checkpoint", "timeout", "fails"})
"""Columns that are the trace's own, not copies."""


def empty_table(name: str) -> np.ndarray:
    """A table or column of the state without rows."""
    row_type = ROW_TYPES.get(name)
    table = np.zeros(0, dtype=COLUMN_TYPES[name] if row_type is None else row_dtype(row_type))
    table.flags.writeable = name not in READ_ONLY
    return table

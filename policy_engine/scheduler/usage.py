"""The picture of time: who used, borrowed, lent and waited for how many instances, from when to when.

All of it is derived from an outcome, and exactly: between two steps nothing changes, and quantities are whole
instances. What a share uses is split into own and borrowed, its limit into what its own jobs use, what it lends and
what is idle:

    used = own + borrowed, with own = min(used, limit)
    limit = own + lent + idle

Borrowing is from an anonymous pool (scheduling model, section 1): no borrowed instance belongs to a particular lender.
`lent` is therefore an attribution. At any moment what is borrowed of a unit is spread over the shares that lend it, in
proportion to what each does not use, in whole instances, none more than one instance off its proportion. What is
borrowed beyond that (limits were lowered, or unallocated capacity is borrowable) is attributed to nobody.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from policy_engine.scheduler.outcome import NEVER, AttemptOutcome, JobStatus, Outcome
from policy_engine.scheduler.preparation import number
from policy_engine.topology import OwnedShare
from policy_engine.trace import UpdateCapacity, UpdateShare
from policy_engine.trace.jobs import Bool, Int64

_USED, _PENDING, _LIMIT, _LENDS, _LENT = "used", "pending", "limit", "lends", "lent"
"""What changes: instances of a share and unit, or (lends) whether the share lends."""
_TIME_BITS = 48
_TIME_MASK = (1 << _TIME_BITS) - 1
_CELLS_AT_ONCE = 1 << 20
"""Steps times shares that the attribution of what is lent looks at in one go: some 50 MB."""


@dataclass(frozen=True, eq=False, slots=True)
class _Changes:
    """One row a change of one kind: of which share and unit (share * units + unit), when, by how much."""

    group: Int64
    at: Int64
    by: Int64


@dataclass(frozen=True, eq=False, slots=True)
class _Levels:
    """One row for each group and moment at which something changes, with the change and the level of each kind."""

    group: Int64
    at: Int64
    deltas: Mapping[str, Int64]
    values: Mapping[str, Int64]

    def of_unit(self, unit: int, units: int) -> "_Levels":
        """Those of one unit."""
        rows = np.flatnonzero(self.group % units == unit)
        return _Levels(
            self.group[rows],
            self.at[rows],
            {kind: delta[rows] for kind, delta in self.deltas.items()},
            {kind: value[rows] for kind, value in self.values.items()},
        )


@dataclass(frozen=True, eq=False)
class Usage:
    """Step series and their integrals, by share and unit."""

    shares: tuple[str, ...]
    units: tuple[str, ...]
    start: int
    """ms: the first submission. Integrals begin here."""
    end: int
    """ms: the end of the replay. Integrals end here."""
    _changes: Mapping[str, _Changes]
    _capacity: tuple[tuple[Int64, Int64], ...]
    """For each unit the times at which its capacity changes, and what it is from then on."""

    @cached_property
    def steps(self) -> pl.DataFrame:
        """One row for each moment at which anything changes for a share and unit, by share, unit and time.

        Columns: `share`, `unit`, `at` (ms), and from then on, in instances: `limit`, `used`, `own`, `borrowed`, `lent`,
        `idle`, `pending` (what the share's RUNNABLE jobs need). Each series begins at 0.
        """
        lent = _merged(change for unit in range(len(self.units)) for change in self._lent_changes(unit))
        changes = {kind: self._changes[kind] for kind in (_LIMIT, _USED, _PENDING)} | {_LENT: lent}
        levels = _levels_of(changes)
        limit, used, pending, lent_out = (levels.values[kind] for kind in changes)
        own = np.minimum(used, limit)
        return self._frame(
            levels.group,
            at=levels.at,
            limit=limit,
            used=used,
            own=own,
            borrowed=used - own,
            lent=lent_out,
            idle=limit - own - lent_out,
            pending=pending,
        )

    @cached_property
    def instance_milliseconds(self) -> pl.DataFrame:
        """The integrals of `steps` from `start` to `end`: one row a share and unit, in instance-milliseconds.

        Columns: `share`, `unit`, `limit`, `used`, `own`, `borrowed`, `lent`, `idle`, `pending`.
        """
        limit, used, pending = (self._integral(self._changes[kind]) for kind in (_LIMIT, _USED, _PENDING))
        borrowed = self._borrowed()
        lent = np.zeros((len(self.shares), len(self.units)), dtype=np.int64)
        for unit in range(len(self.units)):
            for at, matrix in self._lent(unit):
                lent[:, unit] += self._durations(at) @ matrix
        return self._frame(
            np.arange(len(self.shares) * len(self.units)),
            limit=limit,
            used=used,
            own=used - borrowed,
            borrowed=borrowed,
            lent=lent.ravel(),
            idle=limit - (used - borrowed) - lent.ravel(),
            pending=pending,
        )

    @cached_property
    def capacity_milliseconds(self) -> pl.DataFrame:
        """The service environment's capacity from `start` to `end`: `unit`, `capacity` in instance-milliseconds."""
        totals = [int(self._durations(np.append(at, self.end)) @ capacity) for at, capacity in self._capacity]
        return pl.DataFrame({"unit": self.units, "capacity": totals}, schema={"unit": pl.String, "capacity": pl.Int64})

    def _frame(self, group: Int64, **columns: Int64) -> pl.DataFrame:
        share, unit = np.divmod(group, max(len(self.units), 1))
        return pl.DataFrame({"share": _named(self.shares, share), "unit": _named(self.units, unit), **columns})

    @cached_property
    def _levels(self) -> _Levels:
        """Levels of what decides who borrows and who lends."""
        return _levels_of({kind: self._changes[kind] for kind in (_USED, _LIMIT, _LENDS)})

    def _durations(self, times: Int64) -> Int64:
        """How much of each interval between these times lies between `start` and `end`."""
        clipped = np.clip(times, self.start, self.end)
        return clipped[1:] - clipped[:-1]

    def _integral(self, changes: _Changes) -> Int64:
        """Of each group: every change counts from its moment on."""
        total = np.zeros(len(self.shares) * len(self.units), dtype=np.int64)
        np.add.at(total, changes.group, changes.by * (self.end - np.clip(changes.at, self.start, self.end)))
        return total

    def _borrowed(self) -> Int64:
        """The integral of each group's use beyond its limit."""
        levels = self._levels
        groups = len(self.shares) * len(self.units)
        over = np.maximum(levels.values[_USED] - levels.values[_LIMIT], 0)
        until = np.append(levels.at[1:], self.end)
        until[np.flatnonzero(np.diff(levels.group))] = self.end
        areas = over * (np.clip(until, self.start, self.end) - np.clip(levels.at, self.start, self.end))
        total = np.zeros(groups, dtype=np.int64)
        np.add.at(total, levels.group, areas)
        return total

    def _lent(self, unit: int) -> Iterator[tuple[Int64, Int64]]:
        """What each share lends of a unit: times (one more than rows), and for each step a row of shares.

        In stretches, each of which goes on where the one before ended.
        """
        levels = self._levels.of_unit(unit, len(self.units))
        order = np.argsort(levels.at, kind="stable")
        times, step = np.unique(levels.at[order], return_inverse=True)
        share = levels.group[order] // len(self.units)
        known = {kind: np.zeros(len(self.shares), dtype=np.int64) for kind in levels.deltas}
        rows_at_once = max(1, _CELLS_AT_ONCE // max(len(self.shares), 1))
        for first in range(0, len(times), rows_at_once):
            last = min(first + rows_at_once, len(times))
            part = slice(*np.searchsorted(step, (first, last)))
            cells = step[part] - first, share[part]
            tables = {
                kind: _table(known[kind], delta[order[part]], cells, last - first)
                for kind, delta in levels.deltas.items()
            }
            known = {kind: table[-1] for kind, table in tables.items()}
            yield np.append(times[first:last], times[last] if last < len(times) else self.end), _attributed(**tables)

    def _lent_changes(self, unit: int) -> Iterator[_Changes]:
        """The changes of what each share lends of a unit."""
        before = np.zeros(len(self.shares), dtype=np.int64)
        for at, matrix in self._lent(unit):
            change = np.diff(matrix, axis=0, prepend=before[np.newaxis])
            before = matrix[-1]
            row, share = np.nonzero(change)
            yield _Changes(share * len(self.units) + unit, at[row], change[row, share])


def usage_of(outcome: Outcome) -> Usage:
    """The picture of time of an outcome."""
    units = number(outcome.topology, outcome.trace, outcome.events).units
    return Usage(
        shares=outcome.share_names,
        units=units,
        start=outcome.first_submitted_at,
        end=outcome.ended_at,
        _changes={
            _USED: _merged(_used_changes(outcome, units)),
            _PENDING: _merged(_pending_changes(outcome, units)),
        }
        | _term_changes(outcome, units),
        _capacity=tuple(_capacity_of(outcome, unit) for unit in units),
    )


def _used_changes(outcome: Outcome, units: tuple[str, ...]) -> Iterator[_Changes]:
    attempts = outcome.attempts
    yield from _needs_of(outcome, units, attempts.job, attempts.scheduled_at, 1)
    released = attempts.stopped_at != NEVER
    yield from _needs_of(outcome, units, attempts.job[released], attempts.stopped_at[released], -1)


def _pending_changes(outcome: Outcome, units: tuple[str, ...]) -> Iterator[_Changes]:
    """A job is RUNNABLE from its submission, and from each return, until its next dispatch or, without one, its end."""
    attempts, jobs = outcome.attempts, outcome.jobs
    submitted = np.flatnonzero(jobs.status != JobStatus.SUBMITTED)
    yield from _needs_of(outcome, units, submitted, outcome.trace.submitted_at[submitted], 1)
    yield from _needs_of(outcome, units, attempts.job, attempts.scheduled_at, -1)
    returned = (attempts.outcome == AttemptOutcome.PREEMPTED) | (attempts.outcome == AttemptOutcome.NO_CAPACITY)
    yield from _needs_of(outcome, units, attempts.job[returned], attempts.stopped_at[returned], 1)
    waits = 1 + np.bincount(attempts.job[returned], minlength=len(outcome.trace))
    waits -= np.bincount(attempts.job, minlength=len(outcome.trace))
    ended = np.flatnonzero((waits == 1) & (jobs.finished_at != NEVER))
    yield from _needs_of(outcome, units, ended, jobs.finished_at[ended], -1)


def _needs_of(
    outcome: Outcome, units: tuple[str, ...], job: npt.NDArray[np.signedinteger], at: Int64, sign: int
) -> Iterator[_Changes]:
    """The needs of these jobs, added (1) or taken away (-1) at these times."""
    trace = outcome.trace
    need = trace.need[job]
    for column, unit in enumerate(trace.units):
        quantity = trace.needs[need, column]
        rows = np.flatnonzero(quantity)
        group = outcome.share_of_job[job[rows]].astype(np.int64) * len(units) + units.index(unit)
        yield _Changes(group, at[rows], sign * quantity[rows])


def _term_changes(outcome: Outcome, units: tuple[str, ...]) -> dict[str, _Changes]:
    """The shares' limits, and whether they lend, from time 0 on."""
    limits: list[tuple[int, int, int]] = []
    lends: list[tuple[int, int, int]] = []
    for share, owned in enumerate(outcome.topology.quota_shares()):
        before = dict.fromkeys(units, 0)
        lent_before = 0
        for at, limit_of, does_lend in terms_over_time(outcome, owned):
            for unit, name in enumerate(units):
                group, now = share * len(units) + unit, limit_of.get(name, 0)
                limits.append((group, at, now - before[name]))
                lends.append((group, at, int(does_lend) - lent_before))
                before[name] = now
            lent_before = int(does_lend)
    return {_LIMIT: _rows(limits), _LENDS: _rows(lends)}


def terms_over_time(outcome: Outcome, owned: OwnedShare) -> Iterator[tuple[int, Mapping[str, int], bool]]:
    """A share's limits and whether it lends, and since when (ms): at first, and after each `update_share`."""
    limits: Mapping[str, int] = owned.share.capacity
    lends = owned.share.strategy.lends
    yield 0, limits, lends
    for event in outcome.events:
        if isinstance(event, UpdateShare) and event.share == owned.name and event.at <= outcome.ended_at:
            limits = limits if event.limits is None else event.limits
            lends = lends if event.strategy is None else event.strategy.lends
            yield event.at, limits, lends


def _capacity_of(outcome: Outcome, unit: str) -> tuple[Int64, Int64]:
    steps = [(0, outcome.topology.capacity.get(unit, 0))]
    steps += [
        (event.at, event.capacity)
        for event in outcome.events
        if isinstance(event, UpdateCapacity) and event.unit == unit and event.at <= outcome.ended_at
    ]
    at, capacity = np.array(steps, dtype=np.int64).T
    return at, capacity


def _rows(rows: list[tuple[int, int, int]]) -> _Changes:
    return _Changes(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def _merged(parts: Iterable[_Changes]) -> _Changes:
    everything = [_rows([]), *parts]
    return _Changes(
        np.concatenate([part.group for part in everything]),
        np.concatenate([part.at for part in everything]),
        np.concatenate([part.by for part in everything]),
    )


def _levels_of(changes: Mapping[str, _Changes]) -> _Levels:
    """Sum up the changes of each group and moment, drop those that come to nothing, and add up over time."""
    lengths = [len(change.at) for change in changes.values()]
    key = np.concatenate([(change.group << _TIME_BITS) | change.at for change in changes.values()])
    by = np.concatenate([change.by for change in changes.values()])
    kind = np.repeat(np.arange(len(changes), dtype=np.int8), lengths)
    order = np.argsort(key, kind="stable")
    key, by, kind = key[order], by[order], kind[order]
    first = np.flatnonzero(_differs(key))
    deltas = {name: _sums(by, kind == number_, first) for number_, name in enumerate(changes)}
    key = key[first]
    kept = np.logical_or.reduce([delta != 0 for delta in deltas.values()]) | (key & _TIME_MASK == 0)
    key, deltas = key[kept], {name: delta[kept] for name, delta in deltas.items()}
    group = key >> _TIME_BITS
    starts = np.flatnonzero(_differs(group))
    lengths_of_groups = np.diff(np.append(starts, len(group)))
    values = {}
    for name, delta in deltas.items():
        total = np.cumsum(delta)
        values[name] = total - np.repeat(total[starts] - delta[starts], lengths_of_groups)
    return _Levels(group, key & _TIME_MASK, deltas, values)


def _differs(values: Int64) -> Bool:
    """Where a value is not the one before it."""
    return np.append(np.ones(min(len(values), 1), dtype=np.bool_), values[1:] != values[:-1])


def _sums(by: Int64, counted: Bool, first: Int64) -> Int64:
    """Of those counted, the sums of stretches that begin at these rows."""
    sums: Int64 = np.add.reduceat(np.where(counted, by, 0), first) if len(first) else by
    return sums


def _table(before: Int64, by: Int64, cells: tuple[Int64, Int64], rows: int) -> Int64:
    """The level of each share (column) at each step (row)."""
    if not by.any():
        return np.broadcast_to(before, (rows, len(before)))
    table = np.zeros((rows, len(before)), dtype=np.int64)
    table[cells] = by
    table[0] += before
    return np.cumsum(table, axis=0, out=table)


def _attributed(used: Int64, limit: Int64, lends: Int64) -> Int64:
    """What each share (column) lends at each step (row): see the head of this module."""
    unused = limit - used
    lent = np.zeros_like(unused)
    rows = np.flatnonzero((unused < 0).any(axis=1))
    unused = unused[rows]
    borrowed = -np.minimum(unused, 0).sum(axis=1)
    up_to = np.cumsum(np.maximum(unused, 0) * lends[rows], axis=1)
    pool = up_to[:, -1]
    shared_out = np.minimum(borrowed, pool)[:, np.newaxis] * up_to // np.maximum(pool, 1)[:, np.newaxis]
    lent[rows] = np.diff(shared_out, axis=1, prepend=0)
    return lent


def _named(names: tuple[str, ...], numbers: Int64) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(numbers)

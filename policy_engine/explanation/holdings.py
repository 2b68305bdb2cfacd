"""What each share held, kept and was owed over time: the scheduling model's quantities (section 1) from an outcome.

All is derived from what the replay recorded, and exactly: attempts say who held what from when to when, preemptions
since when a job was stopping, events how limits, strategies and capacity changed. What an open claim sets aside is not
recorded, and not in here. Values at a time are those from that instant on, after its pass.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import UnallocatedCapacity
from policy_engine.scheduler.outcome import NEVER, Outcome
from policy_engine.scheduler.preparation import number
from policy_engine.topology import QuotaShare, ResourceSharingStrategy
from policy_engine.trace import UpdateCapacity, UpdateShare
from policy_engine.trace.jobs import Bool, Int64

UNBOUNDED = 1 << 62
"""In amounts: without bound."""


@dataclass(frozen=True, eq=False, slots=True)
class Steps:
    """An amount over time: `values[i]` from `at[i]` on. Before the first it is 0."""

    at: Int64
    values: Int64

    def at_times(self, times: Int64) -> Int64:
        """The amount at each of these times."""
        if not len(self.at):
            return np.zeros(len(times), dtype=np.int64)
        row = np.searchsorted(self.at, times, side="right") - 1
        return np.where(row >= 0, self.values[row], 0)


@dataclass(frozen=True, slots=True)
class ShareHolding:
    """One share and unit at one instant, in instances."""

    share: str
    strategy: ResourceSharingStrategy
    limit: int
    used: int
    """By its dispatched jobs, stopping ones included."""
    kept: int
    """The same without the stopping ones."""

    @property
    def idle(self) -> int:
        """What of its limit its own jobs do not keep."""
        return max(0, self.limit - self.kept)

    @property
    def borrowed(self) -> int:
        """What it keeps above its limit."""
        return max(0, self.kept - self.limit)


@dataclass(frozen=True, eq=False, slots=True)
class UnitLevels:
    """The model's quantities for one share and unit, one value a time. Claims are left out of `now` and `later`."""

    limit: Int64
    borrow_cap: Int64
    """UNBOUNDED where there is none."""
    used: Int64
    kept: Int64
    lendable: Int64
    now: Int64
    later: Int64
    room: Int64
    """Physically free."""
    incoming: Int64
    """Held by stopping jobs."""
    borrowed_by_others: Int64


@dataclass(frozen=True, eq=False, slots=True)
class _Sums:
    """Over all shares, for one unit, one value a time."""

    room: Int64
    free: Int64
    protected_now: Int64
    protected: Int64
    idle_to_lend: Int64
    borrowed: Int64
    unallocated: Int64


class Holdings:
    """What the shares of an outcome held, kept and were owed."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.units = number(outcome.topology, outcome.trace, outcome.events).units
        self._events = [event for event in outcome.events if event.at <= outcome.ended_at]

    @cached_property
    def terms(self) -> tuple[tuple[tuple[int, ...], tuple[QuotaShare, ...]], ...]:
        """For each share the times at which its terms change, 0 first, and what they are from then on."""
        return tuple(self._terms_of(owned.name, owned.share) for owned in self.outcome.topology.quota_shares())

    def _terms_of(self, name: str, share: QuotaShare) -> tuple[tuple[int, ...], tuple[QuotaShare, ...]]:
        times, terms = [0], [share]
        for event in self._events:
            if isinstance(event, UpdateShare) and event.share == name:
                named = {"capacity": event.limits, "strategy": event.strategy, "borrow_limit": event.borrow_limit}
                share = share.model_copy(update={field: value for field, value in named.items() if value is not None})
                times.append(event.at)
                terms.append(share)
        return tuple(times), tuple(terms)

    def terms_at(self, share: int, at: int) -> QuotaShare:
        """A share's terms at a time."""
        times, terms = self.terms[share]
        return terms[int(np.searchsorted(times, at, side="right")) - 1]

    @cached_property
    def capacity(self) -> tuple[Steps, ...]:
        """The service environment's capacity of each unit."""
        return tuple(self._capacity_of(unit) for unit in self.units)

    def _capacity_of(self, unit: str) -> Steps:
        steps = [(0, self.outcome.topology.capacity.get(unit, 0))]
        steps += [(e.at, e.capacity) for e in self._events if isinstance(e, UpdateCapacity) and e.unit == unit]
        at, values = np.array(steps, dtype=np.int64).T
        return Steps(at, values)

    @cached_property
    def configured_at(self) -> tuple[int, ...]:
        """Times at which limits, strategies or capacity change, 0 first."""
        changes = (e.at for e in self._events if isinstance(e, UpdateShare | UpdateCapacity))
        return tuple(sorted({0, *changes}))

    @cached_property
    def stops_at(self) -> Int64:
        """For each attempt, in ms, when it was told to stop or ended: from then on its share does not keep its need."""
        outcome = self.outcome
        stopped = np.where(outcome.attempts.stopped_at == NEVER, UNBOUNDED, outcome.attempts.stopped_at)
        preemption = outcome.work.preemption
        told = preemption != NEVER
        at = stopped.copy()
        at[told] = np.minimum(at[told], outcome.preemptions.at[preemption[told]])
        return at

    @cached_property
    def _used(self) -> dict[tuple[int, int], Steps]:
        stopped = self.outcome.attempts.stopped_at
        return self._steps(np.where(stopped == NEVER, UNBOUNDED, stopped))

    @cached_property
    def _kept(self) -> dict[tuple[int, int], Steps]:
        return self._steps(self.stops_at)

    def _steps(self, until: Int64) -> dict[tuple[int, int], Steps]:
        """For each share and unit what its attempts took from dispatch until these times."""
        outcome = self.outcome
        attempts, trace = outcome.attempts, outcome.trace
        share, need = outcome.share_of_job[attempts.job], trace.needs[trace.need[attempts.job]]
        steps = {}
        for number_ in range(len(outcome.share_names)):
            of_share = share == number_
            for column, unit in enumerate(trace.units):
                rows = np.flatnonzero(of_share & (need[:, column] > 0))
                if len(rows):
                    by = need[rows, column]
                    steps[number_, self.units.index(unit)] = _summed(attempts.scheduled_at[rows], until[rows], by)
        return steps

    def changes(self, start: int, end: int) -> Int64:
        """All times from `start` to before `end` at which any amount changes, `start` included."""
        attempts = self.outcome.attempts
        everything = (
            np.array([start], dtype=np.int64),
            attempts.scheduled_at,
            attempts.stopped_at,
            self.stops_at,
            np.array(self.configured_at, dtype=np.int64),
        )
        return np.unique(np.concatenate([times[(times >= start) & (times < end)] for times in everything]))

    def holdings_at(self, unit: str, at: int) -> tuple[ShareHolding, ...]:
        """Every share's part of a unit at one time, in declaration order."""
        column, when = self.units.index(unit), np.array([at], dtype=np.int64)
        found = []
        for share, name in enumerate(self.outcome.share_names):
            terms = self.terms_at(share, at)
            used, kept = (int(self._amount(table, share, column, when)[0]) for table in (self._used, self._kept))
            found.append(ShareHolding(name, terms.strategy, terms.capacity.get(unit, 0), used, kept))
        return tuple(found)

    @staticmethod
    def _amount(table: dict[tuple[int, int], Steps], share: int, unit: int, times: Int64) -> Int64:
        steps = table.get((share, unit))
        return np.zeros(len(times), dtype=np.int64) if steps is None else steps.at_times(times)

    def terms_over(self, share: int, times: Int64) -> Iterator[tuple[QuotaShare, Bool]]:
        """A share's terms, each with the times at which they hold."""
        since, terms = self.terms[share]
        row = np.searchsorted(since, times, side="right") - 1
        for number_ in np.unique(row).tolist():
            yield terms[number_], row == number_

    def grid(self, times: Int64) -> "Grid":
        """The quantities at these times."""
        return Grid(self, times)


class Grid:
    """The quantities of the model at given times, computed as they are asked for."""

    def __init__(self, holdings: Holdings, times: Int64) -> None:
        self.times = times
        self._holdings = holdings
        self._of_unit: dict[int, _Sums] = {}

    def levels(self, share: int, unit: str) -> UnitLevels:
        """The quantities for a share and unit."""
        column = self._holdings.units.index(unit)
        sums = self._sums(column)
        limit, used, kept = self._share(share, column)
        lends, reserves, cap = self._flags(share, unit)
        idle, borrowed = np.maximum(limit - kept, 0), np.maximum(kept - limit, 0)
        protected = sums.protected - np.where(reserves, idle, 0)
        protected_now = sums.protected_now - np.where(reserves, np.maximum(limit - used, 0), 0)
        later = sums.free - protected
        return UnitLevels(
            limit=limit,
            borrow_cap=cap,
            used=used,
            kept=kept,
            lendable=sums.idle_to_lend - np.where(lends, idle, 0) - sums.borrowed + sums.unallocated,
            now=np.minimum(sums.room - protected_now, later),
            later=later,
            room=sums.room,
            incoming=sums.free - sums.room,
            borrowed_by_others=sums.borrowed - borrowed,
        )

    def _share(self, share: int, unit: int) -> tuple[Int64, Int64, Int64]:
        """Limit, used and kept of a share and unit."""
        holdings = self._holdings
        limit = np.zeros(len(self.times), dtype=np.int64)
        for terms, holds in holdings.terms_over(share, self.times):
            limit[holds] = terms.capacity.get(holdings.units[unit], 0)
        used, kept = (holdings._amount(table, share, unit, self.times) for table in (holdings._used, holdings._kept))
        return limit, used, kept

    def _flags(self, share: int, unit: str) -> tuple[Bool, Bool, Int64]:
        """Whether a share lends, whether it reserves, and how much it may borrow of a unit."""
        lends = np.zeros(len(self.times), dtype=np.bool_)
        cap = np.zeros(len(self.times), dtype=np.int64)
        for terms, holds in self._holdings.terms_over(share, self.times):
            lends[holds] = terms.strategy.lends
            most = terms.borrow_cap(unit)
            cap[holds] = UNBOUNDED if most is None else most
        return lends, ~lends, cap

    def _sums(self, unit: int) -> _Sums:
        if unit not in self._of_unit:
            self._of_unit[unit] = self._summed(unit)
        return self._of_unit[unit]

    def _summed(self, unit: int) -> _Sums:
        holdings = self._holdings
        names = ("limit", "used", "kept", "protected_now", "protected", "idle_to_lend", "borrowed")
        total = {name: np.zeros(len(self.times), dtype=np.int64) for name in names}
        for share in range(len(holdings.outcome.share_names)):
            limit, used, kept = self._share(share, unit)
            lends, reserves, _ = self._flags(share, holdings.units[unit])
            idle = np.maximum(limit - kept, 0)
            total["limit"] += limit
            total["used"] += used
            total["kept"] += kept
            total["protected_now"] += np.where(reserves, np.maximum(limit - used, 0), 0)
            total["protected"] += np.where(reserves, idle, 0)
            total["idle_to_lend"] += np.where(lends, idle, 0)
            total["borrowed"] += np.maximum(kept - limit, 0)
        capacity = holdings.capacity[unit].at_times(self.times)
        usable = holdings.outcome.assumptions.unallocated_capacity is UnallocatedCapacity.BORROWABLE
        return _Sums(
            room=capacity - total["used"],
            free=capacity - total["kept"],
            protected_now=total["protected_now"],
            protected=total["protected"],
            idle_to_lend=total["idle_to_lend"],
            borrowed=total["borrowed"],
            unallocated=np.maximum(capacity - total["limit"], 0) if usable else np.zeros_like(capacity),
        )


def _summed(start: Int64, end: Int64, by: npt.NDArray[np.signedinteger]) -> Steps:
    """What intervals come to over time."""
    ended = end != UNBOUNDED
    at = np.concatenate([start, end[ended]])
    change = np.concatenate([by, -by[ended]]).astype(np.int64)
    times, row = np.unique(at, return_inverse=True)
    changes = np.zeros(len(times), dtype=np.int64)
    np.add.at(changes, row, change)
    return Steps(times, np.cumsum(changes))

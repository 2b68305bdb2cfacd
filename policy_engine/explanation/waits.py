"""Why a job waited: its time in RUNNABLE as stretches, each with who stood at the front and what kept that job back.

A stretch's reason is the condition of the scheduling model (section 4) that did not hold after the pass at its start,
and did not until its end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from policy_engine.assumptions import HeadOfLine, UnallocatedCapacity
from policy_engine.explanation.holdings import Grid, Holdings, ShareHolding, UnitLevels
from policy_engine.explanation.standing import Front, Standing, fronts, rivals, standings
from policy_engine.scheduler.outcome import NEVER, Outcome, Reason
from policy_engine.trace.jobs import Bool, Int64


class WaitReason(StrEnum):
    """What kept back the job at the front of the share (or, with `head_of_line` none, the job itself)."""

    MISCONFIGURED = "MISCONFIGURED"
    """It can never run with this configuration."""
    LIMIT = "LIMIT"
    """It would exceed its share's limit, and its share does not borrow."""
    BORROW_LIMIT = "BORROW_LIMIT"
    """It would exceed its share's limit, and what its share may borrow."""
    NOTHING_TO_BORROW = "NOTHING_TO_BORROW"
    """It would exceed its share's limit, and the shares that lend have not so much idle that is not lent out."""
    STOPPING = "STOPPING"
    """What it needs is held by preempted jobs that have not stopped yet."""
    CAPACITY = "CAPACITY"
    """Its share may have it, but so much is not there: not enough, or kept for shares that reserve."""
    SET_ASIDE = "SET_ASIDE"
    """What it needs is free, but set aside for a claim that waits for stopping jobs."""
    NEXT_PASS = "NEXT_PASS"  # noqa: S105
    """Nothing keeps it back but that the scheduler has not run."""


_MISCONFIGURED, _READY, _STOPPING, _CAPACITY, _LIMIT, _BORROW_LIMIT, _NOTHING_TO_BORROW = range(7)


class WaitEnd(StrEnum):
    """How a wait ended."""

    DISPATCHED = "DISPATCHED"
    FAILED = "FAILED"
    """The job ended without another attempt: terminated, or by a time-limit action."""
    REPLAY_ENDED = "REPLAY_ENDED"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a wait in which one job stood at the front, kept back for one reason."""

    start: int
    """ms."""
    end: int
    front: int
    """Row of the trace: who stood at the front."""
    held: int
    """Whom the reason is about: the front, or with `head_of_line` none the job that waits."""
    reason: WaitReason
    units: tuple[str, ...]
    """The instance types that fall short, for reasons that are about some."""
    misconfiguration: Reason
    """For MISCONFIGURED: why."""

    @property
    def duration(self) -> int:
        """Ms."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Wait:
    """A job's time in RUNNABLE, from submission or return to dispatch or end."""

    start: int
    """ms."""
    end: int
    ended: WaitEnd
    ahead: int
    """How many jobs stood before it at the start."""
    overtaken: int
    """How many came to stand before it later."""
    stretches: tuple[Stretch, ...]

    @property
    def duration(self) -> int:
        """Ms."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class UnitShortage:
    """One instance type at the start of a stretch, in instances."""

    unit: str
    need: int
    capacity: int
    """Of the service environment."""
    limit: int
    kept: int
    """By the share's jobs that are not stopping."""
    borrow_cap: int
    """UNBOUNDED where there is none."""
    lendable: int
    """What the share could still borrow, had it no borrow limit. Negative when more is lent out than is idle."""
    now: int
    """What the share could take at that instant, claims apart."""
    later: int
    """The same, once the stopping jobs are gone."""
    stopping: int
    """Held by stopping jobs."""
    shares: tuple[ShareHolding, ...]
    """Every share, in declaration order."""


class Waits:
    """The waits of an outcome's jobs."""

    def __init__(self, outcome: Outcome, holdings: Holdings) -> None:
        self._outcome = outcome
        self._holdings = holdings

    def of(self, job: int) -> list[Wait]:
        """All waits of a job that took any time, and one that the replay's end cut off at once, in order."""
        outcome = self._outcome
        alone = np.array([job], dtype=np.int64)
        own = standings(outcome, alone, after=-1, before=outcome.ended_at + 1)
        if not own:
            return []
        others = standings(outcome, rivals(outcome, job), after=own[0].start, before=own[-1].end)
        found = (self._wait(parts, others) for parts in _joined(own))
        return [wait for wait in found if wait.duration or wait.ended is WaitEnd.REPLAY_ENDED]

    def shortages(self, stretch: Stretch) -> tuple[UnitShortage, ...]:
        """The instance types that fell short, as they were at the start of the stretch."""
        outcome, holdings = self._outcome, self._holdings
        share = int(outcome.share_of_job[stretch.held])
        grid = holdings.grid(np.array([stretch.start], dtype=np.int64))
        needs = dict(needs_of(outcome, stretch.held))
        found = []
        for unit in stretch.units:
            levels = grid.levels(share, unit)
            found.append(
                UnitShortage(
                    unit=unit,
                    need=needs[unit],
                    capacity=int(levels.room[0]) + sum(s.used for s in holdings.holdings_at(unit, stretch.start)),
                    limit=int(levels.limit[0]),
                    kept=int(levels.kept[0]),
                    borrow_cap=int(levels.borrow_cap[0]),
                    lendable=int(levels.lendable[0]),
                    now=int(levels.now[0]),
                    later=int(levels.later[0]),
                    stopping=int(levels.incoming[0]),
                    shares=holdings.holdings_at(unit, stretch.start),
                )
            )
        return tuple(found)

    def stopping_at(self, at: int, units: Sequence[str]) -> list[int]:
        """The preemptions (rows) whose victims hold any of these units and have not stopped at a time."""
        outcome = self._outcome
        columns = [outcome.trace.units.index(unit) for unit in units]
        stopped = outcome.attempts.stopped_at
        told = outcome.work.preemption
        holds = (told != NEVER) & (self._holdings.stops_at <= at) & ((stopped == NEVER) | (stopped > at))
        needs = outcome.trace.needs[outcome.trace.need[outcome.attempts.job]]
        return sorted(told[holds & (needs[:, columns] > 0).any(axis=1)].tolist())

    def _wait(self, own: Sequence[Standing], others: Sequence[Standing]) -> Wait:
        outcome = self._outcome
        start, end = own[0].start, own[-1].end
        job = own[0].job
        front: list[Front] = []
        for part in own:  # The job's own place may change within a wait.
            ahead = [one for one in others if one.start < part.end and one.end > part.start and one < part]
            front += fronts(sorted([*ahead, part], key=_by_start), part.start, part.end)
        before = {one.job for one in others if one < own[0] and one.start <= start < one.end}
        later = {
            one.job
            for one in others
            if any(one < part and one.start < part.end and one.end > max(part.start, one.start) > start for part in own)
        }
        finished = int(outcome.jobs.finished_at[job])
        ended = WaitEnd.DISPATCHED
        if end > outcome.ended_at:
            end, ended = outcome.ended_at, WaitEnd.REPLAY_ENDED
        elif finished == end and not self._dispatched(job, end):
            ended = WaitEnd.FAILED
        stretches = tuple(self._stretches(job, [part for part in front if part.start < max(end, start + 1)], end))
        return Wait(start, end, ended, len(before), len(later - before), stretches)

    def _dispatched(self, job: int, at: int) -> bool:
        attempts = self._outcome.attempts
        return bool(((attempts.job == job) & (attempts.scheduled_at == at)).any())

    def _stretches(self, job: int, front: Sequence[Front], end: int) -> Iterator[Stretch]:
        """The fronts, divided where the reason changes, and joined where it does not."""
        if not front:
            return
        outcome = self._outcome
        start = front[0].start
        times = np.unique(np.concatenate([self._holdings.changes(start, end), [part.start for part in front]]))
        owner = np.array([part.job for part in front])[
            np.searchsorted([part.start for part in front], times, side="right") - 1
        ]
        itself = outcome.assumptions.head_of_line is HeadOfLine.NONE
        grid = self._holdings.grid(times)
        held = np.full_like(owner, job) if itself else owner.copy()
        reason, short = self._judged(grid, held)
        if itself:  # A misconfigured head leaves the whole share out, whoever stands behind it.
            of_front, _ = self._judged(grid, owner)
            blocked = of_front < 0
            reason[blocked], short[blocked], held[blocked] = of_front[blocked], 0, owner[blocked]
        key = np.stack([owner, held, reason, short])
        first = np.flatnonzero(np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0)))
        until = np.append(times[first[1:]], end)
        stopping = self._anything_stopping(grid, times[first])
        for row, stop, anybody in zip(first.tolist(), until.tolist(), stopping.tolist(), strict=True):
            code = int(reason[row])
            yield Stretch(
                start=int(times[row]),
                end=int(stop),
                front=int(owner[row]),
                held=int(held[row]),
                reason=_named(code, anything_stopping=anybody),
                units=tuple(
                    unit for bit, unit in enumerate(self._holdings.units) if code >= 0 and int(short[row]) >> bit & 1
                ),
                misconfiguration=Reason(-code) if code < 0 else Reason.NONE,
            )

    def _anything_stopping(self, grid: Grid, times: Int64) -> Bool:
        rows = np.searchsorted(grid.times, times)
        incoming = [grid.levels(0, unit).incoming for unit in self._outcome.trace.units]
        found: Bool = np.any(np.stack(incoming)[:, rows] > 0, axis=0)
        return found

    def _judged(self, grid: Grid, held: Int64) -> tuple[Int64, Int64]:
        """For each time why the job of it is kept back, and the units that fall short, as bits.

        A reason below 0 is a misconfiguration's number, negative.
        """
        outcome = self._outcome
        reason = np.zeros(len(held), dtype=np.int64)
        short = np.zeros(len(held), dtype=np.int64)
        need = outcome.trace.need[held]
        for number in np.unique(need).tolist():
            rows = np.flatnonzero(need == number)
            job = int(held[rows[0]])
            share = int(outcome.share_of_job[job])
            needs = [
                (self._holdings.units.index(unit), n, grid.levels(share, unit)) for unit, n in needs_of(outcome, job)
            ]
            verdict = _Verdict(needs, rows)
            borrows = self._borrows(share, grid.times[rows])
            reason[rows], short[rows] = verdict.reasons(borrows)
            blocked = self._misconfigured(job, grid.times[rows])
            reason[rows] = np.where(blocked > 0, -blocked, reason[rows])
            short[rows] = np.where(blocked > 0, 0, short[rows])
        return reason, short

    def _borrows(self, share: int, times: Int64) -> Bool:
        borrows = np.zeros(len(times), dtype=np.bool_)
        for terms, holds in self._holdings.terms_over(share, times):
            borrows[holds] = terms.strategy.borrows
        return borrows

    def _misconfigured(self, job: int, times: Int64) -> Int64:
        """At each time the reason for which the job can never run, or 0."""
        since = self._holdings.configured_at
        row = np.searchsorted(since, times, side="right") - 1
        by_epoch = {epoch: int(self.misconfiguration(job, since[epoch])) for epoch in np.unique(row).tolist()}
        return np.array([by_epoch[epoch] for epoch in row.tolist()], dtype=np.int64)

    def misconfiguration(self, job: int, at: int) -> Reason:
        """Why a job can never run with the configuration of a time: AWS's tests in their order (section 7)."""
        outcome, holdings = self._outcome, self._holdings
        share = int(outcome.share_of_job[job])
        terms = holdings.terms_at(share, at)
        when = np.array([at], dtype=np.int64)
        capacity = {
            unit: int(steps.at_times(when)[0]) for unit, steps in zip(holdings.units, holdings.capacity, strict=True)
        }
        needs = needs_of(outcome, job)
        if any(n > capacity[unit] for unit, n in needs):
            return Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE
        if not terms.strategy.borrows:
            above = any(n > terms.capacity.get(unit, 0) for unit, n in needs)
            return Reason.LIMIT_EXCEEDED if above else Reason.NONE
        for unit, n in needs:
            cap = terms.borrow_cap(unit)
            if cap is not None and n > terms.capacity.get(unit, 0) + cap:
                return Reason.BORROW_LIMIT_EXCEEDED
        everyone = [holdings.terms_at(number, at) for number in range(len(outcome.share_names))]
        usable = outcome.assumptions.unallocated_capacity is UnallocatedCapacity.BORROWABLE
        for unit, n in needs:
            own = terms.capacity.get(unit, 0)
            lent = sum(other.capacity.get(unit, 0) for other in everyone if other.strategy.lends) - own
            unallocated = capacity[unit] - sum(other.capacity.get(unit, 0) for other in everyone)
            if n > own + lent + (max(0, unallocated) if usable else 0):
                return Reason.BORROWABLE_EXCEEDED
        return Reason.NONE


class _Verdict:
    """The conditions of the model for one need, over time."""

    def __init__(self, needs: Sequence[tuple[int, int, UnitLevels]], rows: Int64) -> None:
        self._needs = needs
        self._rows = rows

    def reasons(self, borrows: Bool) -> tuple[Int64, Int64]:
        """At each time the first condition that does not hold, and the units that it does not hold for, as bits."""
        nothing = np.zeros(len(self._rows), dtype=np.int64)
        above, capped, unlent, not_now, not_later = (nothing.copy() for _ in range(5))
        for unit, n, levels in self._needs:
            limit, kept = levels.limit[self._rows], levels.kept[self._rows]
            borrowed = np.maximum(kept - limit, 0)
            extra = np.maximum(kept + n - limit, 0) - borrowed
            bit = np.int64(1 << unit)
            above |= np.where(kept + n > limit, bit, 0)
            capped |= np.where((extra > 0) & (borrowed + extra > levels.borrow_cap[self._rows]), bit, 0)
            unlent |= np.where((extra > 0) & (extra > levels.lendable[self._rows]), bit, 0)
            not_now |= np.where(n > levels.now[self._rows], bit, 0)
            not_later |= np.where(n > levels.later[self._rows], bit, 0)
        may = [(above > 0) & ~borrows, (above > 0) & (capped > 0), (above > 0) & (unlent > 0)]
        there = [not_later > 0, not_now > 0]
        codes = [_LIMIT, _BORROW_LIMIT, _NOTHING_TO_BORROW, _CAPACITY, _STOPPING]
        reason = np.select([*may, *there], codes, _READY)
        return reason, np.select([*may, *there], [above, capped, unlent, not_later, not_now], nothing)


def needs_of(outcome: Outcome, job: int) -> list[tuple[str, int]]:
    """A job's instance types and how many it needs of each."""
    row = outcome.trace.needs[outcome.trace.need[job]].tolist()
    return [(unit, n) for unit, n in zip(outcome.trace.units, row, strict=True) if n]


def _joined(own: Sequence[Standing]) -> list[list[Standing]]:
    """A job's standings, those of one wait together."""
    waits: list[list[Standing]] = []
    for standing in own:
        if waits and waits[-1][-1].turn == standing.turn:
            waits[-1].append(standing)
        else:
            waits.append([standing])
    return waits


def _by_start(standing: Standing) -> int:
    return standing.start


def _named(code: int, *, anything_stopping: bool) -> WaitReason:
    if code == _READY:
        return WaitReason.SET_ASIDE if anything_stopping else WaitReason.NEXT_PASS
    if code < 0:
        return WaitReason.MISCONFIGURED
    return {
        _STOPPING: WaitReason.STOPPING,
        _CAPACITY: WaitReason.CAPACITY,
        _LIMIT: WaitReason.LIMIT,
        _BORROW_LIMIT: WaitReason.BORROW_LIMIT,
        _NOTHING_TO_BORROW: WaitReason.NOTHING_TO_BORROW,
    }[code]

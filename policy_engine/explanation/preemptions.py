"""Why a job was preempted: who claimed, what it was owed, who could have been stopped, and what chose this one.

The claimant, the shortage and what was set aside are the replay's own. Candidates are put in victim order once more
(scheduling model, section 5), to tell what became of each, and whom another victim order would have stopped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from policy_engine.assumptions import VictimOrder
from policy_engine.explanation.moments import Decision, decisions
from policy_engine.explanation.standing import priorities_at
from policy_engine.explanation.waits import needs_of
from policy_engine.scheduler.outcome import NEVER, Outcome, PreemptionKind
from policy_engine.scheduler.quantities import could_go, later
from policy_engine.trace.jobs import Int64


class Fate(StrEnum):
    """What became of a candidate."""

    STOPPED = "STOPPED"
    SPARED = "SPARED"
    """Taken at first, then spared: the others were enough without it."""
    SHARE_NOT_ABOVE_LIMIT = "SHARE_NOT_ABOVE_LIMIT"
    """With those before it gone its share was no longer above its limit where anything was short."""
    NOT_NEEDED = "NOT_NEEDED"
    """Those before it were enough."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that could have been stopped, in its place of the victim order."""

    job: int
    """Row of the trace."""
    priority: int
    dispatched_at: int
    """ms."""
    gives: tuple[tuple[str, int], ...]
    """Instances that it holds, of each type."""
    fate: Fate


@dataclass(frozen=True, slots=True)
class Owed:
    """What the claimant's share was owed of an instance type that the claimant needs, in instances."""

    unit: str
    need: int
    limit: int
    kept: int
    """By its share's jobs, stopping ones apart."""
    available: int
    """What its share could count on, once jobs that were stopping already were gone."""
    set_aside: int
    """Of what was there, for claims of others that came first."""

    @property
    def short(self) -> int:
        """What was missing."""
        return max(0, self.need - self.available)


@dataclass(frozen=True, slots=True)
class PreemptionReason:
    """One preemption, and why."""

    row: int
    """Of the outcome's preemptions."""
    at: int
    """ms."""
    kind: PreemptionKind
    victim: int
    """Row of the trace."""
    claimant: int
    lost: int
    """Productive ms of the victim that were destroyed."""
    owed: tuple[Owed, ...]
    candidates: tuple[Candidate, ...]
    """All that could have been stopped, in victim order."""
    victim_order: VictimOrder
    """The assumption that put them in order."""
    otherwise: Mapping[VictimOrder, tuple[int, ...]]
    """Whom each of the other victim orders would have stopped then, where the victim would not have been among them.

    Nobody, if no set of candidates that is taken in that order is enough.
    """
    stopped_together: tuple[int, ...]
    """All victims of the same decision, in the order in which they were taken."""

    @property
    def place(self) -> int:
        """The victim's place among the candidates, from 1 on."""
        return next(place for place, one in enumerate(self.candidates, 1) if one.job == self.victim)


def preemption_reasons(outcome: Outcome, rows: Iterable[int]) -> dict[int, PreemptionReason]:
    """Why these preemptions (rows of `outcome.preemptions`) were made.

    The trace is replayed once more, up to the last of them; a decision takes a few milliseconds.
    """
    wanted = sorted(set(rows))
    found: dict[int, PreemptionReason] = {}
    for decision in decisions(outcome, preemptions=wanted):
        for reason in reasons_in(outcome, decision):
            found[reason.row] = reason
    return {row: found[row] for row in wanted}


def reasons_in(outcome: Outcome, decision: Decision) -> Iterator[PreemptionReason]:
    """Why each preemption of a decision was made."""
    if not decision.preemptions:
        return
    search = _Search(outcome, decision)
    stopped = search.stopped(outcome.assumptions.victim_order)
    candidates = tuple(search.candidates())
    others = {order: search.stopped(order) for order in VictimOrder if order is not outcome.assumptions.victim_order}
    made = outcome.preemptions
    for row in decision.preemptions:
        victim = int(made.victim[row])
        yield PreemptionReason(
            row=row,
            at=decision.at,
            kind=PreemptionKind(made.kind[row]),
            victim=victim,
            claimant=search.claimant,
            lost=int(made.lost[row]),
            owed=search.owed,
            candidates=candidates,
            victim_order=outcome.assumptions.victim_order,
            otherwise={order: jobs for order, jobs in others.items() if victim not in jobs},
            stopped_together=stopped,
        )


class _Search:
    """The search for victims of one decision (sections 4 and 5), over the state that it was made from."""

    def __init__(self, outcome: Outcome, decision: Decision) -> None:
        self._outcome = outcome
        self._state = decision.state
        self._units = decision.units
        first = decision.preemptions[0]
        self.claimant = int(outcome.preemptions.claimant[first])
        self._share = int(outcome.share_of_job[self.claimant])
        self._cross = int(outcome.preemptions.kind[first]) == PreemptionKind.CROSS_SHARE
        self._need = self._needs(self.claimant)
        self.owed = tuple(self._owed(unit, n) for unit, n in self._need.items())
        self._short = {unit: owed.short for unit, owed in zip(self._need, self.owed, strict=True) if owed.short}
        self._priority = priorities_at(outcome, decision.at)
        self._rows = self._possible(decision)

    def _needs(self, job: int) -> dict[int, int]:
        return {self._units.index(unit): n for unit, n in needs_of(self._outcome, job)}

    def _owed(self, unit: int, need: int) -> Owed:
        state = self._state
        cell = state.cells[self._share * len(self._units) + unit]
        available = int(later(state, self._share, unit))
        return Owed(self._units[unit], need, int(cell.limit), int(cell.kept), available, int(state.units[unit].hold))

    def _possible(self, decision: Decision) -> Int64:
        """Rows of the attempts that could have been stopped."""
        outcome = self._outcome
        attempts, preemption = outcome.attempts, outcome.work.preemption
        row = np.arange(len(attempts.job))
        not_told = (preemption == NEVER) | (preemption >= decision.preemptions.start)
        lasts = (attempts.stopped_at == NEVER) | (attempts.stopped_at > decision.at)
        stopped_now = (preemption != NEVER) & (attempts.stopped_at == decision.at)
        there = (row < decision.dispatches.start) & not_told & (lasts | stopped_now)
        job, trace = attempts.job, outcome.trace
        share = outcome.share_of_job[job]
        needs = trace.needs[trace.need[job]]
        if not self._cross:
            columns = [trace.units.index(self._units[unit]) for unit in self._need]
            lower = self._priority[job] < self._priority[self.claimant]
            return np.flatnonzero(there & (share == self._share) & lower & (needs[:, columns] > 0).any(axis=1))
        above = np.zeros((len(outcome.share_names), len(trace.units)), dtype=np.bool_)
        for unit in self._short:
            for number_ in range(len(outcome.share_names)):
                cell = self._state.cells[number_ * len(self._units) + unit]
                above[number_, trace.units.index(self._units[unit])] = cell.kept > cell.limit
        return np.flatnonzero(there & (share != self._share) & ((needs > 0) & above[share]).any(axis=1))

    def _in_order(self, order: VictimOrder) -> list[int]:
        """The candidates, as rows of attempts, in a victim order."""
        attempts, rows = self._outcome.attempts, self._rows
        job, at = attempts.job[rows].astype(np.int64), attempts.scheduled_at[rows]
        priority = self._priority[job]
        keys: dict[VictimOrder, tuple[Int64, ...]] = {  # The last key counts most.
            VictimOrder.LOWEST_PRIORITY_YOUNGEST: (-job, -at, priority),
            VictimOrder.LOWEST_PRIORITY_OLDEST: (job, at, priority),
            VictimOrder.YOUNGEST: (-job, priority, -at),
            VictimOrder.OLDEST: (job, priority, at),
            VictimOrder.FEWEST: (-job, -at, priority, -self._contributions(job)),
        }
        ordered: list[int] = rows[np.lexsort(keys[order])].tolist()
        return ordered

    def _contributions(self, jobs: Int64) -> Int64:
        """What stopping each job would give of what is wanted."""
        wanted = self._short if self._cross else self._need
        total = np.zeros(len(jobs), dtype=np.int64)
        trace = self._outcome.trace
        for unit, n in wanted.items():
            total += np.minimum(trace.needs[trace.need[jobs], trace.units.index(self._units[unit])], n)
        return total

    def stopped(self, order: VictimOrder) -> tuple[int, ...]:
        """Whom a victim order stops, in the order of taking."""
        return tuple(job for job, fate in self._fates(order) if fate is Fate.STOPPED)

    def candidates(self) -> Iterator[Candidate]:
        """All candidates in the order of the outcome's assumptions, with what became of each."""
        order = self._outcome.assumptions.victim_order
        attempts = self._outcome.attempts
        rows = self._in_order(order)
        for row, (job, fate) in zip(rows, self._fates(order), strict=True):
            yield Candidate(
                job=job,
                priority=int(self._priority[job]),
                dispatched_at=int(attempts.scheduled_at[row]),
                gives=tuple(needs_of(self._outcome, job)),
                fate=fate,
            )

    def _fates(self, order: VictimOrder) -> list[tuple[int, Fate]]:
        """What becomes of each candidate in a victim order."""
        jobs = [int(self._outcome.attempts.job[row]) for row in self._in_order(order)]
        fates = dict.fromkeys(jobs, Fate.NOT_NEEDED)
        taken = self._taken_across(jobs, fates) if self._cross else self._taken_within(jobs)
        enough = self._covers if self._cross else self._could_go_without
        if not enough(taken):
            return list(fates.items())  # There is no way in this order, so nobody is stopped.
        left = list(taken)
        for job in reversed(taken):
            rest = [other for other in left if other != job]
            if enough(rest):
                left = rest
        for job in taken:
            fates[job] = Fate.STOPPED if job in left else Fate.SPARED
        return list(fates.items())

    def _taken_across(self, jobs: Sequence[int], fates: dict[int, Fate]) -> list[int]:
        """Take jobs until nothing is short; those of shares that are no longer above their limits are passed over."""
        short = dict(self._short)
        gone: dict[int, int] = {}
        taken = []
        for job in jobs:
            if all(missing <= 0 for missing in short.values()):
                break
            first = int(self._outcome.share_of_job[job]) * len(self._units)
            needs = self._needs(job)

            def above(unit: int, first: int = first) -> bool:
                cell = self._state.cells[first + unit]
                return bool(cell.kept - gone.get(first + unit, 0) > cell.limit)

            if not any(short.get(unit, 0) > 0 and above(unit) for unit in needs):
                fates[job] = Fate.SHARE_NOT_ABOVE_LIMIT
                continue
            taken.append(job)
            for unit, n in needs.items():
                gone[first + unit] = gone.get(first + unit, 0) + n
                if unit in short:
                    short[unit] -= n
        return taken

    def _taken_within(self, jobs: Sequence[int]) -> list[int]:
        """The shortest prefix without which the claimant could go."""
        taken: list[int] = []
        for job in jobs:
            if self._could_go_without(taken):
                break
            taken.append(job)
        return taken

    def _covers(self, victims: Iterable[int]) -> bool:
        left = dict(self._short)
        for job in victims:
            for unit, n in self._needs(job).items():
                if unit in left:
                    left[unit] -= n
        return all(missing <= 0 for missing in left.values())

    def _could_go_without(self, victims: Iterable[int]) -> bool:
        """Whether the claimant could go with these jobs of its share out of the way."""
        for unit in self._state.units:
            unit.gone = 0
        for job in victims:
            for number_, n in self._needs(job).items():
                self._state.units[number_].gone += n
        return bool(could_go(self._state, self._share, int(self._outcome.trace.need[self.claimant])))

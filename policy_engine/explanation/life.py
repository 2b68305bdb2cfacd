"""A job's life in order: each wait with its reasons, each attempt with what it held, how it ended, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from policy_engine.explanation.holdings import Holdings
from policy_engine.explanation.moments import Decision, decisions
from policy_engine.explanation.preemptions import PreemptionReason, reasons_in
from policy_engine.explanation.waits import Wait, Waits, needs_of
from policy_engine.scheduler.outcome import NEVER, AttemptOutcome, JobStatus, Outcome, Reason

MOST_ATTEMPTS = 200
"""Attempts of one job whose decisions are looked into: each costs a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Held:
    """What an attempt held of an instance type."""

    unit: str
    count: int
    borrowed: int
    """Of them, by how many its share exceeded its limit the further at the dispatch."""
    lendable: tuple[tuple[str, int], ...]
    """If it borrowed: the shares that lend, and what each had idle just before. The pool is anonymous."""


@dataclass(frozen=True, slots=True)
class Run:
    """An attempt."""

    attempt: int
    """Row of the outcome's attempts."""
    scheduled_at: int
    """ms."""
    running_at: int | None
    stopped_at: int | None
    """When its capacity was released."""
    ended: AttemptOutcome
    held: tuple[Held, ...] | None
    """None for an attempt that was not looked into."""
    told_to_stop_at: int | None
    """If it was preempted."""
    preemption: PreemptionReason | None
    """None also for an attempt that was not looked into."""
    worked: int
    """Productive ms, lost ones included."""
    lost: int
    """Productive ms that its preemption destroyed."""

    @property
    def borrowed(self) -> bool:
        """Whether it was dispatched by borrowing."""
        return any(held.borrowed for held in self.held or ())


@dataclass(frozen=True, eq=False)
class JobLife:
    """What became of a job, in order."""

    outcome: Outcome
    job: int
    """Row of the trace."""
    steps: tuple[Wait | Run, ...]
    waiting: Waits
    """For what is behind a wait."""

    @property
    def name(self) -> str:
        """The job's id."""
        return str(self.outcome.trace.job_id[self.job])

    @property
    def share(self) -> str:
        """The job's quota share."""
        return self.outcome.share_names[int(self.outcome.share_of_job[self.job])]

    @property
    def status(self) -> JobStatus:
        """At the end of the replay."""
        return JobStatus(self.outcome.jobs.status[self.job])

    @property
    def reason(self) -> Reason:
        """Why it FAILED, or why it can never run."""
        return Reason(self.outcome.jobs.reason[self.job])

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """Its waits."""
        return tuple(step for step in self.steps if isinstance(step, Wait))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Its attempts."""
        return tuple(step for step in self.steps if isinstance(step, Run))

    @property
    def longest_wait(self) -> Wait | None:
        """The first of the longest ones, if it waited at all."""
        return max(self.waits, key=lambda wait: wait.duration, default=None)


def explain_job(outcome: Outcome, job: int, *, most_attempts: int = MOST_ATTEMPTS) -> JobLife:
    """What became of a job (row of the trace), and why.

    The trace is replayed once more for the decisions about its first `most_attempts` attempts.
    """
    waiting = Waits(outcome, Holdings(outcome))
    runs = list(_runs(outcome, job, most_attempts))
    steps: list[Wait | Run] = []
    waits = waiting.of(job)
    for run in runs:
        while waits and waits[0].end <= run.scheduled_at:
            steps.append(waits.pop(0))
        steps.append(run)
    return JobLife(outcome, job, (*steps, *waits), waiting)


def _runs(outcome: Outcome, job: int, most: int) -> Iterator[Run]:
    rows = np.flatnonzero(outcome.attempts.job == job).tolist()
    work = outcome.work
    stopped_by = {row: int(work.preemption[row]) for row in rows if work.preemption[row] != NEVER}
    looked_into = rows[:most]
    held: dict[int, tuple[Held, ...]] = {}
    reasons: dict[int, PreemptionReason] = {}
    wanted = [stopped_by[row] for row in looked_into if row in stopped_by]
    for decision in decisions(outcome, dispatches=looked_into, preemptions=wanted):
        for row in decision.dispatches:
            held[row] = _held(outcome, job, decision)
        reasons |= {reason.row: reason for reason in reasons_in(outcome, decision)}
    attempts = outcome.attempts
    for row in rows:
        preemption = stopped_by.get(row)
        yield Run(
            attempt=row,
            scheduled_at=int(attempts.scheduled_at[row]),
            running_at=_came(int(attempts.running_at[row])),
            stopped_at=_came(int(attempts.stopped_at[row])),
            ended=AttemptOutcome(attempts.outcome[row]),
            held=held.get(row),
            told_to_stop_at=None if preemption is None else int(outcome.preemptions.at[preemption]),
            preemption=None if preemption is None else reasons.get(preemption),
            worked=int(work.worked[row]),
            lost=int(work.lost[row]),
        )


def _held(outcome: Outcome, job: int, decision: Decision) -> tuple[Held, ...]:
    """What a dispatch takes, and by how much its share exceeds its limits for it."""
    state = decision.state
    units = len(state.units)
    share = int(outcome.share_of_job[job])
    found = []
    for unit, count in needs_of(outcome, job):
        column = decision.units.index(unit)
        cell = state.cells[share * units + column]
        extra = max(0, int(cell.kept) + count - int(cell.limit)) - max(0, int(cell.kept) - int(cell.limit))
        lendable = []
        for number, name in enumerate(outcome.share_names):
            other = state.cells[number * units + column]
            idle = int(other.limit) - int(other.kept)
            if extra and number != share and state.shares[number].lends and idle > 0:
                lendable.append((name, idle))
        found.append(Held(unit, count, extra, tuple(lendable)))
    return tuple(found)


def _came(at: int) -> int | None:
    return None if at == NEVER else at

"""The invariants of section 9 of the scheduling model, as far as an outcome alone shows them.

Made for the outcomes of large traces: whole columns at once. What happens within one instant is not in an outcome, so
that a quantity is looked at as the instant leaves it. Each message names the invariant and the first job concerned.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import DEFAULT_UNIT
from policy_engine.scheduler.outcome import NEVER, AttemptOutcome, JobStatus, Outcome, PreemptionKind, Reason
from policy_engine.topology import UNLIMITED, QuotaShare
from policy_engine.trace import NONE, ON_STOP, UpdateCapacity, UpdatePriority, UpdateShare

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
NO_LIMIT = 2**40
FOREVER = 2**60


@dataclass
class Steps:
    """A quantity that changes at certain times. `value_at` is as it is after the changes of that time."""

    times: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)

    def change(self, time: int, value: int) -> None:
        self.times.append(time)
        self.values.append(value)

    def value_at(self, times: Int64) -> Int64:
        values = np.array(self.values, dtype=np.int64)
        return values[np.searchsorted(np.array(self.times, dtype=np.int64), times, side="right") - 1]


@dataclass
class Configuration:
    """What the environment and one share allow, over time."""

    capacity: dict[str, Steps]
    limit: dict[tuple[str, str], Steps]
    """By share and unit."""
    most: dict[tuple[str, str], Steps]
    """Limit and borrow cap together."""
    in_share_preemption: dict[str, Steps]


def configuration(outcome: Outcome) -> Configuration:
    """The topology with the control events applied."""
    topology = outcome.topology
    units = tuple(dict.fromkeys((*topology.units(), *outcome.trace.units)))
    shares = {owned.name: owned.share for owned in topology.quota_shares()}
    known = Configuration(
        capacity={unit: Steps() for unit in units},
        limit={(name, unit): Steps() for name in shares for unit in units},
        most={(name, unit): Steps() for name in shares for unit in units},
        in_share_preemption={name: Steps() for name in shares},
    )

    def note(time: int, name: str, share: QuotaShare) -> None:
        known.in_share_preemption[name].change(time, int(share.in_share_preemption))
        for unit in units:
            limit = share.capacity.get(unit, 0)
            cap = 0
            if share.strategy.borrows and limit > 0:
                unlimited = share.borrow_limit in (None, UNLIMITED)
                cap = NO_LIMIT if unlimited else limit * (share.borrow_limit or 0) // 100
            known.limit[name, unit].change(time, limit)
            known.most[name, unit].change(time, limit + cap)

    for unit in units:
        known.capacity[unit].change(NEVER, topology.capacity.get(unit, 0))
    for name, share in shares.items():
        note(NEVER, name, share)
    for event in sorted(outcome.events, key=lambda event: event.at):
        if isinstance(event, UpdateCapacity) and event.unit in units:
            known.capacity[event.unit].change(event.at, event.capacity)
        elif isinstance(event, UpdateShare):
            changes = {
                "capacity": event.limits,
                "strategy": event.strategy,
                "borrow_limit": event.borrow_limit,
                "in_share_preemption": event.in_share_preemption,
            }
            named = {name: value for name, value in changes.items() if value is not None}
            shares[event.share] = shares[event.share].model_copy(update=named)
            note(event.at, event.share, shares[event.share])
    return known


@dataclass
class Level:
    """How much is held over time: what is added at some times, and taken away at others."""

    added_at: Int64
    removed_at: Int64
    amount: Int64

    @cached_property
    def _added(self) -> tuple[Int64, Int64]:
        return self._running_total(self.added_at)

    @cached_property
    def _removed(self) -> tuple[Int64, Int64]:
        return self._running_total(self.removed_at)

    def _running_total(self, times: Int64) -> tuple[Int64, Int64]:
        order = np.argsort(times, kind="stable")
        return times[order], np.concatenate([[0], np.cumsum(self.amount[order])])

    def _total(self, running: tuple[Int64, Int64], times: Int64, *, inclusive: bool) -> Int64:
        at, total = running
        return total[np.searchsorted(at, times, side="right" if inclusive else "left")]

    def after(self, times: Int64) -> Int64:
        """What is held once all of an instant has happened."""
        return self._total(self._added, times, inclusive=True) - self._total(self._removed, times, inclusive=True)

    def at_most_during(self, times: Int64) -> Int64:
        """The most that can be held at any moment of an instant."""
        return self._total(self._added, times, inclusive=True) - self._total(self._removed, times, inclusive=False)


class OutcomeInvariants:
    """The columns of one outcome, prepared for the checks."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.trace = outcome.trace
        self.configuration = configuration(outcome)
        attempts = outcome.attempts
        self.job = attempts.job.astype(np.int64)
        self.scheduled_at = attempts.scheduled_at
        self.running_at = attempts.running_at
        self.stopped_at = attempts.stopped_at
        self.released_at = np.where(attempts.stopped_at == NEVER, FOREVER, attempts.stopped_at)
        self.by_job = np.argsort(self.job, kind="stable")
        """Attempts, job by job, each job's in order of dispatch."""
        self.first_of_job = np.searchsorted(self.job[self.by_job], np.arange(len(self.trace) + 1))
        self.attempts_of_job = np.diff(self.first_of_job)
        self.share_of_job = self.trace.share.astype(np.int64)
        self.needs = self.trace.needs[self.trace.need]

    def fail_where(self, wrong: npt.ArrayLike, jobs: npt.NDArray[np.integer], message: str) -> None:
        """Raises AssertionError with the first job for which something is wrong."""
        wrong = np.asarray(wrong)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise AssertionError(f"{message}: {self.trace.job_id[int(jobs[first])]} ({int(wrong.sum())} in all)")

    @cached_property
    def stopped_attempt(self) -> Int64:
        """The attempt that each preemption stopped: a job's preemptions and stopped attempts, in order."""
        victims = self.outcome.preemptions.victim.astype(np.int64)
        preempted = self.outcome.attempts.outcome[self.by_job] == AttemptOutcome.PREEMPTED
        count = np.bincount(victims, minlength=len(self.trace))
        ended = np.bincount(self.job[self.by_job][preempted], minlength=len(self.trace))
        all_jobs = np.arange(len(self.trace))
        self.fail_where(
            (count - ended < 0) | (count - ended > 1), all_jobs, "invariant 4: preemptions without attempts"
        )
        still = np.flatnonzero(count - ended == 1)
        self.fail_where(self.attempts_of_job[still] == 0, still, "invariant 4: preempted without an attempt")
        last = self.first_of_job[still + 1] - 1
        unfinished = (AttemptOutcome.RUNNING, AttemptOutcome.TERMINATED)
        odd = ~np.isin(self.outcome.attempts.outcome[self.by_job[last]], unfinished)
        self.fail_where(odd, still, "invariant 4: preempted, but its last attempt ended otherwise")
        preempted[last] = True
        stopped = np.empty(len(victims), dtype=np.int64)
        stopped[np.argsort(victims, kind="stable")] = self.by_job[preempted]
        return stopped

    @cached_property
    def kept_until(self) -> Int64:
        """When each attempt ceased to count as kept: at the decision to stop it, or at its end."""
        until = self.released_at.copy()
        until[self.stopped_attempt] = self.outcome.preemptions.at
        return until

    @cached_property
    def productive(self) -> Int64:
        """Productive ms of each attempt that is over."""
        counts = self.outcome.attempts.outcome[self.by_job] != AttemptOutcome.NO_CAPACITY
        before = np.cumsum(counts) - counts
        base = np.append(before, 0)[self.first_of_job[:-1]]
        pays = np.zeros(len(self.job), dtype=bool)
        pays[self.by_job] = before - np.repeat(base, self.attempts_of_job) > 0
        start = self.running_at + np.where(pays, self.outcome.assumptions.resume_seconds, 0)
        over = (self.running_at != NEVER) & (self.kept_until < FOREVER)
        return np.where(over, np.maximum(0, self.kept_until - start), 0)

    def units(self) -> Iterator[tuple[str, Int64]]:
        """Each unit of the trace with what each attempt holds of it."""
        for column, unit in enumerate(self.trace.units):
            yield unit, self.needs[self.job, column]

    def check_columns(self) -> None:
        """The columns agree with one another."""
        jobs, trace = self.outcome.jobs, self.trace
        all_jobs = np.arange(len(trace))
        self.fail_where(np.diff(self.scheduled_at) < 0, self.job[1:], "attempts: not in order of dispatch")
        self.fail_where(self.scheduled_at < trace.submitted_at[self.job], self.job, "attempts: before submission")
        ran = self.running_at != NEVER
        self.fail_where(ran & (self.running_at < self.scheduled_at), self.job, "attempts: RUNNING before SCHEDULED")
        self.fail_where(
            self.released_at < np.maximum(self.scheduled_at, self.running_at), self.job, "attempts: end first"
        )
        is_open = self.outcome.attempts.outcome == AttemptOutcome.RUNNING
        self.fail_where(is_open != (self.stopped_at == NEVER), self.job, "attempts: open and ended")
        one, other = self.by_job[:-1], self.by_job[1:]
        overlap = (self.job[one] == self.job[other]) & (self.scheduled_at[other] < self.released_at[one])
        self.fail_where(overlap, self.job[other], "attempts: two at once")
        latency = self._latency()[trace.need[self.job]]
        self.fail_where(ran & (self.running_at - self.scheduled_at != latency), self.job, "attempts: start-up time")
        has = self.attempts_of_job > 0
        first = np.full(len(trace), NEVER, dtype=np.int64)
        first[has] = self.scheduled_at[self.by_job[self.first_of_job[:-1][has]]]
        self.fail_where(first != jobs.first_scheduled_at, all_jobs, "jobs: first_scheduled_at")
        ended = np.isin(jobs.status, (JobStatus.SUCCEEDED, JobStatus.FAILED))
        self.fail_where(
            ended != (jobs.finished_at != NEVER), all_jobs, "jobs: ended without finished_at, or the reverse"
        )
        running = np.zeros(len(trace), dtype=bool)
        running[self.job[is_open]] = True
        self.fail_where(
            running != (jobs.status == JobStatus.RUNNING), all_jobs, "jobs: RUNNING without an open attempt"
        )
        last = np.full(len(trace), -1)
        last[has] = self.outcome.attempts.outcome[self.by_job[self.first_of_job[1:][has] - 1]]
        succeeded = jobs.status == JobStatus.SUCCEEDED
        self.fail_where(
            succeeded != (last == AttemptOutcome.SUCCEEDED), all_jobs, "jobs: SUCCEEDED without its attempt"
        )
        self._check_retries()

    def _latency(self) -> Int64:
        """Start-up ms for each need of the trace."""

        def largest(table: dict[str, int], units: Sequence[str]) -> int:
            return max(table.get(unit, table.get(DEFAULT_UNIT, 0)) for unit in units)

        assumed = self.outcome.assumptions
        units = [[unit for unit, n in zip(self.trace.units, need, strict=True) if n] for need in self.trace.needs]
        return np.array(
            [largest(assumed.provision_seconds, some) + largest(assumed.startup_seconds, some) for some in units],
            dtype=np.int64,
        )

    def _check_retries(self) -> None:
        jobs, preemptions = self.outcome.jobs, self.outcome.preemptions
        all_jobs = np.arange(len(self.trace))
        count = np.bincount(preemptions.victim.astype(np.int64), minlength=len(self.trace))
        self.fail_where(count != jobs.preemptions, all_jobs, "jobs: preemptions")
        lost = np.zeros(len(self.trace), dtype=np.int64)
        np.add.at(lost, preemptions.victim, preemptions.lost)
        self.fail_where(lost != jobs.lost, all_jobs, "jobs: lost")
        retries = self.trace.preemption_retries
        limited = retries != NONE
        self.fail_where(limited & (jobs.preemptions > retries + 1), all_jobs, "jobs: preempted too often")
        exhausted = jobs.reason == Reason.PREEMPTION_RETRIES_EXHAUSTED
        self.fail_where(
            exhausted & ~(limited & (jobs.preemptions == retries + 1)), all_jobs, "jobs: retries not exhausted"
        )

    def check_capacity(self) -> None:
        """Invariant 1: nothing is dispatched above the capacity of the environment."""
        for unit, amount in self.units():
            uses = amount > 0
            used = Level(self.scheduled_at[uses], self.released_at[uses], amount[uses])
            at = self.scheduled_at[uses]
            above = used.after(at) > self.configuration.capacity[unit].value_at(at)
            self.fail_where(above, self.job[uses], f"invariant 1: dispatched above the capacity of {unit}")

    def check_limits(self) -> None:
        """Invariant 2: no share dispatches above what it may keep."""
        for name, unit, uses, kept in self._kept():
            at = self.scheduled_at[uses]
            above = kept.after(at) > self.configuration.most[name, unit].value_at(at)
            self.fail_where(above, self.job[uses], f"invariant 2: {name} dispatched above its cap of {unit}")

    def _kept(self) -> Iterator[tuple[str, str, Bool, Level]]:
        """Each share and unit, with its attempts and what they keep over time."""
        share = self.share_of_job[self.job]
        for number, name in enumerate(self.trace.share_names):
            for unit, amount in self.units():
                uses = (share == number) & (amount > 0)
                yield name, unit, uses, Level(self.scheduled_at[uses], self.kept_until[uses], amount[uses])

    def check_claimants(self) -> None:
        """Invariant 4: whoever preempts is RUNNABLE, and the victim is dispatched and stops in time."""
        made, jobs = self.outcome.preemptions, self.outcome.jobs
        claimant, victim = made.claimant.astype(np.int64), made.victim.astype(np.int64)
        self.fail_where(np.diff(made.at) < 0, victim[1:], "invariant 4: preemptions are not in order")
        self.fail_where(
            self.trace.submitted_at[claimant] > made.at, claimant, "invariant 4: a claimant not submitted yet"
        )
        gone = (jobs.finished_at[claimant] != NEVER) & (jobs.finished_at[claimant] < made.at)
        self.fail_where(gone, claimant, "invariant 4: a claimant that has ended")
        self.fail_where(self._holds_before(claimant, made.at), claimant, "invariant 4: a claimant that is dispatched")
        attempt = self.stopped_attempt
        self.fail_where(self.scheduled_at[attempt] > made.at, victim, "invariant 4: a victim not dispatched yet")
        was_running = (self.running_at[attempt] != NEVER) & (self.running_at[attempt] <= made.at)
        due = made.at + np.where(was_running, self.outcome.assumptions.stop_seconds, 0)
        is_stopped = self.outcome.attempts.outcome[attempt] == AttemptOutcome.PREEMPTED
        late = np.where(is_stopped, self.released_at[attempt] != due, self.released_at[attempt] < made.at)
        self.fail_where(late, victim, "invariant 4: a victim that does not stop in time")

    def _holds_before(self, jobs: Int64, at: Int64) -> Bool:
        """Whether each job was dispatched before a time, and not released by then."""
        span = int(max(self.scheduled_at.max(initial=0), at.max(initial=0))) + 1
        dispatches = self.job[self.by_job] * span + self.scheduled_at[self.by_job]
        earlier = np.searchsorted(dispatches, jobs * span + at)
        holds = np.zeros(len(jobs), dtype=bool)
        some = np.flatnonzero(earlier > self.first_of_job[jobs])
        holds[some] = self.released_at[self.by_job[earlier[some] - 1]] > at[some]
        return holds

    def check_victims(self) -> None:
        """Invariant 5: a cross-share victim's share was borrowing; an in-share victim has a lower priority."""
        made = self.outcome.preemptions
        claimant, victim = made.claimant.astype(np.int64), made.victim.astype(np.int64)
        cross = made.kind == PreemptionKind.CROSS_SHARE
        same = self.share_of_job[claimant] == self.share_of_job[victim]
        self.fail_where(cross == same, victim, "invariant 5: the kind of preemption and the shares do not agree")
        common = (self.needs[claimant] > 0) & (self.needs[victim] > 0)
        self.fail_where(~common.any(axis=1), victim, "invariant 5: a victim that has nothing the claimant needs")
        borrowing = np.zeros(len(made.at), dtype=bool)
        for name, unit, _, kept in self._kept():
            number, column = self.trace.share_names.index(name), self.trace.units.index(unit)
            rows = np.flatnonzero((self.share_of_job[victim] == number) & common[:, column])
            at = made.at[rows]
            borrowing[rows] |= kept.at_most_during(at) > self.configuration.limit[name, unit].value_at(at)
        self.fail_where(cross & ~borrowing, victim, "invariant 5: a victim of a share that was not borrowing")
        lower = self._priority(victim, made.at) < self._priority(claimant, made.at)
        self.fail_where(~cross & ~lower, victim, "invariant 5: an in-share victim that is not outranked")
        for number, name in enumerate(self.trace.share_names):
            rows = np.flatnonzero(~cross & (self.share_of_job[victim] == number))
            off = self.configuration.in_share_preemption[name].value_at(made.at[rows]) == 0
            self.fail_where(off, victim[rows], f"invariant 5: {name} has no in-share preemption")

    def _priority(self, jobs: Int64, at: Int64) -> Int64:
        """Each job's priority at a time."""
        priority = self.trace.priority[jobs].astype(np.int64)
        updates = [event for event in self.outcome.events if isinstance(event, UpdatePriority)]
        row_of = {name: row for row, name in enumerate(self.trace.job_id)} if updates else {}
        for event in sorted(updates, key=lambda event: event.at):
            priority[(jobs == row_of[event.job]) & (at >= event.at)] = event.priority
        return priority

    def check_work(self) -> None:
        """Invariant 7: what was done and not lost is the runtime; what is lost is what the checkpoints do not cover."""
        made, trace = self.outcome.preemptions, self.trace
        done = self.productive[self.stopped_attempt]
        every = trace.checkpoint[made.victim]
        lost = np.where(every == NONE, done, np.where(every == ON_STOP, 0, done % np.maximum(1, every)))
        self.fail_where(made.lost != lost, made.victim, "invariant 7: lost work")
        total = np.zeros(len(trace), dtype=np.int64)
        np.add.at(total, self.job, self.productive)
        wrong = (self.outcome.jobs.status == JobStatus.SUCCEEDED) & (total - self.outcome.jobs.lost != trace.runtime)
        self.fail_where(wrong, np.arange(len(trace)), "invariant 7: productive time is not the runtime")


def check_outcome(outcome: Outcome) -> None:
    """Raises AssertionError, naming the invariant, if an outcome breaks one that can be seen in it."""
    invariants = OutcomeInvariants(outcome)
    checks: tuple[Callable[[], None], ...] = (
        invariants.check_columns,
        invariants.check_capacity,
        invariants.check_limits,
        invariants.check_claimants,
        invariants.check_victims,
        invariants.check_work,
    )
    for check in checks:
        check()

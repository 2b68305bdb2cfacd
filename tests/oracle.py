"""A second scheduler, written straight from docs/scheduling-model.md: as plain as possible, and slow.

It shares no code with the replay, so that a fault in one is not a fault in the other. Every derived quantity is
recomputed from the list of jobs at each use. Each method is one paragraph of the model, with its section; "decision n"
is an entry of docs/scheduling-model-decisions.md. Times are whole milliseconds.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from policy_engine.assumptions import (
    DEFAULT_UNIT,
    Assumptions,
    HeadOfLine,
    IdleFifo,
    RequeuePosition,
    ShareOrder,
    UnallocatedCapacity,
    VictimOrder,
)
from policy_engine.scheduler.outcome import (
    NEVER,
    AttemptOutcome,
    Attempts,
    Jobs,
    JobStatus,
    Outcome,
    PreemptionKind,
    Preemptions,
    Reason,
)
from policy_engine.topology import UNLIMITED, ResourceSharingStrategy, ShareState, Topology
from policy_engine.trace import (
    NONE,
    ON_STOP,
    ControlEvent,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)


@dataclass(frozen=True)
class AttemptRecord:
    """One attempt. A time that did not come is None."""

    scheduled_at: int
    running_at: int | None
    stopped_at: int | None
    outcome: AttemptOutcome


@dataclass(frozen=True)
class JobRecord:
    """A job at the end of the replay. `lost` is productive ms."""

    id: str
    status: JobStatus
    reason: Reason
    first_scheduled_at: int | None
    finished_at: int | None
    preemptions: int
    lost: int
    attempts: tuple[AttemptRecord, ...]


@dataclass(frozen=True)
class PreemptionRecord:
    """One victim. `lost` is productive ms."""

    at: int
    victim: str
    claimant: str
    kind: PreemptionKind
    lost: int


@dataclass(frozen=True)
class OracleOutcome:
    """What a replay predicts, as plain data: jobs in the trace's order, the rest in the order of decision."""

    jobs: tuple[JobRecord, ...]
    dispatches: tuple[tuple[int, str], ...]
    """Time and job of each attempt."""
    preemptions: tuple[PreemptionRecord, ...]


class Phase(Enum):
    """Where a job is. SCHEDULED covers STARTING too: the model never tells them apart."""

    NOT_SUBMITTED = auto()
    RUNNABLE = auto()
    SCHEDULED = auto()
    RUNNING = auto()
    STOPPING = auto()
    SUCCEEDED = auto()
    FAILED = auto()


@dataclass(eq=False)
class Share:
    """A quota share as it is configured at present."""

    name: str
    limits: dict[str, int]
    strategy: ResourceSharingStrategy
    borrow_limit: int
    in_share_preemption: bool
    state: ShareState

    def limit(self, unit: str) -> int:
        return self.limits.get(unit, 0)


@dataclass(eq=False)
class Attempt:
    """One dispatch of a job, and what came of it."""

    scheduled_at: int
    resume: int
    """ms after RUNNING before productive work."""
    running_due: int | None
    """When it moves to RUNNING; None while SageMaker cannot provide it."""
    returns_due: int | None
    """When it returns to RUNNABLE for want of SageMaker capacity."""
    running_at: int | None = None
    stop_due: int | None = None
    """When a stopping job has stopped."""
    stopped_at: int | None = None
    outcome: AttemptOutcome = AttemptOutcome.RUNNING


@dataclass(eq=False)
class Job:
    """A job of the trace with everything that has happened to it."""

    seq: int
    id: str
    share: Share
    need: dict[str, int]
    """Only the units it needs."""
    priority: int
    submitted_at: int
    runtime: int
    preemption_retries: int
    checkpoint: int
    attempt_timeout: int
    fails: bool
    phase: Phase = Phase.NOT_SUBMITTED
    reason: Reason = Reason.NONE
    queue_time: int = 0
    runnable_since: int = 0
    survived: int = 0
    """Productive ms that earlier attempts left behind."""
    preemptions: int = 0
    lost: int = 0
    finished_at: int | None = None
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def is_dispatched(self) -> bool:
        """SCHEDULED, STARTING or RUNNING, and not stopping."""
        return self.phase in (Phase.SCHEDULED, Phase.RUNNING)

    @property
    def holds_capacity(self) -> bool:
        return self.is_dispatched or self.phase is Phase.STOPPING

    @property
    def attempt(self) -> Attempt:
        """The attempt under way."""
        return self.attempts[-1]

    def natural_end(self) -> int:
        """When a RUNNING job ends by itself."""
        assert self.attempt.running_at is not None
        return self.attempt.running_at + self.attempt.resume + self.runtime - self.survived

    def timeout(self) -> int | None:
        """When a RUNNING job's attempt times out."""
        assert self.attempt.running_at is not None
        return None if self.attempt_timeout == NONE else self.attempt.running_at + self.attempt_timeout

    def end_or_stop_due(self) -> int | None:
        """When the attempt ends, has stopped, or returns for want of SageMaker capacity. None: not known yet."""
        match self.phase:
            case Phase.RUNNING:
                timeout = self.timeout()
                return self.natural_end() if timeout is None else min(self.natural_end(), timeout)
            case Phase.STOPPING:
                return self.attempt.stop_due
            case Phase.SCHEDULED:
                return self.attempt.returns_due
            case _:
                return None


@dataclass(frozen=True)
class Lane:
    """One queue: a whole share, or under `per_unit` the jobs of a share that need one set of units (decision 11)."""

    share: Share
    units: frozenset[str] | None

    def takes(self, job: Job) -> bool:
        return job.share is self.share and self.units in (None, frozenset(job.need))


@dataclass(frozen=True)
class Misconfiguration:
    """The misconfigured head of a lane: for which reason, and since when it was seen to be it without a break."""

    job: Job
    reason: Reason
    since: int

    @property
    def action(self) -> str:
        """The reason as RUNNABLE time-limit actions name it: the three texts about limits are one (decision 16)."""
        if self.reason is Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE:
            return "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
        return "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


class Watcher:
    """Is told of each pass, and of each decision before it is carried out. Does nothing by itself."""

    def before_pass(self, scheduler: "Scheduler") -> None: ...

    def before_dispatch(self, scheduler: "Scheduler", job: Job) -> None: ...

    def before_stop(self, scheduler: "Scheduler", victims: list[Job], claimant: Job, kind: PreemptionKind) -> None: ...

    def after_drop(self, scheduler: "Scheduler", claimant: Job) -> None:
        """An in-share claim lapsed, or was dropped without a dispatch."""

    def after_pass(self, scheduler: "Scheduler", changes: int) -> None: ...


@dataclass
class Scheduler:
    """The state of the queue (section 1), and what can happen to it."""

    assumptions: Assumptions
    capacity: dict[str, int]
    shares: list[Share]
    jobs: list[Job]
    lanes: list[Lane]
    time_limits: dict[str, int]
    events: list[ControlEvent]
    """Control events still to come, in the order in which they are applied."""
    time: int = 0
    applied: list[ControlEvent] = field(default_factory=list)
    claims: list[Lane] = field(default_factory=list)
    """Lanes that have a claim, in opening order."""
    in_share_claims: dict[Lane, Job] = field(default_factory=dict)
    """The job that each in-share claim is for, in opening order."""
    hold: Counter[str] = field(default_factory=Counter)
    hold_now: Counter[str] = field(default_factory=Counter)
    misconfigured: dict[Lane, Misconfiguration] = field(default_factory=dict)
    dispatches: list[tuple[int, str]] = field(default_factory=list)
    preemptions: list[PreemptionRecord] = field(default_factory=list)
    watcher: Watcher = field(default_factory=Watcher)

    def without(self, gone: Iterable[Job]) -> "Scheduler":
        """The same state, had these jobs never been."""
        return replace(self, jobs=[job for job in self.jobs if job not in gone])

    # Section 1: derived quantities

    def used(self, share: Share, unit: str) -> int:
        """Need of the share's dispatched jobs, stopping ones included."""
        return sum(job.need.get(unit, 0) for job in self.jobs if job.share is share and job.holds_capacity)

    def kept(self, share: Share, unit: str) -> int:
        """The same without the stopping ones."""
        return sum(job.need.get(unit, 0) for job in self.jobs if job.share is share and job.is_dispatched)

    def own_idle(self, share: Share, unit: str) -> int:
        return max(0, share.limit(unit) - self.kept(share, unit))

    def borrowed(self, share: Share, unit: str) -> int:
        return max(0, self.kept(share, unit) - share.limit(unit))

    def environment(self, unit: str) -> int:
        """C[u]."""
        return self.capacity.get(unit, 0)

    def room(self, unit: str) -> int:
        """Physically free."""
        return self.environment(unit) - sum(job.need.get(unit, 0) for job in self.jobs if job.holds_capacity)

    def incoming(self, unit: str) -> int:
        """Need of all stopping jobs."""
        return sum(job.need.get(unit, 0) for job in self.jobs if job.phase is Phase.STOPPING)

    def other_reserves(self, share: Share) -> list[Share]:
        return [
            other for other in self.shares if other is not share and other.strategy is ResourceSharingStrategy.RESERVE
        ]

    def protected_now(self, share: Share, unit: str) -> int:
        """Idle of the other RESERVE shares as it is at this instant."""
        return sum(max(0, other.limit(unit) - self.used(other, unit)) for other in self.other_reserves(share))

    def protected(self, share: Share, unit: str) -> int:
        """Idle of the other RESERVE shares once the stopping jobs are gone."""
        return sum(max(0, other.limit(unit) - self.kept(other, unit)) for other in self.other_reserves(share))

    def later(self, share: Share, unit: str) -> int:
        """What the share can count on once the stopping jobs are gone."""
        return self.room(unit) + self.incoming(unit) - self.protected(share, unit) - self.hold[unit]

    def now(self, share: Share, unit: str) -> int:
        """What the share can take at this instant."""
        free = self.room(unit) - self.protected_now(share, unit) - self.hold_now[unit]
        return min(free, self.later(share, unit))

    def unallocated(self, unit: str) -> int:
        """Capacity that no share has a limit for, if it can be borrowed."""
        if self.assumptions.unallocated_capacity is UnallocatedCapacity.UNUSABLE:
            return 0
        return max(0, self.environment(unit) - sum(share.limit(unit) for share in self.shares))

    def other_lenders(self, share: Share) -> list[Share]:
        lends = (ResourceSharingStrategy.LEND, ResourceSharingStrategy.LEND_AND_BORROW)
        return [other for other in self.shares if other is not share and other.strategy in lends]

    def lendable(self, share: Share, unit: str) -> int:
        """Idle of the other lenders, minus all that is lent out, whoever holds it."""
        idle = sum(self.own_idle(other, unit) for other in self.other_lenders(share))
        lent_out = sum(self.borrowed(other, unit) for other in self.shares)
        return idle - lent_out + self.unallocated(unit)

    def borrow_cap(self, share: Share, unit: str) -> int | None:
        """Most that the share may hold above its limit. None is unlimited."""
        if share.limit(unit) == 0:
            return 0
        return None if share.borrow_limit == UNLIMITED else share.limit(unit) * share.borrow_limit // 100

    def is_entitled(self, job: Job) -> bool:
        return all(self.kept(job.share, unit) + n <= job.share.limit(unit) for unit, n in job.need.items())

    def fits_now(self, job: Job) -> bool:
        return all(n <= self.now(job.share, unit) for unit, n in job.need.items())

    def fits_later(self, job: Job) -> bool:
        return all(n <= self.later(job.share, unit) for unit, n in job.need.items())

    def may_borrow(self, job: Job) -> bool:
        share = job.share
        if share.strategy is not ResourceSharingStrategy.LEND_AND_BORROW:
            return False
        for unit, n in job.need.items():
            borrowed = self.borrowed(share, unit)
            extra = max(0, self.kept(share, unit) + n - share.limit(unit)) - borrowed
            if extra == 0:
                continue
            cap = self.borrow_cap(share, unit)
            if extra > self.lendable(share, unit) or (cap is not None and borrowed + extra > cap):
                return False
        return True

    # Section 2: time

    def run(self, until: int | None) -> None:
        """Apply the events of each instant, then run a pass, until nothing is left to happen or `until` is over.

        What a pass causes in its own instant is a further round of that instant, with a pass of its own (decision 1).
        What an event causes in its own instant comes before the pass: all events of one instant do.
        """
        pass_due: int | None = None
        while (instant := self.next_instant(pass_due)) is not None and (until is None or instant <= until):
            self.time = instant
            while self.apply_events():
                pass_due = self.next_pass()
            if pass_due == self.time:
                self.scheduling_pass()
                pass_due = None

    def next_pass(self) -> int:
        """The first multiple of the scheduler interval that is not before the present instant (decision 4)."""
        interval = self.assumptions.scheduler_interval
        return self.time if interval == 0 else -(-self.time // interval) * interval

    def next_instant(self, pass_due: int | None) -> int | None:
        """The earliest time at which something happens."""
        dues = [job.end_or_stop_due() for job in self.jobs]
        dues += [job.attempt.running_due for job in self.jobs if job.phase is Phase.SCHEDULED]
        dues += [job.submitted_at for job in self.jobs if job.phase is Phase.NOT_SUBMITTED]
        dues += [event.at for event in self.events]
        dues += [self.time_limit_due(lane) for lane in self.lanes]
        dues += [pass_due]
        return min((due for due in dues if due is not None), default=None)

    def apply_events(self) -> bool:
        """One round of the events of this instant, in the model's order. Says whether there were any."""
        return any(
            [
                self.apply_ends_and_stops(),
                self.apply_control_events(),
                self.apply_time_limits(),
                self.apply_submissions(),
                self.apply_moves_to_running(),
            ]
        )

    def apply_ends_and_stops(self) -> bool:
        """(1) Ends and stops in `seq` order."""
        due = [job for job in self.jobs if (at := job.end_or_stop_due()) is not None and at <= self.time]
        for job in due:
            match job.phase:
                case Phase.RUNNING:
                    self.end(job)
                case Phase.STOPPING:
                    self.release(job)
                case Phase.SCHEDULED:
                    self.return_for_want_of_capacity(job)
        return bool(due)

    def apply_control_events(self) -> bool:
        """(2) Control events in file order."""
        due = [event for event in self.events if event.at <= self.time]
        for event in due:
            self.events.remove(event)
            self.apply_control_event(event)
            self.applied.append(event)
        return bool(due)

    def apply_time_limits(self) -> bool:
        """(2) Then time-limit actions."""
        due = [lane for lane in self.lanes if (at := self.time_limit_due(lane)) is not None and at <= self.time]
        for lane in due:
            self.apply_time_limit(self.misconfigured.pop(lane))
        return bool(due)

    def apply_submissions(self) -> bool:
        """(3) Submissions in `seq` order."""
        due = [job for job in self.jobs if job.phase is Phase.NOT_SUBMITTED and job.submitted_at <= self.time]
        for job in due:
            self.submit(job)
        return bool(due)

    def apply_moves_to_running(self) -> bool:
        """(4) Jobs moving to RUNNING."""
        due = [
            job
            for job in self.jobs
            if job.phase is Phase.SCHEDULED
            and job.attempt.running_due is not None
            and job.attempt.running_due <= self.time
        ]
        for job in due:
            self.move_to_running(job)
        return bool(due)

    # Section 3: order inside a share

    def queue(self, lane: Lane) -> list[Job]:
        """RUNNABLE jobs by priority, then queue time, then `seq`."""
        runnable = [job for job in self.jobs if job.phase is Phase.RUNNABLE and lane.takes(job)]
        return sorted(runnable, key=lambda job: (-job.priority, job.queue_time, job.seq))

    def head(self, lane: Lane) -> Job | None:
        queue = self.queue(lane)
        return queue[0] if queue else None

    def is_held_back(self, job: Job) -> bool:
        """While an in-share claim of its share is open, a lower job with a unit in common waits (decision 12)."""
        if self.assumptions.head_of_line is HeadOfLine.STRICT:
            return False
        return any(
            lane.share is job.share and job.priority < claimant.priority and job.need.keys() & claimant.need.keys()
            for lane, claimant in self.in_share_claims.items()
        )

    def heads(self) -> dict[Lane, Job]:
        """The lanes that a pass looks at, with their heads, in declaration order."""
        heads = {lane: head for lane in self.lanes if (head := self.head(lane)) is not None}
        return {lane: head for lane, head in heads.items() if self.misconfiguration(head) is Reason.NONE}

    def is_passed_over(self, head: Job) -> bool:
        """Under `per_unit`, a lane whose head is held back does nothing and keeps its claims (decision 12)."""
        return self.assumptions.head_of_line is HeadOfLine.PER_UNIT and self.is_held_back(head)

    def considered(self, lane: Lane, head: Job) -> list[Job]:
        """The jobs of a lane that A2 and B2 may dispatch (decision 13)."""
        if self.assumptions.head_of_line is HeadOfLine.NONE:
            return [job for job in self.queue(lane) if not self.is_held_back(job)]
        return [head]

    # Section 4: a scheduling pass

    def scheduling_pass(self) -> None:
        """Phases A, B, C until none of them changes anything."""
        self.watcher.before_pass(self)
        changes = 0
        while self.change():
            changes += 1
        self.lapse_in_share_claims()
        self.watcher.after_pass(self, changes)

    def change(self) -> bool:
        """Go through A, B and C up to the first change. Says whether there was one."""
        self.hold = Counter()
        self.hold_now = Counter()
        self.see_misconfigured_heads()
        return self.phase_a() or self.phase_b() or self.phase_c()

    def see_misconfigured_heads(self) -> None:
        """A lane with no head, or with a misconfigured one, loses both claims. The head's clock runs (section 7)."""
        for lane in self.lanes:
            head = self.head(lane)
            reason = Reason.NONE if head is None else self.misconfiguration(head)
            if head is None or reason is not Reason.NONE:
                self.drop_claim(lane)
                self.drop_in_share_claim(lane)
            before = self.misconfigured.pop(lane, None)
            if head is not None and reason is not Reason.NONE:
                seen = Misconfiguration(head, reason, self.time)
                if before is not None and before.job is head and before.action == seen.action:
                    seen = replace(seen, since=before.since)
                self.misconfigured[lane] = seen

    def set_aside(self, job: Job) -> None:
        for unit, n in job.need.items():
            free = self.room(unit) - self.protected_now(job.share, unit) - self.hold_now[unit]
            self.hold[unit] += n
            self.hold_now[unit] += min(n, max(0, free))

    def open_claim(self, lane: Lane) -> None:
        """Open the claim if there is none."""
        if lane not in self.claims:
            self.claims.append(lane)

    def drop_claim(self, lane: Lane) -> None:
        if lane in self.claims:
            self.claims.remove(lane)

    def open_in_share_claim(self, lane: Lane, head: Job) -> None:
        """A claim that is open for another job makes way (decision 14)."""
        self.in_share_claims.pop(lane, None)
        self.in_share_claims[lane] = head

    def drop_in_share_claim(self, lane: Lane) -> None:
        if lane in self.in_share_claims:
            self.watcher.after_drop(self, self.in_share_claims.pop(lane))

    def phase_a(self) -> bool:
        """A. Entitled heads."""
        for lane, head in self.order_of_a():
            if self.is_passed_over(head):
                continue
            for job in self.considered(lane, head):
                if self.is_entitled(job) and self.fits_now(job):  # 2
                    self.dispatch(job)
                    if job is head:
                        self.drop_claim(lane)
                        self.in_share_claims.pop(lane, None)
                    return True
            if not self.is_entitled(head):  # 1
                self.drop_claim(lane)
                continue
            short = {unit: max(0, n - self.later(head.share, unit)) for unit, n in head.need.items()}
            if not any(short.values()):  # 3
                self.open_claim(lane)
                if lane.share.strategy is not ResourceSharingStrategy.RESERVE:
                    self.set_aside(head)
                continue
            victims = self.cross_share_victims(head, short)  # 4
            if not victims:
                self.drop_claim(lane)
                continue
            self.open_claim(lane)
            self.stop(victims, head, PreemptionKind.CROSS_SHARE)
            return True
        return False

    def order_of_a(self) -> list[tuple[Lane, Job]]:
        """Lanes with a claim first, in opening order; then the others by `share_order`."""
        heads = self.heads()
        claiming = [lane for lane in self.claims if lane in heads]
        others = [lane for lane in heads if lane not in self.claims]
        match self.assumptions.share_order:
            case ShareOrder.LEAST_USED:
                others.sort(key=lambda lane: self.usage(lane.share))
            case ShareOrder.OLDEST_HEAD:
                others.sort(key=lambda lane: heads[lane].queue_time)
        return [(lane, heads[lane]) for lane in claiming + others]

    def usage(self, share: Share) -> Fraction | float:
        """max_u kept/L; units without a limit count only if the share keeps some: then without bound (decision 15)."""
        largest: Fraction | float = Fraction(0)
        for unit in {unit for job in self.jobs for unit in job.need}:
            kept = self.kept(share, unit)
            if share.limit(unit) > 0:
                largest = max(largest, Fraction(kept, share.limit(unit)))
            elif kept > 0:
                largest = float("inf")
        return largest

    def phase_b(self) -> bool:
        """B. Borrowing."""
        for lane, head in self.order_of_b():
            if self.is_passed_over(head):
                continue
            for job in self.considered(lane, head):
                if self.may_borrow(job) and self.fits_now(job):  # 2
                    self.dispatch(job)
                    if job is head:
                        self.in_share_claims.pop(lane, None)
                    return True
            claimed = self.in_share_claims.get(lane) is head
            if not claimed:
                continue
            if self.may_borrow(head) and self.fits_later(head):  # 3
                self.set_aside(head)
            else:  # 1, 3
                self.drop_in_share_claim(lane)
        return False

    def order_of_b(self) -> list[tuple[Lane, Job]]:
        """Heads of borrowing shares that are not entitled: first those with an in-share claim, then by `idle_fifo`."""
        heads = {
            lane: head
            for lane, head in self.heads().items()
            if lane.share.strategy is ResourceSharingStrategy.LEND_AND_BORROW and not self.is_entitled(head)
        }
        claiming = [lane for lane, job in self.in_share_claims.items() if heads.get(lane) is job]
        others = [lane for lane in heads if lane not in claiming]
        if self.assumptions.idle_fifo is IdleFifo.SUBMITTED:
            others.sort(key=lambda lane: (heads[lane].queue_time, heads[lane].seq))
        else:
            others.sort(key=lambda lane: (heads[lane].runnable_since, heads[lane].seq))
        return [(lane, heads[lane]) for lane in claiming + others]

    def phase_c(self) -> bool:
        """C. In-share preemption."""
        for lane, head in self.heads().items():
            if not lane.share.in_share_preemption or self.is_passed_over(head):
                continue
            if lane in self.claims or self.in_share_claims.get(lane) is head:
                continue
            victims = self.in_share_victims(head)
            if victims:
                self.open_in_share_claim(lane, head)
                self.stop(victims, head, PreemptionKind.IN_SHARE)
                return True
        return False

    def could_go_without(self, victims: Sequence[Job], job: Job) -> bool:
        rest = self.without(victims)
        return (rest.is_entitled(job) or rest.may_borrow(job)) and rest.fits_later(job)

    def lapse_in_share_claims(self) -> None:
        """At the end of a pass: the job is no longer the head, or no job of the share is stopping."""
        for lane, job in list(self.in_share_claims.items()):
            stopping = any(other.share is lane.share and other.phase is Phase.STOPPING for other in self.jobs)
            if self.head(lane) is not job or not stopping:
                self.drop_in_share_claim(lane)

    # Section 5: victims

    def is_candidate(self, job: Job) -> bool:
        """Dispatched, not stopping, and not at its end already (decision 2)."""
        due = job.end_or_stop_due()
        return job.is_dispatched and not (job.phase is Phase.RUNNING and due is not None and due <= self.time)

    def in_victim_order(self, candidates: Iterable[Job], wanted: dict[str, int]) -> list[Job]:
        """By `victim_order`. A job contributes what it holds of the wanted units, up to what is wanted."""

        def youngest(job: Job) -> int:
            return -job.attempt.scheduled_at

        def contribution(job: Job) -> int:
            return sum(min(job.need.get(unit, 0), n) for unit, n in wanted.items())

        match self.assumptions.victim_order:
            case VictimOrder.LOWEST_PRIORITY_YOUNGEST:
                return sorted(candidates, key=lambda job: (job.priority, youngest(job), -job.seq))
            case VictimOrder.LOWEST_PRIORITY_OLDEST:
                return sorted(candidates, key=lambda job: (job.priority, -youngest(job), job.seq))
            case VictimOrder.YOUNGEST:
                return sorted(candidates, key=lambda job: (youngest(job), job.priority, -job.seq))
            case VictimOrder.OLDEST:
                return sorted(candidates, key=lambda job: (-youngest(job), job.priority, job.seq))
            case VictimOrder.FEWEST:
                return sorted(candidates, key=lambda job: (-contribution(job), job.priority, youngest(job), -job.seq))

    def cross_share_victims(self, claimant: Job, short: dict[str, int]) -> list[Job]:
        """The borrowers to stop so that nothing is short, in order of taking. Empty: there is no such set."""
        candidates = [
            job
            for job in self.jobs
            if job.share is not claimant.share
            and self.is_candidate(job)
            and any(
                n > 0 and job.need.get(unit, 0) > 0 and self.borrowed(job.share, unit) > 0 for unit, n in short.items()
            )
        ]
        taken: list[Job] = []
        still_short = dict(short)
        for job in self.in_victim_order(candidates, short):
            if not any(still_short.values()):
                break
            rest = self.without(taken)
            if any(
                n > 0 and unit in job.need and rest.borrowed(job.share, unit) > 0 for unit, n in still_short.items()
            ):
                taken.append(job)
                still_short = {unit: max(0, n - job.need.get(unit, 0)) for unit, n in still_short.items()}
        if any(still_short.values()):
            return []
        for job in reversed(list(taken)):
            rest_of_taken = [other for other in taken if other is not job]
            if all(sum(other.need.get(unit, 0) for other in rest_of_taken) >= n for unit, n in short.items()):
                taken = rest_of_taken
        return taken

    def in_share_victims(self, head: Job) -> list[Job]:
        """The lower jobs of the head's share to stop so that it could go. Empty: it waits, or there is no such set."""
        candidates = [
            job
            for job in self.jobs
            if job.share is head.share
            and self.is_candidate(job)
            and job.priority < head.priority
            and job.need.keys() & head.need.keys()
        ]
        order = self.in_victim_order(candidates, head.need)
        prefixes = [order[:length] for length in range(len(order) + 1)]
        taken = next((prefix for prefix in prefixes if self.could_go_without(prefix, head)), [])
        for job in reversed(list(taken)):
            rest_of_taken = [other for other in taken if other is not job]
            if self.could_go_without(rest_of_taken, head):
                taken = rest_of_taken
        return taken

    # Section 6: what happens to a job

    def submit(self, job: Job) -> None:
        job.queue_time = job.runnable_since = job.submitted_at
        if job.share.state is ShareState.DISABLED:  # decision 10
            self.finish(job, Phase.FAILED, Reason.SHARE_DISABLED)
        else:
            job.phase = Phase.RUNNABLE

    def dispatch(self, job: Job) -> None:
        self.watcher.before_dispatch(self, job)
        earlier = [
            attempt for attempt in job.attempts if attempt.outcome is not AttemptOutcome.NO_CAPACITY
        ]  # decision 6
        provision = max(self.latency(self.assumptions.provision_seconds, unit) for unit in job.need)
        startup = max(self.latency(self.assumptions.startup_seconds, unit) for unit in job.need)
        outages = [event for event in self.applied if isinstance(event, Unavailable)]
        lacking = any(event.unit in job.need and event.at <= self.time < event.until for event in outages)
        attempt = Attempt(
            scheduled_at=self.time,
            resume=self.assumptions.resume_seconds if earlier else 0,
            running_due=None if lacking else self.time + provision + startup,
            returns_due=self.time + self.assumptions.capacity_retry_seconds if lacking else None,
        )
        job.attempts.append(attempt)
        self.dispatches.append((self.time, job.id))
        job.phase = Phase.SCHEDULED
        if attempt.running_due == self.time:
            self.move_to_running(job)

    def latency(self, table: dict[str, int], unit: str) -> int:
        return table[unit] if unit in table else table.get(DEFAULT_UNIT, 0)

    def move_to_running(self, job: Job) -> None:
        job.phase = Phase.RUNNING
        job.attempt.running_at = self.time

    def end(self, job: Job) -> None:
        """A RUNNING job ends by itself, or its attempt times out. In one instant the natural end wins (decision 3)."""
        if job.natural_end() > self.time:
            self.close_attempt(job, AttemptOutcome.TIMED_OUT)
            self.finish(job, Phase.FAILED, Reason.ATTEMPT_TIMED_OUT)
        elif job.fails:
            self.close_attempt(job, AttemptOutcome.FAILED)
            self.finish(job, Phase.FAILED, Reason.JOB_FAILED)
        else:
            self.close_attempt(job, AttemptOutcome.SUCCEEDED)
            self.finish(job, Phase.SUCCEEDED, Reason.NONE)

    def close_attempt(self, job: Job, outcome: AttemptOutcome) -> None:
        job.attempt.stopped_at = self.time
        job.attempt.outcome = outcome

    def finish(self, job: Job, phase: Phase, reason: Reason) -> None:
        job.phase = phase
        job.reason = reason
        job.finished_at = self.time

    def stop(self, victims: list[Job], claimant: Job, kind: PreemptionKind) -> None:
        """Stop preempted jobs. Those that are not RUNNING are released at once. It counts from here (decision 7)."""
        self.watcher.before_stop(self, victims, claimant, kind)
        for job in victims:
            lost = self.lose_work(job)
            job.preemptions += 1
            job.lost += lost
            self.preemptions.append(PreemptionRecord(self.time, job.id, claimant.id, kind, lost))
        for job in victims:
            if job.phase is Phase.RUNNING:
                job.phase = Phase.STOPPING
                job.attempt.stop_due = self.time + self.assumptions.stop_seconds
            else:
                self.release(job)

    def lose_work(self, job: Job) -> int:
        """Keep what survives a stop at this instant; returns the productive ms that do not survive."""
        done = job.survived
        if job.attempt.running_at is not None:
            done += max(0, self.time - job.attempt.running_at - job.attempt.resume)
        match job.checkpoint:
            case checkpoint if checkpoint == NONE:
                job.survived = 0
            case checkpoint if checkpoint == ON_STOP:
                job.survived = done
            case checkpoint:
                job.survived = done // checkpoint * checkpoint
        return done - job.survived

    def release(self, job: Job) -> None:
        """A preempted job gives its capacity back."""
        self.close_attempt(job, AttemptOutcome.PREEMPTED)
        if job.preemption_retries != NONE and job.preemptions > job.preemption_retries:
            self.finish(job, Phase.FAILED, Reason.PREEMPTION_RETRIES_EXHAUSTED)
            return
        job.phase = Phase.RUNNABLE
        job.runnable_since = self.time
        if self.assumptions.requeue_position is RequeuePosition.BACK:
            job.queue_time = self.time

    def return_for_want_of_capacity(self, job: Job) -> None:
        """Section 7, unavailable: back to RUNNABLE in its old place (decision 8)."""
        self.close_attempt(job, AttemptOutcome.NO_CAPACITY)
        job.phase = Phase.RUNNABLE
        job.runnable_since = self.time

    # Section 7: control events

    def job(self, name: str) -> Job:
        (job,) = (job for job in self.jobs if job.id == name)
        return job

    def share(self, name: str) -> Share:
        (share,) = (share for share in self.shares if share.name == name)
        return share

    def apply_control_event(self, event: ControlEvent) -> None:
        match event:
            case UpdatePriority():
                self.job(event.job).priority = event.priority
            case UpdateShare():
                self.update_share(self.share(event.share), event)
            case SetShareState():
                self.share(event.share).state = event.state
            case UpdateCapacity():
                self.capacity[event.unit] = event.capacity
            case Terminate():
                self.terminate(self.job(event.job))
            case Unavailable():
                pass  # looked at by each dispatch

    def update_share(self, share: Share, event: UpdateShare) -> None:
        """The fields that it names are replaced, the whole of the limits included."""
        if event.limits is not None:
            share.limits = dict(event.limits)
        if event.strategy is not None:
            share.strategy = event.strategy
        if event.borrow_limit is not None:
            share.borrow_limit = event.borrow_limit
        if event.in_share_preemption is not None:
            share.in_share_preemption = event.in_share_preemption

    def terminate(self, job: Job) -> None:
        """A RUNNABLE job ends at once, a dispatched or stopping one is released at once: FAILED (decision 9)."""
        if job.holds_capacity:
            self.close_attempt(job, AttemptOutcome.TERMINATED)
        if job.holds_capacity or job.phase is Phase.RUNNABLE:
            self.finish(job, Phase.FAILED, Reason.TERMINATED)

    def misconfiguration(self, job: Job) -> Reason:
        """Why a job could never run, by the first of AWS's four tests that it fails. NONE: it could."""
        share = job.share
        if any(n > self.environment(unit) for unit, n in job.need.items()):
            return Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE
        if share.strategy is not ResourceSharingStrategy.LEND_AND_BORROW:
            above = any(n > share.limit(unit) for unit, n in job.need.items())
            return Reason.LIMIT_EXCEEDED if above else Reason.NONE
        for unit, n in job.need.items():
            cap = self.borrow_cap(share, unit)
            if cap is not None and n > share.limit(unit) + cap:
                return Reason.BORROW_LIMIT_EXCEEDED
        for unit, n in job.need.items():
            lent = sum(other.limit(unit) for other in self.other_lenders(share))
            if n > share.limit(unit) + lent + self.unallocated(unit):
                return Reason.BORROWABLE_EXCEEDED
        return Reason.NONE

    def time_limit_due(self, lane: Lane) -> int | None:
        """When the RUNNABLE time-limit action for the lane's misconfigured head falls due, if there is one."""
        seen = self.misconfigured.get(lane)
        if seen is None or seen.action not in self.time_limits:
            return None
        return seen.since + self.time_limits[seen.action]

    def apply_time_limit(self, seen: Misconfiguration) -> None:
        """FAILED, unless the job is no longer RUNNABLE (decision 16)."""
        if seen.job.phase is not Phase.RUNNABLE:
            return
        if seen.reason is Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE:
            self.finish(seen.job, Phase.FAILED, Reason.TIME_LIMIT_SERVICE_ENVIRONMENT)
        else:
            self.finish(seen.job, Phase.FAILED, Reason.TIME_LIMIT_QUOTA_MANAGEMENT)

    # The outcome

    def outcome(self) -> OracleOutcome:
        jobs = tuple(self.record(job) for job in self.jobs)
        return OracleOutcome(jobs, tuple(self.dispatches), tuple(self.preemptions))

    def record(self, job: Job) -> JobRecord:
        statuses = {
            Phase.NOT_SUBMITTED: JobStatus.SUBMITTED,
            Phase.RUNNABLE: JobStatus.RUNNABLE,
            Phase.SCHEDULED: JobStatus.RUNNING,
            Phase.RUNNING: JobStatus.RUNNING,
            Phase.STOPPING: JobStatus.RUNNING,
            Phase.SUCCEEDED: JobStatus.SUCCEEDED,
            Phase.FAILED: JobStatus.FAILED,
        }
        blocked = [seen.reason for seen in self.misconfigured.values() if seen.job is job]
        return JobRecord(
            id=job.id,
            status=statuses[job.phase],
            reason=blocked[0] if blocked and job.phase is Phase.RUNNABLE else job.reason,
            first_scheduled_at=job.attempts[0].scheduled_at if job.attempts else None,
            finished_at=job.finished_at,
            preemptions=job.preemptions,
            lost=job.lost,
            attempts=tuple(AttemptRecord(a.scheduled_at, a.running_at, a.stopped_at, a.outcome) for a in job.attempts),
        )


def make_shares(topology: Topology) -> list[Share]:
    return [
        Share(
            name=owned.name,
            limits=dict(owned.share.capacity),
            strategy=owned.share.strategy,
            borrow_limit=UNLIMITED if owned.share.borrow_limit is None else owned.share.borrow_limit,
            in_share_preemption=owned.share.in_share_preemption,
            state=owned.share.state,
        )
        for owned in topology.quota_shares()
    ]


def make_jobs(trace: JobTrace, shares: list[Share]) -> list[Job]:
    by_name = {share.name: share for share in shares}
    return [
        Job(
            seq=row,
            id=str(trace.job_id[row]),
            share=by_name[trace.share_names[trace.share[row]]],
            need={unit: int(n) for unit, n in zip(trace.units, trace.needs[trace.need[row]], strict=True) if n > 0},
            priority=int(trace.priority[row]),
            submitted_at=int(trace.submitted_at[row]),
            runtime=int(trace.runtime[row]),
            preemption_retries=int(trace.preemption_retries[row]),
            checkpoint=int(trace.checkpoint[row]),
            attempt_timeout=int(trace.attempt_timeout[row]),
            fails=bool(trace.fails[row]),
        )
        for row in range(len(trace))
    ]


def make_lanes(shares: list[Share], jobs: list[Job], head_of_line: HeadOfLine) -> list[Lane]:
    """One lane a share, or under `per_unit` one for each set of units, in the order in which they first occur."""
    if head_of_line is not HeadOfLine.PER_UNIT:
        return [Lane(share, None) for share in shares]
    sets = list(dict.fromkeys(frozenset(job.need) for job in jobs))
    return [
        Lane(share, units)
        for share in shares
        for units in sets
        if any(job.share is share and frozenset(job.need) == units for job in jobs)
    ]


def replay(
    topology: Topology,
    trace: JobTrace,
    events: Sequence[ControlEvent] = (),
    assumptions: Assumptions | None = None,
    until: int | None = None,
    *,
    watcher: Watcher | None = None,
) -> OracleOutcome:
    """Replay a trace, to its end or to `until` (ms). The topology's assumptions are used unless others are given."""
    assumptions = topology.assumptions if assumptions is None else assumptions
    shares = make_shares(topology)
    jobs = make_jobs(trace, shares)
    time_limits: dict[str, int] = {}
    for limit in topology.queue.time_limits:
        time_limits[limit.reason] = min(limit.after, time_limits.get(limit.reason, limit.after))
    scheduler = Scheduler(
        assumptions=assumptions,
        capacity=dict(topology.capacity),
        shares=shares,
        jobs=jobs,
        lanes=make_lanes(shares, jobs, assumptions.head_of_line),
        time_limits=time_limits,
        events=sorted(events, key=lambda event: event.at),
        watcher=watcher or Watcher(),
    )
    scheduler.run(until)
    return scheduler.outcome()


def in_columns(topology: Topology, trace: JobTrace, events: Sequence[ControlEvent], outcome: OracleOutcome) -> Outcome:
    """The oracle's outcome as the replay gives it, under the topology's assumptions."""

    def came(time: int | None) -> int:
        return NEVER if time is None else time

    def column(values: Iterable[int], dtype: type[np.signedinteger]) -> npt.NDArray[np.signedinteger]:
        return np.array(list(values), dtype=dtype)

    row_of = {job.id: row for row, job in enumerate(outcome.jobs)}
    left = {job.id: list(job.attempts) for job in outcome.jobs}
    attempts = [(row_of[name], left[name].pop(0)) for _, name in outcome.dispatches]
    times = [time for job in outcome.jobs for time in (job.finished_at, job.first_scheduled_at) if time is not None]
    return Outcome(
        topology=topology,
        trace=trace,
        events=tuple(events),
        assumptions=topology.assumptions,
        ended_at=max(times, default=0),
        jobs=Jobs(
            status=column((job.status for job in outcome.jobs), np.int8),
            reason=column((job.reason for job in outcome.jobs), np.int8),
            first_scheduled_at=column((came(job.first_scheduled_at) for job in outcome.jobs), np.int64),
            finished_at=column((came(job.finished_at) for job in outcome.jobs), np.int64),
            preemptions=column((job.preemptions for job in outcome.jobs), np.int32),
            lost=column((job.lost for job in outcome.jobs), np.int64),
        ),
        attempts=Attempts(
            job=column((row for row, _ in attempts), np.int32),
            scheduled_at=column((attempt.scheduled_at for _, attempt in attempts), np.int64),
            running_at=column((came(attempt.running_at) for _, attempt in attempts), np.int64),
            stopped_at=column((came(attempt.stopped_at) for _, attempt in attempts), np.int64),
            outcome=column((attempt.outcome for _, attempt in attempts), np.int8),
        ),
        preemptions=Preemptions(
            at=column((one.at for one in outcome.preemptions), np.int64),
            victim=column((row_of[one.victim] for one in outcome.preemptions), np.int32),
            claimant=column((row_of[one.claimant] for one in outcome.preemptions), np.int32),
            kind=column((one.kind for one in outcome.preemptions), np.int8),
            lost=column((one.lost for one in outcome.preemptions), np.int64),
        ),
    )

"""What would have prevented a job's preemptions, its lost work or its longest wait: single changes, tried by replays.

Changes are tried from those that touch least: of the job itself, of its own share, then of another share. Of a kind
that has amounts, such as a limit, the largest is tried first; if that helps, the smallest that helps is looked for by
bisection, which takes it that more helps no less. What is told to work was replayed, and worked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from policy_engine.explanation.life import JobLife
from policy_engine.explanation.standing import rivals, stays
from policy_engine.explanation.waits import needs_of
from policy_engine.scheduler.outcome import NEVER, JobStatus, Outcome, PreemptionKind
from policy_engine.scheduler.replay import replay
from policy_engine.topology import UNLIMITED, OwnedShare, QuotaShare, ResourceSharingStrategy, Topology
from policy_engine.topology.service_limits import MAX_SCHEDULING_PRIORITY
from policy_engine.trace import NONE, ON_STOP, JobTrace

MOST_REPLAYS = 40
MUCH_LESS = 10
"""A wait, or lost work, is prevented if at most this part of it (one in ten) is left."""
_WORTH_PREVENTING = 60_000
"""ms: shorter waits are not looked at."""
_OTHERS_TRIED = 3
"""Shares other than the job's own whose strategy is tried."""
_CHECKPOINTS = (ON_STOP, 60_000, 300_000, 900_000, 1_800_000, 3_600_000)
"""From the one that saves most: when stopped, then every so many ms."""
_SETTLED = (JobStatus.SUCCEEDED, JobStatus.FAILED)

Progress = Callable[[int], None]


class Aim(StrEnum):
    """What is to be prevented."""

    PREEMPTION = "PREEMPTION"
    """That the job is preempted at all; it must not end later than it did."""
    LOSS = "LOSS"
    """That preemptions destroy its work: at most a tenth may be left."""
    WAIT = "WAIT"
    """Its longest wait: at most a tenth may be left, it must run, and not be preempted more often than before."""


class Kind(StrEnum):
    """What is changed."""

    PRIORITY = "PRIORITY"
    CHECKPOINT = "CHECKPOINT"
    BORROW_LIMIT = "BORROW_LIMIT"
    LIMIT = "LIMIT"
    IN_SHARE_PREEMPTION = "IN_SHARE_PREEMPTION"
    STRATEGY = "STRATEGY"


@dataclass(frozen=True, slots=True)
class Change:
    """A single change of the job or of a quota share."""

    kind: Kind
    share: str | None
    """None: of the job itself."""
    unit: str | None
    """For a limit."""
    before: int | str | bool
    """A priority, ms (or NONE, ON_STOP), percent (or -1), instances, a flag, or a strategy."""
    after: int | str | bool


@dataclass(frozen=True, slots=True)
class Effect:
    """What a replay shows of the job, and of the whole queue."""

    preemptions: int
    """Of the job."""
    lost: int
    """Productive ms of the job that they destroyed."""
    longest_wait: int
    """ms."""
    ended_at: int | None
    """ms; None if it had not by the end of the replay."""
    dispatched: bool
    """Whether it ran at all."""
    succeeded: bool
    queue_preemptions: int
    queue_lost: int
    """Instance-ms."""
    queue_wait: int
    """ms: all jobs' waits for their first dispatch, to the end of the replay at most."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A change that was replayed."""

    change: Change
    effect: Effect
    worked: bool


@dataclass(frozen=True, slots=True)
class Prevention:
    """What was tried for one aim."""

    aim: Aim
    found: tuple[Trial, ...]
    """For each kind of change that works its smallest, from the one that touches least. Empty: none was found."""
    trials: tuple[Trial, ...]
    """All that was replayed for it."""
    complete: bool
    """Whether everything was tried, within the bound on replays."""


@dataclass(frozen=True, slots=True)
class Preventions:
    """What would have prevented what."""

    base: Effect
    """Without any change."""
    by_aim: tuple[Prevention, ...]
    replays: int


def find_preventions(
    life: JobLife,
    *,
    most_replays: int = MOST_REPLAYS,
    until: int | None = None,
    on_progress: Progress | None = None,
) -> Preventions:
    """Look for single changes that would have prevented a job's preemptions, lost work and longest wait.

    `until` is where the replay of the outcome was told to stop. `on_progress` is called with the number of replays.
    """
    laboratory = _Laboratory(life.outcome, life.job, most_replays, until, on_progress or (lambda _done: None))
    base = effect_of(life.outcome, life.job)
    return Preventions(base, tuple(_prevention(life, aim, base, laboratory) for aim in _aims(base)), laboratory.replays)


def effect_of(outcome: Outcome, job: int) -> Effect:
    """What an outcome shows of a job and of its queue."""
    jobs, made = outcome.jobs, outcome.preemptions
    submitted = jobs.status != JobStatus.SUBMITTED
    first = jobs.first_scheduled_at.copy()
    undispatched = first == NEVER
    first[undispatched] = jobs.finished_at[undispatched]
    first[first == NEVER] = outcome.ended_at
    finished = int(jobs.finished_at[job])
    return Effect(
        preemptions=int(jobs.preemptions[job]),
        lost=int(jobs.lost[job]),
        longest_wait=max((end - start for start, end in stays(outcome, job)), default=0),
        ended_at=None if finished == NEVER else finished,
        dispatched=int(jobs.first_scheduled_at[job]) != NEVER,
        succeeded=JobStatus(jobs.status[job]) is JobStatus.SUCCEEDED,
        queue_preemptions=len(made.at),
        queue_lost=int((made.lost * outcome.instances_of_job[made.victim]).sum()),
        queue_wait=int((first - outcome.trace.submitted_at)[submitted].sum()),
    )


def _aims(base: Effect) -> Iterator[Aim]:
    if base.preemptions:
        yield Aim.PREEMPTION
    if base.lost:
        yield Aim.LOSS
    if base.longest_wait >= _WORTH_PREVENTING or not base.dispatched:
        yield Aim.WAIT


def _worked(aim: Aim, base: Effect, after: Effect) -> bool:
    match aim:
        case Aim.PREEMPTION:
            return after.preemptions == 0 and after.succeeded >= base.succeeded and _no_later(base, after)
        case Aim.LOSS:
            return after.lost * MUCH_LESS <= base.lost and _no_later(base, after)
        case Aim.WAIT:
            shorter = after.longest_wait * MUCH_LESS <= base.longest_wait or base.longest_wait < _WORTH_PREVENTING
            return after.dispatched and shorter and after.preemptions <= base.preemptions


def _no_later(base: Effect, after: Effect) -> bool:
    if base.ended_at is None or not base.succeeded:
        return True
    return after.ended_at is not None and after.ended_at <= base.ended_at


class _OutOfReplaysError(Exception):
    """The bound is reached."""


class _Laboratory:
    """Replays changes, each once, and counts."""

    def __init__(self, outcome: Outcome, job: int, most: int, until: int | None, on_progress: Progress) -> None:
        self._outcome = outcome
        self._job = job
        self._most = most
        self._until = until
        self._on_progress = on_progress
        self._known: dict[Change, Effect] = {}

    @property
    def replays(self) -> int:
        """How many there were."""
        return len(self._known)

    def effect(self, change: Change) -> Effect:
        """What the change comes to. Raises _OutOfReplaysError."""
        if change not in self._known:
            if self.replays >= self._most:
                raise _OutOfReplaysError
            outcome = self._outcome
            changed = replay(
                _changed_topology(outcome.topology, change),
                _changed_trace(outcome.trace, self._job, change),
                events=outcome.events,
                assumptions=outcome.assumptions,
                until=self._until,
                use_compiled=_compiled_already(),
            )
            self._known[change] = effect_of(changed, self._job)
            self._on_progress(self.replays)
        return self._known[change]


def _compiled_already() -> bool | None:
    """True if the compiled kernel is there, and so quicker also for small traces; else as the replay chooses."""
    from policy_engine.scheduler.machine_code import is_kept

    return True if is_kept() else None


def _changed_topology(topology: Topology, change: Change) -> Topology:
    if change.share is None:
        return topology
    (owned,) = (owned for owned in topology.quota_shares() if owned.name == change.share)
    share = owned.share
    updates: dict[Kind, dict[str, object]] = {
        Kind.BORROW_LIMIT: {"borrow_limit": change.after},
        Kind.LIMIT: {"capacity": {**share.capacity, str(change.unit): change.after}},
        Kind.IN_SHARE_PREEMPTION: {"in_share_preemption": change.after},
        Kind.STRATEGY: {"strategy": change.after},
    }
    team = topology.teams[owned.team]
    shares = {**team.shares, owned.name: share.model_copy(update=updates[change.kind])}
    teams = {**topology.teams, owned.team: team.model_copy(update={"shares": shares})}
    return topology.model_copy(update={"teams": teams})


def _changed_trace(trace: JobTrace, job: int, change: Change) -> JobTrace:
    match change.kind:
        case Kind.PRIORITY:
            priority = trace.priority.copy()
            priority[job] = int(change.after)
            return replace(trace, priority=priority)
        case Kind.CHECKPOINT:
            checkpoint = trace.checkpoint.copy()
            checkpoint[job] = int(change.after)
            return replace(trace, checkpoint=checkpoint)
        case _:
            return trace


def over_committed_by(topology: Topology, change: Change) -> int:
    """By how many instances a changed limit makes the limits exceed the environment's capacity, if it does."""
    if change.kind is not Kind.LIMIT:
        return 0
    unit = str(change.unit)
    shares = _changed_topology(topology, change).quota_shares()
    limits = sum(owned.share.capacity.get(unit, 0) for owned in shares)
    return max(0, limits - topology.capacity.get(unit, 0))


Ladder = Sequence[Change]
"""Changes of one kind, from the smallest to the largest."""


def _prevention(life: JobLife, aim: Aim, base: Effect, laboratory: _Laboratory) -> Prevention:
    trials: dict[Change, Trial] = {}
    found: list[Trial] = []

    def works(change: Change) -> bool:
        effect = laboratory.effect(change)
        trials[change] = Trial(change, effect, _worked(aim, base, effect))
        return trials[change].worked

    complete = True
    try:
        for ladder in _ladders(life, aim):
            smallest = _smallest(ladder, works)
            if smallest is not None:
                found.append(trials[smallest])
    except _OutOfReplaysError:
        complete = False
    return Prevention(aim, tuple(found), tuple(trials.values()), complete)


def _smallest(ladder: Ladder, works: Callable[[Change], bool]) -> Change | None:
    """The smallest change of a ladder that works, by bisection, or None if the largest does not."""
    if not ladder or not works(ladder[-1]):
        return None
    low, high = 0, len(ladder) - 1  # The one at `high` works.
    while low < high:
        middle = (low + high) // 2
        if works(ladder[middle]):
            high = middle
        else:
            low = middle + 1
    return ladder[high]


def _ladders(life: JobLife, aim: Aim) -> Iterator[Ladder]:
    """What is tried for an aim, from what touches least."""
    (owned,) = (owned for owned in life.outcome.topology.quota_shares() if owned.name == life.share)
    if aim is Aim.LOSS:
        yield _checkpoints(life)
        return
    yield _priorities(life, owned.share)
    if aim is Aim.WAIT:
        yield _borrow_limits(life, owned)
    for unit, need in needs_of(life.outcome, life.job):
        yield _limits(life, owned, unit, need)
    yield from _flags(life, owned, aim)
    if aim is Aim.WAIT:
        yield from _strategies_of_others(life)


def _checkpoints(life: JobLife) -> Ladder:
    """From the longest interval, which is least to ask of a job, to a checkpoint when stopped."""
    now = int(life.outcome.trace.checkpoint[life.job])
    better = [each for each in _CHECKPOINTS if now == NONE or each == ON_STOP or (now != ON_STOP and each < now)]
    return [Change(Kind.CHECKPOINT, None, None, now, each) for each in reversed(better) if each != now]


def _priorities(life: JobLife, share: QuotaShare) -> Ladder:
    """Just above each priority in its line that is not below its own, within what submitters may ask for."""
    outcome = life.outcome
    own = int(outcome.trace.priority[life.job])
    most = MAX_SCHEDULING_PRIORITY if share.max_priority is None else share.max_priority
    others = set(outcome.trace.priority[rivals(outcome, life.job)].tolist())
    for run in life.runs:
        if run.preemption is not None:
            others |= {candidate.priority for candidate in run.preemption.candidates}
    steps = sorted({int(other) + 1 for other in others if own <= other < most})
    return [Change(Kind.PRIORITY, None, None, own, step) for step in steps]


def _borrow_limits(life: JobLife, owned: OwnedShare) -> Ladder:
    """The percentages that allow one instance more each, and no limit at all."""
    share = owned.share
    if not share.strategy.borrows or share.borrow_percent == UNLIMITED:
        return []
    now = share.borrow_percent
    percents: set[int] = set()
    for unit, limit in share.capacity.items():
        cap = share.borrow_cap(unit) or 0
        most = life.outcome.topology.capacity.get(unit, 0) - limit
        percents |= {-(-100 * count // limit) for count in range(cap + 1, most + 1) if limit}
    steps = [*sorted(percent for percent in percents if percent > now), UNLIMITED]
    return [Change(Kind.BORROW_LIMIT, owned.name, None, now, step) for step in steps]


def _limits(life: JobLife, owned: OwnedShare, unit: str, need: int) -> Ladder:
    """One instance more each, up to the whole environment's capacity."""
    now = owned.share.capacity.get(unit, 0)
    least = max(now + 1, need if not owned.share.strategy.borrows else 1)
    most = life.outcome.topology.capacity.get(unit, 0)
    return [Change(Kind.LIMIT, owned.name, unit, now, step) for step in range(least, most + 1)]


def _flags(life: JobLife, owned: OwnedShare, aim: Aim) -> Iterator[Ladder]:
    """In-share preemption and the strategy of its own share."""
    share, name = owned.share, owned.name
    in_share = any(run.preemption and run.preemption.kind is PreemptionKind.IN_SHARE for run in life.runs)
    if aim is Aim.PREEMPTION and share.in_share_preemption and in_share:
        yield [Change(Kind.IN_SHARE_PREEMPTION, name, None, before=True, after=False)]
    if aim is Aim.WAIT and not share.in_share_preemption:
        yield [Change(Kind.IN_SHARE_PREEMPTION, name, None, before=False, after=True)]
    wanted = ResourceSharingStrategy.LEND_AND_BORROW if aim is Aim.WAIT else ResourceSharingStrategy.LEND
    if share.strategy.borrows is not wanted.borrows:
        yield [Change(Kind.STRATEGY, name, None, share.strategy, wanted)]


def _strategies_of_others(life: JobLife) -> Iterator[Ladder]:
    """Shares that reserve what the job needs, those with the highest limits first, might lend it."""
    units = [unit for unit, _ in needs_of(life.outcome, life.job)]
    reserved = [
        owned
        for owned in life.outcome.topology.quota_shares()
        if owned.name != life.share
        and not owned.share.strategy.lends
        and any(owned.share.capacity.get(unit, 0) for unit in units)
    ]
    reserved.sort(key=lambda owned: -max(owned.share.capacity.get(unit, 0) for unit in units))
    for owned in reserved[:_OTHERS_TRIED]:
        strategy = owned.share.strategy
        yield [Change(Kind.STRATEGY, owned.name, None, strategy, ResourceSharingStrategy.LEND)]

"""Finds jobs that are preempted over and over without getting anywhere.

The usual one is bigger than its own share's limit, so that it runs only on borrowed capacity: whenever the lenders want
it back the job is stopped, and if nothing of it survives it starts from zero. AWS's default, unlimited requeueing,
lets that go on for ever.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from policy_engine.scheduler.outcome import JobStatus, Outcome, PreemptionKind
from policy_engine.scheduler.usage import terms_over_time
from policy_engine.trace import NONE, ON_STOP
from policy_engine.trace.jobs import Int64

FUTILE_STOPS = 3
"""So many preemptions in a row without progress make a livelock."""


class Cause(StrEnum):
    """Why a job gets nowhere."""

    NEEDS_MORE_THAN_ITS_LIMIT = "NEEDS_MORE_THAN_ITS_LIMIT"
    """It needs more of a unit than its share's limit, so it runs only on borrowed capacity."""
    SHARE_BORROWS = "SHARE_BORROWS"
    """It fits its share's limit, but others of its share used that up, so it ran on borrowed capacity."""
    OUTRANKED = "OUTRANKED"
    """Jobs of its own share with higher priority displaced it."""
    NO_CHECKPOINT = "NO_CHECKPOINT"
    """Nothing survives a stop."""
    CHECKPOINT_TOO_SELDOM = "CHECKPOINT_TOO_SELDOM"
    """It is stopped before its next checkpoint."""
    NEVER_GOT_TO_WORK = "NEVER_GOT_TO_WORK"
    """Every time it was stopped before productive work: while starting, or while reading its checkpoint back."""
    UNLIMITED_RETRIES = "UNLIMITED_RETRIES"
    """It has no limit of preemption retries."""


@dataclass(frozen=True, slots=True)
class Livelock:
    """A job that was stopped many times in a row, and had got no further each time."""

    job: int
    """Row of the trace."""
    share: int
    """Number in the outcome's `share_names`."""
    stops: int
    """Preemptions in a row without progress: the job's longest such run."""
    first_at: int
    """ms: the first of them."""
    last_at: int
    lost: int
    """Instance-ms of work that they destroyed."""
    worked: int
    """Productive ms between one dispatch and the next stop, on average."""
    claimants: tuple[tuple[str, int], ...]
    """Shares in whose favour it was stopped, and how often, most often first."""
    above_limit: tuple[tuple[str, int, int], ...]
    """Units that it needs more of than its share's limit at the last stop: unit, need, limit."""
    causes: tuple[Cause, ...]
    status: JobStatus
    """At the end of the replay."""

    @property
    def period(self) -> int:
        """Milliseconds from one stop to the next, on average."""
        return (self.last_at - self.first_at) // (self.stops - 1)


@dataclass(frozen=True, eq=False, slots=True)
class Livelocks:
    """All livelocks of an outcome, one row a job, those that lost most first."""

    outcome: Outcome
    job: Int64
    stops: Int64
    lost: Int64
    """Instance-ms."""
    first_row: Int64
    """In `rows`, where the stops of the job's run begin."""
    rows: Int64
    """Rows of preempted attempts, by job, then in order."""

    def __len__(self) -> int:
        return len(self.job)

    def worst(self, most: int) -> list[Livelock]:
        """Those that lost most instance-hours, with what there is to say of each."""
        return [self._described(row) for row in range(min(most, len(self)))]

    def _described(self, row: int) -> Livelock:
        outcome = self.outcome
        first, stops = int(self.first_row[row]), int(self.stops[row])
        attempts = self.rows[first : first + stops]
        stopped_by = outcome.work.preemption[attempts]
        at = outcome.preemptions.at[stopped_by]
        job = int(self.job[row])
        share = int(outcome.share_of_job[job])
        claimants = Counter(outcome.share_of_job[outcome.preemptions.claimant[stopped_by]].tolist())
        worked = int(outcome.work.worked[attempts].mean())
        above = _above_limit(outcome, job, int(at[-1]))
        return Livelock(
            job=job,
            share=share,
            stops=stops,
            first_at=int(at[0]),
            last_at=int(at[-1]),
            lost=int(self.lost[row]),
            worked=worked,
            claimants=tuple((outcome.share_names[number], count) for number, count in claimants.most_common()),
            above_limit=above,
            causes=tuple(_causes(outcome, job, set(outcome.preemptions.kind[stopped_by].tolist()), above, worked)),
            status=JobStatus(outcome.jobs.status[job]),
        )


def find_livelocks(outcome: Outcome) -> Livelocks:
    """Find jobs that were preempted `FUTILE_STOPS` times in a row or more with all work since the last stop lost."""
    work, attempted = outcome.work, outcome.attempts.job
    preempted = np.flatnonzero(work.preempted)
    rows = preempted[np.argsort(attempted[preempted], kind="stable")]
    job = attempted[rows].astype(np.int64)
    futile = work.lost[rows] == work.worked[rows]
    begins = np.append(np.ones(min(len(job), 1), dtype=np.bool_), job[1:] != job[:-1]) | ~futile
    first = np.flatnonzero(begins)
    length = np.diff(np.append(first, len(job)))
    first, length = np.where(futile[first], first, first + 1), np.where(futile[first], length, length - 1)
    long = length >= FUTILE_STOPS
    first, length = first[long], length[long]
    longest = np.lexsort((first, -length, job[first]))
    first, length = first[longest], length[longest]
    distinct = np.append(np.ones(min(len(first), 1), dtype=np.bool_), job[first][1:] != job[first][:-1])
    first, length = first[distinct], length[distinct]
    lost = np.append(0, np.cumsum(work.lost[rows]))
    lost_in_run = (lost[first + length] - lost[first]) * outcome.instances_of_job[job[first]]
    order = np.lexsort((job[first], -length, -lost_in_run))
    return Livelocks(outcome, job[first][order], length[order], lost_in_run[order], first[order], rows)


def _above_limit(outcome: Outcome, job: int, at: int) -> tuple[tuple[str, int, int], ...]:
    share = tuple(outcome.topology.quota_shares())[outcome.share_of_job[job]]
    limits = [limits for since, limits, _ in terms_over_time(outcome, share) if since <= at][-1]
    need = outcome.trace.needs[outcome.trace.need[job]].tolist()
    pairs = zip(outcome.trace.units, need, strict=True)
    return tuple((unit, count, limits.get(unit, 0)) for unit, count in pairs if count > limits.get(unit, 0))


def _causes(outcome: Outcome, job: int, kinds: set[int], above_limit: Sequence[object], worked: int) -> list[Cause]:
    checkpoint = int(outcome.trace.checkpoint[job])
    causes = []
    if PreemptionKind.CROSS_SHARE in kinds:
        causes.append(Cause.NEEDS_MORE_THAN_ITS_LIMIT if above_limit else Cause.SHARE_BORROWS)
    if PreemptionKind.IN_SHARE in kinds:
        causes.append(Cause.OUTRANKED)
    if worked == 0:
        causes.append(Cause.NEVER_GOT_TO_WORK)
    elif checkpoint == NONE:
        causes.append(Cause.NO_CHECKPOINT)
    elif checkpoint != ON_STOP:
        causes.append(Cause.CHECKPOINT_TOO_SELDOM)
    if int(outcome.trace.preemption_retries[job]) == NONE:
        causes.append(Cause.UNLIMITED_RETRIES)
    return causes

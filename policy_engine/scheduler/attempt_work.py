"""What each attempt of a replay held, did and lost: derived from the outcome's columns, without a loop over jobs."""

from dataclasses import dataclass

import numpy as np

from policy_engine.scheduler.outcome import NEVER, AttemptOutcome, Outcome
from policy_engine.trace.jobs import Bool, Int32, Int64


@dataclass(frozen=True, eq=False, slots=True)
class AttemptWork:
    """One row an attempt, in the order of the outcome's attempts."""

    held_until: Int64
    """ms: when its capacity was released, or the end of the replay."""
    preemption: Int64
    """Row of the preemption that stopped it, or NEVER."""
    worked: Int64
    """Productive ms of the job (not multiplied by its instances), lost ones included."""
    lost: Int64
    """Those of them that its preemption destroyed, with those of earlier attempts that it destroyed too."""

    @property
    def preempted(self) -> Bool:
        """Whether it was told to stop, by the end of the replay."""
        stopped: Bool = self.preemption != NEVER
        return stopped


def attempt_work(outcome: Outcome) -> AttemptWork:
    """Derive what each attempt held, did and lost.

    An attempt works from RUNNING on, after `resume_seconds` if the job was preempted before, until it ends or is told
    to stop (scheduling model, section 6).
    """
    attempts, preemptions = outcome.attempts, outcome.preemptions
    held_until = np.where(attempts.stopped_at == NEVER, outcome.ended_at, attempts.stopped_at)
    by_job = np.argsort(attempts.job, kind="stable")
    stopped_by = _preemptions_of(outcome, by_job)
    preempted = stopped_by != NEVER
    works_until = held_until.copy()
    works_until[preempted] = preemptions.at[stopped_by[preempted]]
    resume = np.where(_resumes(attempts.job, preempted, by_job), outcome.assumptions.resume_seconds, 0)
    worked = np.where(attempts.running_at == NEVER, 0, np.maximum(works_until - attempts.running_at - resume, 0))
    lost = np.zeros(len(worked), dtype=np.int64)
    lost[preempted] = preemptions.lost[stopped_by[preempted]]
    return AttemptWork(held_until, stopped_by, worked, lost)


def _preemptions_of(outcome: Outcome, by_job: Int64) -> Int64:
    """For each attempt the preemption that stopped it, or NEVER.

    A job's preemptions belong, in order, to its attempts that ended PREEMPTED; one more belongs to its last attempt,
    if that was terminated, or the replay ended, while it was stopping.
    """
    job, ended = outcome.attempts.job[by_job], outcome.attempts.outcome[by_job]
    preempted = ended == AttemptOutcome.PREEMPTED
    counted = np.bincount(job[preempted], minlength=len(outcome.trace))
    still_stopping = outcome.jobs.preemptions > counted
    last_of_job = np.append(job[1:] != job[:-1], True)[: len(job)]
    preempted |= last_of_job & still_stopping[job]
    found = np.full(len(job), NEVER, dtype=np.int64)
    found[by_job[preempted]] = np.argsort(outcome.preemptions.victim, kind="stable")
    return found


def _resumes(job: Int32, preempted: Bool, by_job: Int64) -> Bool:
    """Whether an earlier attempt of the same job was preempted."""
    before: Int64 = np.cumsum(preempted[by_job]) - preempted[by_job]
    first = np.searchsorted(job[by_job], job[by_job])
    resumes = np.zeros(len(job), dtype=np.bool_)
    resumes[by_job] = before > before[first] if len(job) else False
    return resumes

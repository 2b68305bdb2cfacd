"""What happens to a job (scheduling model, section 6): submission, dispatch, running, stop, release, end."""

from policy_engine.scheduler.candidates import add_candidate, remove_candidate
from policy_engine.scheduler.marks import mark_share
from policy_engine.scheduler.outcome import AttemptOutcome, Reason
from policy_engine.scheduler.quantities import change_usage
from policy_engine.scheduler.queues import dequeue, enqueue, order_key, queue_time, share_of
from policy_engine.scheduler.state import (
    FAILED,
    NEVER,
    RUNNABLE,
    RUNNING,
    SCHEDULED,
    STOPPING,
    SUCCEEDED,
    UNSUBMITTED,
    State,
)
from policy_engine.scheduler.timers import push

CHECKPOINT_ON_STOP = -2
NO_CHECKPOINT = -1
NO_TIMEOUT = -1
UNLIMITED_RETRIES = -1

ATTEMPT_SUCCEEDED = int(AttemptOutcome.SUCCEEDED)
ATTEMPT_FAILED = int(AttemptOutcome.FAILED)
ATTEMPT_PREEMPTED = int(AttemptOutcome.PREEMPTED)
ATTEMPT_TERMINATED = int(AttemptOutcome.TERMINATED)
ATTEMPT_TIMED_OUT = int(AttemptOutcome.TIMED_OUT)
ATTEMPT_NO_CAPACITY = int(AttemptOutcome.NO_CAPACITY)

NO_REASON = int(Reason.NONE)
JOB_FAILED = int(Reason.JOB_FAILED)
TIMED_OUT = int(Reason.ATTEMPT_TIMED_OUT)
TERMINATED = int(Reason.TERMINATED)
RETRIES_EXHAUSTED = int(Reason.PREEMPTION_RETRIES_EXHAUSTED)
SHARE_DISABLED = int(Reason.SHARE_DISABLED)


def ask_for_pass(st: State) -> None:
    """Something changed that a scheduling pass may act on: run one at the next multiple of the interval."""
    st.register[0].last_event_at = st.register[0].now
    if st.register[0].pass_at == NEVER:
        at = st.register[0].now
        if st.setting[0].scheduler_interval > 0:
            at = -(-at // st.setting[0].scheduler_interval) * st.setting[0].scheduler_interval
        st.register[0].pass_at = at


def submit(st: State, job: int) -> None:
    """A job arrives: RUNNABLE, or FAILED where its share is DISABLED."""
    now = st.register[0].now
    st.register[0].last_event_at = now
    if st.shares[share_of(st, job)].disabled != 0:
        finish(st, job, FAILED, SHARE_DISABLED)
        return
    st.jobs[job].phase = RUNNABLE
    st.jobs[job].order_key = order_key(st, job, now)
    note_runnable(st, job)
    if enqueue(st, job):
        ask_for_pass(st)


def note_runnable(st: State, job: int) -> None:
    """Remember when a job last became RUNNABLE, where that decides anything."""
    if st.setting[0].fifo_by_runnable_since != 0:
        st.runnable_since[job] = st.register[0].now


def finish(st: State, job: int, phase: int, reason: int) -> None:
    """A job's end."""
    st.jobs[job].phase = phase
    st.jobs[job].reason = reason
    st.jobs[job].finished_at = st.register[0].now
    st.jobs[job].due = NEVER


def hold(st: State, job: int, used: int, kept: int) -> None:
    """Add (1) or subtract (-1) a job's need in what its share uses and keeps."""
    need = st.jobs[job].need
    share = share_of(st, job)
    mark_share(st, share)
    for i in range(st.need_start[need], st.need_start[need + 1]):
        quantity = st.entries[i].quantity
        change_usage(st, share, st.entries[i].unit, used * quantity, kept * quantity)


def dispatch(st: State, job: int) -> None:
    """RUNNABLE to SCHEDULED: the job holds its need from now on."""
    now = st.register[0].now
    dequeue(st, job)
    row = st.register[0].attempts
    st.register[0].attempts = row + 1
    st.register[0].dispatched += 1
    st.jobs[job].attempt = row
    st.attempts[row].job = job
    st.attempts[row].scheduled_at = now
    st.attempts[row].running_at = NEVER
    st.attempts[row].stopped_at = NEVER
    st.attempts[row].outcome = 0
    hold(st, job, 1, 1)
    st.jobs[job].phase = SCHEDULED
    st.jobs[job].due = NEVER
    need = st.jobs[job].need
    if lacks_capacity(st, need):
        st.attempts[row].outcome = ATTEMPT_NO_CAPACITY
        set_due(st, job, now + st.setting[0].capacity_retry_time)
        add_candidate(st, job)
    elif st.needs[need].latency > 0:
        push(st.start_time, st.start_job, st.register[0].starts, now + st.needs[need].latency, job)
        st.register[0].starts += 1
        add_candidate(st, job)
    else:
        start_running(st, job)
        if st.jobs[job].due > now:
            add_candidate(st, job)


def lacks_capacity(st: State, need: int) -> bool:
    """Whether SageMaker cannot provide a unit of the need at this instant."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.register[0].now < st.units[st.entries[i].unit].unavailable_until:
            return True
    return False


def set_due(st: State, job: int, time: int) -> None:
    """Set when the job's attempt ends as things stand."""
    st.jobs[job].due = time
    push(st.end_time, st.end_job, st.register[0].ends, time, job)
    st.register[0].ends += 1


def start_running(st: State, job: int) -> None:
    """The job is RUNNING from this instant; its end is known unless it is stopped."""
    now = st.register[0].now
    row = st.jobs[job].attempt
    st.jobs[job].phase = RUNNING
    st.attempts[row].running_at = now
    time = st.runtime[job] - st.jobs[job].done
    if st.jobs[job].preempted > 0:
        time += st.setting[0].resume_time
    outcome = ATTEMPT_FAILED if st.setting[0].some_fail != 0 and st.fails[job] != 0 else ATTEMPT_SUCCEEDED
    if st.setting[0].some_time_out != 0 and st.timeout[job] != NO_TIMEOUT and st.timeout[job] < time:
        time = st.timeout[job]
        outcome = ATTEMPT_TIMED_OUT
    st.attempts[row].outcome = outcome
    set_due(st, job, now + time)


def reach_running(st: State, job: int, at: int) -> None:
    """A start-up is over, unless the job has lost that attempt meanwhile."""
    if st.jobs[job].phase != SCHEDULED or st.jobs[job].due != NEVER:
        return
    if st.attempts[st.jobs[job].attempt].scheduled_at + st.needs[st.jobs[job].need].latency != at:
        return
    st.register[0].last_event_at = st.register[0].now
    start_running(st, job)
    if st.jobs[job].due <= st.register[0].now:
        remove_candidate(st, job)


def end_attempt(st: State, job: int, outcome: int) -> None:
    """Release what an attempt holds."""
    row = st.jobs[job].attempt
    st.attempts[row].stopped_at = st.register[0].now
    st.attempts[row].outcome = outcome
    st.register[0].dispatched -= 1
    st.jobs[job].due = NEVER
    if st.jobs[job].phase == STOPPING:
        st.shares[share_of(st, job)].stopping -= 1
        hold(st, job, -1, 0)
    else:
        remove_candidate(st, job)
        hold(st, job, -1, -1)
    ask_for_pass(st)


def reach_due(st: State, job: int, at: int) -> None:
    """An attempt has ended, or a preempted job has stopped, unless the entry no longer holds."""
    if st.jobs[job].due != at:
        return
    outcome = st.attempts[st.jobs[job].attempt].outcome
    end_attempt(st, job, outcome)
    if outcome == ATTEMPT_PREEMPTED:
        requeue_preempted(st, job)
    elif outcome == ATTEMPT_NO_CAPACITY:
        make_runnable(st, job, queue_time(st, job))
    elif outcome == ATTEMPT_SUCCEEDED:
        finish(st, job, SUCCEEDED, NO_REASON)
    else:
        finish(st, job, FAILED, TIMED_OUT if outcome == ATTEMPT_TIMED_OUT else JOB_FAILED)


def make_runnable(st: State, job: int, time: int) -> None:
    """Back to RUNNABLE, with this queue time."""
    st.jobs[job].phase = RUNNABLE
    st.jobs[job].order_key = order_key(st, job, time)
    note_runnable(st, job)
    enqueue(st, job)


def requeue_preempted(st: State, job: int) -> None:
    """A preempted job is released: RUNNABLE again, or FAILED when its retries are used up."""
    if st.retries[job] != UNLIMITED_RETRIES and st.jobs[job].preempted > st.retries[job]:
        finish(st, job, FAILED, RETRIES_EXHAUSTED)
    else:
        make_runnable(st, job, st.register[0].now if st.setting[0].requeue_at_back != 0 else queue_time(st, job))


def stop(st: State, job: int, claimant: int, kind: int) -> None:
    """Preempt a candidate: a RUNNING one holds its capacity while it stops, any other is released at once."""
    now = st.register[0].now
    lost = count_loss(st, job)
    row = st.register[0].preemptions
    st.register[0].preemptions = row + 1
    st.preemptions[row].at = now
    st.preemptions[row].victim = job
    st.preemptions[row].claimant = claimant
    st.preemptions[row].kind = kind
    st.preemptions[row].lost = lost
    st.jobs[job].preempted += 1
    if st.jobs[job].phase == RUNNING:
        remove_candidate(st, job)
        hold(st, job, 0, -1)
        st.jobs[job].phase = STOPPING
        st.shares[share_of(st, job)].stopping += 1
        st.attempts[st.jobs[job].attempt].outcome = ATTEMPT_PREEMPTED
        set_due(st, job, now + st.setting[0].stop_time)
    else:
        end_attempt(st, job, ATTEMPT_PREEMPTED)
        requeue_preempted(st, job)


def count_loss(st: State, job: int) -> int:
    """Productive ms of the present attempt that a stop destroys; what survives is carried over."""
    worked = 0
    if st.jobs[job].phase == RUNNING:
        worked = st.register[0].now - st.attempts[st.jobs[job].attempt].running_at
        if st.jobs[job].preempted > 0:
            worked = max(0, worked - st.setting[0].resume_time)
    total = st.jobs[job].done + worked
    survives = 0
    if st.checkpoint[job] == CHECKPOINT_ON_STOP:
        survives = total
    elif st.checkpoint[job] != NO_CHECKPOINT:
        survives = total // st.checkpoint[job] * st.checkpoint[job]
    st.jobs[job].done = survives
    return total - survives


def terminate(st: State, job: int) -> None:
    """End a job from outside. Does nothing to one that is not submitted yet or has ended."""
    phase = st.jobs[job].phase
    if phase in (UNSUBMITTED, SUCCEEDED, FAILED):
        return
    if phase == RUNNABLE:
        dequeue(st, job)
        ask_for_pass(st)
    else:
        end_attempt(st, job, ATTEMPT_TERMINATED)
    finish(st, job, FAILED, TERMINATED)

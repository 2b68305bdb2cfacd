"""The replay's loop (scheduling model, section 2): instant after instant, events in their order, then a pass."""

from policy_engine.scheduler.control import act_on_time_limits, apply_event, reconfigure
from policy_engine.scheduler.lifecycle import ask_for_pass, reach_due, reach_running, submit
from policy_engine.scheduler.scheduling_pass import end_pass, try_pass
from policy_engine.scheduler.state import FOREVER, NEVER, State
from policy_engine.scheduler.timers import pop

OVER, MORE, FULL = range(3)
"""Why `run` returned: nothing is left to do, the budget is used up, or a log or heap needs room."""


def run(st: State, until: int, budget: int) -> int:
    """Replay on from where the state stands, up to and including the instant `until`, for at most `budget` changes."""
    spent = 0
    if st.register[0].configuration == 0:
        reconfigure(st)
    while True:
        if st.register[0].in_pass != 0:
            while True:
                if not has_room(st):
                    return FULL
                if spent >= budget:
                    return MORE
                before = st.register[0].claim_changes
                if not try_pass(st):
                    st.register[0].settled_claim_changes = before
                    break
                spent += 1
            st.register[0].in_pass = 0
            st.register[0].pass_at = NEVER
            end_pass(st)
        time = next_instant(st)
        if time > until or time >= FOREVER:
            return OVER
        if spent >= budget:
            return MORE
        if not has_room(st):
            return FULL
        st.register[0].now = time
        spent += apply_instant(st, time)
        while st.register[0].ends > 0 and st.end_time[0] == time:
            spent += apply_instant(st, time)
        if st.register[0].pass_at == time:
            st.register[0].in_pass = 1


def has_room(st: State) -> bool:
    """Whether the logs and heaps can take what one change, or one entry of an instant, can add."""
    return (
        st.register[0].attempts < len(st.attempts)
        and st.register[0].preemptions + st.register[0].dispatched < len(st.preemptions)
        and st.register[0].ends + st.register[0].dispatched < len(st.end_job)
        and st.register[0].starts < len(st.start_job)
    )


def next_instant(st: State) -> int:
    """The next time at which anything is due."""
    time = FOREVER
    if st.register[0].next_submission < st.setting[0].job_count:
        time = st.submitted_at[st.register[0].next_submission]
    if st.register[0].ends > 0:
        time = min(time, st.end_time[0])
    if st.register[0].starts > 0:
        time = min(time, st.start_time[0])
    if st.register[0].next_event < len(st.events):
        time = min(time, st.events[st.register[0].next_event].at)
    time = min(time, st.register[0].next_deadline)
    if st.register[0].pass_at != NEVER:
        time = min(time, st.register[0].pass_at)
    return time


def apply_instant(st: State, time: int) -> int:
    """Apply all events of an instant in the model's order. Returns how many."""
    events = 0
    while st.register[0].ends > 0 and st.end_time[0] == time:
        job = st.end_job[0]
        pop(st.end_time, st.end_job, st.register[0].ends)
        st.register[0].ends -= 1
        reach_due(st, job, time)
        events += 1
    while st.register[0].next_event < len(st.events) and st.events[st.register[0].next_event].at == time:
        apply_event(st, st.register[0].next_event)
        st.register[0].next_event += 1
        events += 1
    if st.register[0].next_deadline <= time:
        act_on_time_limits(st)
        events += 1
    while (
        st.register[0].next_submission < st.setting[0].job_count
        and st.submitted_at[st.register[0].next_submission] == time
    ):
        submit(st, st.register[0].next_submission)
        st.register[0].next_submission += 1
        events += 1
    while st.register[0].starts > 0 and st.start_time[0] == time:
        job = st.start_job[0]
        pop(st.start_time, st.start_job, st.register[0].starts)
        st.register[0].starts -= 1
        reach_running(st, job, time)
        events += 1
    if st.register[0].claim_changes > st.register[0].settled_claim_changes and st.register[0].last_event_at == time:
        ask_for_pass(st)  # The last pass opened or dropped a claim on its way out, so the next one may act.
    return events

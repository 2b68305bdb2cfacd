"""Control events and RUNNABLE time-limit actions (scheduling model, section 7)."""

from policy_engine.scheduler.candidates import add_candidate, remove_candidate
from policy_engine.scheduler.lifecycle import ask_for_pass, finish, terminate
from policy_engine.scheduler.marks import follow_configuration, mark_all
from policy_engine.scheduler.outcome import Reason
from policy_engine.scheduler.quantities import sum_over_shares
from policy_engine.scheduler.queues import dequeue, enqueue, order_key, queue_time
from policy_engine.scheduler.state import (
    CANDIDATE,
    FAILED,
    FOREVER,
    NOBODY,
    RUNNABLE,
    SET_SHARE_STATE,
    SUCCEEDED,
    TERMINATE,
    UNAVAILABLE,
    UNCHANGED,
    UPDATE_CAPACITY,
    UPDATE_PRIORITY,
    UPDATE_SHARE,
    State,
)

STRATEGY_RESERVE, STRATEGY_LEND, STRATEGY_LEND_AND_BORROW = range(3)

TIME_LIMIT_SERVICE_ENVIRONMENT = int(Reason.TIME_LIMIT_SERVICE_ENVIRONMENT)
TIME_LIMIT_QUOTA_MANAGEMENT = int(Reason.TIME_LIMIT_QUOTA_MANAGEMENT)
SERVICE_ENVIRONMENT_MAX_RESOURCE = int(Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE)
LIMIT_EXCEEDED = int(Reason.LIMIT_EXCEEDED)
BORROW_LIMIT_EXCEEDED = int(Reason.BORROW_LIMIT_EXCEEDED)
BORROWABLE_EXCEEDED = int(Reason.BORROWABLE_EXCEEDED)


def apply_event(st: State, event: int) -> None:
    """Apply one control event."""
    kind = st.events[event].kind
    target = st.events[event].target
    value = st.events[event].value
    if kind == UPDATE_PRIORITY:
        update_priority(st, target, value)
    elif kind == UPDATE_SHARE:
        update_share(st, target, value)
    elif kind == SET_SHARE_STATE:
        st.shares[target].disabled = value
    elif kind == UPDATE_CAPACITY:
        st.units[target].capacity = value
        reconfigure(st)
    elif kind == TERMINATE:
        terminate(st, target)
    elif kind == UNAVAILABLE:
        st.units[target].unavailable_until = max(st.units[target].unavailable_until, value)
    ask_for_pass(st)


def update_priority(st: State, job: int, rank: int) -> None:
    """Give a job a new priority: as RUNNABLE it finds its new place, as a candidate too."""
    phase = st.jobs[job].phase
    if phase in (SUCCEEDED, FAILED):
        return
    waiting = phase == RUNNABLE
    candidate = st.jobs[job].candidate == CANDIDATE
    if waiting:
        dequeue(st, job)
    if candidate:
        remove_candidate(st, job)
    mark_all(st)
    time = queue_time(st, job)
    st.jobs[job].rank = rank
    st.jobs[job].order_key = order_key(st, job, time)
    if waiting:
        enqueue(st, job)
    if candidate:
        add_candidate(st, job)


def update_share(st: State, share: int, row: int) -> None:
    """Replace the fields of a share that the update names."""
    if st.updates[row].limits != UNCHANGED:
        for unit in range(st.setting[0].unit_count):
            st.cells[share * st.setting[0].unit_count + unit].limit = st.limits_table[
                st.updates[row].limits * st.setting[0].unit_count + unit
            ]
    if st.updates[row].strategy != UNCHANGED:
        strategy = st.updates[row].strategy
        st.shares[share].lends = 1 if strategy != STRATEGY_RESERVE else 0
        st.shares[share].reserves = 1 if strategy == STRATEGY_RESERVE else 0
        st.shares[share].borrows = 1 if strategy == STRATEGY_LEND_AND_BORROW else 0
    if st.updates[row].borrow_percent != UNCHANGED:
        st.shares[share].borrow_percent = st.updates[row].borrow_percent
    if st.updates[row].in_share != UNCHANGED:
        st.shares[share].in_share = st.updates[row].in_share
    reconfigure(st)


def reconfigure(st: State) -> None:
    """The configuration has changed: what follows from it is made anew, heads are judged again."""
    st.register[0].configuration += 1
    sum_over_shares(st)
    follow_configuration(st)


def judge_need(st: State, share: int, need: int) -> int:
    """Why a need can never be met with the present configuration: AWS's four tests in their order, or 0."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.entries[i].quantity > st.units[st.entries[i].unit].capacity:
            return SERVICE_ENVIRONMENT_MAX_RESOURCE
    for i in range(st.need_start[need], st.need_start[need + 1]):
        u = share * st.setting[0].unit_count + st.entries[i].unit
        if st.shares[share].borrows == 0 and st.entries[i].quantity > st.cells[u].limit:
            return LIMIT_EXCEEDED
        if st.shares[share].borrows != 0 and st.entries[i].quantity > st.cells[u].limit + st.cells[u].borrow_cap:
            return BORROW_LIMIT_EXCEEDED
    if st.shares[share].borrows != 0:
        for i in range(st.need_start[need], st.need_start[need + 1]):
            unit = st.entries[i].unit
            own = st.cells[share * st.setting[0].unit_count + unit].limit
            if st.entries[i].quantity > own + (st.units[unit].limits_of_lenders - own) + st.units[unit].unallocated:
                return BORROWABLE_EXCEEDED
    return 0


def judge_head(st: State, lane: int) -> None:
    """See whether the lane's head can ever run, and keep its clock."""
    row = st.lanes[lane]
    job = row.head
    if job == row.judged_head and st.register[0].configuration == row.judged_configuration:
        return
    reason = judge_need(st, row.share, st.jobs[job].need) if job >= 0 else 0
    action = NOBODY
    if reason != 0:
        action = 0 if reason == SERVICE_ENVIRONMENT_MAX_RESOURCE else 1
    if action < 0:
        row.stuck_until = FOREVER
    elif job != row.judged_head or action != row.stuck_action:
        limit = st.time_limit[action]
        row.stuck_until = st.register[0].now + limit if limit < FOREVER else FOREVER
        st.register[0].next_deadline = min(st.register[0].next_deadline, row.stuck_until)
    row.stuck_action = action
    row.blocked = reason
    row.judged_head = job
    row.judged_configuration = st.register[0].configuration


def find_next_deadline(st: State) -> None:
    """Note when the next time-limit action falls due."""
    deadline = FOREVER
    for lane in range(st.setting[0].lane_count):
        deadline = min(deadline, st.lanes[lane].stuck_until)
    st.register[0].next_deadline = deadline


def act_on_time_limits(st: State) -> None:
    """Fail the heads whose time-limit action falls due at this instant."""
    for lane in range(st.setting[0].lane_count):
        if st.lanes[lane].stuck_until > st.register[0].now:
            continue
        st.lanes[lane].stuck_until = FOREVER
        job = st.lanes[lane].judged_head
        if st.jobs[job].phase == RUNNABLE:
            dequeue(st, job)
            quota_management = st.lanes[lane].stuck_action == 1
            finish(st, job, FAILED, TIME_LIMIT_QUOTA_MANAGEMENT if quota_management else TIME_LIMIT_SERVICE_ENVIRONMENT)
            ask_for_pass(st)
    find_next_deadline(st)

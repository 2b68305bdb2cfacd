"""Claims of lanes: capacity that comes back to an entitled head, and in-share claims for one particular job.

Both are kept in lists in the order in which they were opened.
"""

from policy_engine.scheduler.marks import mark_all_waiting, mark_lane
from policy_engine.scheduler.queues import share_of
from policy_engine.scheduler.state import NEVER, NOBODY, PER_UNIT, State


def open_claim(st: State, lane: int) -> None:
    """Open the lane's claim, if there is none."""
    if st.lanes[lane].claim_at != NEVER:
        return
    st.register[0].claim_changes += 1
    st.lanes[lane].claim_at = st.register[0].opened
    st.register[0].opened += 1
    st.lanes[st.register[0].claims].claim_order = lane
    st.register[0].claims += 1


def drop_claim(st: State, lane: int) -> None:
    """Drop the lane's claim, if there is one."""
    if st.lanes[lane].claim_at == NEVER:
        return
    st.register[0].claim_changes += 1
    if st.lanes[lane].head >= 0:
        mark_lane(st, lane)
    mark_all_waiting(st)
    st.lanes[lane].claim_at = NEVER
    found = 0
    for i in range(st.register[0].claims):
        if st.lanes[i].claim_order == lane:
            found = 1
        elif found != 0:
            st.lanes[i - 1].claim_order = st.lanes[i].claim_order
    st.register[0].claims -= found


def open_in_share_claim(st: State, lane: int, job: int) -> None:
    """Open the lane's in-share claim for a job, in place of one for another job."""
    drop_in_share_claim(st, lane)
    st.register[0].claim_changes += 1
    st.lanes[lane].in_share_claim_job = job
    st.lanes[st.register[0].in_share_claims].in_share_claim_order = lane
    st.register[0].in_share_claims += 1


def drop_in_share_claim(st: State, lane: int) -> None:
    """Drop the lane's in-share claim, if there is one."""
    if st.lanes[lane].in_share_claim_job == NOBODY:
        return
    st.register[0].claim_changes += 1
    if st.lanes[lane].head >= 0:
        mark_lane(st, lane)
    mark_all_waiting(st)
    st.lanes[lane].in_share_claim_job = NOBODY
    found = 0
    for i in range(st.register[0].in_share_claims):
        if st.lanes[i].in_share_claim_order == lane:
            found = 1
        elif found != 0:
            st.lanes[i - 1].in_share_claim_order = st.lanes[i].in_share_claim_order
    st.register[0].in_share_claims -= found


def drop_both(st: State, lane: int) -> None:
    """Drop both claims of the lane."""
    drop_claim(st, lane)
    drop_in_share_claim(st, lane)


def lapse_in_share_claims(st: State) -> None:
    """End of a pass: an in-share claim lapses if its job is no longer the head, or nothing of the share is stopping."""
    i = 0
    while i < st.register[0].in_share_claims:
        lane = st.lanes[i].in_share_claim_order
        if st.lanes[lane].in_share_claim_job != st.lanes[lane].head or st.shares[st.lanes[lane].share].stopping == 0:
            drop_in_share_claim(st, lane)
        else:
            i += 1


def must_wait_for_in_share_claim(st: State, job: int) -> bool:
    """Whether an open in-share claim of the job's share, for a higher priority and a common unit, keeps it back."""
    share = share_of(st, job)
    for i in range(st.register[0].in_share_claims):
        lane = st.lanes[i].in_share_claim_order
        if st.lanes[lane].share != share:
            continue
        other = st.lanes[lane].in_share_claim_job
        if st.jobs[job].rank < st.jobs[other].rank:
            meet = st.needs[st.jobs[job].need].units * st.setting[0].set_count + st.needs[st.jobs[other].need].units
            if st.sets_meet[meet] != 0:
                return True
    return False


def passed_over(st: State, job: int) -> bool:
    """Under `per_unit`, whether a head is kept back by an in-share claim of another lane of its share."""
    return (
        st.setting[0].head_of_line == PER_UNIT
        and st.register[0].in_share_claims > 0
        and must_wait_for_in_share_claim(st, job)
    )

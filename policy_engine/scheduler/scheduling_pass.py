"""One scheduling pass (scheduling model, section 4), as a sequence of tries, each with at most one change."""

from policy_engine.scheduler.claims import (
    drop_both,
    drop_claim,
    drop_in_share_claim,
    lapse_in_share_claims,
    must_wait_for_in_share_claim,
    open_claim,
    open_in_share_claim,
    passed_over,
)
from policy_engine.scheduler.control import find_next_deadline, judge_head
from policy_engine.scheduler.lifecycle import dispatch, stop
from policy_engine.scheduler.outcome import PreemptionKind
from policy_engine.scheduler.quantities import (
    could_go,
    entitled,
    fits_later,
    fits_now,
    later,
    may_borrow,
    set_aside,
)
from policy_engine.scheduler.queues import deactivate, first_of_queue, goes_before, queue_time
from policy_engine.scheduler.state import BACKFILL, BY_DECLARATION, FOREVER, LEAST_USED, NEVER, NOBODY, State
from policy_engine.scheduler.victims import cross_share_victims, in_share_victims, outranks_any

CROSS_SHARE = int(PreemptionKind.CROSS_SHARE)
IN_SHARE = int(PreemptionKind.IN_SHARE)

ENTITLED, BORROWING = range(2)
"""The phases that dispatch."""


def try_pass(st: State) -> bool:
    """Phases A, B and C up to the first change. False when there is none: the pass is over."""
    for unit in range(st.setting[0].unit_count):
        st.units[unit].hold = 0
        st.units[unit].hold_now = 0
    return serve_entitled(st) or serve_borrowers(st) or preempt_in_share(st)


def end_pass(st: State) -> None:
    """What is settled once nothing changes any more."""
    if st.register[0].in_share_claims > 0:
        lapse_in_share_claims(st)
    if st.register[0].next_deadline < FOREVER:
        find_next_deadline(st)


# Phase A: entitled heads.


def serve_entitled(st: State) -> bool:
    """Lanes with a claim in opening order, then the others by share order. True on a change."""
    st.register[0].visit += 1
    visit = st.register[0].visit
    claims = st.register[0].claims
    for i in range(claims):
        st.lanes[i].claim_snapshot = st.lanes[i].claim_order
    for i in range(claims):
        lane = st.lanes[i].claim_snapshot
        st.lanes[lane].visited = visit
        if serve_entitled_lane(st, lane):
            return True
    if st.setting[0].share_order != BY_DECLARATION:
        return serve_in_share_order(st, visit)
    place = 0
    while place < st.register[0].active_lanes:
        lane = st.lanes[place].active_order
        if stays_put(st, lane):
            place += 1
            continue
        if st.lanes[lane].visited != visit and serve_entitled_lane(st, lane):
            return True
        if st.lanes[lane].active != 0:
            place += 1
    return False


def stays_put(st: State, lane: int) -> bool:
    """A quick yes where a lane without claims had nothing to do in a whole pass, and nothing that it needs has changed.

    Under `none` the jobs behind the head count too, so there is no quick yes.
    """
    row = st.lanes[lane]
    settled_at = st.register[0].settled_at
    if row.head < 0 or row.head_changed_at > settled_at or st.setting[0].head_of_line == BACKFILL:
        return False
    if row.claim_at != NEVER or row.in_share_claim_job != NOBODY:
        return False
    need = st.jobs[row.head].need
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.units[st.entries[i].unit].changed_at > settled_at:
            return False
    return True


def serve_in_share_order(st: State, visit: int) -> bool:
    """The active lanes that have not been visited, where their order depends on usage or heads. True on a change."""
    while True:
        best = NOBODY
        for place in range(st.register[0].active_lanes):
            lane = st.lanes[place].active_order
            if st.lanes[lane].visited == visit or stays_put(st, lane):
                continue
            if best < 0 or comes_before(st, lane, best):
                best = lane
        if best < 0:
            return False
        st.lanes[best].visited = visit
        if serve_entitled_lane(st, best):
            return True


def comes_before(st: State, lane: int, other: int) -> bool:
    """Whether a lane strictly precedes another that is declared earlier."""
    if st.setting[0].share_order == LEAST_USED:
        return less_used(st, st.lanes[lane].share, st.lanes[other].share)
    if st.lanes[lane].head < 0 or st.lanes[other].head < 0:
        return st.lanes[other].head < 0 <= st.lanes[lane].head
    return queue_time(st, st.lanes[lane].head) < queue_time(st, st.lanes[other].head)


def less_used(st: State, share: int, other: int) -> bool:
    """Whether the largest kept / limit of a share is smaller than another's, exactly."""
    kept, limit = largest_use(st, share)
    other_kept, other_limit = largest_use(st, other)
    return kept * other_limit < other_kept * limit


def largest_use(st: State, share: int) -> tuple[int, int]:
    """The largest kept / limit of a share as a fraction; (1, 0) without bound."""
    kept = 0
    limit = 1
    for i in range(share * st.setting[0].unit_count, (share + 1) * st.setting[0].unit_count):
        if st.cells[i].limit == 0:
            if st.cells[i].kept > 0:
                return 1, 0
        elif st.cells[i].kept * limit > kept * st.cells[i].limit:
            kept = st.cells[i].kept
            limit = st.cells[i].limit
    return kept, limit


def serve_entitled_lane(st: State, lane: int) -> bool:
    """A1 to A4 for one lane. True on a change."""
    judge_head(st, lane)
    head = st.lanes[lane].head
    if head < 0 or st.lanes[lane].blocked != 0:
        drop_both(st, lane)
        if head < 0:
            deactivate(st, lane)
        return False
    if passed_over(st, head):
        return False
    share = st.lanes[lane].share
    need = st.jobs[head].need
    if st.setting[0].head_of_line == BACKFILL:
        first = first_that_passes(st, lane, ENTITLED)
        if first >= 0:
            if first == head:
                drop_both(st, lane)
            dispatch(st, first)
            return True
    if not entitled(st, share, need):
        drop_claim(st, lane)
        return False
    if st.setting[0].head_of_line != BACKFILL and fits_now(st, share, need):
        drop_both(st, lane)
        dispatch(st, head)
        return True
    return claim(st, lane, head)


def claim(st: State, lane: int, head: int) -> bool:
    """A3 and A4: an entitled head that does not fit waits for stopping jobs, or has borrowers stopped."""
    share = st.lanes[lane].share
    need = st.jobs[head].need
    if fits_later(st, share, need):
        open_claim(st, lane)
        if st.shares[share].reserves == 0:
            set_aside(st, share, need)
        return False
    for unit in range(st.setting[0].unit_count):
        st.units[unit].short = 0
    for i in range(st.need_start[need], st.need_start[need + 1]):
        unit = st.entries[i].unit
        st.units[unit].short = max(0, st.entries[i].quantity - later(st, share, unit))
    victims = cross_share_victims(st, share)
    if victims == 0:
        drop_claim(st, lane)
        return False
    open_claim(st, lane)
    stop_all(st, victims, head, CROSS_SHARE)
    return True


def stop_all(st: State, victims: int, claimant: int, kind: int) -> None:
    """Stop the victims that a search has noted behind the end of the preemption log, in order of taking."""
    start = st.register[0].preemptions
    for i in range(victims):
        stop(st, st.preemptions[start + i].victim, claimant, kind)


def first_that_passes(st: State, lane: int, phase: int) -> int:
    """Under `none`: the first job of the lane that is entitled (or may borrow) and fits now, or NOBODY."""
    share = st.lanes[lane].share
    best = NOBODY
    for queue in range(st.lanes[lane].first_queue, st.lanes[lane + 1].first_queue):
        job = first_of_queue(st, queue)
        if job < 0 or (best >= 0 and not goes_before(st, job, best)):
            continue
        need = st.jobs[job].need
        allowed = may_borrow(st, share, need) if phase == BORROWING else entitled(st, share, need)
        if allowed and fits_now(st, share, need) and not must_wait_for_in_share_claim(st, job):
            best = job
    return best


# Phase B: borrowing.


def serve_borrowers(st: State) -> bool:
    """Heads with an open in-share claim in opening order, then the first by FIFO that can go. True on a change."""
    st.register[0].visit += 1
    visit = st.register[0].visit
    claims = st.register[0].in_share_claims
    for i in range(claims):
        st.lanes[i].claim_snapshot = st.lanes[i].in_share_claim_order
    for i in range(claims):
        lane = st.lanes[i].claim_snapshot
        if st.lanes[lane].in_share_claim_job == st.lanes[lane].head and wants_to_borrow(st, lane):
            st.lanes[lane].visited = visit
            if serve_borrower(st, lane):
                return True
    best = NOBODY
    best_job = NOBODY
    backfill = st.setting[0].head_of_line == BACKFILL
    for place in range(st.register[0].active_lanes):
        lane = st.lanes[place].active_order
        head = st.lanes[lane].head
        if head < 0 or st.shares[st.lanes[lane].share].borrows == 0 or st.lanes[lane].visited == visit:
            continue
        if not backfill and (lacks_room(st, st.jobs[head].need) or stays_put(st, lane)):
            continue
        if best >= 0 and not borrows_before(st, head, st.lanes[best].head):
            continue
        if not wants_to_borrow(st, lane):
            continue
        job = borrower_that_can_go(st, lane)
        if job >= 0:
            best = lane
            best_job = job
    if best < 0:
        return False
    dispatch(st, best_job)
    return True


def wants_to_borrow(st: State, lane: int) -> bool:
    """Whether the lane takes part in phase B: its share borrows and its head is not entitled."""
    share = st.lanes[lane].share
    head = st.lanes[lane].head
    if head < 0 or st.lanes[lane].blocked != 0 or st.shares[share].borrows == 0:
        return False
    return not entitled(st, share, st.jobs[head].need) and not passed_over(st, head)


def lacks_room(st: State, need: int) -> bool:
    """Whether a need exceeds what is physically free: a quick no for heads that only may borrow."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.entries[i].quantity > st.units[st.entries[i].unit].room:
            return True
    return False


def borrower_that_can_go(st: State, lane: int) -> int:
    """The job of the lane that B2 dispatches, or NOBODY."""
    if st.setting[0].head_of_line == BACKFILL:
        return first_that_passes(st, lane, BORROWING)
    head = st.lanes[lane].head
    need = st.jobs[head].need
    share = st.lanes[lane].share
    return head if may_borrow(st, share, need) and fits_now(st, share, need) else NOBODY


def serve_borrower(st: State, lane: int) -> bool:
    """B1 to B3 for a head with an in-share claim. True on a change."""
    head = st.lanes[lane].head
    share = st.lanes[lane].share
    job = borrower_that_can_go(st, lane)
    if job >= 0:
        if job == head:
            drop_in_share_claim(st, lane)
        dispatch(st, job)
        return True
    if may_borrow(st, share, st.jobs[head].need) and fits_later(st, share, st.jobs[head].need):
        set_aside(st, share, st.jobs[head].need)
    else:
        drop_in_share_claim(st, lane)
    return False


def borrows_before(st: State, job: int, other: int) -> bool:
    """FIFO among borrowing heads: by queue time or by when they became RUNNABLE, then seq."""
    if st.setting[0].fifo_by_runnable_since != 0:
        time = st.runnable_since[job]
        other_time = st.runnable_since[other]
    else:
        time = queue_time(st, job)
        other_time = queue_time(st, other)
    return time < other_time or (time == other_time and job < other)


# Phase C: in-share preemption.


def preempt_in_share(st: State) -> bool:
    """In declaration order: stop jobs of lower priority for heads that could go without them. True on a change."""
    if st.setting[0].rank_count == 1:
        return False
    for place in range(st.register[0].active_lanes):
        lane = st.lanes[place].active_order
        share = st.lanes[lane].share
        head = st.lanes[lane].head
        if head < 0 or st.shares[share].in_share == 0 or st.lanes[lane].blocked != 0 or st.jobs[head].rank == 0:
            continue
        if st.lanes[lane].claim_at != NEVER or st.lanes[lane].in_share_claim_job == head or passed_over(st, head):
            continue
        if stays_put(st, lane) or not outranks_any(st, head):
            continue
        for unit in range(st.setting[0].unit_count):
            st.units[unit].gone = 0
        if could_go(st, share, st.jobs[head].need):
            continue
        victims = in_share_victims(st, head)
        if victims > 0:
            open_in_share_claim(st, lane, head)
            stop_all(st, victims, head, IN_SHARE)
            return True
    return False

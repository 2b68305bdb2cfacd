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
from policy_engine.scheduler.marks import (
    forget_borrowing,
    forget_in_share,
    is_marked_entitled,
    lane_of,
    mark_all,
    unmark_borrowing,
    unmark_entitled,
    unmark_in_share,
)
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
from policy_engine.scheduler.queues import first_of_queue, goes_before, queue_time
from policy_engine.scheduler.state import BACKFILL, BY_DECLARATION, FOREVER, LEAST_USED, NEVER, NOBODY, WORD_BITS, State
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
    if st.setting[0].head_of_line == BACKFILL:
        mark_all(st)  # What stands behind the heads counts too, and has no marks of its own.
    return serve_entitled(st) or serve_borrowers(st) or preempt_in_share(st)


def end_pass(st: State) -> None:
    """What is settled once nothing changes any more."""
    if st.register[0].in_share_claims > 0:
        lapse_in_share_claims(st)
    if st.register[0].next_deadline < FOREVER:
        find_next_deadline(st)


# Phase A: entitled heads.


def serve_entitled(st: State) -> bool:
    """Phase A: lanes with a claim in opening order, then the others by share order. True on a change."""
    st.register[0].visit += 1
    if st.register[0].claims > 0 and serve_claims(st):
        return True
    if st.setting[0].share_order != BY_DECLARATION:
        return serve_in_share_order(st)
    for word in range(st.setting[0].word_count):
        left = st.marks[word].entitled
        while left != 0:
            bit = left & -left
            left ^= bit
            lane = lane_of(st, word, bit)
            if st.lanes[lane].visited != st.register[0].visit and serve_entitled_lane(st, lane):
                return True
    return False


def serve_claims(st: State) -> bool:
    """The lanes that have a claim. True on a change."""
    claims = st.register[0].claims
    for i in range(claims):
        st.lanes[i].claim_snapshot = st.lanes[i].claim_order
    for i in range(claims):
        lane = st.lanes[i].claim_snapshot
        st.lanes[lane].visited = st.register[0].visit
        if serve_entitled_lane(st, lane) if is_marked_entitled(st, lane) else serve_waiting_claim(st, lane):
            return True
    return False


def serve_waiting_claim(st: State, lane: int) -> bool:
    """A2 to A4 for a lane with a claim, whose head is entitled as it was. True on a change."""
    head = st.lanes[lane].head
    if passed_over(st, head):
        return False
    if fits_now(st, st.lanes[lane].share, st.lanes[lane].head_need):
        drop_both(st, lane)
        dispatch(st, head)
        return True
    return claim(st, lane, head)


def serve_in_share_order(st: State) -> bool:
    """The marked lanes that have not been visited, where their order depends on usage or heads. True on a change."""
    while True:
        best = NOBODY
        for word in range(st.setting[0].word_count):
            left = st.marks[word].entitled
            while left != 0:
                bit = left & -left
                left ^= bit
                lane = lane_of(st, word, bit)
                if st.lanes[lane].visited != st.register[0].visit and (best < 0 or comes_before(st, lane, best)):
                    best = lane
        if best < 0:
            return False
        st.lanes[best].visited = st.register[0].visit
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
        unmark_entitled(st, lane)
        forget_borrowing(st, lane)
        forget_in_share(st, lane)
        return False
    share = st.lanes[lane].share
    need = st.jobs[head].need
    if passed_over(st, head):
        if entitled(st, share, need):
            forget_borrowing(st, lane)  # Phase B may drop the claim that keeps it back, and is not for it even then.
        return False
    if st.setting[0].head_of_line == BACKFILL:
        first = first_that_passes(st, lane, ENTITLED)
        if first >= 0:
            if first == head:
                drop_both(st, lane)
            dispatch(st, first)
            return True
    if not entitled(st, share, need):
        drop_claim(st, lane)
        unmark_entitled(st, lane)
        return False
    if st.setting[0].head_of_line != BACKFILL and fits_now(st, share, need):
        drop_both(st, lane)
        dispatch(st, head)
        return True
    return claim(st, lane, head)


def claim(st: State, lane: int, head: int) -> bool:
    """A3 and A4: an entitled head that does not fit waits for stopping jobs, or has borrowers stopped."""
    share = st.lanes[lane].share
    need = st.lanes[lane].head_need
    if fits_later(st, share, need):
        open_claim(st, lane)
        unmark_entitled(st, lane)  # Passes look at lanes with a claim unmarked, too.
        forget_borrowing(st, lane)
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
        forget_borrowing(st, lane)
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
    if st.register[0].in_share_claims > 0 and serve_in_share_claims(st):
        return True
    best = NOBODY
    best_job = NOBODY
    for word in range(st.setting[0].word_count):
        left = st.marks[word].borrowing
        while left != 0:
            bit = left & -left
            left ^= bit
            lane = lane_of(st, word, bit)
            if st.lanes[lane].visited == st.register[0].visit:
                continue
            if best >= 0 and not borrows_before(st, st.lanes[lane].head, st.lanes[best].head):
                continue
            job = marked_borrower(st, lane)
            if job >= 0:
                best = lane
                best_job = job
    if best < 0:
        return False
    dispatch(st, best_job)
    return True


def serve_in_share_claims(st: State) -> bool:
    """The heads whose in-share claim is open for them. True on a change."""
    claims = st.register[0].in_share_claims
    for i in range(claims):
        st.lanes[i].claim_snapshot = st.lanes[i].in_share_claim_order
    for i in range(claims):
        lane = st.lanes[i].claim_snapshot
        if st.lanes[lane].in_share_claim_job == st.lanes[lane].head and borrows_only(st, lane):
            st.lanes[lane].visited = st.register[0].visit
            if serve_borrower(st, lane):
                return True
    return False


def marked_borrower(st: State, lane: int) -> int:
    """The job of a marked lane that B2 dispatches, or NOBODY."""
    if passed_over(st, st.lanes[lane].head):
        return NOBODY
    job = borrower_that_can_go(st, lane)
    if job < 0:
        unmark_borrowing(st, lane)
    return job


def borrower_that_can_go(st: State, lane: int) -> int:
    """The job of the lane that B2 dispatches, or NOBODY."""
    if st.setting[0].head_of_line == BACKFILL:
        return first_that_passes(st, lane, BORROWING)
    share = st.lanes[lane].share
    need = st.lanes[lane].head_need
    return st.lanes[lane].head if fits_now(st, share, need) and may_borrow(st, share, need) else NOBODY


def borrows_only(st: State, lane: int) -> bool:
    """Whether the lane takes part in phase B, whatever is free: its share borrows and its head is not entitled."""
    bit = 1 << (lane % WORD_BITS)
    would_borrow = st.marks[lane // WORD_BITS].would_borrow & bit != 0
    return would_borrow and not passed_over(st, st.lanes[lane].head)


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
    for word in range(st.setting[0].word_count):
        left = st.marks[word].in_share
        while left != 0:
            bit = left & -left
            left ^= bit
            lane = lane_of(st, word, bit)
            if not passed_over(st, st.lanes[lane].head) and preempt_for_head(st, lane):
                return True
    return False


def preempt_for_head(st: State, lane: int) -> bool:
    """Phase C for a marked lane. True on a change."""
    share = st.lanes[lane].share
    head = st.lanes[lane].head
    if st.lanes[lane].claim_at != NEVER or st.lanes[lane].in_share_claim_job == head or not outranks_any(st, head):
        forget_in_share(st, lane)
        return False
    for unit in range(st.setting[0].unit_count):
        st.units[unit].gone = 0
    if could_go(st, share, st.lanes[lane].head_need):
        return False  # It waits, but another dispatch may spoil that: the mark stays.
    victims = in_share_victims(st, head)
    if victims == 0:
        unmark_in_share(st, lane)
        return False
    open_in_share_claim(st, lane, head)
    stop_all(st, victims, head, IN_SHARE)
    return True

"""Which lanes a scheduling pass has to look at: a mark for each lane and phase.

A pass looks at marked lanes alone. A phase takes a lane's mark away when it finds nothing to do there, and only what
could change that puts it back: a new head, anything about the lane's own share, and for the phases that depend on
what other shares leave, capacity of a unit that the head needs becoming free. Somebody else's dispatch never helps.

Marks are bits of words, so that a phase finds the next marked lane without asking each.
"""

from policy_engine.scheduler.state import NEVER, NOBODY, WORD_BITS, State

DE_BRUIJN = 0x077CB531
"""Times a power of two, its top five bits are different for each of the 32."""
_DE_BRUIJN_SHIFT = 27
_WORD_MASK = (1 << WORD_BITS) - 1

BIT_PLACES = tuple(
    place
    for _, place in sorted(
        ((((1 << place) * DE_BRUIJN) & _WORD_MASK) >> _DE_BRUIJN_SHIFT, place) for place in range(WORD_BITS)
    )
)
"""The place of a power of two's bit, by those five bits."""


def lane_of(st: State, word: int, bit: int) -> int:
    """The lane that a bit of a word stands for."""
    return word * WORD_BITS + st.bit_place[((bit * DE_BRUIJN) & _WORD_MASK) >> _DE_BRUIJN_SHIFT]


def mark_lane(st: State, lane: int) -> None:
    """All phases look at a lane again. It has a head."""
    mark_lanes(st, lane // WORD_BITS, 1 << (lane % WORD_BITS))


def mark_lanes(st: State, word: int, bits: int) -> None:
    """All phases look at these lanes of a word again. They have heads."""
    st.marks[word].entitled |= bits
    borrowers = bits & st.marks[word].may_borrow
    st.marks[word].borrowing |= borrowers
    st.marks[word].would_borrow |= borrowers
    preempters = bits & st.marks[word].may_preempt
    st.marks[word].in_share |= preempters
    st.marks[word].would_preempt |= preempters


def mark_share(st: State, share: int) -> None:
    """All phases look at the lanes of a share again."""
    for lane in range(st.shares[share].first_lane, st.shares[share].last_lane + 1):
        if st.lanes[lane].head >= 0:
            mark_lane(st, lane)


def mark_all(st: State) -> None:
    """All phases look at all lanes that have a head."""
    for word in range(st.setting[0].word_count):
        mark_lanes(st, word, st.marks[word].headed)


def mark_waiting_for(st: State, unit: int) -> None:
    """A unit has become freer: lanes whose head needs it and would borrow or preempt in-share.

    What the last try of a pass held for claims stays held: lanes are marked apart from this when a claim is dropped.
    """
    now = st.units[unit].room - st.units[unit].protected_now - st.units[unit].hold_now
    later = st.units[unit].free - st.units[unit].protected - st.units[unit].hold
    words = st.setting[0].word_count
    for word in range(words):
        waiting = st.unit_lanes[unit * words + word]
        if now > 0 and later > 0:
            st.marks[word].borrowing |= waiting & st.marks[word].would_borrow
        st.marks[word].in_share |= waiting & st.marks[word].would_preempt


def mark_all_waiting(st: State) -> None:
    """Capacity that was set aside is so no more."""
    for word in range(st.setting[0].word_count):
        st.marks[word].borrowing |= st.marks[word].would_borrow
        st.marks[word].in_share |= st.marks[word].would_preempt


def is_marked_entitled(st: State, lane: int) -> bool:
    """Whether phase A looks at a lane."""
    return (st.marks[lane // WORD_BITS].entitled >> (lane % WORD_BITS)) & 1 != 0


def unmark_entitled(st: State, lane: int) -> None:
    """Phase A has nothing to do for a lane."""
    st.marks[lane // WORD_BITS].entitled &= ~(1 << (lane % WORD_BITS))


def unmark_borrowing(st: State, lane: int) -> None:
    """Phase B has nothing to do for a lane until capacity becomes free."""
    st.marks[lane // WORD_BITS].borrowing &= ~(1 << (lane % WORD_BITS))


def unmark_in_share(st: State, lane: int) -> None:
    """Phase C has nothing to do for a lane until capacity becomes free."""
    st.marks[lane // WORD_BITS].in_share &= ~(1 << (lane % WORD_BITS))


def forget_borrowing(st: State, lane: int) -> None:
    """Phase B has nothing to do for a lane, whatever becomes free."""
    unmark_borrowing(st, lane)
    st.marks[lane // WORD_BITS].would_borrow &= ~(1 << (lane % WORD_BITS))


def forget_in_share(st: State, lane: int) -> None:
    """Phase C has nothing to do for a lane, whatever becomes free."""
    unmark_in_share(st, lane)
    st.marks[lane // WORD_BITS].would_preempt &= ~(1 << (lane % WORD_BITS))


def forget(st: State, lane: int) -> None:
    """A lane has lost its head: all that is left to do is to drop its claims, in phase A."""
    st.marks[lane // WORD_BITS].headed &= ~(1 << (lane % WORD_BITS))
    if st.lanes[lane].claim_at == NEVER and st.lanes[lane].in_share_claim_job == NOBODY:
        unmark_entitled(st, lane)
    else:
        st.marks[lane // WORD_BITS].entitled |= 1 << (lane % WORD_BITS)
    forget_borrowing(st, lane)
    forget_in_share(st, lane)


def follow_head(st: State, lane: int, before: int, head: int) -> None:
    """The lane's head was `before` and is `head` now; either may be NOBODY. Keep who waits for which unit."""
    words = st.setting[0].word_count
    word = lane // WORD_BITS
    bit = 1 << (lane % WORD_BITS)
    if before >= 0:
        need = st.lanes[lane].head_need
        for i in range(st.need_start[need], st.need_start[need + 1]):
            st.unit_lanes[st.entries[i].unit * words + word] &= ~bit
    if head >= 0:
        need = st.jobs[head].need
        st.lanes[lane].head_need = need
        for i in range(st.need_start[need], st.need_start[need + 1]):
            st.unit_lanes[st.entries[i].unit * words + word] |= bit
        st.marks[word].headed |= bit
        mark_lane(st, lane)
    else:
        forget(st, lane)


def follow_configuration(st: State) -> None:
    """Which lanes borrow and preempt in-share, from their shares; and all phases look at all lanes again."""
    for word in range(st.setting[0].word_count):
        st.marks[word].may_borrow = 0
        st.marks[word].may_preempt = 0
    for lane in range(st.setting[0].lane_count):
        share = st.lanes[lane].share
        bit = 1 << (lane % WORD_BITS)
        if st.shares[share].borrows != 0:
            st.marks[lane // WORD_BITS].may_borrow |= bit
        if st.shares[share].in_share != 0 and st.setting[0].rank_count > 1:
            st.marks[lane // WORD_BITS].may_preempt |= bit
    for word in range(st.setting[0].word_count):
        st.marks[word].borrowing = 0
        st.marks[word].would_borrow = 0
        st.marks[word].in_share = 0
        st.marks[word].would_preempt = 0
    mark_all(st)

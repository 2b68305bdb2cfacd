"""The derived quantities of the scheduling model (section 1): what a share uses, may count on and may borrow."""

from policy_engine.scheduler.marks import mark_waiting_for
from policy_engine.scheduler.state import FOREVER, State


def change_usage(st: State, share: int, unit: int, used: int, kept: int) -> None:
    """Add to what a share uses and keeps of a unit, and to the sums over shares that follow from it."""
    i = share * st.setting[0].unit_count + unit
    limit = st.cells[i].limit
    used_before = st.cells[i].used
    kept_before = st.cells[i].kept
    used_after = used_before + used
    kept_after = kept_before + kept
    st.cells[i].used = used_after
    st.cells[i].kept = kept_after
    st.units[unit].room -= used
    st.units[unit].free -= kept
    if kept != 0:
        idle = max(0, limit - kept_after) - max(0, limit - kept_before)
        st.units[unit].borrowed += max(0, kept_after - limit) - max(0, kept_before - limit)
        if st.shares[share].lends != 0:
            st.units[unit].idle_to_lend += idle
        if st.shares[share].reserves != 0:
            st.units[unit].protected += idle
    if used != 0 and st.shares[share].reserves != 0:
        st.units[unit].protected_now += max(0, limit - used_after) - max(0, limit - used_before)
    if used < 0 or kept < 0:
        mark_waiting_for(st, unit)


def sum_over_shares(st: State) -> None:
    """Make all sums over shares anew, after a limit, a strategy or a capacity has changed."""
    for unit in range(st.setting[0].unit_count):
        limits = room = free = protected = protected_now = idle_to_lend = borrowed = lenders = 0
        for share in range(st.setting[0].share_count):
            i = share * st.setting[0].unit_count + unit
            limit = st.cells[i].limit
            idle = max(0, limit - st.cells[i].kept)
            limits += limit
            room += st.cells[i].used
            free += st.cells[i].kept
            borrowed += max(0, st.cells[i].kept - limit)
            if st.shares[share].lends != 0:
                idle_to_lend += idle
                lenders += limit
            if st.shares[share].reserves != 0:
                protected += idle
                protected_now += max(0, limit - st.cells[i].used)
            cap = 0
            if limit > 0 and st.shares[share].borrows != 0:
                cap = FOREVER if st.shares[share].borrow_percent < 0 else limit * st.shares[share].borrow_percent // 100
            st.cells[i].borrow_cap = cap
        st.units[unit].room = st.units[unit].capacity - room
        st.units[unit].free = st.units[unit].capacity - free
        st.units[unit].protected = protected
        st.units[unit].protected_now = protected_now
        st.units[unit].idle_to_lend = idle_to_lend
        st.units[unit].borrowed = borrowed
        st.units[unit].limits_of_lenders = lenders
        st.units[unit].unallocated = (
            max(0, st.units[unit].capacity - limits) if st.setting[0].borrow_unallocated != 0 else 0
        )


def later(st: State, share: int, unit: int) -> int:
    """What a share can count on once the stopping jobs are gone."""
    left = st.units[unit].free - st.units[unit].protected - st.units[unit].hold
    if st.shares[share].reserves != 0:
        i = share * st.setting[0].unit_count + unit
        left += max(0, st.cells[i].limit - st.cells[i].kept)
    return left


def now(st: State, share: int, unit: int) -> int:
    """What a share can take at this instant."""
    left = st.units[unit].room - st.units[unit].protected_now - st.units[unit].hold_now
    if st.shares[share].reserves != 0:
        i = share * st.setting[0].unit_count + unit
        left += max(0, st.cells[i].limit - st.cells[i].used)
    return min(left, later(st, share, unit))


def fits_now(st: State, share: int, need: int) -> bool:
    """Whether a need can be taken at this instant."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.entries[i].quantity > now(st, share, st.entries[i].unit):
            return False
    return True


def fits_later(st: State, share: int, need: int) -> bool:
    """Whether a need can be met once the stopping jobs are gone."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if st.entries[i].quantity > later(st, share, st.entries[i].unit):
            return False
    return True


def entitled(st: State, share: int, need: int) -> bool:
    """Whether a need stays within the share's own limits."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        u = share * st.setting[0].unit_count + st.entries[i].unit
        if st.cells[u].kept + st.entries[i].quantity > st.cells[u].limit:
            return False
    return True


def may_borrow(st: State, share: int, need: int) -> bool:
    """Whether what a need exceeds the share's limits by may be borrowed from the other shares."""
    if st.shares[share].borrows == 0:
        return False
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if not unit_may_borrow(st, share, st.entries[i].unit, st.entries[i].quantity, 0):
            return False
    return True


def unit_may_borrow(st: State, share: int, unit: int, quantity: int, gone: int) -> bool:
    """The same for one unit, as if `gone` of what the share keeps were gone."""
    u = share * st.setting[0].unit_count + unit
    limit = st.cells[u].limit
    kept = st.cells[u].kept - gone
    borrowed = max(0, kept - limit)
    extra = max(0, kept + quantity - limit) - borrowed
    if extra == 0:
        return True
    lendable = (
        st.units[unit].idle_to_lend
        + st.units[unit].unallocated
        - st.units[unit].borrowed
        + max(0, st.cells[u].kept - limit)
        - borrowed
    )
    if st.shares[share].lends != 0:
        lendable -= max(0, limit - st.cells[u].kept)
    return extra <= lendable and borrowed + extra <= st.cells[u].borrow_cap


def could_go(st: State, share: int, need: int) -> bool:
    """Whether a need could be met with the instances in `gone` (of the share itself) out of the way."""
    within_limits = True
    borrowable = st.shares[share].borrows != 0
    for i in range(st.need_start[need], st.need_start[need + 1]):
        unit = st.entries[i].unit
        quantity = st.entries[i].quantity
        u = share * st.setting[0].unit_count + unit
        left = later(st, share, unit) + st.units[unit].gone
        if quantity > left:
            return False
        if st.cells[u].kept - st.units[unit].gone + quantity > st.cells[u].limit:
            within_limits = False
        if borrowable and not unit_may_borrow(st, share, unit, quantity, st.units[unit].gone):
            borrowable = False
    return within_limits or borrowable


def set_aside(st: State, share: int, need: int) -> None:
    """Hold a need for a claim, for the rest of this try of the pass."""
    for i in range(st.need_start[need], st.need_start[need + 1]):
        unit = st.entries[i].unit
        reachable = st.units[unit].room - st.units[unit].protected_now - st.units[unit].hold_now
        if st.shares[share].reserves != 0:
            u = share * st.setting[0].unit_count + unit
            reachable += max(0, st.cells[u].limit - st.cells[u].used)
        st.units[unit].hold += st.entries[i].quantity
        st.units[unit].hold_now += min(st.entries[i].quantity, max(0, reachable))

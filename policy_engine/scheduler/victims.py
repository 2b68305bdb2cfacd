"""Whom a claimant stops (scheduling model, sections 4 and 5): the search, its end, and pruning.

A search writes the victims that it takes into the preemption log behind its end, and returns how many. Nobody is
stopped by it: `take_back` undoes its marks, `lifecycle.stop` carries it out.
"""

from policy_engine.scheduler.candidates import (
    first_candidate,
    held_below,
    next_candidate,
    stopped_before,
)
from policy_engine.scheduler.quantities import could_go
from policy_engine.scheduler.queues import share_of
from policy_engine.scheduler.state import CANDIDATE, FEWEST, NOBODY, TAKEN, State


def contribution(st: State, job: int) -> int:
    """What stopping a job would give of what the search wants."""
    need = st.jobs[job].need
    total = 0
    for i in range(st.need_start[need], st.need_start[need + 1]):
        total += min(st.entries[i].quantity, st.units[st.entries[i].unit].covered)
    return total


def place_cursor(st: State, group: int, below: int) -> None:
    """Begin a search in a group."""
    st.cursor[group] = first_candidate(st, group, below)


def best_of_groups(st: State, first_group: int, last_group: int) -> int:
    """The first candidate in victim order under the cursors of a range of groups, or NOBODY."""
    best = NOBODY
    for group in range(first_group, last_group):
        job = st.cursor[group]
        if job >= 0 and (best < 0 or stopped_before(st, job, best)):
            best = job
    return best


def most_contributing(st: State, first_group: int, last_group: int, below: int) -> int:
    """For `fewest`: the candidate not yet taken that contributes most to `covered`, or NOBODY.

    Groups without a cursor are out of the search.
    """
    best = NOBODY
    most = 0
    for group in range(first_group, last_group):
        job = st.cursor[group]
        if job < 0:
            continue
        job = first_candidate(st, group, below)
        while job >= 0:
            if st.jobs[job].candidate == CANDIDATE:
                gives = contribution(st, job)
                if best < 0 or gives > most or (gives == most and stopped_before(st, job, best)):
                    best = job
                    most = gives
            job = next_candidate(st, group, job, below)
    return best


def advance(st: State, group: int, job: int, below: int) -> None:
    """Move a group's cursor behind a candidate that was considered."""
    if st.setting[0].victim_order != FEWEST:
        st.cursor[group] = next_candidate(st, group, job, below)


def take(st: State, taken: int, job: int) -> None:
    """Note a victim."""
    st.jobs[job].candidate = TAKEN
    st.preemptions[st.register[0].preemptions + taken].victim = job


def take_back(st: State, taken: int) -> None:
    """Forget the victims of a search that found no way."""
    for i in range(taken):
        st.jobs[st.preemptions[st.register[0].preemptions + i].victim].candidate = CANDIDATE


def close_ranks(st: State, taken: int) -> int:
    """Drop the spared ones from the noted victims. Returns how many are left."""
    start = st.register[0].preemptions
    left = 0
    for i in range(taken):
        job = st.preemptions[start + i].victim
        if st.jobs[job].candidate == TAKEN:
            st.preemptions[start + left].victim = job
            left += 1
    return left


def group_can_give(st: State, group: int) -> bool:
    """Whether a group's share is still above its limit in a still short unit that the group's jobs use."""
    share = group // st.setting[0].set_count
    units = (group % st.setting[0].set_count) * st.setting[0].unit_count
    for unit in range(st.setting[0].unit_count):
        if st.units[unit].short > 0 and st.set_has_unit[units + unit] != 0:
            i = share * st.setting[0].unit_count + unit
            if st.cells[i].kept - st.cells[i].taken > st.cells[i].limit:
                return True
    return False


def cross_share_victims(st: State, claimant_share: int) -> int:
    """Whom to stop so that nothing of `short` is missing. Returns how many; 0 if there is no way.

    `covered` holds the original shortage while the search goes on.
    """
    groups = st.setting[0].share_count * st.setting[0].set_count
    possible = False
    for group in range(groups):
        st.cursor[group] = NOBODY
        if group // st.setting[0].set_count != claimant_share and group_can_give(st, group):
            place_cursor(st, group, st.setting[0].rank_count)
            possible = possible or st.cursor[group] >= 0
    if not possible:
        return 0
    for unit in range(st.setting[0].unit_count):
        st.units[unit].covered = st.units[unit].short
    taken = 0
    while still_short(st):
        if st.setting[0].victim_order == FEWEST:
            job = most_contributing(st, 0, groups, st.setting[0].rank_count)
        else:
            job = best_of_groups(st, 0, groups)
        if job < 0:
            break
        group = share_of(st, job) * st.setting[0].set_count + st.needs[st.jobs[job].need].units
        if not group_can_give(st, group):
            st.cursor[group] = NOBODY  # Shares only fall and shortages only shrink: the whole group is out.
            continue
        advance(st, group, job, st.setting[0].rank_count)
        take(st, taken, job)
        taken += 1
        need = st.jobs[job].need
        for i in range(st.need_start[need], st.need_start[need + 1]):
            unit = st.entries[i].unit
            st.cells[share_of(st, job) * st.setting[0].unit_count + unit].taken += st.entries[i].quantity
            st.units[unit].short -= st.entries[i].quantity
    feasible = not still_short(st)
    clear_taken(st, taken)
    if not feasible:
        take_back(st, taken)
        return 0
    return spare_cross_share(st, taken)


def still_short(st: State) -> bool:
    """Whether anything is missing yet."""
    missing = 0
    for unit in range(st.setting[0].unit_count):
        missing += max(0, st.units[unit].short)
    return missing > 0


def clear_taken(st: State, taken: int) -> None:
    """Forget what was taken from each share."""
    start = st.register[0].preemptions
    for i in range(taken):
        job = st.preemptions[start + i].victim
        need = st.jobs[job].need
        for k in range(st.need_start[need], st.need_start[need + 1]):
            st.cells[share_of(st, job) * st.setting[0].unit_count + st.entries[k].unit].taken = 0


def spare_cross_share(st: State, taken: int) -> int:
    """Prune: spare, last taken first, each victim without which the rest still covers the shortage."""
    start = st.register[0].preemptions
    for i in range(taken - 1, -1, -1):
        job = st.preemptions[start + i].victim
        need = st.jobs[job].need
        needless = True
        for k in range(st.need_start[need], st.need_start[need + 1]):
            unit = st.entries[k].unit
            # `short` is what is missing with all victims taken: 0 or less, by how much they give too much.
            if st.units[unit].covered > 0 and st.units[unit].short + st.entries[k].quantity > 0:
                needless = False
        if needless:
            st.jobs[job].candidate = CANDIDATE
            for k in range(st.need_start[need], st.need_start[need + 1]):
                st.units[st.entries[k].unit].short += st.entries[k].quantity
    return close_ranks(st, taken)


def in_share_victims(st: State, job: int) -> int:
    """Which lower-priority jobs of its share to stop so that a job could go. Returns how many; 0 if there is no way."""
    share = share_of(st, job)
    need = st.jobs[job].need
    rank = st.jobs[job].rank
    for unit in range(st.setting[0].unit_count):
        st.units[unit].gone = 0
        st.units[unit].covered = 0
    for i in range(st.need_start[need], st.need_start[need + 1]):
        unit = st.entries[i].unit
        st.units[unit].gone = held_below(st, share, unit, rank)
        st.units[unit].covered = st.entries[i].quantity
    if not could_go(st, share, need):
        return 0
    first_group = share * st.setting[0].set_count
    for candidate_set in range(st.setting[0].set_count):
        group = first_group + candidate_set
        st.cursor[group] = NOBODY
        if st.sets_meet[st.needs[need].units * st.setting[0].set_count + candidate_set] != 0:
            place_cursor(st, group, rank)
    for unit in range(st.setting[0].unit_count):
        st.units[unit].gone = 0
    taken = 0
    while not could_go(st, share, need):
        if st.setting[0].victim_order == FEWEST:
            victim = most_contributing(st, first_group, first_group + st.setting[0].set_count, rank)
        else:
            victim = best_of_groups(st, first_group, first_group + st.setting[0].set_count)
        if victim < 0:
            take_back(st, taken)
            return 0
        advance(st, first_group + st.needs[st.jobs[victim].need].units, victim, rank)
        take(st, taken, victim)
        taken += 1
        change_gone(st, victim, 1)
    return spare_in_share(st, job, taken)


def outranks_any(st: State, job: int) -> bool:
    """Whether a candidate of lower priority in the job's share holds anything that the job needs: a quick no."""
    need = st.jobs[job].need
    for i in range(st.need_start[need], st.need_start[need + 1]):
        if held_below(st, share_of(st, job), st.entries[i].unit, st.jobs[job].rank) > 0:
            return True
    return False


def change_gone(st: State, victim: int, sign: int) -> None:
    """Count a victim among what is out of the way, or not."""
    need = st.jobs[victim].need
    for i in range(st.need_start[need], st.need_start[need + 1]):
        st.units[st.entries[i].unit].gone += sign * st.entries[i].quantity


def spare_in_share(st: State, job: int, taken: int) -> int:
    """Prune: spare, last taken first, each victim without which the job still could go."""
    start = st.register[0].preemptions
    for i in range(taken - 1, -1, -1):
        victim = st.preemptions[start + i].victim
        change_gone(st, victim, -1)
        if could_go(st, share_of(st, job), st.jobs[job].need):
            st.jobs[victim].candidate = CANDIDATE
        else:
            change_gone(st, victim, 1)
    return close_ranks(st, taken)

"""The jobs that can be stopped, in victim order (scheduling model, section 5), without sorting at each search.

Candidates of one share that use the same set of units form a group. A group is a row of buckets, one a priority rank
when the victim order begins with priority, else a single one; a bucket is a list by dispatch time.
"""

from policy_engine.scheduler.queues import share_of
from policy_engine.scheduler.state import (
    BLOCK,
    CANDIDATE,
    LOWEST_PRIORITY_OLDEST,
    NO_CANDIDATE,
    NOBODY,
    OLDEST,
    YOUNGEST,
    State,
)


def dispatched_at(st: State, job: int) -> int:
    """When the job's latest attempt was dispatched."""
    return st.attempts[st.jobs[job].attempt].scheduled_at


def group_of(st: State, job: int) -> int:
    """The job's group."""
    return share_of(st, job) * st.setting[0].set_count + st.needs[st.jobs[job].need].units


def stands_before_in_bucket(st: State, job: int, other: int) -> bool:
    """Ascending dispatch time; ties so that a bucket reads rightly from its front (oldest) or back (youngest)."""
    if dispatched_at(st, job) != dispatched_at(st, other):
        return dispatched_at(st, job) < dispatched_at(st, other)
    if st.jobs[job].rank != st.jobs[other].rank:
        if st.setting[0].victim_order == YOUNGEST:
            return st.jobs[job].rank > st.jobs[other].rank
        if st.setting[0].victim_order == OLDEST:
            return st.jobs[job].rank < st.jobs[other].rank
    return job < other


def add_candidate(st: State, job: int) -> None:
    """Make a dispatched job a candidate."""
    st.jobs[job].candidate = CANDIDATE
    group = group_of(st, job)
    rank = st.jobs[job].rank if st.setting[0].bucket_ranks > 1 else 0
    bucket = group * st.setting[0].bucket_ranks + rank
    after = st.buckets[bucket].last
    while after >= 0 and stands_before_in_bucket(st, job, after):
        after = st.jobs[after].previous_candidate
    before = st.jobs[after].next_candidate if after >= 0 else st.buckets[bucket].first
    st.jobs[job].previous_candidate = after
    st.jobs[job].next_candidate = before
    if after >= 0:
        st.jobs[after].next_candidate = job
    else:
        st.buckets[bucket].first = job
    if before >= 0:
        st.jobs[before].previous_candidate = job
    else:
        st.buckets[bucket].last = job
    count(st, job, group, rank, 1)


def remove_candidate(st: State, job: int) -> None:
    """Take a job out of the candidates, if it is one."""
    if st.jobs[job].candidate == NO_CANDIDATE:
        return
    st.jobs[job].candidate = NO_CANDIDATE
    group = group_of(st, job)
    rank = st.jobs[job].rank if st.setting[0].bucket_ranks > 1 else 0
    bucket = group * st.setting[0].bucket_ranks + rank
    after = st.jobs[job].previous_candidate
    before = st.jobs[job].next_candidate
    if after >= 0:
        st.jobs[after].next_candidate = before
    else:
        st.buckets[bucket].first = before
    if before >= 0:
        st.jobs[before].previous_candidate = after
    else:
        st.buckets[bucket].last = after
    count(st, job, group, rank, -1)


def count(st: State, job: int, group: int, bucket_rank: int, sign: int) -> None:
    """Keep the counts of buckets and blocks, and the sums by rank."""
    st.buckets[group * st.setting[0].bucket_ranks + bucket_rank].count += sign
    st.block_count[group * st.setting[0].block_count + bucket_rank // BLOCK] += sign
    if st.setting[0].rank_count > 1:
        need = st.jobs[job].need
        for i in range(st.need_start[need], st.need_start[need + 1]):
            unit = st.entries[i].unit
            at = (share_of(st, job) * st.setting[0].unit_count + unit) * st.setting[0].rank_count + st.jobs[job].rank
            st.kept_by_rank[at] += sign * st.entries[i].quantity


def held_below(st: State, share: int, unit: int, rank: int) -> int:
    """Instances of a unit that the share's candidates below a rank hold."""
    start = (share * st.setting[0].unit_count + unit) * st.setting[0].rank_count
    total = 0
    for below in range(rank):
        total += st.kept_by_rank[start + below]
    return total


def oldest_first(st: State) -> bool:
    """Whether a bucket is read from its front."""
    return st.setting[0].victim_order in (LOWEST_PRIORITY_OLDEST, OLDEST)


def first_candidate(st: State, group: int, below: int) -> int:
    """The first candidate of a group in victim order with a rank below the given one, or NOBODY."""
    return first_from_bucket(st, group, 0, below)


def next_candidate(st: State, group: int, job: int, below: int) -> int:
    """The candidate after `job` in its group, with a rank below the given one, or NOBODY."""
    following = st.jobs[job].next_candidate if oldest_first(st) else st.jobs[job].previous_candidate
    while following >= 0 and st.jobs[following].rank >= below:
        following = st.jobs[following].next_candidate if oldest_first(st) else st.jobs[following].previous_candidate
    if following >= 0 or st.setting[0].bucket_ranks == 1:
        return following
    return first_from_bucket(st, group, st.jobs[job].rank + 1, below)


def first_from_bucket(st: State, group: int, bucket_rank: int, below: int) -> int:
    """The first candidate in or after a bucket."""
    end = min(below, st.setting[0].bucket_ranks) if st.setting[0].bucket_ranks > 1 else 1
    while bucket_rank < end:
        if bucket_rank % BLOCK == 0 and st.block_count[group * st.setting[0].block_count + bucket_rank // BLOCK] == 0:
            bucket_rank += BLOCK
            continue
        bucket = group * st.setting[0].bucket_ranks + bucket_rank
        if st.buckets[bucket].count > 0:
            job = st.buckets[bucket].first if oldest_first(st) else st.buckets[bucket].last
            while job >= 0 and st.jobs[job].rank >= below:
                job = st.jobs[job].next_candidate if oldest_first(st) else st.jobs[job].previous_candidate
            if job >= 0:
                return job
        bucket_rank += 1
    return NOBODY


def stopped_before(st: State, job: int, other: int) -> bool:
    """Whether a candidate comes before another in the victim order (for `fewest`: of equal contributions)."""
    by_time = st.setting[0].victim_order in (YOUNGEST, OLDEST)
    if not by_time and st.jobs[job].rank != st.jobs[other].rank:
        return st.jobs[job].rank < st.jobs[other].rank
    if dispatched_at(st, job) != dispatched_at(st, other):
        return (dispatched_at(st, job) < dispatched_at(st, other)) == oldest_first(st)
    if by_time and st.jobs[job].rank != st.jobs[other].rank:
        return st.jobs[job].rank < st.jobs[other].rank
    return (job < other) == oldest_first(st)

"""RUNNABLE jobs in their order (scheduling model, section 3): a heap a queue, and the head of each lane."""

from policy_engine.scheduler.marks import follow_head, mark_all_waiting
from policy_engine.scheduler.state import BACKFILL, NEVER, NOBODY, QUEUE_TIME_BITS, QUEUE_TIME_MASK, State

CHILDREN = 4
"""Of each place in a heap. Wider than binary, since a deep queue is out of the processor's cache."""


def share_of(st: State, job: int) -> int:
    """The job's share."""
    return st.queues[st.jobs[job].queue].share


def order_key(st: State, job: int, queue_time: int) -> int:
    """Higher priority first, then queue time."""
    return ((st.setting[0].rank_count - 1 - st.jobs[job].rank) << QUEUE_TIME_BITS) | queue_time


def queue_time(st: State, job: int) -> int:
    """The time by which a job stands among its equals."""
    return st.jobs[job].order_key & QUEUE_TIME_MASK


def goes_before(st: State, job: int, other: int) -> bool:
    """Whether a job stands before another: by priority, queue time, seq."""
    if st.jobs[job].order_key != st.jobs[other].order_key:
        return st.jobs[job].order_key < st.jobs[other].order_key
    return job < other


def first_of_queue(st: State, queue: int) -> int:
    """The first job of a queue, or NOBODY."""
    return st.queue_job[st.queues[queue].start] if st.queues[queue].size > 0 else NOBODY


def refresh_head(st: State, queue: int) -> bool:
    """Find the head of a queue's lane anew. Says whether what can be dispatched first may have changed."""
    lane = st.queues[queue].lane
    before = st.lanes[lane].head
    head = first_of_queue(st, queue)
    if st.setting[0].head_of_line == BACKFILL:
        for other in range(st.lanes[lane].first_queue, st.lanes[lane + 1].first_queue):
            job = first_of_queue(st, other)
            if job >= 0 and (head < 0 or goes_before(st, job, head)):
                head = job
    st.lanes[lane].head = head
    if head != before:
        follow_head(st, lane, before, head)
        if st.lanes[lane].claim_at != NEVER or st.lanes[lane].in_share_claim_job != NOBODY:
            mark_all_waiting(st)  # The claims set aside for the new head now.
    return head != before or st.setting[0].head_of_line == BACKFILL


def enqueue(st: State, job: int) -> bool:
    """Put a job in its queue. Says whether what can be dispatched first may have changed."""
    queue = st.jobs[job].queue
    start = st.queues[queue].start
    place = st.queues[queue].size
    st.queues[queue].size = place + 1
    rise(st, queue, place, st.jobs[job].order_key, job)
    if st.queue_job[start] != job:
        return False
    return refresh_head(st, queue)


def dequeue(st: State, job: int) -> None:
    """Take a job out of its queue. One that is not the first is searched for: only control events ask for it."""
    queue = st.jobs[job].queue
    start = st.queues[queue].start
    place = 0
    while st.queue_job[start + place] != job:
        place += 1
    size = st.queues[queue].size - 1
    st.queues[queue].size = size
    if place != size:
        key = st.queue_key[start + size]
        last = st.queue_job[start + size]
        place = sink(st, queue, place, key, last)
        rise(st, queue, place, key, last)
    if st.lanes[st.queues[queue].lane].head == job:
        refresh_head(st, queue)


def rise(st: State, queue: int, place: int, key: int, job: int) -> None:
    """Put a job in a heap at a place, or so far above it that its parent goes before it."""
    start = st.queues[queue].start
    while place > 0:
        parent = (place - 1) // CHILDREN
        above_key = st.queue_key[start + parent]
        above = st.queue_job[start + parent]
        if above_key < key or (above_key == key and above < job):
            break
        st.queue_key[start + place] = above_key
        st.queue_job[start + place] = above
        place = parent
    st.queue_key[start + place] = key
    st.queue_job[start + place] = job


def sink(st: State, queue: int, place: int, key: int, job: int) -> int:
    """Make way for a job from a place of a heap down, to where it goes before all children. Returns that place."""
    start = st.queues[queue].start
    size = st.queues[queue].size
    while True:
        child = CHILDREN * place + 1
        if child >= size:
            return place
        below_key = st.queue_key[start + child]
        below = st.queue_job[start + child]
        for other in range(child + 1, min(child + CHILDREN, size)):
            other_key = st.queue_key[start + other]
            if other_key < below_key or (other_key == below_key and st.queue_job[start + other] < below):
                child = other
                below_key = other_key
                below = st.queue_job[start + other]
        if key < below_key or (key == below_key and job < below):
            return place
        st.queue_key[start + place] = below_key
        st.queue_job[start + place] = below
        place = child

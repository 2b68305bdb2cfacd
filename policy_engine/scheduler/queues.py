"""RUNNABLE jobs in their order (scheduling model, section 3): one binary heap a queue, and the head of each lane."""

from policy_engine.scheduler.quantities import note_change_of_all
from policy_engine.scheduler.state import BACKFILL, NEVER, NOBODY, QUEUE_TIME_BITS, QUEUE_TIME_MASK, State


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
        st.register[0].change += 1
        st.lanes[lane].head_changed_at = st.register[0].change
        if st.lanes[lane].claim_at != NEVER or st.lanes[lane].in_share_claim_job != NOBODY:
            note_change_of_all(st)
    if head >= 0 and st.lanes[lane].active == 0:
        activate(st, lane)
    return head != before or st.setting[0].head_of_line == BACKFILL


def activate(st: State, lane: int) -> None:
    """Have passes look at a lane. Active lanes stand in declaration order."""
    st.lanes[lane].active = 1
    place = st.register[0].active_lanes
    st.register[0].active_lanes = place + 1
    while place > 0 and st.lanes[place - 1].active_order > lane:
        st.lanes[place].active_order = st.lanes[place - 1].active_order
        place -= 1
    st.lanes[place].active_order = lane


def deactivate(st: State, lane: int) -> None:
    """Have passes ignore a lane until it has a head again."""
    st.lanes[lane].active = 0
    found = 0
    for place in range(st.register[0].active_lanes):
        if st.lanes[place].active_order == lane:
            found = 1
        elif found != 0:
            st.lanes[place - 1].active_order = st.lanes[place].active_order
    st.register[0].active_lanes -= found


def rise(st: State, queue: int, place: int) -> None:
    """Move a job up its heap until its parent goes before it."""
    start = st.queues[queue].start
    job = st.queue_job[start + place]
    while place > 0:
        parent = (place - 1) >> 1
        above = st.queue_job[start + parent]
        if not goes_before(st, job, above):
            break
        st.queue_job[start + place] = above
        st.jobs[above].position = place
        place = parent
    st.queue_job[start + place] = job
    st.jobs[job].position = place


def sink(st: State, queue: int, place: int) -> None:
    """Move a job down its heap until it goes before both children."""
    start = st.queues[queue].start
    size = st.queues[queue].size
    job = st.queue_job[start + place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        below = st.queue_job[start + child]
        if child + 1 < size:
            right = st.queue_job[start + child + 1]
            if goes_before(st, right, below):
                child += 1
                below = right
        if not goes_before(st, below, job):
            break
        st.queue_job[start + place] = below
        st.jobs[below].position = place
        place = child
    st.queue_job[start + place] = job
    st.jobs[job].position = place


def enqueue(st: State, job: int) -> bool:
    """Put a job in its queue. Says whether what can be dispatched first may have changed."""
    queue = st.jobs[job].queue
    place = st.queues[queue].size
    st.queues[queue].size = place + 1
    st.queue_job[st.queues[queue].start + place] = job
    rise(st, queue, place)
    if st.jobs[job].position != 0:
        return False
    return refresh_head(st, queue)


def dequeue(st: State, job: int) -> None:
    """Take a job out of its queue, wherever it stands."""
    queue = st.jobs[job].queue
    start = st.queues[queue].start
    place = st.jobs[job].position
    size = st.queues[queue].size - 1
    st.queues[queue].size = size
    if place != size:
        last = st.queue_job[start + size]
        st.queue_job[start + place] = last
        st.jobs[last].position = place
        sink(st, queue, place)
        rise(st, queue, st.jobs[last].position)
    if place == 0:
        refresh_head(st, queue)

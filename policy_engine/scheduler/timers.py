"""What is due when: binary heaps of (time, job), for ends and stops, and for moves to RUNNING.

Entries are not removed when they no longer hold; whoever takes one checks it against the job.
"""

from policy_engine.scheduler.state import Column


def push(times: Column, jobs: Column, size: int, time: int, job: int) -> None:
    """Add an entry to a heap of `size` entries. The columns must have room for it."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        above = times[parent]
        if above < time or (above == time and jobs[parent] < job):
            break
        times[place] = above
        jobs[place] = jobs[parent]
        place = parent
    times[place] = time
    jobs[place] = job


def pop(times: Column, jobs: Column, size: int) -> None:
    """Drop the first of `size` entries, the one with the smallest time, then job."""
    last = size - 1
    time = times[last]
    job = jobs[last]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        right = child + 1
        if right < last and (
            times[right] < times[child] or (times[right] == times[child] and jobs[right] < jobs[child])
        ):
            child = right
        if time < times[child] or (time == times[child] and job < jobs[child]):
            break
        times[place] = times[child]
        jobs[place] = jobs[child]
        place = child
    times[place] = time
    jobs[place] = job

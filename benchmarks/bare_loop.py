"""The bare event loop that the kernel is held against: one heap push and one pop a job, and nothing else.

No shares, no capacity: each job starts when it is submitted and ends after its runtime. Compiled by numba like the
kernel. It is the least that any event-driven replay does.
"""

from collections.abc import Callable
from typing import cast

import numba
import numpy as np

from policy_engine.trace.jobs import Int64


def _run(submitted_at: Int64, runtime: Int64, end_time: Int64, end_job: Int64) -> int:
    """Returns a checksum, so that nothing is optimized away. `end_time` and `end_job` have room for all jobs."""
    size = 0
    checksum = 0
    for job in range(len(submitted_at)):
        now = submitted_at[job]
        while size > 0 and end_time[0] <= now:
            checksum += end_time[0] ^ end_job[0]
            size -= 1
            time, last = end_time[size], end_job[size]
            place = 0
            while True:  # Sift the last entry down from the top.
                child = 2 * place + 1
                if child >= size:
                    break
                if child + 1 < size and end_time[child + 1] < end_time[child]:
                    child += 1
                if time <= end_time[child]:
                    break
                end_time[place], end_job[place] = end_time[child], end_job[child]
                place = child
            end_time[place], end_job[place] = time, last
        time = now + runtime[job]
        place = size
        while place > 0:  # Sift the new entry up from the bottom.
            parent = (place - 1) >> 1
            if end_time[parent] <= time:
                break
            end_time[place], end_job[place] = end_time[parent], end_job[parent]
            place = parent
        end_time[place], end_job[place] = time, job
        size += 1
    return checksum


bare_loop = cast("Callable[[Int64, Int64, Int64, Int64], int]", numba.njit(_run, nogil=True))


def heap_columns(job_count: int) -> tuple[Int64, Int64]:
    """Room for the loop's heap, touched already."""
    return np.ones(job_count, dtype=np.int64), np.ones(job_count, dtype=np.int64)

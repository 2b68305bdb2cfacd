"""Step series in fewer steps, whose peaks stay."""

import numpy as np

from policy_engine.trace.jobs import Int64


def peaks(at: Int64, level: Int64, start: int, end: int, count: int) -> Int64:
    """The highest level in each of `count` equal parts of the time from `start` to `end`.

    `level[i]` holds from `at[i]` to `at[i + 1]`, the last one for ever; before `at[0]` it is 0. `at` ascends. A part
    begins with the level that the one before ended with. A step at `end` or later is in none.
    """
    edges = start + (end - start) * np.arange(count + 1) // count
    before = np.searchsorted(at, edges[:-1], side="right") - 1
    highest: Int64 = np.append(level, 0)[before]  # Row -1, before the first step, is the 0.
    within = (at > start) & (at < end)
    part = np.searchsorted(edges, at[within], side="right") - 1
    np.maximum.at(highest, part, level[within])
    return highest

"""Made-up traces under contention: 20 shares of three strategies, three instance types, three priorities.

Every other share preempts in-share. Runtimes are lognormal (median 20 minutes, sigma 1.2), submissions uniform, and
jobs checkpoint every ten minutes.
"""

import numpy as np
import polars as pl

from policy_engine.topology import Topology
from policy_engine.trace import NONE, JobTrace

SHARES = 20
UNITS = {"ml.g5.xlarge": 64, "ml.g5.12xlarge": 32, "ml.g5.48xlarge": 16}
"""Each share's limits."""
_STRATEGIES = ("LEND_AND_BORROW", "LEND_AND_BORROW", "LEND_AND_BORROW", "LEND", "RESERVE")
_UNIT_ODDS = (0.6, 0.3, 0.1)
_LARGEST_COUNT = 4


def contended_topology(scale: int = 1) -> Topology:
    """The topology, with `scale` times the capacity."""
    limits = {unit: limit * scale for unit, limit in UNITS.items()}
    shares = {
        f"share-{index}": {
            "capacity": limits,
            "strategy": _STRATEGIES[index % len(_STRATEGIES)],
            "in_share_preemption": index % 2 == 0,
        }
        for index in range(SHARES)
    }
    capacity = {unit: limit * SHARES for unit, limit in limits.items()}
    return Topology.model_validate({"name": "contended", "capacity": capacity, "teams": {"all": {"shares": shares}}})


def contended_trace(job_count: int, load: float, scale: int = 1, seed: int = 1) -> JobTrace:
    """A trace whose jobs ask for `load` times what the instance type that is scarcest has, over the trace's span."""
    rng = np.random.Generator(np.random.PCG64(seed))
    unit = rng.choice(len(UNITS), job_count, p=_UNIT_ODDS)
    count = np.minimum(rng.geometric(0.5, job_count), _LARGEST_COUNT)
    kind = unit * (_LARGEST_COUNT + 1) + count
    kinds, need = np.unique(kind, return_inverse=True)
    needs = np.zeros((len(kinds), len(UNITS)), dtype=np.int64)
    needs[np.arange(len(kinds)), kinds // (_LARGEST_COUNT + 1)] = kinds % (_LARGEST_COUNT + 1)
    runtime = (rng.lognormal(np.log(1200), 1.2, job_count) * 1000).astype(np.int64)
    asked = np.bincount(unit, weights=runtime * count, minlength=len(UNITS))
    span = (asked / (np.array(list(UNITS.values())) * SHARES * scale)).max() / load
    return JobTrace(
        job_id=pl.Series(np.arange(job_count)).cast(pl.String),
        share_names=tuple(f"share-{index}" for index in range(SHARES)),
        share=rng.integers(0, SHARES, job_count).astype(np.int32),
        units=tuple(UNITS),
        needs=needs,
        need=need.astype(np.int32),
        submitted_at=np.sort((rng.random(job_count) * span).astype(np.int64)),
        runtime=runtime,
        priority=(rng.integers(0, 3, job_count) * 10).astype(np.int16),
        preemption_retries=np.full(job_count, NONE, dtype=np.int32),
        checkpoint=np.full(job_count, 600_000, dtype=np.int64),
        attempt_timeout=np.full(job_count, NONE, dtype=np.int64),
        fails=np.zeros(job_count, dtype=np.bool_),
    )

"""Microsoft's Philly trace on a topology of 512 GPUs: 15 quota shares, one a team, on three ml.g5 types."""

import os
from pathlib import Path

import numpy as np

from policy_engine.topology import Topology
from policy_engine.trace import JobTrace
from policy_engine.trace.formats import FORMATS, convert
from policy_engine.trace.jobs import Int64

TRACES = Path(os.environ.get("BATCH_QUOTA_TRACES", Path(__file__).parents[2] / "shared" / "traces"))
"""Where the real traces lie. They are not part of the project."""
GPUS = {"ml.g5.xlarge": 1, "ml.g5.12xlarge": 4, "ml.g5.48xlarge": 8}
CAPACITY = {"ml.g5.xlarge": 96, "ml.g5.12xlarge": 28, "ml.g5.48xlarge": 38}
"""512 GPUs, split like the GPU-hours of the trace."""
RESERVE = ("0e4a51", "795a4c", "925e2b")
LEND = ("103959", "ed69ec", "23dbec", "51b7ef")
"""The other eight teams LEND_AND_BORROW, among them all whose largest jobs exceed their own limits."""


def philly_trace() -> JobTrace:
    """All 82,247 jobs, with 1 GPU on ml.g5.xlarge, up to 4 on ml.g5.12xlarge and more on ml.g5.48xlarge."""
    return convert(TRACES / "philly.csv", FORMATS["philly"])


def philly_topology(trace: JobTrace) -> Topology:
    """Each team's limits are its part of the instance-hours of each type, at least 1 of a type that it uses."""
    limits = _limits(_instance_hours(trace), trace.units)
    shares = {
        name: {
            "capacity": {unit: int(limit) for unit, limit in zip(trace.units, row, strict=True) if limit},
            "strategy": "RESERVE" if name in RESERVE else "LEND" if name in LEND else "LEND_AND_BORROW",
        }
        for name, row in zip(trace.share_names, limits, strict=True)
    }
    teams = {name: {"shares": {name: share}} for name, share in shares.items()}
    return Topology.model_validate({"name": "philly", "capacity": CAPACITY, "teams": teams})


def _instance_hours(trace: JobTrace) -> Int64:
    """Shares by units, in instance-milliseconds."""
    hours = np.zeros((len(trace.share_names), len(trace.units)), dtype=np.int64)
    np.add.at(hours, trace.share, trace.needs[trace.need] * trace.runtime[:, None])
    return hours


def _limits(hours: Int64, units: tuple[str, ...]) -> Int64:
    """Whole instances that sum to the capacity: 1 for each share that uses the type, the rest by largest remainder."""
    limits = (hours > 0).astype(np.int64)
    for column, unit in enumerate(units):
        rest = CAPACITY[unit] - int(limits[:, column].sum())
        parts = rest * hours[:, column] / hours[:, column].sum()
        limits[:, column] += np.floor(parts).astype(np.int64)
        left = CAPACITY[unit] - int(limits[:, column].sum())
        limits[np.argsort(np.floor(parts) - parts, kind="stable")[:left], column] += 1
    return limits

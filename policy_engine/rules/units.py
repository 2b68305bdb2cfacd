"""Capacity units: instance types, and the one unit that quota management does not have."""

from functools import cache

from policy_engine.topology.instance_types import training_instance_types

NUM_INSTANCES = "NUM_INSTANCES"
"""Counts instances of all types together, in queues without quota management."""


def is_instance_type(unit: str) -> bool:
    """Whether SageMaker trains on instances of this type."""
    return unit in _instance_types()


@cache
def _instance_types() -> frozenset[str]:
    return frozenset(training_instance_types())

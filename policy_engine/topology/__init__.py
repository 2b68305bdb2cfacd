"""Team topologies: the model, reading it with source positions, and its JSON Schema."""

from policy_engine.topology.capacity import CapacityEntry, TrainingPlanCapacity
from policy_engine.topology.expectations import Comparison, Expectation, Expectations, Metric, Unit
from policy_engine.topology.model import (
    UNLIMITED,
    OwnedShare,
    Queue,
    QuotaShare,
    ResourceSharingStrategy,
    ShareState,
    Suppression,
    Team,
    TimeLimit,
    Topology,
)
from policy_engine.topology.reading import TopologyDocument, parse_topology, read_topology
from policy_engine.topology.source import SourceMap

__all__ = [
    "UNLIMITED",
    "CapacityEntry",
    "Comparison",
    "Expectation",
    "Expectations",
    "Metric",
    "OwnedShare",
    "Queue",
    "QuotaShare",
    "ResourceSharingStrategy",
    "ShareState",
    "SourceMap",
    "Suppression",
    "Team",
    "TimeLimit",
    "Topology",
    "TopologyDocument",
    "TrainingPlanCapacity",
    "Unit",
    "parse_topology",
    "read_topology",
]

"""Job traces and control events: columns in memory, and one reader for each format."""

from policy_engine.trace.event_reading import check_events, read_events
from policy_engine.trace.events import (
    ControlEvent,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)
from policy_engine.trace.jobs import NONE, ON_STOP, JobTrace
from policy_engine.trace.reading import check_shares, read_trace
from policy_engine.trace.tables import FileFormat
from policy_engine.trace.training_plans import has_training_plans, training_plan_events
from policy_engine.trace.writing import write_trace

__all__ = [
    "NONE",
    "ON_STOP",
    "ControlEvent",
    "FileFormat",
    "JobTrace",
    "SetShareState",
    "Terminate",
    "Unavailable",
    "UpdateCapacity",
    "UpdatePriority",
    "UpdateShare",
    "check_events",
    "check_shares",
    "has_training_plans",
    "read_events",
    "read_trace",
    "training_plan_events",
    "write_trace",
]

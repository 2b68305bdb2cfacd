"""Job traces and control events: columns in memory, and one reader for each format."""

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

__all__ = [
    "NONE",
    "ON_STOP",
    "ControlEvent",
    "JobTrace",
    "SetShareState",
    "Terminate",
    "Unavailable",
    "UpdateCapacity",
    "UpdatePriority",
    "UpdateShare",
]

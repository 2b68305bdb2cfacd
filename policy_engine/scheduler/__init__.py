"""The scheduling model: replay a trace on a topology."""

from policy_engine.scheduler.outcome import (
    NEVER,
    AttemptOutcome,
    Attempts,
    Jobs,
    JobStatus,
    Outcome,
    PreemptionKind,
    Preemptions,
    Reason,
)
from policy_engine.scheduler.replay import replay

__all__ = [
    "NEVER",
    "AttemptOutcome",
    "Attempts",
    "JobStatus",
    "Jobs",
    "Outcome",
    "PreemptionKind",
    "Preemptions",
    "Reason",
    "replay",
]

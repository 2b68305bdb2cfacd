"""Why what a replay predicts happened: a job's life, each preemption's reason, and what would have prevented them."""

from policy_engine.explanation.life import Held, JobLife, Run, explain_job
from policy_engine.explanation.preemptions import Candidate, Fate, Owed, PreemptionReason, preemption_reasons
from policy_engine.explanation.prevention import (
    Aim,
    Change,
    Effect,
    Kind,
    Prevention,
    Preventions,
    Trial,
    find_preventions,
)
from policy_engine.explanation.waits import Stretch, Wait, WaitEnd, WaitReason

__all__ = [
    "Aim",
    "Candidate",
    "Change",
    "Effect",
    "Fate",
    "Held",
    "JobLife",
    "Kind",
    "Owed",
    "PreemptionReason",
    "Prevention",
    "Preventions",
    "Run",
    "Stretch",
    "Trial",
    "Wait",
    "WaitEnd",
    "WaitReason",
    "explain_job",
    "find_preventions",
    "preemption_reasons",
]

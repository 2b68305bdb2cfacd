"""What people and pipelines read.

`outcome_document(outcome)` is an outcome as `batch-quota replay --format json` prints it; `assess(outcome)` has its
figures as data frames; `preemption_texts(outcome, rows)` says why jobs were preempted, a paragraph each, and
`explanation_document(life, preventions)` is a job's life as `batch-quota explain --format json` prints it. They are
imported when they are first used: `batch-quota validate` shares this package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy_engine.assessment import Assessment, assess
    from policy_engine.report.explanation_json import explanation_document
    from policy_engine.report.outcome_json import outcome_document
    from policy_engine.report.preemption_text import preemption_texts

__all__ = ["Assessment", "assess", "explanation_document", "outcome_document", "preemption_texts"]

_HOMES = {
    "Assessment": "policy_engine.assessment",
    "assess": "policy_engine.assessment",
    "explanation_document": "policy_engine.report.explanation_json",
    "outcome_document": "policy_engine.report.outcome_json",
    "preemption_texts": "policy_engine.report.preemption_text",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

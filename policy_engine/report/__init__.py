"""What people and pipelines read.

`outcome_document(outcome)` is an outcome as `batch-quota replay --format json` prints it; `assess(outcome)` has its
figures as data frames. They are imported when they are first used: `batch-quota validate` shares this package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy_engine.assessment import Assessment, assess
    from policy_engine.report.outcome_json import outcome_document

__all__ = ["Assessment", "assess", "outcome_document"]

_HOMES = {
    "Assessment": "policy_engine.assessment",
    "assess": "policy_engine.assessment",
    "outcome_document": "policy_engine.report.outcome_json",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

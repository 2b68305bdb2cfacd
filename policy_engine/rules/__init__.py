"""What is checked about a topology: one rule, one small class, one id, one documentation page."""

from policy_engine.rules.checking import check
from policy_engine.rules.kinds import (
    AccessRule,
    ChangeProblem,
    ChangeRule,
    Problem,
    Rule,
    SuppressionRule,
    TopologyRule,
)
from policy_engine.rules.registry import registry, rule

__all__ = [
    "AccessRule",
    "ChangeProblem",
    "ChangeRule",
    "Problem",
    "Rule",
    "SuppressionRule",
    "TopologyRule",
    "check",
    "registry",
    "rule",
]

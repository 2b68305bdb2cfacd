"""Judging what a deployment would change."""

from collections.abc import Iterable
from dataclasses import dataclass

from policy_engine.change import QueueChange
from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules.kinds import ChangeRule
from policy_engine.rules.registry import registry


@dataclass(frozen=True, slots=True)
class ChangeFinding:
    """A finding about a change, and the name of the resource that it is about."""

    finding: Finding
    resource: str

    @property
    def dangerous(self) -> bool:
        """Whether jobs are lost or may be stopped, or the deployment fails."""
        return self.finding.severity is not Severity.INFO


def check_changes(changes: Iterable[QueueChange]) -> list[ChangeFinding]:
    """What the rules find in changes, by severity, then by id. Errors come first."""
    rules = [rule for rule in registry().values() if isinstance(rule, ChangeRule)]
    found = [
        ChangeFinding(each.side.located(rule.finding(each.problem, each.side.sources)), each.resource)
        for change in changes
        for rule in rules
        for each in rule.problems(change)
    ]
    return sorted(found, key=lambda each: (list(Severity).index(each.finding.severity), each.finding.id))

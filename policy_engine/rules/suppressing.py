"""Which findings a topology's suppressions accept. Errors are never accepted, nor are findings about suppressions."""

from collections.abc import Iterable, Iterator, Mapping

from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules.kinds import Rule, SuppressionRule
from policy_engine.topology.model import Suppression, Topology
from policy_engine.topology.source import Path

_NAMED: Mapping[str | int, tuple[int, ...]] = {"teams": (1, 3), "capacity": (1,)}
"""Which steps of a path are names that people give, by its first step."""


def can_be_suppressed(rule: Rule) -> bool:
    """Whether findings of a rule may be accepted at all."""
    return rule.severity is not Severity.ERROR and not isinstance(rule, SuppressionRule)


def is_suppressed(finding: Finding, suppressions: Iterable[Suppression]) -> bool:
    """Whether a finding about the topology is accepted by one of its suppressions."""
    return any(covers(suppression, finding) for suppression in suppressions)


def covers(suppression: Suppression, finding: Finding) -> bool:
    """Whether a suppression is for this finding: the rule's id, and the place if it names one."""
    return (
        finding.severity is not Severity.ERROR
        and finding.id == suppression.rule
        and (suppression.at is None or suppression.at in _names(finding.path))
    )


def places(topology: Topology) -> tuple[str, ...]:
    """What a suppression may name in `at`: teams, shares and the environment's instance types."""
    shares = (owned.name for owned in topology.quota_shares())
    return tuple(dict.fromkeys([*topology.teams, *shares, *topology.capacity]))


def _names(path: Path) -> Iterator[str | int]:
    """The team and the share, or the instance type of the environment, that a path leads through."""
    steps = _NAMED.get(path[0], ()) if path else ()
    return (path[step] for step in steps if step < len(path))

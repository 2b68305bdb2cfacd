"""Which findings a topology's suppressions accept. Errors are never accepted, nor are findings about suppressions."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules.kinds import Rule, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.source import Path

Target = tuple[str, str | None]
"""A rule's id, and the name that it is accepted at; None is everywhere. What a suppression says, but for its reason."""

_NAMED: Mapping[str | int, tuple[int, ...]] = {"teams": (1, 3), "capacity": (1,)}
"""Which steps of a path are names that people give, by its first step."""


def can_be_suppressed(rule: Rule) -> bool:
    """Whether a topology may accept findings of a rule at all."""
    return rule.severity is not Severity.ERROR and isinstance(rule, TopologyRule)


def not_accepted(topology: Topology, found: Iterable[Finding]) -> list[Finding]:
    """The findings about a topology that none of its suppressions accepts."""
    accepted = {(suppression.rule, suppression.at) for suppression in topology.suppressions}
    return [finding for finding in found if accepted.isdisjoint(_targets(finding))]


def acceptable(found: Iterable[Finding]) -> set[Target]:
    """What a suppression may say to accept at least one of these findings."""
    return {target for finding in found for target in _targets(finding)}


def places(topology: Topology) -> Collection[str]:
    """What a suppression may name in `at`: teams, shares and the environment's instance types."""
    shares = (owned.name for owned in topology.quota_shares())
    return dict.fromkeys([*topology.teams, *shares, *topology.capacity]).keys()


def _targets(finding: Finding) -> Iterator[Target]:
    if finding.severity is not Severity.ERROR:
        yield finding.id, None
        yield from ((finding.id, name) for name in _names(finding.path))


def _names(path: Path) -> Iterator[str]:
    """The team and the share, or the instance type of the environment, that a path leads through."""
    steps = _NAMED.get(path[0], ()) if path else ()
    return (str(path[step]) for step in steps if step < len(path))

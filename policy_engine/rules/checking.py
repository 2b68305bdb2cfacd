"""Judging a topology by all rules."""

from policy_engine.diagnostics import Finding
from policy_engine.rules.kinds import SuppressionRule, TopologyRule
from policy_engine.rules.registry import registry
from policy_engine.rules.suppressing import not_accepted
from policy_engine.topology.model import Topology
from policy_engine.topology.source import SourceMap


def check(topology: Topology, sources: SourceMap | None = None) -> list[Finding]:
    """What the rules find in a topology and its suppressions do not accept, by position, then by id.

    A topology that was made in Python has no `sources`: its findings have a path and no position, and stand by id.
    """
    places = SourceMap() if sources is None else sources
    rules = registry().values()
    found = [
        rule.finding(problem, places)
        for rule in rules
        if isinstance(rule, TopologyRule)
        for problem in rule.problems(topology)
    ]
    about_suppressions = [
        rule.finding(problem, places)
        for rule in rules
        if isinstance(rule, SuppressionRule)
        for problem in rule.problems(topology, found)
    ]
    return sorted(not_accepted(topology, found) + about_suppressions, key=_by_position)


def _by_position(finding: Finding) -> tuple[int, int, str]:
    line, column = (finding.position.line, finding.position.column) if finding.position else (0, 0)
    return line, column, finding.id

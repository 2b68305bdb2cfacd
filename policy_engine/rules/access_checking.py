"""Judging what IAM policies beside a queue allow."""

from collections.abc import Iterator

from policy_engine.diagnostics import Finding
from policy_engine.rules.kinds import AccessRule
from policy_engine.rules.registry import registry
from policy_engine.template import Place, TemplateReading


def check_access(reading: TemplateReading) -> Iterator[tuple[Finding, Place]]:
    """What the rules find in the policies of templates with a quota-managed queue, and where it stands."""
    rules = [rule for rule in registry().values() if isinstance(rule, AccessRule)]
    for statement in reading.statements:
        places = {resource.place.path: resource.place for resource in statement.resources}
        for rule in rules:
            for problem in rule.problems(statement):
                yield rule.finding(problem, reading.sources), places[problem.path]

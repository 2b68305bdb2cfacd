"""Judging a queue of a template by all rules."""

from policy_engine.diagnostics import Finding
from policy_engine.rules.checking import check
from policy_engine.template import TemplateQueue

OF_TOPOLOGIES_ONLY = frozenset({"QM104"})
"""Rules on what templates have not: QM104 is about names that are made from a topology's own. Reading a template
judges the names in it."""


def check_queue(queue: TemplateQueue) -> list[Finding]:
    """What the rules find in a queue of a template, by position, then by id.

    Paths are the topology's: `TemplateQueue.place` says where in the template they lead, `TemplateQueue.located` makes
    them the template's.
    """
    return [finding for finding in check(queue.topology, queue.sources) if finding.id not in OF_TOPOLOGIES_ONLY]

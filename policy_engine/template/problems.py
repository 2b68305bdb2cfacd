"""What stands in the way of reading a template, each at its place."""

from dataclasses import dataclass

from policy_engine.diagnostics import Finding, Severity
from policy_engine.template.nodes import Node
from policy_engine.template.resources import Place
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import SourceMap


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """Something in a template that cannot be read as part of a topology."""

    error: ReadingError
    message: str
    help: str
    place: Place
    severity: Severity = Severity.ERROR
    """A warning says what is taken to be so; an error, that a queue could not be read."""

    def finding(self, sources: SourceMap) -> Finding:
        """The problem as a finding, with its position if the template was read from a file."""
        path = self.place.path
        return Finding(self.error.value, self.severity, self.message, self.help, path, sources.position(path))


def at(node: Node) -> Place:
    """Where a value stands."""
    return Place(node.template, node.path)

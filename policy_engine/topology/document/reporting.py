"""Collects what is wrong with one text."""

from policy_engine.diagnostics import Finding, Position, Severity
from policy_engine.topology.document.dialect import TOPOLOGY, Dialect
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import Path, Span, lines_of


class Report:
    """Findings about one text, each at its place."""

    def __init__(self, file: str, text: str, dialect: Dialect = TOPOLOGY) -> None:
        self.file = file
        self.text = text
        self.dialect = dialect
        self.lines = lines_of(text)
        self.findings: list[Finding] = []
        self._told: set[tuple[str, str, Span]] = set()

    def error(self, error: ReadingError, message: str, span: Span, help_text: str = "", path: Path = ()) -> None:
        """Add a finding. An equal one (an anchor's, met at each of its aliases) is added once."""
        if (error.value, message, span) in self._told:
            return
        self._told.add((error.value, message, span))
        line = self.lines[span.line - 1] if span.line <= len(self.lines) else ""
        position = Position(self.file, span.line, span.column, line, span.length)
        self.findings.append(Finding(error.value, Severity.ERROR, message, help_text, path, position))


class UnreadableError(Exception):
    """The text cannot be read any further. The report says why."""

"""Findings as Markdown, for the summary of a job or a comment."""

from collections.abc import Iterable, Sequence

from policy_engine.diagnostics import Finding, Severity
from policy_engine.report.checks import CheckedFile, path_in_repository
from policy_engine.report.markdown import as_text, table

_MARKS = {Severity.ERROR: "❌ error", Severity.WARNING: "⚠️ warning", Severity.INFO: "info"}
_LONGEST = 2000


def findings_markdown(summary: str, files: Iterable[CheckedFile]) -> str:
    """GitHub-flavoured Markdown: the summary, and a table of all findings, each with its place."""
    rows = [_cells(file.file, finding) for file in files for finding in file.findings]
    head = [f"## Batch Quota: {as_text(summary, longest=_LONGEST)}"]
    body = ["", *table(("", "rule", "where", "what", "to mend it"), rows, named=5)] if rows else []
    return "\n".join([*head, *body]) + "\n"


def _cells(file: str, finding: Finding) -> Sequence[str]:
    place = finding.position
    where = f"{path_in_repository(place.file)}:{place.line}:{place.column}" if place else path_in_repository(file)
    return _MARKS[finding.severity], finding.id, where, finding.message, finding.help

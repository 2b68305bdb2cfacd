"""Findings as GitHub's workflow commands, which show at their lines in a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Iterable, Iterator

from policy_engine.amounts import printable
from policy_engine.diagnostics import Finding, Position, Severity
from policy_engine.report.checks import CheckedFile, path_in_repository

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def annotations(files: Iterable[CheckedFile]) -> str:
    """A line for each finding: `::error file=…,line=…,col=…::…`. The worst come first, since GitHub shows ten each."""
    found = [(file.file, finding) for file in files for finding in file.findings]
    order = list(_COMMANDS)
    found.sort(key=lambda each: order.index(each[1].severity))
    return "".join(f"{_annotation(file, finding)}\n" for file, finding in found)


def _annotation(file: str, finding: Finding) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(file, finding))
    said = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    lines = "\n".join(printable(line) for line in said.splitlines())
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(lines)}"


def _properties(file: str, finding: Finding) -> Iterator[tuple[str, str]]:
    place = finding.position or Position(file, 1, 1)
    yield "file", printable(path_in_repository(place.file))
    yield "line", str(place.line)
    yield "endLine", str(place.line)
    yield "col", str(place.column)
    yield "endColumn", str(place.column + max(place.length, 1))
    yield "title", f"Batch Quota {finding.id}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

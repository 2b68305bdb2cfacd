"""Reading a topology from YAML or JSON: all that is wrong with it at once, each at its place.

What only errors need is imported when there are some: `batch-quota validate` has to be quick.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path as FilePath

from pydantic import ValidationError

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.topology.document import Data, Document, read_document
from policy_engine.topology.document.decoding import MAX_BYTES, decoded
from policy_engine.topology.document.reporting import Report
from policy_engine.topology.expectations import target_problem
from policy_engine.topology.model import Topology
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import SourceMap
from policy_engine.topology.suggestions import did_you_mean

STANDARD_INPUT = "-"
EXTENSION_PREFIX = "x-"
"""Keys of the root that start so are left alone: a place for anchors."""


@dataclass(frozen=True, slots=True)
class TopologyDocument:
    """A topology as it was read, and where each part of it stands."""

    topology: Topology
    sources: SourceMap


def read_topology(path: str | PathLike[str]) -> TopologyDocument:
    """Read the topology in a YAML or JSON file; `-` is standard input.

    Raises InputError with everything that is wrong with the file, by position.
    """
    name = fspath(path)
    if name == STANDARD_INPUT:
        return parse_topology(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>")
    try:
        with FilePath(name).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError([_unreadable(name, error)]) from error
    return parse_topology(content, name)


def parse_topology(content: bytes | str, file: str = "<text>") -> TopologyDocument:
    """Read a topology from YAML or JSON text. `file` names it in findings.

    Raises InputError with everything that is wrong with the text, by position.
    """
    report = Report(file, decoded(content, file))
    document = read_document(report)
    topology = None if document is None else _validated(document, report)
    if document is None or topology is None or report.findings:
        raise InputError(sorted(report.findings, key=_by_position))
    return TopologyDocument(topology, document.sources)


def _validated(document: Document, report: Report) -> Topology | None:
    data = document.data
    if isinstance(data, dict):
        data = {key: value for key, value in data.items() if not key.startswith(EXTENSION_PREFIX)}
        report.findings.extend(_wrong_targets(data, document.sources))
    try:
        return Topology.model_validate(data)
    except ValidationError as error:
        from policy_engine.topology.explanations import explain

        report.findings.extend(explain(error, document))
        return None


def _wrong_targets(data: dict[str, Data], sources: SourceMap) -> Iterable[Finding]:
    """Expectations of nothing in the topology: found here, since the model looks only once all its parts are right."""
    teams, expectations = data.get("teams"), data.get("expectations")
    if not isinstance(teams, dict) or not isinstance(expectations, dict):
        return
    shares_of: dict[str, tuple[str, ...]] = {}
    for team_name, team in teams.items():
        shares = team.get("shares") if isinstance(team, dict) else None
        shares_of[team_name] = tuple(shares) if isinstance(shares, dict) else ()
    known = dict.fromkeys(["queue", *shares_of, *(share for shares in shares_of.values() for share in shares)])
    for name in expectations:
        problem = target_problem(name, shares_of)
        if problem:
            path = ("expectations", name)
            mend = "rename one of them" if name in known else did_you_mean(name, known, f"known: {', '.join(known)}")
            yield Finding(
                ReadingError.UNKNOWN_NAME.value, Severity.ERROR, problem, mend, path, sources.key_position(path)
            )


def _by_position(finding: Finding) -> tuple[int, int]:
    return (finding.position.line, finding.position.column) if finding.position else (0, 0)


def _unreadable(name: str, error: OSError | ValueError) -> Finding:
    match error:
        case FileNotFoundError():
            message, mend = "there is no such file", _similar_file(name)
        case IsADirectoryError():
            message, mend = "this is a directory", "name a topology file in it"
        case PermissionError():
            message, mend = "you may not read this file", "change its permissions"
        case OSError():
            message, mend = f"the file cannot be read: {error.strerror or error}", ""
        case _:
            message, mend = "this is no file name", ""
    return Finding(ReadingError.UNREADABLE_FILE.value, Severity.ERROR, message, mend, (), Position(name, 1, 1))


def _similar_file(name: str) -> str:
    path = FilePath(name)
    try:
        siblings = {sibling.name: sibling for sibling in path.parent.iterdir() if sibling.is_file()}
    except OSError:
        return ""
    return did_you_mean(path.name, siblings)

"""Reading a topology from YAML or JSON: all that is wrong with it at once, each at its place.

What only errors need is imported when there are some: `batch-quota validate` has to be quick.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike

from pydantic import ValidationError

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.topology.document import Data, Document, read_document
from policy_engine.topology.document.decoding import decoded
from policy_engine.topology.document.dialect import TOPOLOGY
from policy_engine.topology.document.opening import content_of
from policy_engine.topology.document.reporting import Report
from policy_engine.topology.expectations import target_problem
from policy_engine.topology.model import Topology
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import SourceMap
from policy_engine.topology.suggestions import did_you_mean

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
    return parse_topology(*content_of(path, TOPOLOGY))


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

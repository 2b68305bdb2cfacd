"""Findings as SARIF 2.1.0, for code scanning.

The format is that of OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0 Plus Errata 01".
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from policy_engine.amounts import printable
from policy_engine.diagnostics import Finding, Position, Severity
from policy_engine.report.checks import CheckedFile, path_in_repository
from policy_engine.rules.documentation import documentation
from policy_engine.rules.registry import registry

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SERIES = {
    "QM0": "A topology or a template cannot be read",
    "QM5": "A replay does not show what is expected",
    "TR0": "A trace, or control events, cannot be read",
}
"""What findings say whose ids are not those of rules, by the start of the id."""


def sarif_json(command: str, files: Iterable[CheckedFile]) -> str:
    """The log of a run of `batch-quota COMMAND`.

    The command is a part of the run's category, so that logs of several commands about one commit can be uploaded.
    """
    found = [(file.file, finding) for file in files for finding in file.findings]
    rules = sorted({finding.id for _, finding in found})
    run = {
        "tool": {
            "driver": {
                "name": "Batch Quota",
                "version": version("batch-quota"),
                "rules": [_rule(rule_id) for rule_id in rules],
            }
        },
        "automationDetails": {"id": f"batch-quota/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(found, rules)),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule_id: str) -> Mapping[str, object]:
    rule = registry().get(rule_id)
    if rule is None:
        return {"id": rule_id, "shortDescription": {"text": _SERIES.get(rule_id[:3], rule_id)}}
    says = documentation(rule)
    checks = says.sections["What it checks"]
    return {
        "id": rule_id,
        "name": type(rule).__name__,
        "shortDescription": {"text": says.title},
        "fullDescription": {"text": " ".join(checks.split())},
        "help": {"text": says.text, "markdown": says.text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _results(found: Iterable[tuple[str, Finding]], rules: list[str]) -> Iterator[Mapping[str, object]]:
    # The one fingerprint that GitHub goes by. It is of what the finding is about, so that lines may move.
    seen: dict[str, int] = {}
    for file, finding in found:
        said = f"{finding.message}. To mend it: {finding.help}" if finding.help else finding.message
        place = finding.position or Position(file, 1, 1)
        print_ = sha256(f"{finding.id}\0{path_in_repository(place.file)}\0{finding.path}".encode()).hexdigest()[:32]
        seen[print_] = seen.get(print_, 0) + 1
        yield {
            "ruleId": finding.id,
            "ruleIndex": rules.index(finding.id),
            "level": _LEVELS[finding.severity],
            "message": {"text": printable(said)},
            "locations": [_location(place)],
            "partialFingerprints": {"primaryLocationLineHash": f"{print_}:{seen[print_]}"},
        }


def _location(place: Position) -> Mapping[str, object]:
    region: dict[str, object] = {
        "startLine": place.line,
        "startColumn": place.column,
        "endColumn": place.column + max(place.length, 1),
    }
    if place.text:
        region["snippet"] = {"text": printable(place.text)}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(file: str) -> str:
    """Relative to the repository's root, or absolute for what is outside of it."""
    path = path_in_repository(file)
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, safe="/-._~", errors="surrogateescape")

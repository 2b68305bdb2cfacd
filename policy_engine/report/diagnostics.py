"""Findings as text (the place, what is wrong, the line with a caret under it, how to mend it) and as JSON."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO
from unicodedata import combining, east_asian_width

from click import style

from policy_engine.diagnostics import Finding, Position, Severity

_WIDTH = 80
_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_CUT = "…"
_WIDE = frozenset("WF")


def wants_color(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose user has not set NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def finding_text(finding: Finding, *, color: bool) -> str:
    """A finding as text of a few lines, each without an end. The first is `file:line:column: severity ID message`."""
    place = finding.position
    severity = finding.severity
    head = f"{severity} {finding.id}"
    parts = [f"{style(head, fg=_COLORS[severity], bold=True) if color else head} {_printable(finding.message)}"]
    if place is not None:
        parts[0] = f"{_printable(place.file)}:{place.line}:{place.column}: {parts[0]}"
    margin = " " * len(str(place.line)) if place else ""
    if place is not None and place.text.strip():
        shown, caret = _excerpt(place, _WIDTH - len(margin) - 4)
        parts += [f" {place.line} | {shown}", f" {margin} | {style(caret, fg=_COLORS[severity]) if color else caret}"]
    if finding.help:
        parts.append(f" {margin} = help: {_printable(finding.help)}")
    return "\n".join(parts)


def findings_json(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """`{"version": 1, "files": [{"file", "findings": [...]}], "summary": {...}}`, a finding with all it has."""
    files = [
        {"file": file, "findings": [finding_data(finding) for finding in findings]}
        for file, findings in findings_by_file.items()
    ]
    summary = _count(finding for findings in findings_by_file.values() for finding in findings)
    return json.dumps({"version": 1, "files": files, "summary": summary}, indent=2)


def summary_text(findings: Iterable[Finding], topologies: int, templates: int = 0) -> str:
    """`2 topologies: 1 error, 3 warnings`, or `1 topology, 1 template: no findings`."""
    counts = [_plural(count, severity) for severity, count in _count(findings).items() if count]
    files = {"topology": topologies, "template": templates}
    judged = [_plural(count, noun) for noun, count in files.items() if count or (noun == "topology" and not templates)]
    return f"{', '.join(judged)}: {', '.join(counts) or 'no findings'}"


def _count(findings: Iterable[Finding]) -> dict[str, int]:
    counts = Counter(finding.severity for finding in findings)
    return {severity.value: counts[severity] for severity in Severity}


def _plural(count: int, noun: str) -> str:
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun.removesuffix('y') + 'ies' if noun.endswith('y') else noun + 's'}"


def finding_data(finding: Finding) -> dict[str, object]:
    """A finding for programs: all it has but the line's text."""
    place = finding.position
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "message": finding.message,
        "help": finding.help,
        "path": list(finding.path),
        "position": None
        if place is None
        else {"file": place.file, "line": place.line, "column": place.column, "length": place.length},
    }


def _excerpt(place: Position, width: int) -> tuple[str, str]:
    """The line, cut to a width around the place, and the carets that go below it."""
    text = _printable(place.text)
    start = min(place.column - 1, len(text))
    end = min(start + place.length, len(text))
    if len(text) > width:
        room = width - 2 * len(_CUT)
        first = 0 if end <= room else max(0, min(start - room // 3, len(text) - room))
        left, right = (_CUT if first else ""), (_CUT if first + room < len(text) else "")
        text = left + text[first : first + room] + right
        start, end = start - first + len(left), min(end - first + len(left), len(left) + room)
    return text, " " * _columns(text[:start]) + "^" * max(1, _columns(text[start:end]))


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(character) else 2 if east_asian_width(character) in _WIDE else 1 for character in text)


def _printable(text: str) -> str:
    """The text with a space for a tab and U+FFFD for what a terminal would act upon, one for one."""
    text = text.replace("\t", " ")
    return "".join(character if character.isprintable() else "\ufffd" for character in text)

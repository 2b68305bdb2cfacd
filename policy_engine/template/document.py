"""Templates as documents: YAML with CloudFormation's short forms, or JSON, with the position of everything."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import cast

from policy_engine.diagnostics import InputError
from policy_engine.template.nodes import Json
from policy_engine.topology.document import Data, Document, read_document
from policy_engine.topology.document.decoding import decoded
from policy_engine.topology.document.dialect import TEMPLATE
from policy_engine.topology.document.opening import content_of
from policy_engine.topology.document.reporting import Report
from policy_engine.topology.source import SourceMap

_RESOURCES = "Resources"
_TYPE_PREFIX = b"AWS::"
_KEYS_OF_TOPOLOGIES = frozenset({"teams", "capacity"})


@dataclass(frozen=True, slots=True)
class TemplateDocument:
    """A template as it was read, and where each part of it stands."""

    data: Mapping[str, Json]
    sources: SourceMap


def open_template(path: str | PathLike[str]) -> TemplateDocument:
    """The template in a file, in YAML or JSON; `-` is standard input.

    Raises InputError with everything that is wrong with the file, by position.
    """
    content, file = content_of(path, TEMPLATE)
    report = _report(content, file)
    document = read_document(report)
    if document is None or report.findings:
        raise InputError(report.findings)
    return _as_template(document)


def template_in(content: bytes, file: str) -> TemplateDocument | None:
    """The template that a file's content is. None if it is something else, such as a topology.

    Raises InputError for a template that cannot be read.
    """
    if _RESOURCES.encode() not in content:
        return None
    report = _report(content, file)
    document = read_document(report)
    if document is None:
        if _TYPE_PREFIX in content:
            raise InputError(report.findings)
        return None
    if not _looks_like_template(document.data):
        return None
    if report.findings:
        raise InputError(report.findings)
    return _as_template(document)


def _report(content: bytes, file: str) -> Report:
    return Report(file, decoded(content, file, TEMPLATE), TEMPLATE)


def _as_template(document: Document) -> TemplateDocument:
    data = document.data if isinstance(document.data, dict) else {}
    return TemplateDocument(cast("Mapping[str, Json]", data), document.sources)


def _looks_like_template(data: Data) -> bool:
    """Whether a document has Resources, and nothing that only topologies have."""
    return isinstance(data, dict) and _RESOURCES in data and _KEYS_OF_TOPOLOGIES.isdisjoint(data)

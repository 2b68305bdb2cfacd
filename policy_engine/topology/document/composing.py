"""From text to nodes, with limits: no input makes it slow, deep or large.

The parser's events are composed here rather than by the parser's own composer, which recurses into nested input
and knows no limits. What only errors need is imported when there are some: `batch-quota validate` has to be quick.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from policy_engine.diagnostics import shortened
from policy_engine.topology.document.nodes import Entry, Mapping, Node, Scalar, Sequence
from policy_engine.topology.document.reporting import Report, UnreadableError
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import Span
from policy_engine.topology.suggestions import did_you_mean

_VERSION = re.compile(r"%YAML[ \t]+(\S*)")
_TAG_PREFIX = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_TAG_PREFIX}str"})


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    node: Sequence | Mapping
    span: Span
    anchor: str | None
    key: Node | None = None


class _Composer:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._dialect = report.dialect
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._nodes = 0
        self._documents = 0
        self.root: Node | None = None

    def take(self, event: Event) -> None:
        span = _span(event)
        if isinstance(event, DocumentStartEvent):
            self._start_document(span)
        elif isinstance(event, AliasEvent):
            node = self._aliased(event.anchor, span)
            self._count(node.size, span)
            self._attach(node, span)
        elif isinstance(event, ScalarEvent):
            self._take_scalar(event, span)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._start_collection(event, span)
        elif isinstance(event, CollectionEndEvent):
            done = self._open.pop()
            self._finish(done.node, done.anchor, done.span)

    def _start_document(self, span: Span) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(
                ReadingError.UNSUPPORTED_YAML,
                f"a second document starts here: a file holds one {self._dialect.noun}",
                span,
                f"write each {self._dialect.noun} into a file of its own",
            )

    def _take_scalar(self, event: ScalarEvent, span: Span) -> None:
        self._count(1, span)
        tag = None if event.tag is None else str(event.tag)
        plain = event.style is None and tag is None
        other_tag = None if tag is None or tag in _TEXT_TAGS else tag
        self._finish(Scalar(event.value, span, plain, other_tag), event.anchor, span)

    def _start_collection(self, event: MappingStartEvent | SequenceStartEvent, span: Span) -> None:
        self._count(1, span)
        is_mapping = isinstance(event, MappingStartEvent)
        tag = None if event.tag is None else str(event.tag)
        if tag in {"!", f"{_TAG_PREFIX}{'map' if is_mapping else 'seq'}"}:
            tag = None
        if tag is not None and tag not in self._dialect.tags:
            self._report.error(ReadingError.UNSUPPORTED_YAML, *unsupported_tag(tag, span))
        self._open.append(_Open(Mapping(span, tag) if is_mapping else Sequence(span, tag), span, event.anchor))
        self._check_depth(len(self._open), span)

    def _finish(self, node: Node, anchor: str | None, span: Span) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        self._attach(node, span)

    def _attach(self, node: Node, span: Span) -> None:
        self._check_depth(len(self._open) + node.height - 1, span)
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        container = parent.node
        if isinstance(container, Sequence):
            container.items.append((node, span))
        elif parent.key is None:
            parent.key = node
        else:
            container.entries.append(Entry(parent.key, node, span))
            parent.key = None
        container.size += node.size
        container.height = max(container.height, node.height + 1)

    def _aliased(self, anchor: str, span: Span) -> Node:
        if anchor in {container.anchor for container in self._open}:
            self._stop(
                ReadingError.UNSUPPORTED_YAML, f"*{shortened(anchor)} stands inside what it is an alias of", span
            )
        if anchor not in self._anchors:
            self._stop(
                ReadingError.SYNTAX,
                f"there is no anchor &{shortened(anchor)} before this alias",
                span,
                did_you_mean(anchor, self._anchors, f'put a text that starts with * in quotes: "*{shortened(anchor)}"'),
            )
        return self._anchors[anchor]

    def _count(self, nodes: int, span: Span) -> None:
        self._nodes += nodes
        if self._nodes > self._dialect.max_nodes:
            self._stop(
                ReadingError.TOO_LARGE,
                f"the document has more than {self._dialect.max_nodes:,} values, with its aliases written out",
                span,
            )

    def _check_depth(self, depth: int, span: Span) -> None:
        most = self._dialect.max_depth
        if depth > most:
            self._stop(ReadingError.TOO_LARGE, f"lists and mappings are nested more than {most} deep", span)

    def _stop(self, error: ReadingError, message: str, span: Span, help_text: str = "") -> None:
        self._report.error(error, message, span, help_text)
        raise UnreadableError


def compose(report: Report) -> Node | None:
    """The document's root, or None if there is no document. Raises UnreadableError, after telling the report why."""
    composer = _Composer(report)
    for event in _events(report):
        composer.take(event)
    return composer.root


def unsupported_tag(tag: str, span: Span) -> tuple[str, Span, str]:
    """What to say about a tag other than !!str, !!map and !!seq."""
    shown = shortened(tag.replace(_TAG_PREFIX, "!!"))
    return f"the tag {shown} is not supported", span, "remove it; !!str, or quotes, make a text of a number"


def _events(report: Report) -> Iterator[Event]:
    _refuse_other_versions(report)
    try:
        yield from YAML(typ="safe", pure=True).parse(report.text)
    except MarkedYAMLError as error:
        from policy_engine.topology.document.syntax import explain_syntax_error

        report.error(ReadingError.SYNTAX, *explain_syntax_error(error, report.dialect.noun))
        raise UnreadableError from error
    except (OverflowError, ValueError) as error:
        from policy_engine.topology.document.syntax import explain_impossible_escape

        report.error(ReadingError.SYNTAX, *explain_impossible_escape(report.text))
        raise UnreadableError from error
    except YAMLError as error:
        report.error(ReadingError.SYNTAX, str(error).splitlines()[0], Span(1, 1))
        raise UnreadableError from error


def _refuse_other_versions(report: Report) -> None:
    """The parser would stop at some versions with errors that are none of YAML's, and read others in another way."""
    for number, line in enumerate(report.lines, 1):
        version = _VERSION.match(line)
        if version and version[1] != "1.2":
            report.error(
                ReadingError.UNSUPPORTED_YAML,
                "the file asks for a version of YAML other than 1.2",
                Span(number, 1, len(version[0])),
                "remove the %YAML line",
            )
            raise UnreadableError


def _span(event: Event) -> Span:
    start, end = event.start_mark, event.end_mark
    same_line = start.line == end.line
    return Span(start.line + 1, start.column + 1, max(1, end.column - start.column) if same_line else 1)

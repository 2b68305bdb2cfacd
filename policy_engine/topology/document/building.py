"""From nodes to data, with the position of every key and value."""

from dataclasses import dataclass, field

from policy_engine.diagnostics import described, shortened
from policy_engine.topology.document.composing import compose, unsupported_tag
from policy_engine.topology.document.nodes import Entry, Mapping, Node, Scalar, Sequence
from policy_engine.topology.document.reporting import Report, UnreadableError
from policy_engine.topology.document.scalars import ScalarError, core_schema_value, readable_text
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import Path, SourceMap, Span

Data = str | int | float | bool | list["Data"] | dict[str, "Data"] | None

_MERGE = "<<"


@dataclass(frozen=True, slots=True)
class Document:
    """What a text holds. Where a value is refused the data has None, and `refused` its path."""

    data: Data
    sources: SourceMap
    refused: frozenset[Path] = frozenset()


def read_document(report: Report) -> Document | None:
    """Read the report's text, and tell the report everything that is wrong with it.

    None if the syntax is wrong, a limit is passed, or there is no document.
    """
    try:
        root = compose(report)
    except UnreadableError:
        return None
    if root is None or (isinstance(root, Scalar) and root.plain and not root.text):
        mend = f"write at least {report.dialect.first_keys}"
        report.error(ReadingError.SYNTAX, "the file is empty", Span(1, 1), mend)
        return None
    builder = _Builder(report)
    data = builder.build(root, root.span, ())
    sources = SourceMap(report.file, report.lines, builder.keys, builder.values, frozenset(builder.scalars))
    return Document(data, sources, frozenset(builder.refused))


@dataclass(eq=False, slots=True)
class _Builder:
    report: Report
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    scalars: set[Path] = field(default_factory=set)
    refused: set[Path] = field(default_factory=set)

    def build(self, node: Node, span: Span, path: Path) -> Data:
        """The node's data. `span` is where it is used, `path` where it belongs."""
        self.values[path] = span
        key = self.report.dialect.tags.get(node.tag) if node.tag else None
        if key is None:
            return self._untagged(node, span, path)
        inner = (*path, key)
        self.keys[inner] = self.values[inner] = span
        return {key: self._untagged(node, span, inner)}

    def _untagged(self, node: Node, span: Span, path: Path) -> Data:
        if isinstance(node, Scalar):
            self.scalars.add(path)
            return self._scalar(node, span, path)
        if isinstance(node, Sequence):
            return [self.build(item, place, (*path, index)) for index, (item, place) in enumerate(node.items)]
        mapping: dict[str, Data] = {}
        for name, entry in self._entries(node, path).items():
            self.keys[(*path, name)] = entry.key.span
            empty = isinstance(entry.value, Scalar) and entry.value.plain and not entry.value.text
            mapping[name] = self.build(entry.value, entry.key.span if empty else entry.span, (*path, name))
        return mapping

    def _entries(self, mapping: Mapping, path: Path) -> dict[str, Entry]:
        """Entries by name: what is merged in comes first, a mapping's own entries win."""
        merged: dict[str, Entry] = {}
        own: dict[str, Entry] = {}
        for entry in mapping.entries:
            if isinstance(entry.key, Scalar) and entry.key.plain and entry.key.text == _MERGE:
                for source in self._merge_sources(entry, path):
                    merged |= {name: entry for name, entry in self._entries(source, path).items() if name not in merged}
                continue
            key = self._name(entry.key, path)
            if key in own:
                self._repeated(key, own[key], entry, path)
            elif key is not None:
                own[key] = entry
        return merged | own

    def _repeated(self, name: str, first: Entry, again: Entry, path: Path) -> None:
        self.report.error(
            ReadingError.DUPLICATE_KEY,
            f"the key {described(name)} occurs twice",
            again.key.span,
            f"it is on line {first.key.span.line} already; keep one of the two",
            (*path, name),
        )

    def _merge_sources(self, entry: Entry, path: Path) -> list[Mapping]:
        nodes = [item for item, _ in entry.value.items] if isinstance(entry.value, Sequence) else [entry.value]
        mappings = [node for node in nodes if isinstance(node, Mapping)]
        if len(mappings) < len(nodes):
            self.report.error(
                ReadingError.UNSUPPORTED_YAML,
                "'<<' merges mappings only",
                entry.span,
                "write '<<: *anchor', where &anchor marks a mapping",
                path,
            )
        return mappings

    def _name(self, key: Node, path: Path) -> str | None:
        if not isinstance(key, Scalar):
            kind = "a list" if isinstance(key, Sequence) else "a mapping"
            self.report.error(ReadingError.WRONG_VALUE, f"expected a text as a key, not {kind}", key.span, path=path)
            return None
        try:
            name = readable_text(key.text)
        except ScalarError as error:
            self.report.error(ReadingError.WRONG_VALUE, error.message, key.span, error.help, path)
            return None
        if not name:
            self.report.error(ReadingError.WRONG_VALUE, "a key is missing", key.span, "write it before the ':'", path)
            return None
        if not self.report.dialect.strict:
            return name
        if key.tag is not None:
            self.report.error(ReadingError.UNSUPPORTED_YAML, *unsupported_tag(key.tag, key.span), path)
        elif key.plain and not _is_text(name):
            shown = shortened(name)
            message = f"the key {shown} is not a text"
            self.report.error(
                ReadingError.WRONG_VALUE, message, key.span, f'put it in quotes: "{shown}"', (*path, name)
            )
        return name

    def _scalar(self, node: Scalar, span: Span, path: Path) -> Data:
        if node.tag is not None and node.tag not in self.report.dialect.tags:
            self.report.error(ReadingError.UNSUPPORTED_YAML, *unsupported_tag(node.tag, span), path)
            self.refused.add(path)
            return None
        try:
            return _value(node, path)
        except ScalarError as error:
            if not self.report.dialect.strict:
                return node.text or None
            self.report.error(ReadingError.WRONG_VALUE, error.message, span, error.help, path)
            self.refused.add(path)
            return None


def _value(node: Scalar, path: Path) -> str | int | float | bool | None:
    text = readable_text(node.text)
    if not node.plain:
        return text
    if not text:
        subject = described(path[-1]) if path and isinstance(path[-1], str) else "an item of the list"
        raise ScalarError(f"{subject} has no value", "give it one, or remove it")
    return core_schema_value(text)


def _is_text(plain: str) -> bool:
    try:
        return isinstance(core_schema_value(plain), str)
    except ScalarError:
        return False

"""The parts of a document, as they are written: scalars, lists and mappings, with aliases resolved."""

from dataclasses import dataclass, field

from policy_engine.topology.source import Span


@dataclass(eq=False, slots=True)
class Scalar:
    """A text as it is written, without its quotes."""

    text: str
    span: Span
    plain: bool
    """Neither quoted, nor a block, nor tagged as text: it may be a number, true, false or null."""
    tag: str | None = None
    """Another tag than `!!str`."""

    size = 1
    height = 1


@dataclass(eq=False, slots=True)
class Sequence:
    """A list. Each item has the place where it is used: an alias's own."""

    span: Span
    tag: str | None = None
    """Another tag than `!!seq`."""
    items: list[tuple["Node", Span]] = field(default_factory=list)
    size: int = 1
    """Nodes in it, once aliases are written out."""
    height: int = 1


@dataclass(eq=False, slots=True)
class Entry:
    """A key with its value, and the place where the value is used: an alias's own."""

    key: "Node"
    value: "Node"
    span: Span


@dataclass(eq=False, slots=True)
class Mapping:
    """Entries in the order in which they are written, merge keys and repeated keys included."""

    span: Span
    tag: str | None = None
    """Another tag than `!!map`."""
    entries: list[Entry] = field(default_factory=list)
    size: int = 1
    height: int = 1


Node = Scalar | Sequence | Mapping

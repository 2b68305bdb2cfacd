"""What a value of a template comes to before it is deployed, and where it stands in the template.

A value is known, or it is known what stands in its way. Known are scalars, lists and mappings; half known are texts
with parts that only deployment decides, and references to other resources.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.topology.source import Path

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only deployment decides, or that the template gets wrong."""

    why: str
    """Such as `the parameter 'Limit' has no default`."""
    help: str = ""


@dataclass(frozen=True, slots=True)
class ResourceId:
    """A resource of one of the templates that are read together."""

    template: str
    logical_id: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The ARN, the name or another attribute of a resource of the templates."""

    resource: ResourceId
    attribute: str | None = None
    """None is what `Ref` gives."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of which some parts only deployment decides."""

    parts: tuple["str | Unknown | Reference", ...]

    def split(self, delimiter: str) -> tuple["str | Unknown | Reference | Text", ...]:
        """The pieces between delimiters. Parts that are not known are taken to have none of them."""
        pieces: list[list[str | Unknown | Reference]] = [[]]
        for part in self.parts:
            if not isinstance(part, str):
                pieces[-1].append(part)
                continue
            first, *others = part.split(delimiter)
            pieces[-1].append(first)
            pieces.extend([other] for other in others)
        return tuple(text_of(piece) for piece in pieces)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A reference that was split at a delimiter: each piece is part of the same resource's ARN or name."""

    of: Reference


class Absent:
    """`AWS::NoValue`: as if the property were not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()

Scalar = str | int | float | bool | None
Value = Scalar | Unknown | Reference | Text | Pieces | Absent | tuple["Node", ...] | Mapping[str, "Node"]


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where it stands: in which template, and at which path from its root."""

    value: Value
    template: str
    path: Path

    def get(self, key: str) -> "Node | None":
        """The value of a key. None if there is none, it is null, or this is no mapping."""
        found = self.value.get(key) if isinstance(self.value, Mapping) else None
        return None if found is None or found.value is None or isinstance(found.value, Absent) else found

    def items(self) -> tuple["Node", ...]:
        """The items of a list. Empty if this is none."""
        items = self.value if isinstance(self.value, tuple) else ()
        return tuple(item for item in items if not isinstance(item.value, Absent))


def text_of(parts: "list[str | Unknown | Reference]") -> "str | Unknown | Reference | Text":
    """The parts as one text, in its simplest form: known, a single reference, or mixed."""
    joined: list[str | Unknown | Reference] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    if not joined:
        return ""
    return joined[0] if len(joined) == 1 else Text(tuple(joined))


def references_in(node: Node) -> Iterator[Reference]:
    """Every reference to another resource that a value holds."""
    match node.value:
        case Reference() as reference:
            yield reference
        case Pieces(of=reference):
            yield reference
        case Text(parts=parts):
            yield from (part for part in parts if isinstance(part, Reference))
        case tuple() as items:
            for item in items:
                yield from references_in(item)
        case Mapping() as mapping:
            for item in mapping.values():
                yield from references_in(item)
        case _:
            return

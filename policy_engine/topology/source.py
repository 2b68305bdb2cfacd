"""Where each part of a topology stands in its file, so that a finding can point at it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from policy_engine.diagnostics import Position

_LINE_BREAK = re.compile(r"\r\n|\n|\r")

Path = tuple[str | int, ...]
"""From the root of a document: a text for each key, a number for each item of a list. The root is `()`."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one line of the file. `line` and `column` count from 1, `length` is at least 1."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Positions of keys and values by path, such as `("teams", "search", "shares", "search-prod", "borrow_limit")`.

    A path that the file does not have (a default, a missing key) gets the position of its nearest parent that it has.
    Without any position (a topology made in Python) the answers are None: `SourceMap()` knows of nothing.
    """

    file: str = ""
    lines: tuple[str, ...] = ()
    keys: Mapping[Path, Span] = field(default_factory=dict)
    """Where the key of a path stands. Items of a list and the root have none."""
    values: Mapping[Path, Span] = field(default_factory=dict)
    """Where the value of a path starts."""
    scalars: frozenset[Path] = frozenset()
    """Paths whose value is a text, a number, true, false or null."""

    def position(self, path: Path) -> Position | None:
        """Where a reader looks first: at a scalar's value, at the key of a mapping or a list."""
        for known in _nearest_first(path):
            span = self.values.get(known) if known in self.scalars else self.keys.get(known, self.values.get(known))
            if span is not None:
                return self._at(span)
        return None

    def key_position(self, path: Path) -> Position | None:
        """Where the key stands, such as an instance type, a name or a tag."""
        span = self.keys.get(path)
        return self._at(span) if span is not None else self.position(path)

    def value_position(self, path: Path) -> Position | None:
        """Where the value starts, also that of a mapping or a list."""
        span = self.values.get(path)
        return self._at(span) if span is not None else self.position(path)

    def _at(self, span: Span) -> Position:
        text = self.lines[span.line - 1] if span.line <= len(self.lines) else ""
        return Position(self.file, span.line, span.column, text, span.length)


def lines_of(text: str) -> tuple[str, ...]:
    """The text's lines without their ends, as YAML and editors count them."""
    return tuple(_LINE_BREAK.split(text))


def _nearest_first(path: Path) -> list[Path]:
    return [path[:end] for end in range(len(path), -1, -1)]

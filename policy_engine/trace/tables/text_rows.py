"""Where rows begin and end in the bytes of a text file, and positions in them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from policy_engine.diagnostics import Position

_NEWLINE, _RETURN, _QUOTE, _COMMA = b'\n\r",'
_BLOCK = 1 << 23
_LONGEST_LINE = 500

Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextRows:
    """Rows of a text file as byte offsets, blank ones left out."""

    name: str
    content: bytes
    starts: Offsets
    ends: Offsets
    """Just after the last byte of each row, its line end not counted."""

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, row: int) -> str:
        """A row as it stands in the file."""
        return self.content[self.starts[row] : self.ends[row]].decode()

    def position(self, row: int, offset: int) -> Position:
        """The position `offset` characters into a row. Long or unprintable lines are not quoted."""
        text = self.text(row)
        before = text[:offset].split("\n")
        line = int(np.searchsorted(self._newlines, self.starts[row])) + len(before)
        whole = text.split("\n")[len(before) - 1].rstrip("\r")
        quoted = whole if len(whole) <= _LONGEST_LINE and whole.isprintable() else ""
        return Position(self.name, line, len(before[-1]) + 1, quoted)

    def select(self, chosen: npt.NDArray[np.bool_]) -> "TextRows":
        """Only the chosen rows; positions stay those of the file."""
        return TextRows(self.name, self.content, self.starts[chosen], self.ends[chosen])

    def joined(self) -> bytes:
        """The bytes of these rows alone, one a line."""
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return b"\n".join(self.content[start:end] for start, end in spans)

    @cached_property
    def _newlines(self) -> Offsets:
        return np.flatnonzero(np.frombuffer(self.content, np.uint8) == _NEWLINE)


@dataclass(frozen=True, eq=False, slots=True)
class CsvRows:
    """Rows of a CSV file, with the number of separators in each."""

    rows: TextRows
    separators: Offsets
    blank: bool
    """Whether blank rows were left out."""
    unclosed: bool
    """Whether a quote is still open at the end of the file."""


def csv_rows(name: str, content: bytes) -> CsvRows:
    """Split a CSV file, not an empty one, into rows. A line end or a comma between quotes is data."""
    line_ends, commas_before = [], []
    open_quote = commas = 0
    for start in range(0, len(content), _BLOCK):
        block = np.frombuffer(content, np.uint8, min(_BLOCK, len(content) - start), start)
        is_end, is_comma = block == _NEWLINE, block == _COMMA
        is_quote = block == _QUOTE
        if open_quote or is_quote.any():
            inside = (np.cumsum(is_quote, dtype=np.uint8) + np.uint8(open_quote)) & 1
            open_quote = int(inside[-1])
            is_end &= inside == 0
            is_comma &= inside == 0
        ends, comma_at = np.flatnonzero(is_end), np.flatnonzero(is_comma)
        line_ends.append(ends + start)
        commas_before.append(np.searchsorted(comma_at, ends) + commas)
        commas += len(comma_at)
    ends = np.concatenate(line_ends).astype(np.int64)
    before = np.concatenate(commas_before).astype(np.int64)
    if not len(ends) or ends[-1] != len(content) - 1:
        ends, before = np.append(ends, len(content)), np.append(before, commas)
    rows, kept = _rows(name, content, ends)
    return CsvRows(rows, np.diff(before, prepend=0)[kept], blank=not kept.all(), unclosed=bool(open_quote))


def lines(name: str, content: bytes) -> TextRows:
    """Split a text file, not an empty one, into lines."""
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == _NEWLINE).astype(np.int64)
    if not len(ends) or ends[-1] != len(content) - 1:
        ends = np.append(ends, len(content))
    rows, _ = _rows(name, content, ends)
    return rows


def _rows(name: str, content: bytes, ends: Offsets) -> tuple[TextRows, npt.NDArray[np.bool_]]:
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    last = np.frombuffer(content, np.uint8)[np.maximum(ends - 1, 0)]
    ends = ends - ((ends > starts) & (last == _RETURN))
    kept = ends > starts
    return TextRows(name, content, starts[kept], ends[kept]), kept

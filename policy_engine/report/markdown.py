"""GitHub-flavoured Markdown in which names are nothing but text."""

import re
from collections.abc import Iterable, Iterator, Sequence

from policy_engine.amounts import printable

_MARKUP = re.compile(r"([\\`*_\[\]|~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "#": "&#35;"}
_LINK = re.compile(r"://|(?<=www)\.", re.IGNORECASE)
_LONGEST = 200


def as_text(text: str, *, longest: int = _LONGEST) -> str:
    """Text that Markdown and HTML show as it is: no mark-up, no links, no mentions, one line, not too long."""
    shown = printable(text)
    if len(shown) > longest:
        shown = shown[:longest] + "…"
    escaped = "".join(_ENTITIES.get(character, character) for character in shown)
    unlinked = _LINK.sub(lambda match: "&#58;//" if match[0] == "://" else "&#46;", escaped)
    return _MARKUP.sub(r"\\\1", unlinked)


def row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(as_text(cell) for cell in cells) + " |"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, named: int = 1) -> Iterator[str]:
    """A table whose first `named` columns hold names, and whose others amounts."""
    yield row(headings)
    yield "| " + " | ".join(["---"] * named + ["---:"] * (len(headings) - named)) + " |"
    yield from map(row, rows)

"""Paragraphs in terminal columns, of which a Chinese, Japanese or Korean character takes two."""

from textwrap import wrap

from rich.cells import cell_len

_FILLER = "\ue000"
"""Stands after each wide character while lines are counted. Of the private use area, and so never printable."""


def wrapped(
    text: str, width: int, *, initial_indent: str = "", subsequent_indent: str = "", break_on_hyphens: bool = True
) -> list[str]:
    """As `textwrap.wrap`, by terminal columns instead of characters. The text has printable characters only."""
    wide = any(cell_len(character) > 1 for character in text)
    if wide:
        text = "".join(character + _FILLER * (cell_len(character) - 1) for character in text)
    lines = wrap(
        text,
        width - wide,  # A line may end between a character and its filler.
        initial_indent=initial_indent,
        subsequent_indent=subsequent_indent,
        break_on_hyphens=break_on_hyphens,
    )
    return [line.replace(_FILLER, "") for line in lines]

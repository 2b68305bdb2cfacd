"""Levels as one line of blocks."""

from collections.abc import Iterable, Mapping
from math import ceil

BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*#@"
PLAIN: Mapping[str, str] = dict(zip(BLOCKS, _ASCII, strict=True))
"""Characters of ASCII that look as high as the blocks, for what knows no blocks."""


def sparkline(levels: Iterable[int], top: int) -> str:
    """A block for each level, as high as it is of `top`. Nothing is blank; the least there is has the lowest block."""
    return "".join(BLOCKS[min(ceil(level * len(BLOCKS) / top), len(BLOCKS)) - 1] if level else " " for level in levels)

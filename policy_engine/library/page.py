"""Writes the tables of columns into a page: `python -m policy_engine.library.page docs/library.md`."""

import sys
from pathlib import Path

from policy_engine.files import writing
from policy_engine.library.columns import column_tables

_START, _END = "<!-- columns -->", "<!-- end of columns -->"


def with_columns(page: str) -> str:
    """The page with its tables made anew. Raises ValueError if it has no place for them."""
    before, start, rest = page.partition(_START)
    _, end, after = rest.partition(_END)
    if not start or not end:
        raise ValueError(f"the page has no {_START} and {_END}")
    return "\n".join([f"{before}{start}", "", *column_tables(), f"{end}{after}"])


if __name__ == "__main__":
    path = Path(sys.argv[1])
    text = with_columns(path.read_text(encoding="utf-8"))
    with writing(path, overwrite=True) as file:
        file.write(text.encode())

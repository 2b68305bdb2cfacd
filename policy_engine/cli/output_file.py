"""The file that a command writes its result to, if it is told one: whole or not at all, and none over another."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from policy_engine.files import writing

STDIO = "-"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")
"""Hebrew, Arabic and the other scripts that are written so."""
_LEFT_TO_RIGHT_MARK = "\u200e"


class _OnlyTryingError(Exception):
    """Leaves a file unwritten."""


def refuse_output(output: str | None, *, force: bool) -> None:
    """Find out before the replay, not after it, that the output cannot be written. Raises OSError."""
    with suppress(_OnlyTryingError), opened(output, force=force):
        raise _OnlyTryingError


@contextmanager
def opened(output: str | None, *, force: bool) -> Iterator[BinaryIO | None]:
    """The file to write, which appears whole or not at all, or None for standard output."""
    if output is None or output == STDIO:
        yield None
        return
    with writing(Path(output), overwrite=force) as file:
        yield file


def printable_on(stream: TextIO, text: str) -> str:
    """The text with plain characters for those that the stream cannot take, such as lines in a Windows code page.

    Lines and blocks keep their shape in ASCII; what else the stream lacks is escaped. On a terminal, a name that is
    written from right to left does not draw the columns after it to its other side.
    """
    if stream.isatty():
        text = _RIGHT_TO_LEFT.sub(rf"\g<0>{_LEFT_TO_RIGHT_MARK}", text)
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from policy_engine.report.sparklines import PLAIN

        plain = str.maketrans({"\u2500": "-", **PLAIN})
        return text.translate(plain).encode(encoding, "backslashreplace").decode(encoding)
    return text

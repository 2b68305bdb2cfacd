"""From a path to a file's bytes, or to what is wrong with the path."""

import sys
from os import PathLike, fspath
from pathlib import Path as FilePath

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.topology.document.dialect import Dialect
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.suggestions import did_you_mean

STANDARD_INPUT = "-"


def content_of(path: str | PathLike[str], dialect: Dialect, *, noun: str | None = None) -> tuple[bytes, str]:
    """What a file holds, up to one byte more than its dialect allows, and its name for findings.

    `-` is standard input. `noun` is what messages call the file, if it may be of another dialect too. Raises
    InputError if it cannot be read.
    """
    name = fspath(path)
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read(dialect.max_bytes + 1), "<stdin>"
    try:
        with FilePath(name).open("rb") as file:
            return file.read(dialect.max_bytes + 1), name
    except (OSError, ValueError) as error:
        raise InputError([_unreadable(name, error, noun or dialect.noun)]) from error


def _unreadable(name: str, error: OSError | ValueError, noun: str) -> Finding:
    match error:
        case FileNotFoundError():
            message, mend = "there is no such file", _similar_file(name)
        case IsADirectoryError():
            message, mend = "this is a directory", f"name a {noun} file in it"
        case PermissionError():
            message, mend = "you may not read this file", "change its permissions"
        case OSError():
            message, mend = f"the file cannot be read: {error.strerror or error}", ""
        case _:
            message, mend = "this is no file name", ""
    return Finding(ReadingError.UNREADABLE_FILE.value, Severity.ERROR, message, mend, (), Position(name, 1, 1))


def _similar_file(name: str) -> str:
    path = FilePath(name)
    try:
        siblings = {sibling.name: sibling for sibling in path.parent.iterdir() if sibling.is_file()}
    except OSError:
        return ""
    return did_you_mean(path.name, siblings)

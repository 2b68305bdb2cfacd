"""The file: JSON Lines, to which a line is added, and brought to the disk, before a call is answered."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.emulator.state.entries import ENTRY, FORMAT, VERSION, Call, Header, Started
from policy_engine.files import writing


class Journal:
    """An open state file. One process has it at a time."""

    def __init__(self, file: int, path: Path) -> None:
        self._file = file
        self.path = path

    def add(self, entry: Started | Call) -> None:
        """Write an entry, and return once the disk has it.

        Raises OSError; then the file is as it was before.
        """
        end = os.lseek(self._file, 0, os.SEEK_END)
        line = _line(entry)
        try:
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, end)
            raise


@dataclass(frozen=True, slots=True)
class Kept:
    """What a state file has. `entries` begin with a Started, if there are any; `lines` are their line numbers."""

    header: Header
    entries: tuple[Started | Call, ...]
    cut_off: bool
    """Whether there was a half-written last line, which nobody had an answer for. It is gone."""


@contextmanager
def opened(path: Path, header: Header) -> Iterator[tuple[Journal, Kept]]:
    """Open a state file, or make one with this header.

    Raises InputError if the file is not one that can be read, or one that other settings were kept in; OSError.
    """
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        with writing(path, overwrite=path.exists()) as new:
            Path(new.name).chmod(0o600)  # it has what passwords and keys were sent
            new.write(_line(header))
            new.flush()
            os.fsync(new.fileno())
    file = os.open(path, os.O_RDWR)
    try:
        _lock(file, path)
        kept, complete = _read(path)
        _check_settings(path, kept.header, header)
        os.ftruncate(file, complete)
        yield Journal(file, path), kept
    finally:
        os.close(file)


def _line(entry: BaseModel) -> bytes:
    return json.dumps(entry.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _lock(file: int, path: Path) -> None:
    if sys.platform == "win32":  # Windows has other locks; there, a second server is not noticed.
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise _unusable(path, 1, "another emulator keeps its state in this file", "name another file") from error


def _read(path: Path) -> tuple[Kept, int]:
    """What a file has, and how many bytes of it are complete lines."""
    content = path.read_bytes()
    complete = content.rfind(b"\n") + 1
    first, *lines = content[:complete].splitlines() or [content]
    header = _read_header(path, first)
    entries = []
    for number, line in enumerate(lines, start=2):
        try:
            entries.append(ENTRY.validate_json(line))
        except ValidationError as error:
            raise _unusable(path, number, f"not a line of a state file: {_first_problem(error)}") from error
    if entries and not isinstance(entries[0], Started):
        raise _unusable(path, 2, "the line that says how the clock runs is missing")
    return Kept(header, tuple(entries), cut_off=complete < len(content)), complete


def _read_header(path: Path, line: bytes) -> Header:
    try:
        document = json.loads(line)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _unusable(path, 1, "not a state file of the emulator", "name a file that does not exist yet")
    if document.get("version") != VERSION:
        message = f"the file has version {document.get('version')}; this batch-quota reads version {VERSION}"
        raise _unusable(path, 1, message, "use the batch-quota that made it, or name another file")
    try:
        return Header.model_validate(document)
    except ValidationError as error:
        raise _unusable(path, 1, f"not a header of a state file: {_first_problem(error)}") from error


def _check_settings(path: Path, kept: Header, now: Header) -> None:
    """The past would be another one with other settings."""
    names = {"assumptions": "assumptions", "default_runtime": "--runtime", "settling": "--settling"}
    others = [name for field, name in names.items() if getattr(kept, field) != getattr(now, field)]
    if others:
        message = f"the state was kept with other {' and other '.join(others)}, and would become another one"
        raise _unusable(path, 1, message, "start with the same options, or name another file")


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'the line'}: {problem['msg']}"


def _unusable(path: Path, line: int, message: str, mend: str = "name another file, or mend this one") -> InputError:
    position = Position(file=str(path), line=line, column=1)
    return InputError([Finding("emulator-state", Severity.ERROR, message, help=mend, position=position)])

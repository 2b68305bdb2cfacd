"""From a file's bytes to text: UTF-8 without control characters, up to a limit."""

import codecs
import re

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import lines_of

MAX_BYTES = 256 * 1024
"""More than a hundred times the size of a usual topology; larger files are refused unread."""

_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def decoded(content: bytes | str, file: str) -> str:
    """The text, without a byte order mark. Raises InputError if it is too large, or is no text that YAML allows."""
    encoded = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(encoded) > MAX_BYTES:
        raise _error(
            ReadingError.TOO_LARGE,
            f"the file is larger than {MAX_BYTES // 1024} KiB, the most that a topology may have",
            "check that this is the topology, and not a trace",
            Position(file, 1, 1),
        )
    text = content if isinstance(content, str) else _from_utf8(content, file)
    text = text.removeprefix("\ufeff")
    found = _NOT_PRINTABLE.search(text)
    if found:
        character = "a NUL byte" if found[0] == "\0" else f"the control character U+{ord(found[0]):04X}"
        position = _position(file, text, found.start())
        raise _error(ReadingError.NOT_TEXT, f"the file has {character} here", "save it as plain UTF-8 text", position)
    return text


def _from_utf8(content: bytes, file: str) -> str:
    for mark, encoding in _OTHER_ENCODINGS:
        if content.startswith(mark):
            message = f"the file is {encoding}, not UTF-8"
            raise _error(ReadingError.NOT_TEXT, message, "save it as UTF-8", Position(file, 1, 1))
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(errors="replace")
        text = content.decode(errors="replace")
        raise _error(
            ReadingError.NOT_TEXT,
            f"the byte 0x{content[error.start]:02X} here is not UTF-8",
            "save the file as UTF-8",
            _position(file, text, len(before)),
        ) from error


def _position(file: str, text: str, index: int) -> Position:
    before = lines_of(text[:index])
    line = lines_of(text)[len(before) - 1]
    return Position(file, len(before), len(before[-1]) + 1, line)


def _error(error: ReadingError, message: str, mend: str, position: Position) -> InputError:
    return InputError([Finding(error.value, Severity.ERROR, message, mend, (), position)])

"""From a file's bytes to text: UTF-8 without control characters, up to a limit."""

import codecs

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.topology.document.dialect import TOPOLOGY, Dialect
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import lines_of

_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decoded(content: bytes | str, file: str, dialect: Dialect = TOPOLOGY) -> str:
    """The text, without a byte order mark. Raises InputError if it is too large, or is no text that YAML allows."""
    encoded = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(encoded) > dialect.max_bytes:
        raise _error(
            ReadingError.TOO_LARGE,
            f"the file is larger than {dialect.max_bytes // 1024} KiB, the most that a {dialect.noun} may have",
            f"check that this is the {dialect.noun}, and not a trace",
            Position(file, 1, 1),
        )
    text = content if isinstance(content, str) else _from_utf8(content, file)
    text = text.removeprefix("\ufeff")
    found = next((index for index, character in enumerate(text) if not _is_allowed(character)), None)
    if found is not None:
        character = "a NUL byte" if text[found] == "\0" else f"the control character U+{ord(text[found]):04X}"
        position = _position(file, text, found)
        raise _error(ReadingError.NOT_TEXT, f"the file has {character} here", "save it as plain UTF-8 text", position)
    return text


def _is_allowed(character: str) -> bool:
    """Whether YAML 1.2 takes the character as printable."""
    return (
        " " <= character <= "~"
        or character in "\n\r\t\x85"
        or "\xa0" <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character >= "\U00010000"
    )


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

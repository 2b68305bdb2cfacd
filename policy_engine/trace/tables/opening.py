"""Opens a file or a stream as a table, by the format that is asked for, or that its name or its first bytes show."""

import gzip
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace.tables.csv_table import CsvTable
from policy_engine.trace.tables.jsonl_table import JsonLinesTable
from policy_engine.trace.tables.parquet_table import ParquetTable
from policy_engine.trace.tables.table import FileFormat, Table, unreadable

Source = str | Path | BinaryIO
"""A path, `-` for standard input, or an open binary stream."""

STDIN = "-"
_PARQUET_MAGIC = b"PAR1"
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SUFFIXES = {
    ".csv": FileFormat.CSV,
    ".jsonl": FileFormat.JSONL,
    ".ndjson": FileFormat.JSONL,
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
}


def format_of(path: Path) -> FileFormat | None:
    """The format that a file's name shows: `.csv`, `.jsonl`, `.ndjson`, `.parquet`, with or without `.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return _SUFFIXES.get(Path(name).suffix)


def open_table(source: Source, format: FileFormat | None = None) -> Table:  # noqa: A002
    """Open a table.

    Raises InputError if the file cannot be read, or is not of its format.
    """
    name, content = _load(source)
    if isinstance(content, Path):
        if format not in {None, FileFormat.PARQUET}:
            raise unreadable(name, f"the file is Parquet, not {format}")
        return ParquetTable(name, content)
    if content[:4] == _PARQUET_MAGIC and format in {None, FileFormat.PARQUET}:
        return ParquetTable(name, content)
    content = _decompressed(name, content).removeprefix(_BYTE_ORDER_MARK)
    named = (
        format_of(source) if isinstance(source, Path) else format_of(Path(source)) if isinstance(source, str) else None
    )
    chosen = format or named or (FileFormat.JSONL if content.lstrip()[:1] == b"{" else FileFormat.CSV)
    if chosen is FileFormat.PARQUET:
        return ParquetTable(name, content)
    _check_text(name, content)
    return CsvTable(name, content) if chosen is FileFormat.CSV else JsonLinesTable(name, content)


def read_text(source: Source) -> tuple[str, bytes]:
    """Name and bytes of a text file, unpacked. Raises InputError if it cannot be read, is empty or is not UTF-8."""
    name, content = _load(source)
    if isinstance(content, Path):
        raise unreadable(name, "the file is Parquet, not text")
    content = _decompressed(name, content).removeprefix(_BYTE_ORDER_MARK)
    _check_text(name, content)
    return name, content


def _load(source: Source) -> tuple[str, bytes | Path]:
    """Name and bytes of a source. A Parquet file stays a path, so that its columns can be read one at a time."""
    if not isinstance(source, str | Path):
        return str(getattr(source, "name", "<stream>")), source.read()
    if str(source) == STDIN:
        return "<stdin>", sys.stdin.buffer.read()
    path = Path(source)
    try:
        with path.open("rb") as file:
            magic = file.read(4)
            if magic == _PARQUET_MAGIC and path.is_file():
                return str(source), path
            return str(source), magic + file.read()
    except OSError as error:
        raise unreadable(str(source), f"the file cannot be read: {error.strerror or error}") from error


def _decompressed(name: str, content: bytes) -> bytes:
    if content[:2] != _GZIP_MAGIC:
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(name, f"the gzip data is damaged: {error}") from error


def _check_text(name: str, content: bytes) -> None:
    if not content:
        raise InputError([Finding("TR002", Severity.ERROR, "the file is empty", position=Position(name, 1, 1))])
    if content.isascii():
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise unreadable(
            name, "the file is not UTF-8 text", "save it as UTF-8, or name its format", line=line
        ) from error

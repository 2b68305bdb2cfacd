"""Writes files whole or not at all, and never over something that is there unless asked to."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def writing(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place when the block ends well, and is removed when it does not.

    Devices and pipes are written directly. Raises FileExistsError if there is a file and `overwrite` is false,
    IsADirectoryError for a directory, and other OSErrors as the system gives them.
    """
    target = path.resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as device:
            yield device
        return
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    _refuse_existing(path, target, overwrite=overwrite)
    aside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with aside.open("xb") as file:
            yield file
        _refuse_existing(path, target, overwrite=overwrite)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _refuse_existing(path: Path, target: Path, *, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already")

"""Compiling the kernel: the same functions, translated by numba, with the result kept where the user can write.

The kernel's functions are plain Python. `compiled` clones one, and every kernel function that it calls, so that the
interpreted ones stay as they are for small traces and for debugging.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from dis import get_instructions
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

_PACKAGE = __name__.rpartition(".")[0]

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def cache_directory() -> Path:
    """Where compiled code is kept: `BATCH_QUOTA_CACHE_DIR`, else the user's cache directory.

    One folder for each version of the kernel's source, of numba and of Python, so that none is taken for another.
    """
    import click
    import numba

    chosen = os.environ.get("BATCH_QUOTA_CACHE_DIR")
    if chosen:
        root = Path(chosen)
    elif os.environ.get("XDG_CACHE_HOME"):
        root = Path(os.environ["XDG_CACHE_HOME"]) / "batch-quota"
    elif sys.platform.startswith("linux"):
        root = Path.home() / ".cache" / "batch-quota"
    else:
        root = Path(click.get_app_dir("batch-quota")) / "cache"
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return root / f"kernel-{digest.hexdigest()[:16]}"


def is_cached(directory: Path) -> bool:
    """Whether a compiled kernel lies in the directory already."""
    return any(directory.glob("**/*.nbi"))


def writable(directory: Path) -> bool:
    """Whether the directory can be made and written to."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


@cache
def compiled(function: Kernel) -> Kernel:
    """The function translated to machine code. It releases the GIL while it runs."""
    import numba

    directory = cache_directory()
    cache = writable(directory)
    if cache:
        numba.config.CACHE_DIR = str(directory)
    return cast("Kernel", _clone(cast("FunctionType", function), {}, cache))


def _clone(function: FunctionType, done: dict[str, "Dispatcher"], cache: bool) -> "Dispatcher":  # noqa: FBT001
    """Compile a copy of a function whose globals hold compiled copies of the kernel functions that it calls."""
    import numba

    key = f"{function.__module__}.{function.__qualname__}"
    if key not in done:
        names = dict(function.__globals__)
        for name in {str(step.argval) for step in get_instructions(function) if step.opname == "LOAD_GLOBAL"}:
            callee = names.get(name)
            if isinstance(callee, FunctionType) and callee.__module__.startswith(_PACKAGE):
                names[name] = _clone(callee, done, False)
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__module__ = function.__module__
        copy.__qualname__ = function.__qualname__
        done[key] = numba.njit(copy, nogil=True, cache=cache)
    return done[key]

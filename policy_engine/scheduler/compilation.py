"""Compiling the kernel: the same functions, translated by numba, with the result kept where the user can write.

The kernel's functions are plain Python. `compiled` clones one, and every kernel function that it calls, so that the
interpreted ones stay as they are for small traces and for debugging.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from dis import Instruction, get_instructions
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar, cast

from policy_engine.scheduler.state import State, empty_table

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

_PACKAGE = __name__.rpartition(".")[0]

INLINE_UP_TO = 60
"""Bytecode instructions of a function up to which it is translated as a part of its callers, not for itself."""

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def cache_directory(function: Callable[..., object]) -> Path:
    """Where the compiled form of a kernel function is kept: `BATCH_QUOTA_CACHE_DIR`, else the user's cache directory.

    One folder for each content of the kernel, version of numba and of Python, so that none is taken for another.
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
    content = [numba.__version__, sys.version, *(repr(empty_table(name).dtype) for name in State.__slots__)]
    for called in _kernel_functions(cast("FunctionType", function)):
        code = called.__code__
        numbers = {name: value for name in code.co_names if isinstance(value := called.__globals__.get(name), int)}
        content.append(f"{called.__qualname__} {code.co_code!r} {code.co_consts!r} {code.co_names!r} {numbers!r}")
    digest = hashlib.sha256("\n".join(content).encode()).hexdigest()
    return root / f"kernel-{digest[:16]}"


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

    directory = cache_directory(function)
    kept = writable(directory)
    if kept:
        numba.config.CACHE_DIR = str(directory)
    copies: dict[FunctionType, Dispatcher] = {}
    for called in _kernel_functions(cast("FunctionType", function)):
        copy = FunctionType(called.__code__, dict(called.__globals__), called.__name__, called.__defaults__)
        copy.__module__ = called.__module__
        copy.__qualname__ = called.__qualname__
        copy.__globals__.update({name: copies[callee] for name, callee in _callees(called).items()})
        if called is function:
            copies[called] = numba.njit(copy, nogil=True, cache=kept)
        else:
            small = len(_instructions(called)) <= INLINE_UP_TO
            inline = "always" if small else "never"
            copies[called] = numba.njit(copy, nogil=True, inline=inline, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return cast("Kernel", copies[cast("FunctionType", function)])


@cache
def _kernel_functions(function: FunctionType) -> tuple[FunctionType, ...]:
    """The function and all kernel functions that it calls, each after those that it calls."""
    found: dict[FunctionType, None] = {}
    for callee in _callees(function).values():
        found.update(dict.fromkeys(_kernel_functions(callee)))
    return (*found, function)


def _callees(function: FunctionType) -> dict[str, FunctionType]:
    """The functions of this package that a function calls, by the name that it calls them by."""
    names = sorted({str(step.argval) for step in _instructions(function) if step.opname == "LOAD_GLOBAL"})
    values = {name: function.__globals__.get(name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, FunctionType) and value.__module__.startswith(_PACKAGE)
    }


@cache
def _instructions(function: FunctionType) -> tuple[Instruction, ...]:
    """The function's bytecode, taken apart once a process: a replay asks for it several times before it begins."""
    return tuple(get_instructions(function))

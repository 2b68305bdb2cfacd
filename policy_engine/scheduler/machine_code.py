"""The compiled kernel: where its machine code is kept, and how it is loaded and called.

Loading what is kept takes milliseconds and no numba, which alone takes half a second to import. Whoever finds nothing
kept has it compiled.
"""

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
import platformdirs

from policy_engine.files import writing
from policy_engine.scheduler.state import State, empty_table

TABLES = tuple(field.name for field in fields(State))

_DIGEST_BYTES = 32

ENTRY = "batch_quota_run"
"""Symbol of `native.run_at` in the object code."""
_ENTRY_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
)
"""Numba's calling convention: pointers to the result and to an exception, the arguments; a status, 0 for success."""

Kernel = Callable[[State, int, int], int]
"""As `loop.run`, for a state over arrays."""


def cache_directory() -> Path:
    """Where machine code is kept: `BATCH_QUOTA_CACHE_DIR`, else the user's cache directory."""
    chosen = os.environ.get("BATCH_QUOTA_CACHE_DIR")
    return Path(chosen) if chosen else platformdirs.user_cache_path("batch-quota")


def writable(directory: Path) -> bool:
    """Whether the directory can be made and written to."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


@cache
def file_name() -> str:
    """One for each content of the kernel, compiler, version of Python and processor: none is taken for another."""
    content = hashlib.sha256()
    for source in sorted(files(__package__).iterdir(), key=lambda source: source.name):
        if source.name.endswith(".py"):
            content.update(source.read_bytes())
    features = llvm.get_host_cpu_features().flatten()
    about = (version("numba"), version("llvmlite"), version("numpy"), sys.version, llvm.get_host_cpu_name(), features)
    content.update(repr(about).encode())
    return f"kernel-{content.hexdigest()[:16]}.o"


def _kept() -> bytes | None:
    """The machine code that is kept, unless there is none or it is damaged."""
    try:
        content = (cache_directory() / file_name()).read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def is_kept() -> bool:
    """Whether the kernel need not be compiled."""
    return _kept() is not None


@cache
def kernel() -> Kernel:
    """The compiled kernel. It releases the GIL while it runs, so several threads may run it, each on its own state."""
    code = _kept()
    if code is None:
        from policy_engine.scheduler.compilation import object_code

        code = object_code()
        with suppress(OSError):  # It is compiled again next time.
            _keep(code)
    return _LoadedKernel(code)


def _keep(code: bytes) -> None:
    if writable(cache_directory()):
        with writing(cache_directory() / file_name(), overwrite=True) as file:
            file.write(hashlib.sha256(code).digest() + code)


class _LoadedKernel:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._entry = _ENTRY_TYPE(self._engine.get_function_address(ENTRY))

    def __call__(self, state: State, until: int, budget: int) -> int:
        addresses = addresses_of(state)
        result, exception = ctypes.c_int64(), ctypes.c_void_p()
        status = self._entry(ctypes.byref(result), ctypes.byref(exception), addresses.ctypes.data, until, budget)
        if status != 0:
            raise RuntimeError(f"the compiled kernel ended with status {status}")
        return result.value


def addresses_of(state: State) -> npt.NDArray[np.int64]:
    """The addresses of a state's tables, then their lengths. All tables must have the types of `empty_table`."""
    tables: list[npt.NDArray[Any]] = [getattr(state, name) for name in TABLES]
    for name, table in zip(TABLES, tables, strict=True):
        if table.dtype.itemsize != empty_table(name).dtype.itemsize or not table.flags.c_contiguous:
            raise TypeError(f"table {name} is not what the compiled kernel expects")
    return np.array([table.ctypes.data for table in tables] + [len(table) for table in tables], dtype=np.int64)

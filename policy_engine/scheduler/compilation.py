"""Translating the kernel to machine code: the same functions, by numba, then as a whole by LLVM.

The kernel's functions are plain Python. They are cloned before numba gets them, so that the interpreted ones stay as
they are for small traces and for debugging.
"""

from dis import get_instructions
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, cast

import llvmlite.binding as llvm
import numba
from numba.core import types

from policy_engine.scheduler import native
from policy_engine.scheduler.machine_code import ENTRY

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

INLINE_UP_TO = 60
"""Bytecode instructions of a function up to which numba translates it as a part of its callers."""

_PACKAGE = __name__.rpartition(".")[0]


def object_code() -> bytes:
    """The kernel for this processor, as an object file that needs no other. Takes about a minute."""
    dispatcher = _translated(cast("FunctionType", native.run_at))
    dispatcher.compile((types.int64, types.int64, types.int64))
    (result,) = dispatcher.overloads.values()
    module = llvm.parse_assembly(result.library.get_llvm_str())
    entry = module.get_function(result.fndesc.llvm_func_name)
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name != entry.name:
            symbol.linkage = "internal"  # Nobody else calls it: LLVM may inline it, and drop what it never does.
    entry.name = ENTRY
    # A large code model, since the code can come to lie far from its constants.
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static",
        codemodel="large",
    )
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return bytes(machine.emit_object(module))


def _translated(function: FunctionType) -> "Dispatcher":
    copies: dict[FunctionType, Dispatcher] = {}
    for called in _kernel_functions(function):
        copy = FunctionType(called.__code__, dict(called.__globals__), called.__name__, called.__defaults__)
        copy.__module__ = called.__module__
        copy.__qualname__ = called.__qualname__
        copy.__globals__.update({name: copies[callee] for name, callee in _callees(called).items()})
        small = called is not function and sum(1 for _ in get_instructions(called)) <= INLINE_UP_TO
        copies[called] = numba.njit(
            copy,
            error_model="numpy",  # The kernel never divides by zero: without this, each division would test for it.
            inline="always" if small else "never",
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )
    return copies[function]


@cache
def _kernel_functions(function: FunctionType) -> tuple[FunctionType, ...]:
    """The function and all kernel functions that it calls, each after those that it calls."""
    found: dict[FunctionType, None] = {}
    for callee in _callees(function).values():
        found.update(dict.fromkeys(_kernel_functions(callee)))
    return (*found, function)


def _callees(function: FunctionType) -> dict[str, FunctionType]:
    """The functions of this package that a function calls, by the name that it calls them by."""
    names = sorted({str(step.argval) for step in get_instructions(function) if step.opname == "LOAD_GLOBAL"})
    values = {name: function.__globals__.get(name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, FunctionType) and value.__module__.startswith(_PACKAGE)
    }

"""The compiled kernel's view of the state: one pointer to the addresses of its tables.

Imports numba. Passing the tables themselves, or a numba struct of them, costs either long argument lists or reference
counting at each access, and minutes of compilation. Tables are not reference counted here: whoever calls `run_tables`
keeps them alive while it runs.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array, populate_array

from policy_engine.scheduler.loop import run
from policy_engine.scheduler.state import State, empty_table

Addresses = npt.NDArray[np.int64]
Generated = Callable[[BaseContext, ir.IRBuilder, object, tuple[ir.Value, ...]], ir.Value]

TABLES = tuple(field.name for field in fields(State))
TABLE_TYPES = {name: numba.typeof(empty_table(name)) for name in TABLES}


class StateType(types.Type):  # type: ignore[misc]
    """The numba type of a state at an address."""

    def __init__(self) -> None:
        super().__init__(name="State")


@register_model(StateType)
class _StateModel(models.PrimitiveModel):  # type: ignore[misc]
    """A pointer to the addresses of all tables, followed by their lengths."""

    def __init__(self, dmm: object, fe_type: StateType) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@infer_getattr
class _StateAttributes(AttributeTemplate):  # type: ignore[misc]
    key = StateType

    def generic_resolve(self, _state: StateType, name: str) -> types.Array | None:
        return TABLE_TYPES.get(name)


@lower_getattr_generic(StateType)  # type: ignore[untyped-decorator]
def _get_table(context: BaseContext, builder: ir.IRBuilder, _type: StateType, pointer: ir.Value, name: str) -> ir.Value:
    """An array over the table's memory. Addresses and lengths never change during a run, which LLVM is told."""

    def load(index: int) -> ir.Value:
        value = builder.load(cgutils.gep_inbounds(builder, pointer, index))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    table_type = TABLE_TYPES[name]
    index = TABLES.index(name)
    array = make_array(table_type)(context, builder)
    item_size = context.get_abi_sizeof(context.get_data_type(table_type.dtype))
    populate_array(
        array,
        data=builder.inttoptr(load(index), array.data.type),
        shape=[load(len(TABLES) + index)],
        strides=[context.get_constant(types.intp, item_size)],
        itemsize=context.get_constant(types.intp, item_size),
        meminfo=None,
    )
    return array._getvalue()  # noqa: SLF001


@intrinsic  # type: ignore[untyped-decorator]
def state_at(_context: object, addresses: types.Array) -> tuple[object, Generated]:
    """The state whose tables lie at these addresses."""

    def generate(context: BaseContext, builder: ir.IRBuilder, _signature: object, arguments: tuple[ir.Value, ...]) -> ir.Value:
        return make_array(addresses)(context, builder, arguments[0]).data

    return StateType()(addresses), generate


def addresses_of(state: State) -> Addresses:
    """The addresses of a state's tables, then their lengths. All tables must have the types of `empty_table`."""
    tables: list[npt.NDArray[Any]] = [getattr(state, name) for name in TABLES]
    for name, table in zip(TABLES, tables, strict=True):
        if table.dtype.itemsize != empty_table(name).dtype.itemsize or not table.flags.c_contiguous:
            raise TypeError(f"table {name} is not what the compiled kernel expects")
    return np.array([table.ctypes.data for table in tables] + [len(table) for table in tables], dtype=np.int64)


def run_tables(addresses: Addresses, until: int, budget: int) -> int:
    """`loop.run` over the state whose tables lie at these addresses."""
    return run(state_at(addresses), until, budget)

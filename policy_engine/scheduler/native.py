"""The compiled kernel's view of the state: one pointer to the addresses of its tables.

Imports numba. Tables as numba arrays, or a numba struct of them, would cost long argument lists, reference counting at
each access, and minutes of compilation. Here a table is an address and a length. Nothing is reference counted and no
index is checked: whoever calls `run_at` keeps the tables alive while it runs, and the kernel's tests run it
interpreted, where a wrong index is an error.
"""

import operator
from collections.abc import Callable

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, Signature, infer_getattr, infer_global
from numba.extending import intrinsic, register_model

from policy_engine.scheduler.loop import run
from policy_engine.scheduler.machine_code import TABLES
from policy_engine.scheduler.state import empty_table

Values = tuple[ir.Value, ...]
Generator = Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]


class TableType(types.Type):
    """The numba type of one table: its rows are records or integers of `dtype`."""

    def __init__(self, table: str) -> None:
        self.dtype = numba.from_dtype(empty_table(table).dtype)
        super().__init__(name=f"Table({table})")


class StateType(types.Type):
    """The numba type of a state at an address."""

    def __init__(self) -> None:
        super().__init__(name="State")


TABLE_TYPES = {name: TableType(name) for name in TABLES}


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, dmm: object, fe_type: TableType) -> None:
        super().__init__(dmm, fe_type, [("data", types.voidptr), ("length", types.intp)])


@register_model(StateType)
class _StateModel(models.PrimitiveModel):
    """A pointer to the addresses of all tables, followed by their lengths."""

    def __init__(self, dmm: object, fe_type: StateType) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@infer_getattr
class _StateAttributes(AttributeTemplate):
    key = StateType

    def generic_resolve(self, _state: StateType, name: str) -> TableType | None:
        return TABLE_TYPES.get(name)


@infer_global(operator.getitem)
class _GetRow(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], _kws: object) -> Signature | None:
        if isinstance(args[0], TableType) and isinstance(args[1], types.Integer):
            return signature(args[0].dtype, args[0], types.intp)
        return None


@infer_global(operator.setitem)
class _SetRow(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], _kws: object) -> Signature | None:
        if isinstance(args[0], TableType) and isinstance(args[1], types.Integer):
            return signature(types.void, args[0], types.intp, args[0].dtype)
        return None


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], _kws: object) -> Signature | None:
        return signature(types.intp, args[0]) if isinstance(args[0], TableType) else None


@lower_getattr_generic(StateType)
def _get_table(context: BaseContext, builder: ir.IRBuilder, _type: StateType, pointer: ir.Value, name: str) -> ir.Value:
    """Addresses and lengths never change during a run, which LLVM is told."""

    def load(index: int) -> ir.Value:
        value = builder.load(cgutils.gep_inbounds(builder, pointer, index))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    table = cgutils.create_struct_proxy(TABLE_TYPES[name])(context, builder)
    table.data = builder.inttoptr(load(TABLES.index(name)), cgutils.voidptr_t)
    table.length = load(len(TABLES) + TABLES.index(name))
    return table._getvalue()


def _row(
    context: BaseContext, builder: ir.IRBuilder, table_type: TableType, table: ir.Value, index: ir.Value
) -> ir.Value:
    """The address of a row."""
    data = cgutils.create_struct_proxy(table_type)(context, builder, value=table).data
    size = context.get_abi_sizeof(context.get_data_type(table_type.dtype))
    return builder.gep(data, [builder.mul(index, context.get_constant(types.intp, size))])


@lower_builtin(operator.getitem, TableType, types.intp)
def _get_row(context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
    """A row is its address where it is a record, else its number."""
    row = _row(context, builder, sig.args[0], *args)
    if isinstance(sig.return_type, types.Record):
        return builder.bitcast(row, context.get_value_type(sig.return_type))
    return context.unpack_value(builder, sig.return_type, _typed(context, builder, sig.return_type, row))


@lower_builtin(operator.setitem, TableType, types.intp, types.Integer)
def _set_row(context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Values) -> None:
    row = _row(context, builder, sig.args[0], args[0], args[1])
    dtype = sig.args[0].dtype
    value = context.cast(builder, args[2], sig.args[2], dtype)
    context.pack_value(builder, dtype, value, _typed(context, builder, dtype, row))


def _typed(context: BaseContext, builder: ir.IRBuilder, dtype: types.Type, row: ir.Value) -> ir.Value:
    return builder.bitcast(row, context.get_data_type(dtype).as_pointer())


@lower_builtin(len, TableType)
def _length(context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Values) -> ir.Value:
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).length


@intrinsic
def state_at(_context: object, address: types.Integer) -> tuple[Signature, Generator]:
    """The state whose tables' addresses and lengths lie at this address."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature_: Signature, args: Values) -> ir.Value:
        return builder.inttoptr(args[0], context.get_value_type(signature_.return_type))

    return StateType()(address), generate


def run_at(address: int, until: int, budget: int) -> int:
    """`loop.run` over the state whose tables' addresses and lengths lie at this address."""
    return run(state_at(address), until, budget)

"""SIMD vectors of eight numbers: sums over eight sentences (or types) side by side, one in each lane.

Kernels written with `load` and `store` have two forms, selected by the array argument. An array of shape (n_cells, 8)
holds eight numbers in a cell: they are loaded as a vector, and ``+`` and ``*`` are vector instructions. An array of
shape (n_cells,) holds one. Without the compiler a vector is a row of NumPy's.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

SIMD = 8
"""The numbers in a vector: as many doubles as the widest hardware vectors have."""

_FLAGS = ("contract", "nsz")  # multiply-adds may be fused; -inf and NaN keep their meaning
_LLVM = ir.VectorType(ir.DoubleType(), SIMD)


class _VectorType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"vector({SIMD})")


_vector = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _LLVM)


@infer_global(operator.add)
@infer_global(operator.mul)
class _Arithmetic(ConcreteTemplate):
    cases = [signature(_vector, _vector, _vector)]  # noqa: RUF012 - numba's form


@lower_builtin(operator.add, _vector, _vector)
def _add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fadd(*arguments, flags=_FLAGS)


@lower_builtin(operator.mul, _vector, _vector)
def _multiply(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fmul(*arguments, flags=_FLAGS)


def _cell(context: Any, builder: Any, array_type: Any, array: Any, cell: Any) -> Any:
    """Return the address of a cell."""
    data = context.make_array(array_type)(context, builder, array).data
    if array_type.ndim == 1:
        return builder.gep(data, [cell])
    return builder.bitcast(builder.gep(data, [builder.mul(cell, cell.type(SIMD))]), _LLVM.as_pointer())


def _value_type(array: Any) -> Any:
    return types.float64 if array.ndim == 1 else _vector


def _load(typing_context: Any, array: Any, cell: Any) -> Any:
    """Return the content of a cell."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_cell(context, builder, signature.args[0], *arguments), align=8)

    return _value_type(array)(array, types.intp), generate


def _store(typing_context: Any, array: Any, cell: Any, value: Any) -> Any:
    """Store a value in a cell."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _cell(context, builder, signature.args[0], *arguments[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _value_type(array)), generate


def _zero(typing_context: Any, array: Any) -> Any:
    """Return zero, as a number or a vector, depending on the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.get_null_value(context.get_value_type(signature.return_type))

    return _value_type(array)(array), generate


def _get(typing_context: Any, array: Any, cell: Any, lane: Any) -> Any:
    """Return the number in one lane of a cell."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_number(context, builder, signature.args[0], *arguments))

    return types.float64(array, types.intp, types.intp), generate


def _put(typing_context: Any, array: Any, cell: Any, lane: Any, value: Any) -> Any:
    """Store a number in one lane of a cell."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[3], _number(context, builder, signature.args[0], *arguments[:3]))
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.float64), generate


def _number(context: Any, builder: Any, array_type: Any, array: Any, cell: Any, lane: Any) -> Any:
    """Return the address of a number in a cell; a cell of one number has one lane."""
    data = context.make_array(array_type)(context, builder, array).data
    place = cell if array_type.ndim == 1 else builder.add(builder.mul(cell, cell.type(SIMD)), lane)
    return builder.gep(data, [place])


def _load_plain(array: Any, cell: int) -> Any:
    return array[cell].copy()


def _store_plain(array: Any, cell: int, value: Any) -> None:
    array[cell] = value


def _zero_plain(array: Any) -> Any:
    return 0.0 if array.ndim == 1 else np.zeros(SIMD)


def _get_plain(array: Any, cell: int, lane: int) -> Any:
    return array[cell] if array.ndim == 1 else array[cell, lane]


def _put_plain(array: Any, cell: int, lane: int, value: Any) -> None:
    array[(cell,) if array.ndim == 1 else (cell, lane)] = value


_is_plain = vars(config)["DISABLE_JIT"]
load: Any = _load_plain if _is_plain else intrinsic(_load)
store: Any = _store_plain if _is_plain else intrinsic(_store)
zero: Any = _zero_plain if _is_plain else intrinsic(_zero)
get: Any = _get_plain if _is_plain else intrinsic(_get)
put: Any = _put_plain if _is_plain else intrinsic(_put)

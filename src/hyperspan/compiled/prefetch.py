"""Prefetch memory before it is needed: for scattered accesses, waiting takes most of the time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from hyperspan.compiled.kernel import inlined

AHEAD = 12
"""How many steps ahead of its use memory is prefetched."""

_READ, _KEEP, _DATA = 0, 3, 1
_NUMBERS_A_LINE = 16


def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Prefetch the memory at a flat index of an array; this has no other effect."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [address, *(ir.Constant(number, value) for value in (_READ, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _nothing(array: Any, place: int) -> None:
    """Replaces `prefetch` if the compiler is off."""


prefetch: Any = _nothing if vars(config)["DISABLE_JIT"] else intrinsic(_prefetch)


@inlined
def prefetch_numbers(array, place, n_numbers):
    """Prefetch consecutive numbers; beyond a few cache lines, the hardware prefetches by itself."""
    prefetch(array, place)
    prefetch(array, place + _NUMBERS_A_LINE)
    if n_numbers > 2 * _NUMBERS_A_LINE:
        prefetch(array, place + 2 * _NUMBERS_A_LINE)
        prefetch(array, place + 3 * _NUMBERS_A_LINE)

"""Compute exp of many numbers at once, in a loop without calls that the compiler can vectorise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

from hyperspan.compiled.kernel import kernel

_PER_LOG_2 = 1.0 / math.log(2.0)
_LOG_2_HIGH = float.fromhex("0x1.62e42feep-1")
_LOG_2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""log(2) in two pieces; the first has so few digits that its multiples up to 2,000 are exact."""

_ROUND = 1.5 * 2.0**52
"""Adding this leaves the nearest integer in the lowest bits."""

_FORBIDDEN = -700.0
_T2, _T3, _T4, _T5, _T6, _T7, _T8, _T9, _T10, _T11, _T12, _T13 = (1.0 / math.factorial(n) for n in range(2, 14))


def _scaled(typing_context: Any, value: Any, power: Any) -> Any:
    """Return a number times 2^k, where k is the integer in the lowest bits of another: k is added to the exponent."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = ir.IntType(64)
        bits, power = (builder.bitcast(argument, integer) for argument in arguments)
        return builder.bitcast(builder.add(bits, builder.shl(power, integer(52))), ir.DoubleType())

    return types.float64(types.float64, types.float64), generate


def _scaled_plain(value: float, power: float) -> float:
    return float(
        np.ldexp(value, int(power - _ROUND))
    )  # inf if it is too large, which can happen in sums that are given up


scaled: Any = _scaled_plain if vars(config)["DISABLE_JIT"] else intrinsic(_scaled)


@kernel(fastmath={"contract"})
def exp_kernel(values, n_values):
    """Replace the first ``n_values`` numbers, -700 to 700, by their exp, to two units in the last place; -inf by 0.

    exp(x) = 2^k exp(x - k log 2) with the integer k for which the rest is smallest, at most 0.35; the second factor
    by its Taylor series, the first by adding k to the exponent.
    """
    for place in range(n_values):
        value = values[place]
        is_forbidden = value < _FORBIDDEN
        value = _FORBIDDEN if is_forbidden else value
        shifted = value * _PER_LOG_2 + _ROUND
        power = shifted - _ROUND
        x = (value - power * _LOG_2_HIGH) - power * _LOG_2_LOW
        series = _T9 + x * (_T10 + x * (_T11 + x * (_T12 + x * _T13)))
        series = _T4 + x * (_T5 + x * (_T6 + x * (_T7 + x * (_T8 + x * series))))
        series = 1.0 + x * (1.0 + x * (_T2 + x * (_T3 + x * series)))
        values[place] = 0.0 if is_forbidden else scaled(series, shifted)

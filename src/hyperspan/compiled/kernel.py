"""The decorator of compiled kernels, which gives every kernel all of its options."""

from __future__ import annotations

from typing import Any

import numba


def kernel(function: Any = None, /, *, fastmath: bool | set[str] = False, counted: bool = True, **options: Any) -> Any:
    """Compile a function, without the GIL and cached on disk; division by zero gives inf or NaN.

    Use this instead of ``numba.njit``. With that, a kernel without an option of its own takes it over from the kernel
    that calls it first, and is cached like that. Results would then depend, in the last digits and for divisions by
    zero, on what was run first on a machine.

    Parameters
    ----------
    function : function
    fastmath : bool or set of str
        The liberties that the compiler may take with floating-point numbers.
    counted : bool
        Whether to count references to arrays. A kernel that allocates nothing and reads tables of many arrays in a loop
        is faster without: normally every table that is passed on or unpacked counts a reference to each of its arrays.
        The caller holds these references anyway. Numba refuses to compile such a kernel if it allocates memory.
    **options
        Other options of ``numba.njit``.
    """
    options |= {"error_model": "numpy", "fastmath": fastmath, "_nrt": counted}
    compiled: Any = numba.njit(nogil=True, cache=True, **options)
    return compiled if function is None else compiled(function)


inlined = kernel(inline="always")
"""The decorator of kernels whose code is copied into every kernel that calls them.

That suits kernels that get tables of many arrays: calls would count references to them.
"""

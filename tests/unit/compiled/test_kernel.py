"""Kernels have all of their options from the start; those that count no references must not allocate."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import hyperspan
from hyperspan.compiled.kernel import kernel


@pytest.fixture
def nothing_cached(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


class Table(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@kernel(counted=False)
def product_kernel(table):
    total = 0.0
    for place in range(table.left.shape[0]):
        both = table
        total += both.left[place] * both.right[place]
    return total


def test_a_table_is_read_and_its_arrays_are_held_as_before() -> None:
    table = Table(np.arange(4.0), np.full(4, 2.0))
    before = sys.getrefcount(table.left)
    found = [product_kernel(table) for _ in range(100)]
    after = sys.getrefcount(table.left)
    assert found == [12.0] * 100
    assert after == before


needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the compiler off")


@needs_compiler
def test_a_kernel_that_allocates_is_refused(nothing_cached) -> None:
    @kernel(counted=False)
    def allocating_kernel(n_numbers):
        return np.zeros(n_numbers).sum()

    with pytest.raises(numba.core.errors.NumbaError, match="zeros"):
        allocating_kernel(3)


@needs_compiler
@pytest.mark.parametrize("options", [{"fastmath": {"contract", "reassoc"}, "error_model": "numpy"}, {"_nrt": False}])
def test_a_kernel_takes_over_nothing_from_the_kernel_that_calls_it_first(options, nothing_cached) -> None:
    @kernel
    def quotient_kernel(a, b):
        return a * b / b + a

    @numba.njit(**options)
    def calling_kernel(a, b):
        return quotient_kernel(a, b)

    assert np.isnan(calling_kernel(1.0, 0.0))
    (code,) = quotient_kernel.inspect_llvm().values()
    assert "fdiv double" in code
    assert "contract" not in code
    assert "reassoc" not in code


def test_kernels_are_compiled_by_their_decorator_only() -> None:
    """Otherwise results depend on which command a machine ran first."""
    source = Path(hyperspan.__file__).parent
    found = [
        f"{path.relative_to(source)}:{node.lineno}"
        for path in sorted(source.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if getattr(node, "attr", getattr(node, "id", "")) in ("njit", "jit", "vectorize", "guvectorize")
    ]
    assert [each.partition(":")[0] for each in found] == [str(Path("compiled", "kernel.py"))]

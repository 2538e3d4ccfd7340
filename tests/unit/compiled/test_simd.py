"""Vectors of eight numbers: the same kernel over cells of eight numbers and over cells of one."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from hyperspan.compiled.simd import SIMD, get, load, put, store, zero


@numba.njit
def multiply_add_kernel(left, right, out):
    """Put left * right + left into out, cell by cell, and the sum of all that into the last cell."""
    total = zero(out)
    for cell in range(left.shape[0]):
        value = load(left, cell) * load(right, cell) + load(left, cell)
        store(out, cell, value)
        total = total + value
    store(out, left.shape[0], total)


@numba.njit
def transpose_kernel(cells, width, out):
    """Write the numbers of each lane, one after another, and change what was read."""
    for lane in range(width):
        for cell in range(cells.shape[0]):
            out[lane, cell] = get(cells, cell, lane)
            put(cells, cell, lane, -out[lane, cell])


@pytest.mark.kernel
@pytest.mark.parametrize("shape", [(5, SIMD), (5,)], ids=["vectors", "numbers"])
def test_cells_are_added_and_multiplied(shape):
    rng = np.random.default_rng(0)
    left, right, out = rng.normal(size=shape), rng.normal(size=shape), np.empty((6, *shape[1:]))
    multiply_add_kernel(left, right, out)
    np.testing.assert_allclose(out[:5], left * right + left, rtol=1e-14)
    np.testing.assert_allclose(out[5], (left * right + left).sum(axis=0), rtol=1e-13)


@pytest.mark.kernel
def test_minus_infinity_and_nan_keep_their_meaning():
    left, right = np.full((1, SIMD), -np.inf), np.ones((1, SIMD))
    right[0, 3] = 0.0
    out = np.empty((2, SIMD))
    with np.errstate(invalid="ignore"):
        multiply_add_kernel(left, right, out)
    assert np.isnan(out[0, 3])
    assert (np.delete(out[0], 3) == -np.inf).all()


@pytest.mark.kernel
@pytest.mark.parametrize(("shape", "width"), [((4, SIMD), SIMD), ((4,), 1)], ids=["vectors", "numbers"])
def test_single_numbers_are_read_and_written_lane_by_lane(shape, width):
    cells = np.arange(float(np.prod(shape))).reshape(shape)
    before, out = cells.copy(), np.empty((width, 4))
    transpose_kernel(cells, width, out)
    np.testing.assert_array_equal(out, before.reshape(4, width).T)
    np.testing.assert_array_equal(cells, -before)

"""exp of many numbers at once is as good as the library's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hyperspan.compiled.exponentials import exp_kernel

pytestmark = pytest.mark.kernel


def test_exp_is_as_good_as_the_library() -> None:
    rng = np.random.default_rng(11)
    values = np.concatenate([rng.uniform(-700, 700, 2000), rng.normal(size=2000), [0.0, -0.0, 700.0, -700.0, 1e-300]])
    found = values.copy()
    exp_kernel(found, len(found))
    wanted = np.array([math.exp(value) for value in values])
    np.testing.assert_allclose(found, wanted, rtol=4.5e-16, atol=0.0)
    assert found[values == 0.0].tolist() == [1.0, 1.0]


def test_exp_of_minus_infinity_is_exactly_zero() -> None:
    values = np.array([-np.inf, 0.0, -np.inf] * 5)
    exp_kernel(values, 14)
    assert values.tolist() == [0.0, 1.0, 0.0] * 4 + [0.0, 1.0, -np.inf]

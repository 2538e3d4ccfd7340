"""Transition matrices: those that are published, and that they count what the sweeps count."""

from __future__ import annotations

import pytest

from hyperspan.ambiguity import grid_closed_form, grid_counts, grid_matrix, transition_matrix
from hyperspan.ambiguity.counts import staircase_counts
from hyperspan.structures import Staircase

SHARED_2 = (
    (1, 0, 0, 0, 1, 0, 0, 0),
    (1, 2, 0, 0, 1, 2, 0, 0),
    (0, 1, 1, 1, 0, 1, 1, 1),
    (0, 3, 1, 5, 0, 3, 1, 5),
    (1, 0, 2, 0, 5, 0, 6, 0),
    (1, 2, 2, 4, 5, 10, 6, 12),
    (0, 1, 3, 5, 0, 5, 11, 17),
    (0, 3, 3, 21, 0, 15, 11, 73),
)
GRID = (
    (0, 0, 0, 0, 0, 0, 0, 0),
    (0, 1, 0, 0, 0, 0, 0, 0),
    (0, 1, 1, 1, 0, 0, 0, 0),
    (0, 1, 0, 2, 0, 0, 0, 0),
    (0, 0, 1, 0, 1, 0, 1, 0),
    (0, 0, 0, 1, 0, 1, 0, 1),
    (0, 0, 1, 2, 0, 1, 2, 3),
    (0, 0, 0, 3, 0, 1, 0, 5),
)


def test_the_published_matrix_of_shared_with_two_parts():
    matrix = transition_matrix(Staircase(2))
    assert matrix.entries == SHARED_2
    assert matrix.states == (
        (), ("B1",), ("O1",), ("O1", "B1"), ("B0",), ("B0", "B1"), ("B0", "O1"), ("B0", "O1", "B1"),
    )  # fmt: skip


def test_the_published_grid():
    matrix = grid_matrix()
    assert matrix.entries == GRID
    assert matrix.largest_eigenvalue == pytest.approx(3 + 5**0.5)


def test_the_closed_form_of_the_grid():
    counts = grid_counts(20)
    assert counts[:2] == [0, 0]
    for n_positions in range(3, 21):
        assert grid_closed_form(n_positions) == pytest.approx(counts[n_positions - 1], rel=1e-12)


@pytest.mark.parametrize(
    ("staircase", "expected"),
    [
        (Staircase(2), 80.6141),
        (Staircase(3), 1261.8623),
        (Staircase(1, exact=True), 5.2361),
        (Staircase(2, exact=True), 38.1025),
        (Staircase(3, exact=True), 278.9461),
    ],
)
def test_published_eigenvalues(staircase, expected):
    assert round(transition_matrix(staircase).largest_eigenvalue, 4) == expected


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(2, exact=True), Staircase(3)])
def test_powers_count_encodings(staircase):
    matrix = transition_matrix(staircase)
    assert tuple(matrix.power(n_words + 1)[0][0] for n_words in range(1, 7)) == staircase_counts(staircase, 6)


def test_a_power_is_exact_for_long_sentences():
    assert transition_matrix(Staircase(2)).power(301)[0][0] == staircase_counts(Staircase(2), 300)[-1]


def test_power_zero_is_the_identity():
    assert transition_matrix(Staircase(1)).power(0) == ((1, 0), (0, 1))

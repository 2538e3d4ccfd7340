"""The growth of the number of canonical encodings, and what it means for ambiguity.

M(n), the number of canonical encodings of n words, grows like λ^n, with λ the largest eigenvalue of the transition
matrix. The *relative ambiguity* of two structures is A_r(1, 2) = lim log ΣM₂ / log ΣM₁ = log λ₂ / log λ₁; greater than
one means that the first is more ambiguous. The *log-ambiguity* of a structure, lim log ΣN / log ΣM, diverges: the
number of mentions, log N, grows like n^(2K), but log M only like n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from hyperspan.ambiguity.counts import (
    STRUCTURES,
    canonical_encodings,
    check_parts,
    mention_sets_log2,
    staircases_of,
)
from hyperspan.ambiguity.matrices import largest_eigenvalue, transition_matrix
from hyperspan.ambiguity.tag_language import canonical_tags
from hyperspan.errors import UsageError
from hyperspan.structures.staircase import Staircase

FINITE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The numbers of words for which finite values are given."""

MOST_GROWTH_PARTS = 5
"""The most parts whose eigenvalues are computed: a matrix of 512 rows."""

SEGMENTS = "segments"
"""Structures in which every set of mentions has its own encoding: not ambiguous, with as many encodings as sets."""

BOUNDS = {("linear", "shared"): "≥ 10/3", ("shared", "split"): "> 15/11"}
"""The published lower bounds of relative ambiguity, for three parts."""


def growth_table(max_components: int = 3, max_words: int = 1000) -> dict[str, Any]:
    """Return eigenvalues, growth and ambiguity, under the keys that ``ambiguity growth`` prints.

    Parameters
    ----------
    max_components : int
        The most parts of a mention, 1 to 5.
    max_words : int
        The maximum number of words for which finite values are given.

    Examples
    --------
    >>> table = growth_table(max_words=10)
    >>> round(table["eigenvalues"]["shared"]["3"], 4), round(table["growth_log2"]["split"], 3)
    (1261.8623, 15.764)
    >>> [round(2**bits) for bits in table["finite"]["ambiguity_log2"]["shared"][:3]]
    [1, 1, 3998]
    >>> round(table["relative_ambiguity"]["linear"]["shared"], 4)
    4.2922
    """
    if not 1 <= max_components <= MOST_GROWTH_PARTS:
        raise UsageError(f"max_components is {max_components}; expected a number from 1 to {MOST_GROWTH_PARTS}")
    if max_words < 1:
        raise UsageError(f"max_words is {max_words}; expected at least 1")
    words = [n_words for n_words in FINITE if n_words < max_words] + [max_words]
    totals = {name: log2_totals(name, words, max_components) for name in STRUCTURES}
    sets = mention_set_totals(words, max_components)
    return {
        "max_components": max_components,
        "eigenvalues": eigenvalues(max_components),
        "growth_log2": {name: growth_log2(name, max_components) for name in STRUCTURES},
        "relative_ambiguity": {
            one: {other: relative_ambiguity(one, other, max_components) for other in STRUCTURES if other != one}
            for one in STRUCTURES
        },
        "finite": {
            "words": words,
            "relative_ambiguity": {
                one: {other: _ratios(totals[other], totals[one]) for other in STRUCTURES if other != one}
                for one in STRUCTURES
            },
            "ambiguity_log2": {name: _differences(sets, total) for name, total in (*totals.items(), (SEGMENTS, sets))},
            "log_ambiguity": {name: _ratios(sets, total) for name, total in (*totals.items(), (SEGMENTS, sets))},
        },
        "log_ambiguity_diverges": True,
    }


def eigenvalues(max_components: int = 3) -> dict[str, dict[str, float]]:
    """Return the largest eigenvalues by structure and number of parts.

    ``split`` has a matrix for each number of parts, and its growth is the product of their eigenvalues. The other
    structures have one matrix for mentions with at most that many parts.

    Examples
    --------
    >>> {parts: round(value, 4) for parts, value in eigenvalues(3)["split"].items()}
    {'1': 5.2361, '2': 38.1025, '3': 278.9461}
    """
    parts = range(1, max_components + 1)
    return {
        "linear": {str(n_parts): _tag_eigenvalue(n_parts) for n_parts in parts},
        "mention": {"1": _eigenvalue(Staircase(1))},
        "shared": {str(n_parts): _eigenvalue(Staircase(n_parts)) for n_parts in parts},
        "split": {str(n_parts): _eigenvalue(Staircase(n_parts, exact=True)) for n_parts in parts},
    }


@lru_cache(maxsize=32)
def _eigenvalue(staircase: Staircase) -> float:
    return transition_matrix(staircase).largest_eigenvalue


@lru_cache(maxsize=8)
def _tag_eigenvalue(max_components: int) -> float:
    return largest_eigenvalue(canonical_tags(max_components).matrix())


def growth_log2(structure: str, max_components: int = 3) -> float:
    """Return log2 λ: how many bits each further word adds to the number of encodings, in the limit.

    Examples
    --------
    >>> [round(growth_log2(name), 3) for name in ("linear", "mention", "shared", "split")]
    [2.4, 2.388, 10.301, 15.764]
    """
    check_parts(max_components)
    if structure == "linear":
        return math.log2(_tag_eigenvalue(max_components))
    return sum(math.log2(_eigenvalue(staircase)) for staircase in staircases_of(structure, max_components))


def relative_ambiguity(one: str, other: str, max_components: int = 3) -> float:
    """Return A_r(one, other), the exact limit: greater than 1 means that ``one`` is more ambiguous.

    Examples
    --------
    >>> round(relative_ambiguity("linear", "shared"), 4), round(relative_ambiguity("shared", "split"), 4)
    (4.2922, 1.5303)
    """
    return growth_log2(other, max_components) / growth_log2(one, max_components)


def log2_totals(structure: str, words: Sequence[int], max_components: int = 3) -> list[float]:
    """Return log2 Σ M(i) for i = 1 .. n, for each n."""
    totals = list(accumulate(canonical_encodings(structure, max(words), max_components)))
    return [math.log2(totals[n_words - 1]) for n_words in words]


def mention_set_totals(words: Sequence[int], max_components: int = 3) -> list[float]:
    """Return log2 Σ N(i) for i = 1 .. n, for each n."""
    exponents = [mention_sets_log2(n_words, max_components) for n_words in range(1, max(words) + 1)]
    totals = []
    for n_words in words:
        top = exponents[n_words - 1]
        rest = math.fsum(2.0 ** (exponent - top) for exponent in exponents[:n_words] if exponent > top - 1000)
        totals.append(top + math.log2(rest))
    return totals


def _differences(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(above, below, strict=True)]


def _ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(above, below, strict=True)]

"""Rivals of candidates are those of brute force, also where candidates reach over very many words."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.mentions import in_order
from hyperspan.scoring import Proposed
from hyperspan.scoring.candidate_reference import _is_rival, log_odds
from hyperspan.scoring.candidate_table import candidates_of
from hyperspan.scoring.rivals import MOST_BITS, RIVALS, rivals_kernel

pytestmark = pytest.mark.kernel

TYPES = ("Drug", "Finding")


@numba.njit
def best_of_kernel(candidates: Any, best: Any) -> None:
    for row in range(best.shape[0]):
        rivals_kernel(candidates, 0, row, best[row])


def random_candidates(draw: np.random.Generator, n_words: int) -> tuple[Mention, ...]:
    """Candidates of which many share parts, borders or all words."""
    borders = np.array([0, *draw.choice(np.arange(1, n_words), size=6, replace=False), n_words])
    found = {Mention(type, [(0, n_words)], prob=0.3) for type in TYPES}
    for _ in range(40):
        n_parts = int(draw.integers(1, 4))
        chosen = np.sort(draw.choice(borders, size=2 * n_parts, replace=False)).tolist()
        parts = list(zip(chosen[::2], chosen[1::2], strict=True))
        found.add(Mention(str(draw.choice(TYPES)), parts, prob=float(draw.random())))
    return in_order(found)


@pytest.mark.parametrize("n_words", [12, MOST_BITS - 1, MOST_BITS, MOST_BITS + 1, 3 * MOST_BITS])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_rivals_are_those_of_brute_force(n_words: int, seed: int) -> None:
    mentions = random_candidates(np.random.default_rng(seed), n_words)
    sentences = [Sentence(["word"] * n_words)]
    candidates = candidates_of(sentences, Proposed.of([mentions], TYPES), TYPES)
    best = np.empty((len(mentions), len(RIVALS)))
    best_of_kernel(candidates, best)
    for mention, found in zip(mentions, best.tolist(), strict=True):
        wanted = [
            max((log_odds(other.prob or 0.0) for other in mentions if _is_rival(kind, mention, other)), default=-np.inf)
            for kind in range(len(RIVALS))
        ]
        assert found == pytest.approx(wanted, rel=1e-12)
    assert np.isfinite(best).any(axis=0).all()
    assert (candidates.bits == 0).any() == (n_words > MOST_BITS)

"""Chance-corrected agreement on whole mentions: a γ whose chance level comes from rotated annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.agreement.alignment import Words, align, as_words
from hyperspan.agreement.documents import SharedDocument

ROTATIONS = 100
"""The number of rotations that estimate chance."""

Item = TypeVar("Item")


class Watch(Protocol):
    """Wraps a long iteration, for a progress bar."""

    def __call__(self, items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
        """Return the same items, given a description of the work."""


def unwatched(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """Return the items unchanged."""
    return items


@dataclass(frozen=True, slots=True)
class Gamma:
    """How much less two annotators differ than they would by chance.

    Attributes
    ----------
    value : float
        ``1 - observed / expected``: 1 for equal annotations, about 0 for chance; NaN without mentions.
    observed, expected : float
        The cost of the differences per mention of an annotator: 0 if all are equal, 2 if none has a partner.
    n_rotations : int
        The number of rotations behind the expectation.
    costs, n_mentions : float arrays of shape (n_documents,)
        The cost of the differences in each document, and the mean number of mentions of an annotator in it.
    """

    value: float
    observed: float
    expected: float
    n_rotations: int
    costs: NDArray[np.float64]
    n_mentions: NDArray[np.float64]

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return γ for each row of weights (how often each document is drawn), with the same chance level."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return 1.0 - weights @ self.costs / (weights @ self.n_mentions) / self.expected

    def as_dict(self) -> dict[str, Any]:
        """Return the value and its components."""
        numbers = {"value": self.value, "observed": self.observed, "expected": self.expected}
        return {**{key: or_none(number) for key, number in numbers.items()}, "rotations": self.n_rotations}


def or_none(number: float) -> float | None:
    """Return None for NaN, which JSON lacks."""
    return None if np.isnan(number) else float(number)


def gamma(
    documents: Sequence[SharedDocument],
    first: str,
    second: str,
    *,
    n_rotations: int = ROTATIONS,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Gamma:
    """Return the agreement of two annotators on whole mentions.

    Mentions are aligned sentence by sentence (see `hyperspan.agreement.alignment`). For the chance level, all documents
    are joined into a circle, and the second annotator's mentions are rotated by some words, keeping their shapes, types
    and neighbours. All rotations are used if there are at most ``n_rotations``, otherwise a random sample of that size.

    Parameters
    ----------
    documents : sequence of SharedDocument
        The documents that both have.
    first, second : str
        The annotators.
    n_rotations : int
    seed : int
        Determines which rotations are drawn.
    watch : callable
        Wraps documents and rotations, for a progress bar.
    """
    ours, theirs, n_words = list[Words](), list[Words](), 0
    costs, n_mentions = np.zeros(len(documents)), np.zeros(len(documents))
    for number, shared in enumerate(watch(documents, "Aligning", len(documents))):
        for sentence in shared.sentences:
            one, other = as_words(sentence.words_of(first)), as_words(sentence.words_of(second))
            if one or other:
                costs[number] += align(one, other).cost
                n_mentions[number] += (len(one) + len(other)) / 2
                ours += _moved(one, n_words)
                theirs += _moved(other, n_words)
            n_words += len(sentence.sentence)
    rotations = drawn_rotations(n_words, n_rotations, seed)
    total = float(n_mentions.sum())
    if not total or not rotations:
        return Gamma(np.nan, np.nan, np.nan, 0, costs, n_mentions)
    chance = [align(ours, rotated(theirs, by, n_words)).cost for by in watch(rotations, "Comparing with chance")]
    observed, expected = float(costs.sum()) / total, float(np.mean(chance)) / total
    value = 1.0 - observed / expected if expected > 0.0 else np.nan
    return Gamma(value, observed, expected, len(rotations), costs, n_mentions)


def drawn_rotations(n_words: int, most: int, seed: int) -> list[int]:
    """Return the rotations in words: every number below that of the words, or a sample of them.

    Examples
    --------
    >>> drawn_rotations(4, 10, 0), len(drawn_rotations(1000, 10, 0))
    ([1, 2, 3], 10)
    """
    if n_words - 1 <= most:
        return list(range(1, n_words))
    chosen = np.random.default_rng(seed).choice(n_words - 1, most, replace=False) + 1
    return sorted(chosen.tolist())


def rotated(mentions: Iterable[Words], by: int, n_words: int) -> list[Words]:
    """Rotate mentions by some words on a circle; one that would be split keeps its shape beyond the end.

    Examples
    --------
    >>> rotated([("Finding", frozenset([2, 4]))], 3, 5) == [("Finding", frozenset([0, 2]))]
    True
    """
    moved = []
    for type, words in mentions:
        start = min(words)
        step = (start + by) % n_words - start
        moved.append((type, frozenset(word + step for word in words)))
    return moved


def _moved(mentions: Iterable[Words], by: int) -> list[Words]:
    return [(type, frozenset(word + by for word in words)) for type, words in mentions]

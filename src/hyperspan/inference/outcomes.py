"""Outcomes of a distribution, and how to combine those of independent blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.mentions import Mention, in_order, unchecked_mention
from hyperspan.structures.decoding import Decoded
from hyperspan.structures.structure import Encoding

MOST_STEPS = 200_000
"""How many words may be processed in one sentence to find probable mentions, or to compute probabilities.

This is for up to three parts; with more parts, a word costs more and the number is smaller.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of a distribution.

    Attributes
    ----------
    score : float
        The sum of the scores of its edges.
    edges : tuple of (word, label)
        In order; over sets of mentions, an edge occurs once for every use.
    mentions : tuple of Mention, or None
        The mentions, if the outcome is a set of mentions; None if it has to be decoded.
    truncated : bool
        Whether it was too large to be stored completely.
    """

    score: float
    edges: Encoding
    mentions: tuple[Mention, ...] | None = None
    truncated: bool = False


def score_of(scores: NDArray[np.float64], edges: Sequence[tuple[int, int]]) -> float:
    """Return the sum of the scores of edges given as ``(word, label)``."""
    if not edges:
        return 0.0
    words, labels = zip(*edges, strict=True)
    return float(scores[list(words), list(labels)].sum())


def combine(left: list[Outcome], right: list[Outcome], k: int) -> list[Outcome]:
    """Return the k best pairs of two sorted lists, best first; in a tie, the earlier ones."""
    pairs = sorted(falling_pairs(left, right, k), key=lambda pair: -(pair[0].score + pair[1].score))
    return [joined(*pair) for pair in pairs[:k]]


def falling_pairs(left: Sequence[Any], right: Sequence[Any], k: int) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of two sorted lists that include the k best."""
    for place, one in enumerate(left[:k]):
        for other in right[: k // (place + 1)]:
            yield one, other


def joined(one: Outcome, other: Outcome) -> Outcome:
    """Combine two outcomes of different blocks."""
    mentions = None if one.mentions is None or other.mentions is None else one.mentions + other.mentions
    return Outcome(one.score + other.score, one.edges + other.edges, mentions, one.truncated or other.truncated)


def most_probable(found: list[Mention], limit: int, truncated: bool = False) -> Decoded:
    """Return the most probable of the mentions found, sorted by their words."""
    kept = sorted(found, key=lambda mention: (-(mention.prob or 0.0), mention))[:limit] if len(found) > limit else found
    return Decoded(in_order(kept), truncated or len(found) > limit)


def bounded(decoded: Decoded, most_steps: int) -> Decoded:
    """Return no more mentions than can get a probability by processing ``most_steps`` words."""
    n_steps = 0
    for place, mention in enumerate(decoded.mentions):
        n_steps += mention.end - mention.start
        if place and n_steps > most_steps:
            return Decoded(decoded.mentions[:place], truncated=True)
    return decoded


def with_probs(decoded: Decoded, probs: Iterable[float]) -> Decoded:
    """Return the same mentions with probabilities."""
    mentions = [
        unchecked_mention(mention.type, mention.parts, prob)
        for mention, prob in zip(decoded.mentions, probs, strict=True)
    ]
    return Decoded(tuple(mentions), decoded.truncated, decoded.is_exact)


def by_number_of_parts(threshold: float | Sequence[float], n_parts: int) -> list[float]:
    """Return the thresholds of mentions with 1 to ``n_parts`` parts.

    Examples
    --------
    >>> by_number_of_parts(0.3, 2), by_number_of_parts((0.1, 0.01), 3)
    ([0.3, 0.3], [0.1, 0.01, 0.01])
    """
    given = [float(threshold)] if isinstance(threshold, float | int) else list(threshold)
    return [given[min(place, len(given) - 1)] for place in range(n_parts)]

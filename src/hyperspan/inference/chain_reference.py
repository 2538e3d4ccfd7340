"""The sweep along a chain of tags, written to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hyperspan.inference.algebra import Algebra

Value = TypeVar("Value")


def chain_reference(
    scores: Sequence[Sequence[float]], transitions: Sequence[Sequence[float]], algebra: Algebra[Value]
) -> Value:
    """Return the total over all tag sequences.

    Parameters
    ----------
    scores : sequence of shape (n_words, n_tags)
    transitions : sequence of shape (n_tags, n_tags)
        From the tag before to this one; the first word has none before it.
    algebra : Algebra

    Examples
    --------
    >>> from hyperspan.inference.algebra import COUNT
    >>> chain_reference([[0.0] * 7] * 4, [[0.0] * 7] * 7, COUNT) == 7**4
    True
    """
    if not scores:
        return algebra.one
    values = [algebra.weigh(score, (0, tag)) for tag, score in enumerate(scores[0])]
    for word, row in enumerate(scores[1:], start=1):
        after = []
        for tag, score in enumerate(row):
            total = algebra.zero
            for before, value in enumerate(values):
                moved = algebra.weigh(transitions[before][tag] + score, (word, tag))
                total = algebra.plus(total, algebra.times(value, moved))
            after.append(total)
        values = after
    total = algebra.zero
    for value in values:
        total = algebra.plus(total, value)
    return total

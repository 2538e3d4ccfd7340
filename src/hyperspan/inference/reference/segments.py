"""The sum over the prefix trees of ``segments``, written to be read.

A node has at least one child; apart from that, children are independent of each other. So the total over its sets of
children is Π(1 + t) - 1, where t is the weight of a child with its subtree. Adding children one by one needs no
subtraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hyperspan.inference.reference.algebra import Algebra
from hyperspan.structures.segments import Segments

Value = TypeVar("Value")


def segments_total(structure: Segments, scores: Sequence[Sequence[float]], algebra: Algebra[Value]) -> Value:
    """Return the total over all sets of mentions of a sentence.

    Examples
    --------
    >>> from hyperspan.inference.reference.algebra import COUNT
    >>> structure = Segments(("Finding",), longest_part=5, longest_gap=5)
    >>> totals = [segments_total(structure, [[0.0] * structure.n_labels] * n, COUNT) for n in range(1, 6)]
    >>> [total.bit_length() - 1 for total in totals]
    [1, 3, 7, 15, 31]
    """
    n_words, n_levels = len(scores), structure.max_components

    def weight(word: int, label: int) -> Value:
        return algebra.weigh(scores[word][label], (word, label))

    def some(children: Iterable[Value]) -> Value:
        """Return the total over the non-empty sets of children."""
        total = algebra.zero
        for child in children:
            total = algebra.plus(total, algebra.plus(child, algebra.times(total, child)))
        return total

    total = algebra.one
    for type_id in range(len(structure.types)):
        parts: list[Value] = []
        for level in reversed(range(n_levels)):
            turns = [
                some(
                    [
                        weight(last, structure.end_label(type_id, level)),
                        *(
                            algebra.times(weight(last, structure.gap_label(type_id, level, gap)), parts[last + 1 + gap])
                            for gap in range(1, min(structure.longest_gap, n_words - last - 2) + 1)
                        ),
                    ]
                )
                if level < n_levels - 1
                else algebra.one
                for last in range(n_words)
            ]
            parts = [
                some(
                    algebra.times(
                        weight(first, structure.part_label(type_id, level, length)), turns[first + length - 1]
                    )
                    for length in range(1, min(structure.longest_part, n_words - first) + 1)
                )
                for first in range(n_words)
            ]
        for start in parts:
            total = algebra.times(total, algebra.plus(algebra.one, start))
    return total

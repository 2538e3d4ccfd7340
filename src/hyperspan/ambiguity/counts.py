"""Count the canonical encodings of each structure as exact integers, for any number of words and parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from hyperspan.ambiguity.matrices import across
from hyperspan.ambiguity.tag_language import canonical_tags
from hyperspan.errors import StructureError, UsageError
from hyperspan.inference.automaton import node_phase, staircase_automaton, start_phase
from hyperspan.inference.reference.algebra import COUNT
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.derivations import derivations_total
from hyperspan.inference.reference.segments import segments_total
from hyperspan.structures import MAX_COMPONENTS, Segments
from hyperspan.structures.hypergraph import Hypergraph
from hyperspan.structures.staircase import Staircase

STRUCTURES = ("linear", "mention", "shared", "split")
"""The structures, in the order in which they are printed."""

MOST_COUNTED = 7
"""The maximum number of words for counting prefix trees explicitly: for more, the numbers have too many digits."""

MOST_PARTS = 8
"""The most parts: a word then has 2^15 states."""


def count_table(max_words: int, max_components: int = 3) -> dict[str, Any]:
    """Return the number of encodings for 1 .. ``max_words`` words, under the keys that ``ambiguity counts`` prints.

    Examples
    --------
    >>> table = count_table(5)
    >>> table["linear"], table["shared"]
    ([2, 8, 46, 310, 2049], [2, 8, 80, 3584, 533504])
    >>> table["mention_sets_log2"]
    [1, 3, 7, 15, 31]
    """
    if max_words < 1:
        raise UsageError(f"max_words is {max_words}; expected at least 1")
    words = list(range(1, max_words + 1))
    return {
        "max_components": max_components,
        "words": words,
        **{name: canonical_encodings(name, max_words, max_components) for name in STRUCTURES},
        "mention_sets_log2": [mention_sets_log2(n_words, max_components) for n_words in words],
        "segments_log2": [segments_log2(n_words, max_components) for n_words in words],
    }


def canonical_encodings(structure: str, max_words: int, max_components: int = 3) -> list[int]:
    """Return the number of canonical encodings of one type for 1, 2 … words.

    Parameters
    ----------
    structure : {"linear", "mention", "shared", "split"}
    max_words : int
    max_components : int
        The most parts of a mention, 1 to 8. ``mention`` always has 1.

    Examples
    --------
    >>> canonical_encodings("split", 5)
    [2, 8, 80, 6656, 2367488]
    """
    if structure == "linear":
        check_parts(max_components)
        return canonical_tags(max_components).counts(max_words)
    columns = [staircase_counts(staircase, max_words) for staircase in staircases_of(structure, max_components)]
    return [math.prod(row) for row in zip(*columns, strict=True)]


def staircases_of(structure: str, max_components: int) -> tuple[Staircase, ...]:
    """Return the staircases of one type of a hypergraph structure.

    Raises
    ------
    StructureError
        If there is no such structure, or the number of parts is out of range.
    """
    check_parts(max_components)
    match structure:
        case "mention":
            return (Staircase(1),)
        case "shared":
            return (Staircase(max_components),)
        case "split":
            return tuple(Staircase(n_parts, exact=True) for n_parts in range(1, max_components + 1))
    raise StructureError(f"there is no structure {structure!r} to count; expected one of {', '.join(STRUCTURES)}")


def check_parts(max_components: int) -> None:
    """Raise an error if the number of parts is out of range."""
    if not 1 <= max_components <= MOST_PARTS:
        raise StructureError(f"max_components is {max_components}; expected a number from 1 to {MOST_PARTS}")


@lru_cache(maxsize=32)
def staircase_counts(staircase: Staircase, max_words: int) -> tuple[int, ...]:
    """Return the number of encodings of one staircase for 1, 2 … words, by a pass over sets of active nodes.

    Examples
    --------
    >>> staircase_counts(Staircase(3), 5)
    (2, 8, 80, 3584, 533504)
    """
    return tuple(_totals_by_word(staircase, max_words))


def _totals_by_word(staircase: Staircase, max_words: int) -> Iterator[int]:
    nodes = reversed(range(staircase.n_nodes))
    phases = [start_phase(staircase.n_nodes), *(node_phase(staircase.edges, staircase.n_nodes, node) for node in nodes)]
    ways = np.zeros(1 << staircase.n_nodes, dtype=object)
    ways[0] = 1
    for _ in range(max_words):
        ways = across(ways, phases)
        yield ways[0]


def mention_sets_log2(n_words: int, max_components: int = 3) -> int:
    """Return log2 N(n), which is the number of possible mentions: each of them is in a set or not.

    Examples
    --------
    >>> [mention_sets_log2(n_words) for n_words in range(1, 6)]
    [1, 3, 7, 15, 31]
    """
    return sum(math.comb(n_words + 1, 2 * n_parts) for n_parts in range(1, max_components + 1))


def segments_log2(n_words: int, max_components: int = 3) -> int:
    """Return log2 of the number of prefix trees of ``segments``, which is N(n), since each is one set of mentions.

    They are counted explicitly for few words; for more, the number of sets is used.

    Examples
    --------
    >>> [segments_log2(n_words) for n_words in range(1, 6)]
    [1, 3, 7, 15, 31]
    """
    if n_words > MOST_COUNTED or max_components > MAX_COMPONENTS:
        return mention_sets_log2(n_words, max_components)
    made = Segments(("any",), max_components, n_words, n_words)
    return segments_total(made, [[0.0] * made.n_labels] * n_words, COUNT).bit_length() - 1


def count_encodings(structure: Hypergraph, n_words: int) -> int:
    """Count the distinct encodings of a sentence: M_Sh(n), M_Sp(n) and their relatives.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure, split_structure
    >>> [count_encodings(shared_structure(["Finding"]), n) for n in range(1, 7)]
    [2, 8, 80, 3584, 533504, 371425280]
    >>> [count_encodings(split_structure(["Finding"]), n) for n in range(1, 7)]
    [2, 8, 80, 6656, 2367488, 29700128768]
    """
    return math.prod(
        total(staircase_automaton(block.staircase), _zeros(block.staircase, n_words), COUNT)
        for block in structure.blocks
    )


def count_mention_sets(structure: Hypergraph, n_words: int) -> int:
    """Count the sets of mentions that a structure can encode: N(n) for one type.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> count_mention_sets(shared_structure(["Finding"]), 5) == 2**31
    True
    """
    return math.prod(
        derivations_total(block.staircase, _zeros(block.staircase, n_words), COUNT) for block in structure.blocks
    )


def _zeros(staircase: Staircase, n_words: int) -> list[list[float]]:
    return [[0.0] * staircase.n_labels] * n_words

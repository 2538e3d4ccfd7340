"""How many outcomes there are, as exact integers."""

from __future__ import annotations

import math

from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.reference.algebra import COUNT
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.derivations import derivations_total
from hyperspan.structures.hypergraph import Hypergraph
from hyperspan.structures.staircase import Staircase


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
    """Count the sets of mentions that a structure can write: N(n) for one type.

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

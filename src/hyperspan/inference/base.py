"""What every distribution can be asked."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.batch import Over, Totals, check_scores, sum_batch
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded
from hyperspan.structures.hypergraph import Block, Hypergraph

MOST_STEPS = 200_000
"""How many words the search for probable mentions may advance over in one sentence and block of up to three parts."""

NO_OUTCOME = "there is no best outcome: every outcome is forbidden by scores of -inf"

_NODES_OF_THREE_PARTS = 5


class Distribution(ABC):
    """The distribution over the outcomes of one sentence, given the scores of its edges.

    Made by `distribution`. Everything is exact unless its description says otherwise.
    """

    over: ClassVar[Over]

    def __init__(self, structure: Any, scores: NDArray[np.float64]) -> None:
        self.structure = structure
        self.scores = check_scores(scores, structure.n_labels)

    @property
    def n_words(self) -> int:
        """How many words the sentence has."""
        return len(self.scores)

    def _totals(self, wants_expected: bool) -> Totals:
        first_word = np.array([0, self.n_words], dtype=np.int64)
        return sum_batch(
            self.structure, self.scores, first_word, over=self.over, wants_expected=wants_expected, n_threads=1
        )

    def log_partition(self) -> float:
        """Return the log of the sum over all outcomes."""
        return float(self._totals(wants_expected=False).log_partition[0])

    def expected_counts(self) -> NDArray[np.float64]:
        """Return how often each edge is used on average, of shape (n_words, n_labels).

        Over encodings and tag sequences these are probabilities.
        """
        return self._totals(wants_expected=True).expected

    def best(self) -> Outcome:
        """Return the most probable outcome.

        Raises
        ------
        StructureError
            If every outcome is forbidden.
        """
        best = self.k_best(1)
        if not best:
            raise StructureError(NO_OUTCOME)
        return best[0]

    @abstractmethod
    def k_best(self, k: int) -> list[Outcome]:
        """Return the k most probable outcomes, best first; fewer if there are fewer."""

    @abstractmethod
    def sample(self, n_samples: int, seed: int = 0) -> list[Outcome]:
        """Draw outcomes in proportion to their probability.

        Raises
        ------
        StructureError
            If every outcome is forbidden.
        """

    @abstractmethod
    def prob_of(self, mentions: Iterable[Mention]) -> float:
        """Return the probability that all these mentions are in the outcome; 0 if no outcome is possible."""

    @abstractmethod
    def probable(self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> Decoded:
        """Return every mention whose probability is at least the threshold, with its probability."""


class HypergraphDistribution(Distribution):
    """Over outcomes of a hypergraph structure, whose blocks do not interact."""

    structure: Hypergraph

    @cached_property
    def is_possible(self) -> bool:
        """Whether scores of -inf leave any outcome possible."""
        return not np.any(self.scores == -np.inf) or self.log_partition() > -np.inf

    def place(self, mention: Mention) -> Block | None:
        """Return the block of a mention; None if it has too many parts."""
        if mention.end > self.n_words:
            raise StructureError(f"{mention} ends beyond the {self.n_words} words of the sentence")
        return self.structure.block_of(mention)

    def block_scores(self, block: Block) -> NDArray[np.float64]:
        """Return the scores of a block's labels, of shape (n_words, block.staircase.n_labels)."""
        last_label = block.first_label + block.staircase.n_labels
        return np.ascontiguousarray(self.scores[:, block.first_label : last_label])


def steps_for(n_nodes: int) -> int:
    """Return how many words a search may advance over: fewer where a word costs more, with more than three parts."""
    return MOST_STEPS >> max(0, n_nodes - _NODES_OF_THREE_PARTS)


def check_at_least_one(name: str, value: int) -> None:
    """Refuse a number of outcomes or mentions below one."""
    if value < 1:
        raise StructureError(f"{name} is {value}; expected at least 1")


def check_edge(word: int, label: int, scores: NDArray[np.float64]) -> None:
    """Refuse an edge that the sentence does not have."""
    n_words, n_labels = scores.shape
    if not (0 <= word < n_words and 0 <= label < n_labels):
        raise StructureError(
            f"there is no label {label} at word {word}; expected one of {n_labels} labels at one of {n_words} words"
        )


def room_for(limit: int, n_words: int) -> tuple[NDArray[Any], ...]:
    """Return room for the mentions that a search finds: starts, probabilities, nodes and lengths of their paths."""
    return (
        np.empty(limit, dtype=np.int64),
        np.empty(limit),
        np.empty((limit, n_words), dtype=np.int8),
        np.empty(limit, dtype=np.int64),
    )


def mentions_found(
    block: Block,
    n_found: int,
    starts: NDArray[np.int64],
    probs: NDArray[np.float64],
    nodes: NDArray[np.int8],
    lengths: NDArray[np.int64],
) -> Iterable[Mention]:
    """Yield the mentions that a search found."""
    for start, prob, path, length in zip(starts[:n_found], probs[:n_found], nodes, lengths[:n_found], strict=False):
        places = [(int(start) + step, int(node)) for step, node in enumerate(path[:length])]
        yield dataclasses.replace(block.staircase.mention(block.type, places), prob=float(prob))

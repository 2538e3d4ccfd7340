"""Distributions over a few words the slow and obvious way: by going through every outcome."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from brute_force import all_encodings, all_mentions, all_subsets
from hyperspan import Mention
from hyperspan.inference import BatchDistribution, ScoreBatch, distribution
from hyperspan.structures import Hypergraph, Linear, Segments, Staircase, structure
from hyperspan.structures.structure import Encoding

ONE, TWO = ("Finding",), ("Finding", "Drug")
THREE_PARTS = Hypergraph("split", ONE, (Staircase(3, exact=True),))
"""Mentions of exactly three parts: few enough for seven words."""

FOR_ENCODINGS = [
    (structure("mention", ONE), 4),
    (structure("mention", TWO), 3),
    (structure("shared", ONE, 1), 4),
    (structure("shared", ONE, 2), 4),
    (structure("shared", ONE, 3), 4),
    (structure("shared", TWO, 2), 3),
    (structure("split", ONE, 2), 4),
    (structure("split", ONE, 3), 4),
    (structure("split", TWO, 3), 2),
    (structure("shared", ONE, 3), 1),
    (THREE_PARTS, 6),
    (THREE_PARTS, 7),
]
FOR_MENTION_SETS = [
    (structure("mention", ONE), 4),
    (structure("mention", TWO), 3),
    (structure("shared", ONE, 2), 3),
    (structure("shared", ONE, 3), 3),
    (structure("shared", TWO, 2), 2),
    (structure("split", ONE, 3), 3),
    (structure("split", TWO, 2), 2),
    (THREE_PARTS, 6),
]
FOR_SEGMENTS = [
    (Segments(ONE, 1, 4, 1), 4),
    (Segments(ONE, 2, 4, 2), 4),
    (Segments(ONE, 3, 4, 2), 4),
    (Segments(ONE, 3, 2, 1), 4),
    (Segments(ONE, 3, 3, 3), 3),
    (Segments(TWO, 2, 2, 1), 3),
    (Segments(TWO, 3, 2, 2), 2),
    (Segments(ONE, 3, 20, 20), 1),
]
FOR_TAGS = [(Linear(ONE), 1), (Linear(ONE), 4), (Linear(TWO), 3)]


def case_name(value: object) -> str:
    """Name a structure, or the number of words, for the list of tests."""
    if isinstance(value, Linear):
        return f"linear-{len(value.types)}"
    if isinstance(value, Segments):
        return f"segments-{len(value.types)}-to-{value.max_components}-{value.longest_part}-{value.longest_gap}"
    if isinstance(value, Hypergraph):
        parts = "exactly" if value is THREE_PARTS else "to"
        return f"{value.name}-{len(value.types)}-{parts}-{value.max_components}"
    return f"{value}-words"


class Enumeration:
    """Every outcome of a sentence, and how often it uses each edge.

    Parameters
    ----------
    structure : Hypergraph, Linear or Segments
    n_words : int
    over : {"encodings", "mention-sets", "derivations"}
    """

    def __init__(self, structure: Hypergraph | Linear | Segments, n_words: int, over: str = "encodings") -> None:
        self.structure, self.n_words = structure, n_words
        self.outcomes: list[Encoding]
        self.sets: list[frozenset[Mention]] = []
        if isinstance(structure, Linear):
            tags = product(range(structure.n_labels), repeat=n_words)
            self.outcomes = [tuple(enumerate(sequence)) for sequence in tags]
        elif isinstance(structure, Segments):
            self.sets = list(all_subsets(self.mentions))
            self.outcomes = [structure.encode(mentions, n_words).encoding for mentions in self.sets]
        elif over == "encodings":
            self.outcomes = sorted(all_encodings(structure, n_words))
        else:
            self.sets = list(all_subsets(self.mentions))
            self.outcomes = [structure.unfold(mentions, n_words).encoding for mentions in self.sets]
        self.uses = np.zeros((len(self.outcomes), n_words, structure.n_labels))
        for outcome, edges in enumerate(self.outcomes):
            for word, label in edges:
                self.uses[outcome, word, label] += 1

    @cached_property
    def mentions(self) -> list[Mention]:
        """Every mention that the structure can write."""
        found = [mention for type in self.structure.types for mention in all_mentions(self.n_words, type)]
        parts = self.structure.max_components
        if isinstance(self.structure, Linear):
            return [mention for mention in found if len(mention.parts) <= parts]
        if isinstance(self.structure, Segments):
            return [mention for mention in found if self.structure.holds(mention)]
        return [mention for mention in found if self.structure.block_of(mention) is not None]

    @cached_property
    def readings(self) -> list[frozenset[Mention]]:
        """The mentions of every outcome: the set itself, or all on some path of the encoding."""
        if self.sets:
            return self.sets
        return [frozenset(self.structure.decode(edges, "all").mentions) for edges in self.outcomes]

    def log_scores(self, scores: NDArray[np.float64], transitions: NDArray[np.float64] | None = None) -> NDArray:
        """The score of every outcome."""
        is_forbidden = np.isneginf(scores)
        total = np.tensordot(self.uses, np.where(is_forbidden, 0.0, scores), axes=2)
        total[np.any(self.uses[:, is_forbidden] > 0, axis=1)] = -np.inf
        if transitions is not None:
            tags = np.array([[label for _, label in edges] for edges in self.outcomes], dtype=np.int64)
            for word in range(1, self.n_words):
                total += transitions[tags[:, word - 1], tags[:, word]]
        return total

    def log_partition(self, scores: NDArray[np.float64], transitions: NDArray[np.float64] | None = None) -> float:
        """The log of the sum over all outcomes."""
        return float(np.logaddexp.reduce(self.log_scores(scores, transitions)))

    def probs(self, scores: NDArray[np.float64], transitions: NDArray[np.float64] | None = None) -> NDArray:
        """The probability of every outcome; all 0 if none is possible."""
        log_scores = self.log_scores(scores, transitions)
        total = np.logaddexp.reduce(log_scores)
        return np.exp(log_scores - total) if total > -np.inf else np.zeros_like(log_scores)

    def prob_of(self, probs: NDArray[np.float64], wanted: frozenset[Mention]) -> float:
        """The probability of the outcomes that have all these mentions."""
        return sum(prob for prob, found in zip(probs.tolist(), self.readings, strict=True) if wanted <= found)


@cache
def enumeration(structure: Hypergraph | Linear | Segments, n_words: int, over: str = "encodings") -> Enumeration:
    """Return every outcome, found once."""
    return Enumeration(structure, n_words, over)


def random_scores(
    rng: np.random.Generator,
    structure: Hypergraph | Linear | Segments,
    n_words: int,
    *,
    size: float = 1.0,
    forbidden: float = 0.0,
) -> NDArray[np.float64]:
    """Return random scores, a share of which is -inf."""
    scores = rng.normal(scale=size, size=(n_words, structure.n_labels))
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    return scores


def batch_of(pieces: Sequence[NDArray[np.float64]], transitions: NDArray[np.float64] | None = None) -> ScoreBatch:
    """Return the scores of sentences as a batch."""
    first_word = np.cumsum([0, *map(len, pieces)])
    return ScoreBatch(np.concatenate(pieces), first_word, np.zeros((0, 0)) if transitions is None else transitions)


def single(
    structure: Hypergraph | Linear | Segments,
    scores: NDArray[np.float64],
    over: str = "encodings",
    transitions: NDArray[np.float64] | None = None,
) -> BatchDistribution:
    """Return the distribution over the outcomes of one sentence."""
    return distribution(structure, ScoreBatch.of_sentence(scores, transitions), over)


def chi_square(counts: NDArray[np.float64], probs: NDArray[np.float64]) -> float:
    """Return how probable counts as odd as these are; rare outcomes are taken together."""
    wanted = probs * counts.sum()
    is_common = wanted >= 5
    seen = [*counts[is_common], counts[~is_common].sum()]
    expected = [*wanted[is_common], wanted[~is_common].sum()]
    return float(stats.chisquare(seen, expected, sum_check=False).pvalue)

"""Over the tag sequences of the linear chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.base import Distribution, check_at_least_one, check_edge
from hyperspan.inference.batch import Totals, check_transitions, sum_batch
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome, most_probable, score_of
from hyperspan.inference.paths import k_best_paths, sample_paths
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded, decode_enough
from hyperspan.structures.linear import Linear
from hyperspan.structures.structure import Encoding


class TagSequences(Distribution):
    """Over the tag sequences of the linear chain."""

    over = "encodings"
    structure: Linear
    N_SAMPLES: ClassVar[int] = 200

    def __init__(
        self, structure: Linear, scores: NDArray[np.float64], transitions: NDArray[np.float64] | None = None
    ) -> None:
        super().__init__(structure, scores)
        self.transitions = check_transitions(transitions, structure.n_labels)
        self._automaton = chain_automaton(self.transitions)

    def _totals(self, wants_expected: bool) -> Totals:
        first_word = np.array([0, self.n_words], dtype=np.int64)
        return sum_batch(
            self.structure,
            self.scores,
            first_word,
            transitions=self.transitions,
            wants_expected=wants_expected,
            n_threads=1,
        )

    def expected_transitions(self) -> NDArray[np.float64]:
        """Return how often each tag follows each other on average, of shape (n_tags, n_tags)."""
        return self._totals(wants_expected=True).expected_transitions

    def k_best(self, k: int) -> list[Outcome]:
        check_at_least_one("k", k)
        return k_best_paths(self._automaton, self.scores, k, 0)

    def sample(self, n_samples: int, seed: int = 0) -> list[Outcome]:
        check_at_least_one("n_samples", n_samples)
        drawn = sample_paths(self._automaton, self.scores, n_samples, np.random.default_rng(seed))
        return [Outcome(self.score(tags), tags) for tags in drawn]

    def score(self, tags: Encoding) -> float:
        """Return the score of a tag sequence, transitions included."""
        labels = [label for _, label in tags]
        return score_of(self.scores, tags) + float(sum(self.transitions[labels[:-1], labels[1:]]))

    def prob_of_edges(self, edges: Iterable[tuple[int, int]]) -> float:
        """Return the probability of a partial structure: that each of these ``(word, tag)`` is in the tag sequence."""
        scores = self.scores.copy()
        for word, label in edges:
            check_edge(word, label, self.scores)
            others = np.arange(scores.shape[1]) != label
            scores[word, others] = -np.inf
        restricted = TagSequences(self.structure, scores, self.transitions).log_partition()
        return float(np.exp(min(0.0, restricted - self.log_partition()))) if restricted > -np.inf else 0.0

    def prob_of(self, mentions: Iterable[Mention], *, n_samples: int = N_SAMPLES, seed: int = 0) -> float:
        """Estimate how probable it is that the ``enough`` reading has all these mentions, from samples."""
        wanted = set(mentions)
        readings = (decode_enough(self.structure, outcome.edges) for outcome in self.sample(n_samples, seed))
        return sum(wanted <= set(reading.mentions) for reading in readings) / n_samples

    def probable(
        self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS, n_samples: int = N_SAMPLES, seed: int = 0
    ) -> Decoded:
        """Return the mentions in at least this share of the ``enough`` readings of sampled tag sequences."""
        check_at_least_one("limit", limit)
        counts: dict[Mention, int] = {}
        readings: dict[Encoding, Decoded] = {}
        truncated = False
        for outcome in self.sample(n_samples, seed):
            if outcome.edges not in readings:
                readings[outcome.edges] = decode_enough(self.structure, outcome.edges)
            reading = readings[outcome.edges]
            truncated |= reading.truncated
            for mention in reading.mentions:
                counts[mention] = counts.get(mention, 0) + 1
        found = [replace(mention, prob=count / n_samples) for mention, count in counts.items()]
        return most_probable([mention for mention in found if (mention.prob or 0.0) >= threshold], limit, truncated)

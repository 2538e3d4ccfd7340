"""Over the tag sequences of the linear chain."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import Automaton, chain_automaton
from hyperspan.inference.base import NO_OUTCOME, Distribution, check_at_least_one, check_edge
from hyperspan.inference.batch import Totals, check_transitions, sum_batch
from hyperspan.inference.best import best_tags
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome, most_probable, score_of
from hyperspan.inference.paths import k_best_paths, sample_labels
from hyperspan.inference.tag_samples import are_within_bounds, count_mentions, draw_tags
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

    @property
    def _automaton(self) -> Automaton:
        return _automaton(self.transitions.tobytes(), len(self.transitions))

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

    def best(self) -> Outcome:
        score, tags = best_tags(self.scores, self.transitions)
        if score == -np.inf:
            raise StructureError(NO_OUTCOME)
        return Outcome(score, tuple(enumerate(tags.tolist())))

    def k_best(self, k: int) -> list[Outcome]:
        check_at_least_one("k", k)
        return k_best_paths(self._automaton, self.scores, k, 0)

    def sample(self, n_samples: int, seed: int = 0) -> list[Outcome]:
        drawn = (tuple(enumerate(tags)) for tags in self._drawn(n_samples, seed).tolist())
        return [Outcome(self.score(tags), tags) for tags in drawn]

    def _drawn(self, n_samples: int, seed: int) -> NDArray[np.int64]:
        """Return samples as an array of tags, of shape (n_samples, n_words)."""
        check_at_least_one("n_samples", n_samples)
        rng = np.random.default_rng(seed)
        if are_within_bounds(self.scores, self.transitions):
            return draw_tags(self.scores, self.transitions, rng.random((n_samples, self.n_words + 1)))
        return sample_labels(self._automaton, self.scores, n_samples, rng)[:, :, 0]

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
        distinct, n_times = np.unique(self._drawn(n_samples, seed), axis=0, return_counts=True)
        n_right = 0
        for tags, count in zip(distinct.tolist(), n_times.tolist(), strict=True):
            n_right += count * (wanted <= set(decode_enough(self.structure, tuple(enumerate(tags))).mentions))
        return n_right / n_samples

    def probable(
        self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS, n_samples: int = N_SAMPLES, seed: int = 0
    ) -> Decoded:
        """Return the mentions in at least this share of the ``enough`` readings of sampled tag sequences."""
        check_at_least_one("limit", limit)
        counts = count_mentions(self.structure, self._drawn(n_samples, seed))
        found = [
            Mention(type, parts, count / n_samples)
            for (type, parts), count in counts.items()
            if count / n_samples >= threshold
        ]
        return most_probable(found, limit, truncated=False)

    def probs_of(self, mentions: Iterable[Mention], *, n_samples: int = N_SAMPLES, seed: int = 0) -> list[float]:
        """Return the probability of each of some mentions: as `prob_of` one by one, from the same samples."""
        counts = count_mentions(self.structure, self._drawn(n_samples, seed))
        return [counts.get((mention.type, mention.parts), 0) / n_samples for mention in mentions]


@lru_cache(maxsize=4)
def _automaton(transitions: bytes, n_tags: int) -> Automaton:
    """Return the automaton of transitions, which are the same for every sentence of a model."""
    return chain_automaton(np.frombuffer(transitions).reshape(n_tags, n_tags))

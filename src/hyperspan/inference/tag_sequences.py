"""Over the tag sequences of the linear chain."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import Automaton, chain_automaton
from hyperspan.inference.base import Distribution, check_at_least_one, check_edge
from hyperspan.inference.batch import Totals, check_transitions, sum_batch
from hyperspan.inference.outcomes import MOST_MENTIONS, Outcome, score_of
from hyperspan.inference.paths import k_best_paths, sample_labels
from hyperspan.inference.tag_samples import draw_tags
from hyperspan.inference.tag_sums import are_within_bounds
from hyperspan.inference.tags_together import N_SAMPLES, TagScores, best_tags_in, probable_tags_in, tag_probs_in
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import Decoded, decode_enough
from hyperspan.structures.linear import Linear
from hyperspan.structures.structure import Encoding


class TagSequences(Distribution):
    """Over the tag sequences of the linear chain."""

    over = "encodings"
    structure: Linear

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

    def _alone(self) -> TagScores:
        """Return the sentence as one of many."""
        return TagScores(self.structure, self.scores, self.transitions, np.array([0, self.n_words]))

    def best(self) -> Outcome:
        score, tags = best_tags_in(self._alone())
        return Outcome(float(score[0]), tuple(enumerate(tags.tolist())))

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
        """Return how probable it is that the ``enough`` reading has all these mentions.

        Of one mention as `probs_of` says it; of several their share of sampled tag sequences.
        """
        wanted = set(mentions)
        if len(wanted) == 1:
            return self.probs_of(wanted, n_samples=n_samples, seed=seed)[0]
        distinct, n_times = np.unique(self._drawn(n_samples, seed), axis=0, return_counts=True)
        n_right = 0
        for tags, count in zip(distinct.tolist(), n_times.tolist(), strict=True):
            n_right += count * (wanted <= set(decode_enough(self.structure, tuple(enumerate(tags))).mentions))
        return n_right / n_samples

    def probable(
        self, threshold: float = 0.3, *, limit: int = MOST_MENTIONS, n_samples: int = N_SAMPLES, seed: int = 0
    ) -> Decoded:
        """Return the mentions whose probability is at least the threshold, but none below a thousandth."""
        (decoded,) = probable_tags_in(self._alone(), threshold, limit=limit, n_samples=n_samples, seed=seed)
        return decoded

    def probs_of(self, mentions: Iterable[Mention], *, n_samples: int = N_SAMPLES, seed: int = 0) -> list[float]:
        """Return the probability of each of some mentions.

        It is exact as far as runs of contiguous tags that touch no head go. What comes from bodies and heads is counted
        in samples of tag sequences that have some.
        """
        (probs,) = tag_probs_in(self._alone(), [list(mentions)], n_samples=n_samples, seed=seed)
        return probs


@lru_cache(maxsize=4)
def _automaton(transitions: bytes, n_tags: int) -> Automaton:
    """Return the automaton of transitions, which are the same for every sentence of a model."""
    return chain_automaton(np.frombuffer(transitions).reshape(n_tags, n_tags))

"""A structure of one's own in one file: mentions of single words, each independent of all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from hyperspan.inference import BatchDistribution, Marginals, MentionRows, Outcome, register_distribution
from hyperspan.mentions import Mention
from hyperspan.structures import Decoded, Encoded, Encoding, register_structure


@dataclass(frozen=True)
class SingleWords:
    """Labels 2t and 2t + 1 say that a word is not, or is, a mention of type t."""

    types: tuple[str, ...]

    name = "singlewords"
    kind = "words"
    max_components = 1
    has_transitions = False

    @property
    def sizes(self) -> dict[str, int]:
        return {}

    @property
    def n_labels(self) -> int:
        return 2 * len(self.types)

    @property
    def choices(self) -> list[np.ndarray]:
        return [np.array([2 * number, 2 * number + 1]) for number in range(len(self.types))]

    @property
    def weightless_labels(self) -> np.ndarray:
        return np.arange(self.n_labels) % 2 == 0

    @property
    def start_labels(self) -> np.ndarray:
        return np.arange(1, self.n_labels, 2)

    def labels_of(self, type: str) -> np.ndarray:
        return np.arange(self.n_labels) // 2 == self.types.index(type)

    def label_name(self, label: int) -> str:
        return f"{self.types[label // 2]} {'yes' if label % 2 else 'no'}"

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        held = {(mention.start, mention.type) for mention in mentions if mention.n_words == 1}
        edges = [
            (word, 2 * number + ((word, type) in held))
            for word in range(n_words)
            for number, type in enumerate(self.types)
        ]
        return Encoded(tuple(edges), tuple(mention for mention in mentions if mention.n_words > 1))

    def decode(self, encoding: Encoding, reading: str, *, limit: int = 1_000, any_number: bool = False) -> Decoded:
        mentions = (Mention(self.types[label // 2], [(word, word + 1)]) for word, label in encoding if label % 2)
        return Decoded.first(mentions, limit)

    def clamp(self, scores: np.ndarray, mention: Mention, best: Encoding) -> np.ndarray:
        clamped = scores.copy()
        clamped[mention.start, 2 * self.types.index(mention.type)] = -np.inf
        return clamped


class IndependentWords(BatchDistribution[SingleWords]):
    """Every word and type by itself."""

    name = "encodings"

    def _pairs(self) -> np.ndarray:
        return self.batch.scores.reshape(len(self.batch.scores), -1, 2)

    def _probs(self) -> np.ndarray:
        pairs = self._pairs()
        return np.exp(pairs - np.logaddexp.reduce(pairs, axis=2, keepdims=True))

    def log_partition(self) -> np.ndarray:
        by_word = np.logaddexp.reduce(self._pairs(), axis=2).sum(axis=1)
        return np.array([by_word[first:last].sum() for first, last in pairwise(self.batch.first_word)])

    def marginals(self) -> Marginals:
        return Marginals(self.log_partition(), self._probs().reshape(self.batch.scores.shape), np.zeros((0, 0)))

    def k_best(self, k: int) -> list[list[Outcome]]:
        found = []
        for number in range(self.batch.n_sentences):
            scores = self.batch.sentence(number).scores
            words, choices = range(len(scores)), product((0, 1), repeat=len(self.structure.types))
            ways = [tuple(2 * type + yes for type, yes in enumerate(choice)) for choice in choices]
            outcomes = [Outcome(0.0, ())]
            for word in words:
                outcomes = [
                    Outcome(
                        one.score + float(scores[word, list(way)].sum()),
                        (*one.edges, *((word, label) for label in way)),
                    )
                    for one in outcomes
                    for way in ways
                ]
                outcomes = sorted(outcomes, key=lambda outcome: -outcome.score)[:k]
            found.append(outcomes)
        return found

    def sample(self, n_samples: int, seed: int = 0) -> list[list[Outcome]]:
        raise NotImplementedError

    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        found, probs = [], self._probs()
        for first, here in zip(self.batch.first_word[:-1], mentions, strict=True):
            own = [probs[first + m.start, self.structure.types.index(m.type), 1] for m in here]
            found.append(float(np.prod(own)))
        return found

    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, np.ndarray]:
        probs = self._probs()[:, :, 1]
        words, types = np.nonzero(probs >= np.min(threshold))
        sentence = np.searchsorted(self.batch.first_word, words, side="right") - 1
        start = words - self.batch.first_word[sentence]
        parts = np.stack([start, start + 1], axis=1)[:, None, :]
        rows = MentionRows(types, sentence, probs[words, types], np.ones(len(words), dtype=np.int64), parts)
        return rows, np.zeros(self.batch.n_sentences, dtype=np.bool_)


def register() -> None:
    register_structure("toys.SingleWords.v1", lambda types, max_components: SingleWords(tuple(types)))
    register_distribution("words", IndependentWords)

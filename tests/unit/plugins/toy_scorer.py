"""A scorer of one's own in one file: how often each word had each label, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hyperspan.inference import ScoreBatch, distribution_class, encode_gold
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Model, Training, register_trainer
from hyperspan.recognizer.training import types_of, untuned
from hyperspan.scoring import Reason, register_scorer
from hyperspan.structures import Structure, structure


class Memory:
    """The log frequency of each label given the word, with a little for what was never seen."""

    n_threads = 1
    columns = ()

    def __init__(self, structure: Structure, counts: Mapping[str, Sequence[float]]) -> None:
        self.structure = structure
        self.counts = {word: np.asarray(row, dtype=np.float64) for word, row in counts.items()}

    def use_threads(self, number: int) -> None:
        pass

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        words = [word for sentence in sentences for word in sentence.tokens]
        scores = np.zeros((len(words), self.structure.n_labels))
        for row, word in zip(scores, words, strict=True):
            counts = 0.01 + self.counts.get(word, np.zeros(self.structure.n_labels))
            for choice in self.structure.choices:
                row[choice] = np.log(counts[choice] / counts[choice].sum())
        first_word = np.cumsum([0, *(len(sentence) for sentence in sentences)])
        return ScoreBatch(scores, first_word)

    def describe(self) -> dict[str, Any]:
        return {"words": len(self.counts)}

    def explain(self, sentence: Sentence, moved: np.ndarray, top: int) -> list[Reason]:
        amounts = (moved * self.scores([sentence]).scores).sum(axis=1).tolist()
        return [Reason(word, token, amounts[word]) for word, token in enumerate(sentence.tokens)][:top]

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        return {}

    def settings(self) -> dict[str, Any]:
        return {}

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"vocabulary": sorted(self.counts)}, {
            "counts": np.array([self.counts[word] for word in sorted(self.counts)])
        }

    @classmethod
    def from_state(
        cls, structure: Structure, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, n_threads: int
    ) -> Memory:
        return cls(structure, dict(zip(data["vocabulary"], arrays["counts"], strict=True)))


def train(settings: Any, train: list[Sentence], dev: list[Sentence], options: Any) -> tuple[Model, Training]:
    written_as = structure(settings.structure, types_of(train), settings.max_components)
    gold = encode_gold(distribution_class(written_as, settings.distribution), written_as, train)
    words = [word for sentence in train for word in sentence.tokens]
    counts = {word: np.zeros(written_as.n_labels) for word in words}
    for word, label in zip(gold.word.tolist(), gold.label.tolist(), strict=True):
        counts[words[word]][label] += 1.0
    model = Model(written_as, settings.distribution, Memory(written_as, counts))
    return model, untuned(0.0, 1, [{"iteration": 1, "stopped": "all was counted"}], len(gold.left_out))


def register() -> None:
    register_scorer("memory", Memory)
    register_trainer("memory", train)

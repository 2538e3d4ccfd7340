"""Cache the vectors of words from the first look for the second, so that the encoder reads everything once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import torch

from hyperspan.mentions import Sentence

MOST_WORDS = 1 << 15
"""The maximum number of words whose vectors are cached; the oldest are removed first."""


class Remembered:
    """A thread-safe cache of the vectors of the last sentences."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Sentence, torch.Tensor]] = OrderedDict()
        self._n_words = 0
        self._lock = Lock()

    def keep(self, sentences: Sequence[Sentence], vectors: torch.Tensor, first_word: Any) -> None:
        """Store the vectors of sentences."""
        with self._lock:
            for number, sentence in enumerate(sentences):
                self._forget(id(sentence))
                self._kept[id(sentence)] = sentence, vectors[first_word[number] : first_word[number + 1]]
                self._n_words += len(sentence)
            while self._n_words > MOST_WORDS:
                self._forget(next(iter(self._kept)))

    def take(self, sentences: Sequence[Sentence]) -> list[torch.Tensor | None]:
        """Return the vectors of sentences that are still cached, and remove them."""
        with self._lock:
            found = [self._kept[id(each)][1] if id(each) in self._kept else None for each in sentences]
            for sentence in sentences:  # a sentence may occur twice
                self._forget(id(sentence))
        return found

    def _forget(self, key: int) -> None:
        if key in self._kept:
            sentence, _ = self._kept.pop(key)
            self._n_words -= len(sentence)

    def __reduce__(self) -> tuple[type[Remembered], tuple[()]]:
        return type(self), ()  # another process starts with an empty cache

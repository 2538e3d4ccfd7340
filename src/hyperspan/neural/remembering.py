"""Vectors of words that are kept from the first look to the second, so that the encoder reads everything once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import torch

from hyperspan.mentions import Sentence

MOST_WORDS = 1 << 15
"""Vectors of at most so many words are kept; the oldest go first."""


class Remembered:
    """The vectors of the last sentences that were read. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Sentence, torch.Tensor]] = OrderedDict()
        self._n_words = 0
        self._lock = Lock()

    def keep(self, sentences: Sequence[Sentence], vectors: torch.Tensor, first_word: Any) -> None:
        """Keep the vectors of some sentences."""
        with self._lock:
            for number, sentence in enumerate(sentences):
                self._forget(id(sentence))
                self._kept[id(sentence)] = sentence, vectors[first_word[number] : first_word[number + 1]]
                self._n_words += len(sentence)
            while self._n_words > MOST_WORDS:
                self._forget(next(iter(self._kept)))

    def take(self, sentences: Sequence[Sentence]) -> list[torch.Tensor | None]:
        """Return the vectors of sentences, where they are still there, and forget them."""
        with self._lock:
            found = [self._kept[id(each)][1] if id(each) in self._kept else None for each in sentences]
            for sentence in sentences:  # one of them may be there twice
                self._forget(id(sentence))
        return found

    def _forget(self, key: int) -> None:
        if key in self._kept:
            sentence, _ = self._kept.pop(key)
            self._n_words -= len(sentence)

    def __reduce__(self) -> tuple[type[Remembered], tuple[()]]:
        return type(self), ()  # what goes to another process begins with nothing

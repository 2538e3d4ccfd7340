"""Count pairs of adjacent words, the input of Brown clustering."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError, UsageError

Ints = npt.NDArray[np.int64]


class Bigrams(NamedTuple):
    """Words by decreasing frequency, and how often each follows each.

    ``right[first_right[w]:first_right[w + 1]]`` are the words that follow word ``w``, and ``right_count`` says how
    often; ``first_left``, ``left`` and ``left_count`` are the same for the words before it.
    """

    words: tuple[str, ...]
    counts: Ints
    first_right: Ints
    right: Ints
    right_count: Ints
    first_left: Ints
    left: Ints
    left_count: Ints

    @property
    def total(self) -> int:
        """How many pairs of adjacent words there are."""
        return int(self.right_count.sum())


def count_bigrams(sentences: Iterable[Sequence[str]], min_count: int = 1) -> Bigrams:
    """Count words and pairs of adjacent words; words rarer than ``min_count`` are left out.

    Words are sorted by decreasing count, equally frequent ones alphabetically.
    """
    if min_count < 1:
        raise UsageError(f"min_count is {min_count}; expected at least 1")
    first_seen: dict[str, int] = {}
    stream = array("q")
    for sentence in sentences:
        if isinstance(sentence, str):
            raise FeatureError(f"a sentence is the text {quoted(sentence)}; expected a sequence of words")
        for word in sentence:
            stream.append(first_seen.setdefault(word, len(first_seen)))
        stream.append(-1)
    tokens = np.frombuffer(stream, dtype=np.int64) if stream else np.zeros(0, dtype=np.int64)
    count = np.bincount(tokens[tokens >= 0], minlength=len(first_seen))
    seen = list(first_seen)
    kept = sorted((i for i in range(len(seen)) if count[i] >= min_count), key=lambda i: (-count[i], seen[i]))
    words = tuple(_checked(seen[i]) for i in kept)
    if not words:
        rare = f", but {len(seen)} rarer than min_count = {min_count}" if seen else ""
        raise FeatureError(f"the text has no words to cluster{rare}; expected sentences of words")
    rank = np.full(len(seen) + 1, -1, dtype=np.int64)  # the last one is for sentence ends, which are -1
    rank[kept] = np.arange(len(kept))
    tokens = rank[tokens]
    left, right = tokens[:-1], tokens[1:]
    inside = (left >= 0) & (right >= 0)
    keys, pair_count = np.unique(left[inside] * len(words) + right[inside], return_counts=True)
    left, right = keys // len(words), keys % len(words)
    order = np.argsort(right, kind="stable")
    ranks = np.arange(len(words) + 1)
    return Bigrams(
        words,
        count[kept].astype(np.int64),
        np.searchsorted(left, ranks),
        right,
        pair_count,
        np.searchsorted(right[order], ranks),
        left[order],
        pair_count[order],
    )


def _checked(word: str) -> str:
    if not isinstance(word, str) or not word or "\n" in word or not _can_be_written(word):
        raise FeatureError(
            f"the word {quoted(word)} cannot be clustered: expected a text that is not empty, has no line break and "
            "can be written in UTF-8"
        )
    return word


def _can_be_written(word: str) -> bool:
    return word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)

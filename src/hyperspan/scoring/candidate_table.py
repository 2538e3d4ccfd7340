"""Candidates and their sentences as flat arrays, which kernels read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.features.columns import SemanticCategories, hash_text
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.mention_scorer import DocumentBorders
from hyperspan.scoring.proposed import Proposed
from hyperspan.scoring.rivals import word_bits

CONJUNCTIONS = frozenset({"and", "or", "nor", "but", "and/or", ",", "/", "&", ";", "+"})
"""The words and signs that join conjuncts."""

COLUMNS = ("lemma", "pos")
"""The columns of words that candidates also have features of, if the sentences have them."""

MOST_WORDS = 250_000
"""The maximum number of distinct words in the cache."""

LEAST_PROB = 1e-4
"""Log odds are clipped to those of this probability and of its complement."""

Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


class Words(NamedTuple):
    """The words of all sentences: those of sentence s are ``first[s]:first[s + 1]``.

    ``lemma``, ``pos`` and ``category`` are empty if they are unknown; a word without a category has 0.
    """

    first: Integers
    lower: Hashes
    shape: Integers
    is_conjunction: NDArray[np.bool_]
    lemma: Hashes
    pos: Hashes
    category: Hashes


class Candidates(NamedTuple):
    """Candidates, one per row, in the order of their sentences: those of sentence s are ``first[s]:first[s + 1]``.

    ``bits`` are those of `word_bits`; ``joined_category`` is empty without a lexicon.
    """

    first: Integers
    type_id: Integers
    log_odds: NDArray[np.float64]
    n_parts: Integers
    parts: Integers
    bits: Hashes
    joined_category: Hashes

    @property
    def n_rows(self) -> int:
        """The number of candidates."""
        return len(self.type_id)


class WordCodes:
    """A cache of the hashes and shapes of words; only the time depends on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return WordCodes, ()

    def _forget(self) -> None:
        self._codes: dict[str, int] = {}
        self._hash, self._shape = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._is_conjunction = np.empty(0, np.bool_)

    def encode(self, tokens: Sequence[Sequence[str]]) -> tuple[Hashes, Integers, NDArray[np.bool_]]:
        """Return the hash of the lower case and the shape of every word, and whether it is a conjunction."""
        with self._lock:
            if len(self._codes) > MOST_WORDS:
                self._forget()
            try:
                codes = self._codes_of(tokens)
            except KeyError:
                try:
                    self._learn(list(chain.from_iterable(tokens)))
                except BaseException:  # even Ctrl-C: codes and arrays may no longer agree
                    self._forget()
                    raise
                codes = self._codes_of(tokens)
            return self._hash[codes], self._shape[codes], self._is_conjunction[codes]

    def _codes_of(self, tokens: Sequence[Sequence[str]]) -> Integers:
        return np.fromiter(map(self._codes.__getitem__, chain.from_iterable(tokens)), np.int64)

    def _learn(self, tokens: Sequence[str]) -> None:
        new = [token for token in dict.fromkeys(tokens) if token not in self._codes]
        self._codes |= {token: number for number, token in enumerate(new, start=len(self._codes))}
        hashes = np.array([hash_text(token.lower()) for token in new], dtype=np.uint64)
        self._hash = np.concatenate([self._hash, hashes])
        self._shape = np.concatenate([self._shape, np.array([shape_of(token) for token in new], dtype=np.int64)])
        is_conjunction = np.array([token.lower() in CONJUNCTIONS for token in new], dtype=np.bool_)
        self._is_conjunction = np.concatenate([self._is_conjunction, is_conjunction])


SHAPES = ("in lower case", "with a capital", "with a digit", "a sign")


def shape_of(token: str) -> int:
    """Return the shape of a word by its first character: a lower-case or capital letter, a digit or another sign.

    Examples
    --------
    >>> [SHAPES[shape_of(token)] for token in ("pain", "Pain", "3rd", "/")]
    ['in lower case', 'with a capital', 'with a digit', 'a sign']
    """
    first = token[:1]
    if first.isalpha():
        return 1 if first.isupper() else 0
    return 2 if first.isdigit() else 3


def words_of(
    sentences: Sequence[Sentence],
    codes: WordCodes,
    columns: Sequence[str] = (),
    lexicon: SemanticCategories | None = None,
) -> Words:
    """Return the words of sentences, with some of the `COLUMNS` and the categories of a lexicon."""
    first = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(sentence.tokens) for sentence in sentences], out=first[1:])
    tokens = [sentence.tokens for sentence in sentences]
    lemma, pos = (
        codes.encode([sentence.columns.get(name, ("",) * len(sentence)) for sentence in sentences])[0]
        if name in columns
        else np.empty(0, dtype=np.uint64)
        for name in COLUMNS
    )
    category = np.empty(0, dtype=np.uint64)
    if lexicon is not None and len(sentences):
        category = _names_of(lexicon)[np.concatenate(lexicon.match(tokens))]
    return Words(first, *codes.encode(tokens), lemma, pos, category)


def _names_of(lexicon: SemanticCategories) -> Hashes:
    """Return the hashes of a lexicon's categories, and a 0 at the end for the index -1."""
    return np.array([*map(hash_text, lexicon.categories), 0], dtype=np.uint64)


def documents_of(sentences: Sequence[Sentence]) -> Integers:
    """Return the number of each sentence's document.

    Examples
    --------
    >>> documents_of([Sentence(["word"], doc=doc) for doc in ("a", "a", "b", "a")]).tolist()
    [1, 1, 2, 3]
    """
    borders = DocumentBorders()
    return np.cumsum([borders.begins(sentence) for sentence in sentences], dtype=np.int64)


def candidates_of(
    sentences: Sequence[Sentence],
    proposed: Proposed,
    types: Sequence[str],
    lexicon: SemanticCategories | None = None,
) -> Candidates:
    """Return the candidates of sentences as arrays."""
    rows = proposed.rows
    type_id = rows.block
    if proposed.types != types:
        number_of = {type: number for number, type in enumerate(types)}
        type_id = np.array([number_of[type] for type in proposed.types], dtype=np.int64)[type_id]
    prob = np.clip(rows.prob, LEAST_PROB, 1.0 - LEAST_PROB)
    joined = np.empty(0, dtype=np.uint64)
    if lexicon is not None and rows.n_rows:
        joined = _joined_categories(sentences, proposed, lexicon)
    log_odds, bits = np.log(prob / (1.0 - prob)), word_bits(rows.parts, rows.n_parts)
    return Candidates(proposed.first, type_id, log_odds, rows.n_parts, rows.parts, bits, joined)


def _joined_categories(
    sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]], lexicon: SemanticCategories
) -> Hashes:
    """Return the common category of each candidate's words, matched without the rest of the sentence; 0 if none."""
    joined = [
        [token for start, end in mention.parts for token in sentence.tokens[start:end]]
        for sentence, here in zip(sentences, candidates, strict=True)
        for mention in here
    ]
    names = _names_of(lexicon)
    return np.array(
        [names[found[0]] if np.all(found == found[0]) else 0 for found in lexicon.match(joined)], dtype=np.uint64
    )

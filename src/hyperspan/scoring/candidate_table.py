"""Candidates and their sentences in flat arrays: the form in which kernels read them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.features.columns import SemanticCategories, hash_text
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.mention_scorer import DocumentBorders

CONJUNCTIONS = frozenset({"and", "or", "nor", "but", "and/or", ",", "/", "&", ";", "+"})
"""What stands between things that share a part."""

COLUMNS = ("lemma", "pos")
"""The columns of words that candidates are also seen through, where sentences have them."""

MOST_WORDS = 250_000
"""How many distinct words are remembered from one batch to the next."""

LEAST_PROB = 1e-4
"""Log odds do not go beyond those of this probability, in either direction."""

Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


class Words(NamedTuple):
    """The words of sentences, one after another: those of sentence s are ``first[s]:first[s + 1]``.

    ``lemma``, ``pos`` and ``category`` have no element where they are not known; a word without a category has 0.
    """

    first: Integers
    lower: Hashes
    shape: Integers
    is_conjunction: NDArray[np.bool_]
    lemma: Hashes
    pos: Hashes
    category: Hashes


class Candidates(NamedTuple):
    """Candidates, a row each, in the order of their sentences: those of sentence s are ``first[s]:first[s + 1]``.

    ``document`` has the number of each sentence's document; ``joined_category`` has no element without a lexicon.
    """

    first: Integers
    document: Integers
    type_id: Integers
    log_odds: NDArray[np.float64]
    n_parts: Integers
    parts: Integers
    joined_category: Hashes

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.type_id)


class WordCodes:
    """Remembers the hash and the shape of words: a memory, on which nothing depends but the time taken."""

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
        """Return the hash of the lower case, the shape, and whether it is a conjunction, of every word."""
        with self._lock:
            if len(self._codes) > MOST_WORDS:
                self._forget()
            flat = list(chain.from_iterable(tokens))
            try:
                codes = np.array([self._codes[token] for token in flat], dtype=np.int64)
            except KeyError:
                self._learn(flat)
                codes = np.array([self._codes[token] for token in flat], dtype=np.int64)
            return self._hash[codes], self._shape[codes], self._is_conjunction[codes]

    def _learn(self, tokens: Sequence[str]) -> None:
        new = [token for token in dict.fromkeys(tokens) if token not in self._codes]
        self._codes |= {token: number for number, token in enumerate(new, start=len(self._codes))}
        hashes = np.array([hash_text(token.lower()) for token in new], dtype=np.uint64)
        self._hash = np.concatenate([self._hash, hashes])
        self._shape = np.concatenate([self._shape, np.array([shape_of(token) for token in new], dtype=np.int64)])
        is_conjunction = np.array([token.lower() in CONJUNCTIONS for token in new], dtype=np.bool_)
        self._is_conjunction = np.concatenate([self._is_conjunction, is_conjunction])


SHAPES = ("in small letters", "with a capital", "with a digit", "a sign")


def shape_of(token: str) -> int:
    """Return the shape of a word: in small letters, with a capital first, with a digit first, or a sign.

    Examples
    --------
    >>> [SHAPES[shape_of(token)] for token in ("pain", "Pain", "3rd", "/")]
    ['in small letters', 'with a capital', 'with a digit', 'a sign']
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
    """Return the words of sentences, as some of the `COLUMNS` and a lexicon see them too."""
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
    """Return the hashes of a lexicon's categories, and, at the end, where -1 finds it, 0."""
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
    candidates: Sequence[Sequence[Mention]],
    document: Integers,
    type_ids: Mapping[str, int],
    lexicon: SemanticCategories | None = None,
) -> Candidates:
    """Return the candidates of sentences whose documents have these numbers."""
    flat = list(chain.from_iterable(candidates))
    first = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum(list(map(len, candidates)), out=first[1:])
    parts = np.zeros((len(flat), max((len(mention.parts) for mention in flat), default=1), 2), dtype=np.int64)
    parts[:, 0] = np.array([mention.parts[0] for mention in flat], dtype=np.int64).reshape(-1, 2)
    n_parts = np.array([len(mention.parts) for mention in flat], dtype=np.int64)
    for row in np.flatnonzero(n_parts > 1).tolist():
        parts[row, : n_parts[row]] = flat[row].parts
    prob = np.clip(np.array([mention.prob or 0.0 for mention in flat], dtype=np.float64), LEAST_PROB, 1.0 - LEAST_PROB)
    joined = np.empty(0, dtype=np.uint64)
    if lexicon is not None and flat:
        joined = _joined_categories(sentences, candidates, lexicon)
    return Candidates(
        first,
        document,
        np.array([type_ids[mention.type] for mention in flat], dtype=np.int64),
        np.log(prob / (1.0 - prob)),
        n_parts,
        parts,
        joined,
    )


def _joined_categories(
    sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]], lexicon: SemanticCategories
) -> Hashes:
    """Return the category of each candidate's words, as if they stood alone, where they all have the same one, or 0."""
    joined = [
        [token for start, end in mention.parts for token in sentence.tokens[start:end]]
        for sentence, here in zip(sentences, candidates, strict=True)
        for mention in here
    ]
    names = _names_of(lexicon)
    return np.array(
        [names[found[0]] if np.all(found == found[0]) else 0 for found in lexicon.match(joined)], dtype=np.uint64
    )

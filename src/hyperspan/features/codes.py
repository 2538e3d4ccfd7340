"""Encode sentences as codes: positions in a table of the hashes of each word's values."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.features.columns import (
    ClusterPaths,
    Column,
    SemanticCategories,
    Source,
    hash_text,
    keys_of,
    match_all,
    needs_marking,
    path_prefixes,
    plain_word,
    sentence_key,
    shown,
    value_function,
)
from hyperspan.features.index import FeatureIndex, Hashes, Ids, Offsets
from hyperspan.features.templates import Template
from hyperspan.mentions import Sentence
from hyperspan.text.marks import normal_form

MOST_KEYS = 250_000
"""How many distinct words (and other values) are cached from one batch to the next."""

MOST_CHARACTERS = 16_000_000
"""How many characters all cached words and values may have together."""

NOT_LOOKED_UP = -2
"""Marks a feature id that is not cached yet."""


class Batch(NamedTuple):
    """Sentences as codes.

    ``code[s, t]`` is where the cells of token t in source s begin, or -1 if its sentence lacks the source. A cell holds
    the values of one column: ``value[first_value[c]:first_value[c + 1]]``. ``known`` has space for some feature ids for
    every cell, which `hyperspan.features.singles` fills.
    """

    first_token: Offsets
    code: npt.NDArray[np.int32]
    first_value: npt.NDArray[np.int32]
    value: Hashes
    known: Ids


class _Codes(dict[Hashable, int]):
    """The codes of one source; an unknown key gets a new one."""

    __slots__ = ("new",)

    def __init__(self, new: Callable[[Any], int]) -> None:
        super().__init__()
        self.new = new

    def __missing__(self, key: Hashable) -> int:
        code = self[key] = self.new(key)
        return code


class CodeTable:
    """Caches the values of words, as hashes, in all columns that the templates use.

    It is only a cache: when it gets too large it is cleared, and only the running time changes. Several threads may use
    it: the part of its arrays that a `Batch` can see never changes, except that missing ids are filled in, and every
    thread fills in the same ones.
    """

    def __init__(self, templates: Sequence[Template], clusters: ClusterPaths | None) -> None:
        columns: dict[Source, dict[str, Column]] = {}
        for template in templates:
            for part in template.parts:
                columns.setdefault(part.column.source, {})[part.column.name] = part.column
        self.sources = tuple(columns)
        self.columns = tuple(tuple(of_source.values()) for of_source in columns.values())
        n_singles = Counter(template.parts[0].column.source for template in templates if template.is_single)
        self.n_ids_a_cell = max((-(-n // len(columns[source])) for source, n in n_singles.items()), default=0)
        self._templates = templates
        self._clusters = clusters
        self._lock = threading.Lock()
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return CodeTable, (self._templates, self._clusters)

    @property
    def n_keys(self) -> int:
        """How many words and other values are cached."""
        return sum(map(len, self._codes))

    def _forget(self) -> None:
        self._hash_of: dict[str, int] = {}
        self._hashes_of_path: dict[str | None, list[int]] = {}
        self._new_counts: list[int] = []
        self._new_values: list[int] = []
        self._codes = [
            _Codes(self._maker(source, columns)) for source, columns in zip(self.sources, self.columns, strict=True)
        ]
        self._first_value = np.zeros(1024, np.int32)
        self._value = np.zeros(1024, np.uint64)
        self._forget_ids()
        self._n_cells = 0
        self._n_values = 0
        self._n_characters = 0

    def _forget_ids(self) -> None:
        self._looked_up_in: tuple[FeatureIndex, int] | None = None
        self._known = np.full(self.n_ids_a_cell * len(self._first_value), NOT_LOOKED_UP, np.int32)

    def _maker(self, source: Source, columns: Sequence[Column]) -> Callable[[Any], int]:
        if source.kind == "word":
            return self._word_maker(columns)

        def new(key: Any) -> int:
            code = self._n_cells + len(self._new_counts)
            for column in columns:
                values = column.values_of(key)
                self._new_counts.append(len(values))
                self._new_values.extend(map(self._hash, values))
            self._n_characters += len(key)
            return code

        return new

    def _word_maker(self, columns: Sequence[Column]) -> Callable[[str], int]:
        """Return a function with the results of `Column.values_of` for all columns of words at once: the hot spot."""
        functions = [None if column.needs else value_function(column.name) for column in columns]
        counts, values, hash_of = self._new_counts, self._new_values, self._hash_of

        def new(token: str) -> int:
            code = self._n_cells + len(counts)
            word = plain_word(token)
            must_mark = needs_marking(word)
            for function in functions:
                if function is None:
                    path = self._path_hashes(token)
                    counts.append(len(path))
                    values.extend(path)
                elif value := function(word):
                    if must_mark:
                        value = shown(value)
                    hash = hash_of.get(value)
                    counts.append(1)
                    values.append(self._hash(value) if hash is None else hash)
                else:
                    counts.append(0)
            self._n_characters += len(token)
            return code

        return new

    def _path_hashes(self, token: str) -> list[int]:
        path = None if self._clusters is None else self._clusters.path_of(normal_form(token))
        if path not in self._hashes_of_path:
            self._hashes_of_path[path] = [self._hash(prefix) for prefix in path_prefixes(path)]
        return self._hashes_of_path[path]

    def _hash(self, text: str) -> int:
        found = self._hash_of.get(text)
        if found is None:
            found = self._hash_of[text] = hash_text(text)
        return found

    def encode(
        self, sentences: Sequence[Sentence], lexicon: SemanticCategories | None, index: FeatureIndex | None = None
    ) -> Batch:
        """Encode sentences; the feature ids cached with the codes are those of the given index."""
        lengths = [len(sentence.tokens) for sentence in sentences]
        first_token = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=first_token[1:])
        code = np.empty((len(self.sources), first_token[-1]), np.int32)
        with self._lock:
            try:
                self._fill(code, sentences, lexicon, lengths)
            except BaseException:  # even Ctrl-C: codes and values may no longer agree
                self._forget()
                raise
            if index is not None and self._looked_up_in != (index, len(index)):
                self._forget_ids()
                self._looked_up_in = index, len(index)
            return Batch(first_token, code, self._first_value, self._value, self._known)

    def _fill(
        self,
        code: npt.NDArray[np.int32],
        sentences: Sequence[Sentence],
        lexicon: SemanticCategories | None,
        lengths: Sequence[int],
    ) -> None:
        """Fill in the codes of all tokens, and cache the values of new ones."""
        if self.n_keys > MOST_KEYS or self._n_characters > MOST_CHARACTERS:
            self._forget()
        for row, source, codes in zip(code, self.sources, self._codes, strict=True):
            if source.kind == "lexicon" and lexicon is not None:
                row[:] = _codes_of_categories(codes, lexicon, sentences)
            elif source.is_per_sentence:
                row[:] = np.repeat(_codes_of_sentences(source, codes, sentences), lengths)
            else:
                each = chain.from_iterable(_codes_of(source, codes, sentence, lexicon) for sentence in sentences)
                row[:] = np.fromiter(each, np.int32, len(row))
        self._settle()

    def _settle(self) -> None:
        """Append the values of new keys to the arrays."""
        if not self._new_counts:
            return
        ends = self._n_values + np.cumsum(self._new_counts)
        self._first_value = _room_for(self._first_value, self._n_cells + len(ends) + 1)
        self._value = _room_for(self._value, self._n_values + len(self._new_values))
        self._known = _room_for(self._known, self.n_ids_a_cell * len(self._first_value), NOT_LOOKED_UP)
        self._first_value[self._n_cells + 1 : self._n_cells + len(ends) + 1] = ends
        self._value[self._n_values : self._n_values + len(self._new_values)] = self._new_values
        self._n_cells += len(ends)
        self._n_values += len(self._new_values)
        self._new_counts.clear()
        self._new_values.clear()


def _codes_of(source: Source, codes: _Codes, sentence: Sentence, lexicon: SemanticCategories | None) -> Iterable[int]:
    keys = keys_of(source, sentence, lexicon)
    return repeat(-1, len(sentence.tokens)) if keys is None else map(codes.__getitem__, keys)


def _codes_of_sentences(source: Source, codes: _Codes, sentences: Sequence[Sentence]) -> npt.NDArray[np.int32]:
    keys = [sentence_key(source, sentence) for sentence in sentences]
    return np.array([-1 if key is None else codes[key] for key in keys], np.int32)


def _codes_of_categories(
    codes: _Codes, lexicon: SemanticCategories, sentences: Sequence[Sentence]
) -> npt.NDArray[np.int32]:
    # The last entry is for tokens without a category, whose id is -1.
    code_of = np.array([codes[category] for category in (*lexicon.categories, "")], np.int32)
    return code_of.take(np.concatenate([np.empty(0, np.int32), *match_all(lexicon, sentences)]), mode="wrap")


def _room_for(array: npt.NDArray[Any], size: int, fill: int = 0) -> npt.NDArray[Any]:
    if size <= len(array):
        return array
    larger = np.full(max(size, 2 * len(array)), fill, array.dtype)
    larger[: len(array)] = array
    return larger

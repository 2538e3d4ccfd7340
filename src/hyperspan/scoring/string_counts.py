"""Count how often strings were annotated in training, and how often they occurred at all. Strings are hashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.errors import ModelError
from hyperspan.features.index import FeatureIndex, find_one_kernel
from hyperspan.features.kernels import mix_kernel
from hyperspan.schema import check_array
from hyperspan.scoring.candidate_table import Candidates, Hashes, Integers, Words

GAP = np.uint64(0x9E3779B97F4A7C15)
"""Represents a gap among the words of a string."""

LONGEST = 12
"""The maximum number of words in a string whose occurrences are counted."""


@dataclass(frozen=True)
class StringCounts:
    """Counts of the strings of annotated mentions, in lower case, with a marker for each gap.

    Attributes
    ----------
    strings : FeatureIndex
        Every annotated string, by itself and together with each of its types.
    annotated : int32 array of shape (n_strings,)
        How often each was annotated.
    occurred : int32 array of shape (n_strings,)
        How often its words occurred consecutively in the training text; 0 for strings with a type.
    """

    strings: FeatureIndex
    annotated: NDArray[np.int32]
    occurred: NDArray[np.int32]

    @classmethod
    def of(cls, words: Words, gold: Candidates, document: Integers) -> tuple[StringCounts, OwnCounts]:
        """Count the gold mentions of training sentences; also return what each document adds to the counts.

        ``document`` is the number of each sentence's document.
        """
        queries, strings = Queries.of(words, gold), FeatureIndex()
        ids = strings.add(np.concatenate([queries.keys[: gold.n_rows], queries.typed[: gold.n_rows]]))
        sentence, found = _occurrences(words, strings)
        of_gold = np.tile(np.repeat(document, np.diff(gold.first)), 2)
        own = OwnCounts(PairCounts.of(ids, of_gold), PairCounts.of(found, document[sentence]), document)
        annotated, occurred = (np.bincount(each, minlength=len(strings)).astype(np.int32) for each in (ids, found))
        return cls(strings, annotated, occurred), own

    def counts(self, queries: Queries) -> Integers:
        """Return, for each string, how often it was annotated with the type, with any, and how often it occurred."""
        found = np.zeros((len(queries.keys), 3), dtype=np.int64)
        key, id = self.strings.slots
        counts_kernel(key, id, self.annotated, self.occurred, queries.keys, queries.typed, found)
        return found

    def counts_elsewhere(self, queries: Queries, own: OwnCounts, sentence: Integers) -> Integers:
        """Return the counts that each candidate would have if its own document had not been seen.

        ``sentence`` is the number of each candidate's training sentence.
        """
        found = self.counts(queries)
        plain, typed = self.strings.ids_of(queries.keys), self.strings.ids_of(queries.typed)
        document = own.document[sentence[queries.row]]
        found[:, 0] -= own.annotated.of_document(typed, document)
        found[:, 1] -= own.annotated.of_document(plain, document)
        found[:, 2] -= own.occurred.of_document(plain, document)
        # Occurrences are only counted of annotated strings, so those of others would tell what this document annotates.
        found[found[:, 1] == 0, 2] = 0
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        return {"strings": self.strings.hashes, "annotated": self.annotated, "occurred": self.occurred}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> StringCounts:
        """Restore counts from their state.

        Raises
        ------
        ModelError
            If the arrays are invalid.
        """
        strings = check_array(arrays, "strings", np.uint64, (None,))
        counts = [check_array(arrays, name, np.int32, (len(strings),)) for name in ("annotated", "occurred")]
        if any(bool(np.any(count < 0)) for count in counts):
            raise ModelError("its counts of strings are negative")
        return cls(FeatureIndex(strings), *counts)


@dataclass(frozen=True)
class PairCounts:
    """How often each string occurs in each document.

    ``pairs`` encodes string and document in one number, in increasing order, and ``count`` is how often each occurs.
    """

    pairs: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, strings: NDArray[np.int32], documents: Integers) -> PairCounts:
        """Count pairs of strings and documents."""
        return cls(*np.unique(strings.astype(np.int64) << 32 | documents, return_counts=True))

    def of_document(self, strings: NDArray[np.int32], documents: Integers) -> NDArray[np.int64]:
        """Return how often each string occurs in a document."""
        wanted = strings.astype(np.int64) << 32 | documents
        if not len(self.pairs):
            return np.zeros(len(wanted), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.pairs, wanted), len(self.pairs) - 1)
        return np.where(self.pairs[place] == wanted, self.count[place], 0)


class OwnCounts(NamedTuple):
    """What each document adds to the counts of strings, and the number of each training sentence's document."""

    annotated: PairCounts
    occurred: PairCounts
    document: Integers


class Queries(NamedTuple):
    """Strings to look up: that of each candidate, and for several parts also the joined string and each part.

    The first ``n_rows`` are those of the candidates; the others of candidate c begin at ``first[c]``.
    """

    first: Integers
    row: Integers
    keys: Hashes
    typed: Hashes

    @classmethod
    def of(cls, words: Words, candidates: Candidates) -> Queries:
        """Return the strings of candidates."""
        n_more = np.where(candidates.n_parts > 1, candidates.n_parts + 1, 0)
        first = candidates.n_rows + np.cumsum(n_more) - n_more
        n_queries = candidates.n_rows + int(n_more.sum())
        keys, typed = np.empty((2, n_queries), dtype=np.uint64)
        row = np.concatenate([np.arange(candidates.n_rows), np.repeat(np.arange(candidates.n_rows), n_more)])
        with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: products are meant to wrap around
            queries_kernel(words, candidates, first, keys, typed)
        return cls(first, row, keys, typed)


def _occurrences(words: Words, strings: FeatureIndex) -> tuple[Integers, NDArray[np.int32]]:
    """Return the sentence and the string of every consecutive occurrence of a string's words."""
    room = LONGEST * len(words.lower)
    sentence, found = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int32)
    with np.errstate(over="ignore"):  # as above
        n_found = occurrences_kernel(words.first, words.lower, *strings.slots, sentence, found)
    return sentence[:n_found], found[:n_found]


@kernel(counted=False)
def part_key_kernel(lower, start, end, so_far):
    """Mix the words of a part into the hash of a string."""
    for word in range(start, end):
        so_far = mix_kernel(so_far ^ lower[word])
    return so_far


@kernel(counted=False)
def string_key_kernel(lower, first_word, parts, n_parts, row, with_gaps):
    """Return the hash of a mention's string, with or without markers for its gaps; never 0."""
    so_far = np.uint64(0)
    for part in range(n_parts):
        if part and with_gaps:
            so_far = mix_kernel(so_far ^ GAP)
        so_far = part_key_kernel(lower, first_word + parts[row, part, 0], first_word + parts[row, part, 1], so_far)
    return max(so_far, np.uint64(1))


@kernel
def typed_key_kernel(key, type_id):
    """Return the hash of a string and a type; never 0."""
    return max(mix_kernel(key ^ np.uint64(type_id + 1)), np.uint64(1))


@kernel(counted=False)
def queries_kernel(words, candidates, first, keys, typed):
    """Fill in the hashes of all candidates' strings, and of the joined strings and parts of those with several."""
    for sentence in range(candidates.first.shape[0] - 1):
        begin = words.first[sentence]
        for row in range(candidates.first[sentence], candidates.first[sentence + 1]):
            parts, n_parts, type_id = candidates.parts, candidates.n_parts[row], candidates.type_id[row]
            keys[row] = string_key_kernel(words.lower, begin, parts, n_parts, row, True)
            typed[row] = typed_key_kernel(keys[row], type_id)
            if n_parts > 1:
                at = first[row]
                keys[at] = string_key_kernel(words.lower, begin, parts, n_parts, row, False)
                for part in range(n_parts):
                    start, end = begin + parts[row, part, 0], begin + parts[row, part, 1]
                    keys[at + 1 + part] = max(part_key_kernel(words.lower, start, end, np.uint64(0)), np.uint64(1))
                for query in range(at, at + 1 + n_parts):
                    typed[query] = typed_key_kernel(keys[query], type_id)


@kernel
def occurrences_kernel(first, lower, key, id, sentence, found):
    """Find every occurrence of a known string; return how many there are."""
    n_found = 0
    for number in range(first.shape[0] - 1):
        for start in range(first[number], first[number + 1]):
            so_far = np.uint64(0)
            for word in range(start, min(first[number + 1], start + LONGEST)):
                so_far = mix_kernel(so_far ^ lower[word])
                string = find_one_kernel(key, id, max(so_far, np.uint64(1)))
                if string >= 0:
                    sentence[n_found], found[n_found] = number, string
                    n_found += 1
    return n_found


@kernel
def counts_kernel(key, id, annotated, occurred, keys, typed, found):
    """Fill in how often strings were annotated with their type, with any, and how often they occurred."""
    for row in range(keys.shape[0]):
        string = find_one_kernel(key, id, keys[row])
        if string >= 0:
            found[row, 1], found[row, 2] = annotated[string], occurred[string]
            with_type = find_one_kernel(key, id, typed[row])
            if with_type >= 0:
                found[row, 0] = annotated[with_type]

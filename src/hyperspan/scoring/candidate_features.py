"""The features of whole candidate mentions: each is a hash with a value.

The hash starts from that of the template. Then the feature's values are mixed in one by one, and last the type, if the
feature depends on it. `hyperspan.scoring.candidate_reference` defines the same features with text.
`hyperspan.scoring.candidate_templates` lists the templates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import inlined, kernel
from hyperspan.features.columns import boundary, hash_text
from hyperspan.features.index import FeatureIndex
from hyperspan.features.kernels import mix_kernel
from hyperspan.scoring.candidate_table import Candidates, Hashes, Integers, Words
from hyperspan.scoring.candidate_templates import (
    FARTHEST,
    LONGEST,
    MOST_PARTS,
    N_COUNTS,
    ODDS_UNIT,
    ODDS_WITHIN,
    PLACE_OF,
    TEMPLATES,
    WIDEST,
    dense_hashes,
    with_kernel,
)
from hyperspan.scoring.rivals import RIVALS, rivals_kernel

_STRING, _WORD, _FIRST, _LAST, _SHAPES = map(TEMPLATES.index, ("string", "word", "first", "last", "shapes"))
_BEFORE, _AFTER, _AROUND, _ENTERS, _LEAVES = map(TEMPLATES.index, ("before", "after", "around", "enters", "leaves"))
_GAP, _GAP_WORD, _GAP_FIRST, _GAP_LAST = map(TEMPLATES.index, ("gap", "gap_word", "gap_first", "gap_last"))
_LEMMAS, _POS, _CATEGORY, _PART_CATEGORY = map(TEMPLATES.index, ("lemmas", "pos", "category", "part_category"))

_BEFORE_ALL, _AFTER_ALL = np.uint64(hash_text(boundary(-1))), np.uint64(hash_text(boundary(1)))
_MOST_WORDS = 12
_OF_A_ROW = 160
"""The capacity for the features of one candidate; at most `_MOST_WORDS` words and as many gap words have features."""

_AT_EVERY, _AT_ODDS, _AT_ODDS_BY_PARTS, _AT_ODDS_RANGE = (
    PLACE_OF[name] for name in ("every", "odds", "odds_by_parts", "odds_range")
)
_AT_LENGTH, _AT_GAP_LENGTH, _AT_GAP_CONJUNCTION = (
    PLACE_OF[name] for name in ("length", "gap_length", "gap_conjunction")
)
_AT_ANNOTATED, _AT_ANNOTATED_AS, _AT_ANNOTATED_OTHERWISE, _AT_ANNOTATED_SHARE = (
    PLACE_OF[name] for name in ("annotated", "annotated_as", "annotated_otherwise", "annotated_share")
)
_AT_JOINED, _AT_PART = PLACE_OF["joined"], PLACE_OF["part"]
_AT_NO_RIVAL, _AT_RIVAL, _AT_RIVAL_ODDS = (PLACE_OF[name] for name in ("no_rival", "rival", "rival_odds"))
_AT_ELSEWHERE, _AT_ELSEWHERE_ODDS = PLACE_OF["elsewhere"], PLACE_OF["elsewhere_odds"]


class Table(NamedTuple):
    """Everything that the features of candidates depend on.

    ``counts`` are those of `Queries`, where ``first_query`` is the first query of each candidate's parts.
    ``elsewhere`` is the highest log odds of the same string and type in other sentences of the document, and
    ``n_elsewhere`` the number of such candidates.
    """

    words: Words
    candidates: Candidates
    counts: Integers
    first_query: Integers
    elsewhere: NDArray[np.float64]
    n_elsewhere: Integers
    template: Hashes
    n_types: int


def features_of(table: Table) -> tuple[Integers, Hashes, NDArray[np.float64]]:
    """Return the hashes and values of all features; those of candidate c are ``first[c]:first[c + 1]``."""
    n_rows = table.candidates.n_rows
    first = np.zeros(n_rows + 1, dtype=np.int64)
    hashes, values = np.empty(n_rows * _OF_A_ROW, dtype=np.uint64), np.empty(n_rows * _OF_A_ROW)
    with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: products are meant to wrap around
        features_kernel(table, dense_hashes(table.n_types), Row.room(), first, hashes, values)
    return first, hashes[: first[-1]].copy(), values[: first[-1]].copy()


class Weights(NamedTuple):
    """The weights of features: for `DENSE` by type, with both hashes added up; for all others in slots by hash."""

    dense: NDArray[np.float64]
    key: Hashes
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, features: FeatureIndex, weights: NDArray[np.float64], n_types: int) -> Weights:
        """Arrange weights that are in the order of an index."""
        hashes = dense_hashes(n_types)
        with_none = np.append(weights, 0.0)
        dense = with_none[features.ids_of(hashes.ravel())].reshape(hashes.shape).sum(axis=2)
        key, id = features.slots
        return cls(dense, key, with_none[id])


def log_odds_of(table: Table, weights: Weights) -> NDArray[np.float64]:
    """Return each candidate's sum of weights times feature values."""
    sums = np.empty(table.candidates.n_rows)
    with np.errstate(over="ignore"):  # as above
        log_odds_kernel(table, weights, Row.room(), sums)
    return sums


class Row(NamedTuple):
    """A workspace for the features of one candidate: hashes and indices into `DENSE`, with values and counts."""

    hashes: Hashes
    values: NDArray[np.float64]
    places: Integers
    dense_values: NDArray[np.float64]
    n: Integers
    best: NDArray[np.float64]

    @classmethod
    def room(cls) -> Row:
        """Allocate a workspace, and an array for the best log odds of rivals."""
        hashes, places = np.empty(_OF_A_ROW, dtype=np.uint64), np.empty(_OF_A_ROW, dtype=np.int64)
        best, n = np.empty(len(RIVALS)), np.zeros(2, dtype=np.int64)
        return cls(hashes, np.empty(_OF_A_ROW), places, np.empty(_OF_A_ROW), n, best)


@inlined
def put_kernel(row, feature, type_id):
    """Add a hashed feature for one type."""
    row.hashes[row.n[0]], row.values[row.n[0]] = max(with_kernel(feature, type_id + 1), np.uint64(1)), 1.0
    row.n[0] += 1


@inlined
def put_both_kernel(row, feature, type_id, n_types):
    """Add a hashed feature for one type and, if there are several types, also for all."""
    if n_types > 1:
        row.hashes[row.n[0]], row.values[row.n[0]] = max(feature, np.uint64(1)), 1.0
        row.n[0] += 1
    put_kernel(row, feature, type_id)


@inlined
def put_dense_kernel(row, place, value):
    """Add a feature from `DENSE`."""
    row.places[row.n[1]], row.dense_values[row.n[1]] = place, value
    row.n[1] += 1


@kernel
def range_kernel(count):
    """Return the range of a count: none, one, a few, …"""
    if count <= 1:
        return max(count, 0)
    if count <= 3:
        return 2
    if count <= 7:
        return 3
    return 4 if count <= 20 else 5


@inlined
def counted_kernel(counts, query):
    """Return one number for two ranges: how often a string was annotated with the type, and how often with none."""
    not_at_all = max(counts[query, 2] - counts[query, 1], 0)
    return range_kernel(counts[query, 0]) * N_COUNTS + range_kernel(not_at_all)


@inlined
def text_features_kernel(table, sentence, row, into):
    """Add the features of a candidate's words and of the words beside it."""
    words, candidates, template, n_types = table.words, table.candidates, table.template, table.n_types
    begin, end = words.first[sentence], words.first[sentence + 1]
    type_id, n_parts, parts = candidates.type_id[row], candidates.n_parts[row], candidates.parts
    first, last = begin + parts[row, 0, 0], begin + parts[row, n_parts - 1, 1] - 1
    before = words.lower[first - 1] if first > begin else _BEFORE_ALL
    after = words.lower[last + 1] if last + 1 < end else _AFTER_ALL
    string, shapes, lemmas, pos = template[_STRING], template[_SHAPES], template[_LEMMAS], template[_POS]
    n_words = 0
    for part in range(n_parts):
        if part:
            string, shapes = with_kernel(string, 9), with_kernel(shapes, 9)
            lemmas, pos = with_kernel(lemmas, 9), with_kernel(pos, 9)
        for word in range(begin + parts[row, part, 0], begin + parts[row, part, 1]):
            n_words += 1
            string = mix_kernel(string ^ words.lower[word])
            if words.lemma.shape[0]:
                lemmas = mix_kernel(lemmas ^ words.lemma[word])
            if n_words <= LONGEST:
                shapes = with_kernel(shapes, words.shape[word])
                if words.pos.shape[0]:
                    pos = mix_kernel(pos ^ words.pos[word])
            if n_words <= _MOST_WORDS:
                feature = mix_kernel(template[_WORD] ^ words.lower[word])
                put_kernel(into, feature, type_id)
    for feature in (
        string,
        mix_kernel(template[_FIRST] ^ words.lower[first]),
        mix_kernel(template[_LAST] ^ words.lower[last]),
        mix_kernel(template[_BEFORE] ^ before),
        mix_kernel(template[_AFTER] ^ after),
        mix_kernel(mix_kernel(template[_AROUND] ^ before) ^ after),
        mix_kernel(mix_kernel(template[_ENTERS] ^ before) ^ words.lower[first]),
        mix_kernel(mix_kernel(template[_LEAVES] ^ words.lower[last]) ^ after),
        shapes,
    ):
        put_kernel(into, feature, type_id)
    put_dense_kernel(into, _AT_LENGTH + (min(n_parts, MOST_PARTS) - 1) * LONGEST + min(n_words, LONGEST) - 1, 1.0)
    if words.lemma.shape[0]:
        put_kernel(into, lemmas, type_id)
    if words.pos.shape[0]:
        put_both_kernel(into, pos, type_id, n_types)


@inlined
def gap_features_kernel(table, sentence, row, into):
    """Add the features of a candidate's gaps."""
    words, candidates, template, n_types = table.words, table.candidates, table.template, table.n_types
    begin, type_id, parts = words.first[sentence], candidates.type_id[row], candidates.parts
    n_words, has_conjunction = 0, False
    for part in range(1, min(candidates.n_parts[row], MOST_PARTS)):
        start, end = begin + parts[row, part - 1, 1], begin + parts[row, part, 0]
        gap = template[_GAP]
        for word in range(start, end):
            n_words += 1
            gap = mix_kernel(gap ^ words.lower[word])
            has_conjunction |= words.is_conjunction[word]
            if n_words <= _MOST_WORDS:
                feature = mix_kernel(template[_GAP_WORD] ^ words.lower[word])
                put_both_kernel(into, feature, type_id, n_types)
        for feature in (
            gap,
            mix_kernel(template[_GAP_FIRST] ^ words.lower[start]),
            mix_kernel(template[_GAP_LAST] ^ words.lower[end - 1]),
        ):
            put_both_kernel(into, feature, type_id, n_types)
    put_dense_kernel(into, _AT_GAP_LENGTH + min(n_words, WIDEST), 1.0)
    put_dense_kernel(into, _AT_GAP_CONJUNCTION + (1 if has_conjunction else 0), 1.0)


@inlined
def count_features_kernel(table, row, into):
    """Add the features of how often the strings of a candidate and its parts were annotated in training."""
    counts, n_parts, first = table.counts, table.candidates.n_parts[row], table.first_query[row]
    as_such, at_all = counts[row, 0], counts[row, 1]
    occurred = max(counts[row, 2], at_all)
    put_dense_kernel(into, _AT_ANNOTATED + counted_kernel(counts, row), 1.0)
    put_dense_kernel(into, _AT_ANNOTATED_AS + range_kernel(as_such), 1.0)
    put_dense_kernel(into, _AT_ANNOTATED_OTHERWISE + range_kernel(at_all - as_such), 1.0)
    if occurred:
        put_dense_kernel(into, _AT_ANNOTATED_SHARE, np.log((as_such + 0.5) / (occurred - as_such + 0.5)) / ODDS_UNIT)
    if n_parts > 1:
        put_dense_kernel(into, _AT_JOINED + counted_kernel(counts, first), 1.0)
        for part in range(min(n_parts, MOST_PARTS)):
            put_dense_kernel(into, _AT_PART + counted_kernel(counts, first + 1 + part), 1.0)


@inlined
def category_features_kernel(table, sentence, row, into):
    """Add the features of the lexicon: the categories of a candidate's words together, and of each part."""
    words, candidates, template, n_types = table.words, table.candidates, table.template, table.n_types
    begin, type_id, parts = words.first[sentence], candidates.type_id[row], candidates.parts
    feature = mix_kernel(template[_CATEGORY] ^ candidates.joined_category[row])
    put_both_kernel(into, feature, type_id, n_types)
    for part in range(min(candidates.n_parts[row], MOST_PARTS)):
        category = words.category[begin + parts[row, part, 0]]
        for word in range(begin + parts[row, part, 0], begin + parts[row, part, 1]):
            if words.category[word] != category:
                category = np.uint64(0)
        feature = mix_kernel(template[_PART_CATEGORY] ^ category)
        put_both_kernel(into, feature, type_id, n_types)


@inlined
def context_features_kernel(table, sentence, row, into):
    """Add the features of the first look: the log odds of a candidate, its rivals, and the same string elsewhere."""
    candidates, best = table.candidates, into.best
    odds, n_parts = candidates.log_odds[row], min(candidates.n_parts[row], MOST_PARTS)
    put_dense_kernel(into, _AT_EVERY, 1.0)
    put_dense_kernel(into, _AT_ODDS, odds / ODDS_UNIT)
    put_dense_kernel(into, _AT_ODDS_BY_PARTS + n_parts - 1, odds / ODDS_UNIT)
    put_dense_kernel(into, _AT_ODDS_RANGE + (round(odds) + ODDS_WITHIN) * MOST_PARTS + n_parts - 1, 1.0)
    rivals_kernel(candidates, sentence, row, best)
    for kind in range(best.shape[0]):
        if best[kind] == -np.inf:
            put_dense_kernel(into, _AT_NO_RIVAL + kind, 1.0)
            continue
        above = max(-FARTHEST, min(FARTHEST, odds - best[kind]))
        compared = kind * (2 * FARTHEST + 1) + round(above) + FARTHEST
        put_dense_kernel(into, _AT_RIVAL + compared * MOST_PARTS + n_parts - 1, 1.0)
        put_dense_kernel(into, _AT_RIVAL_ODDS + kind, above / ODDS_UNIT)
    put_dense_kernel(into, _AT_ELSEWHERE + range_kernel(table.n_elsewhere[row]), 1.0)
    if table.n_elsewhere[row]:
        put_dense_kernel(into, _AT_ELSEWHERE_ODDS, table.elsewhere[row] / ODDS_UNIT)


@inlined
def row_kernel(table, sentence, row, into):
    """Collect the features of one candidate."""
    into.n[:] = 0
    context_features_kernel(table, sentence, row, into)
    text_features_kernel(table, sentence, row, into)
    count_features_kernel(table, row, into)
    if table.candidates.n_parts[row] > 1:
        gap_features_kernel(table, sentence, row, into)
    if table.candidates.joined_category.shape[0]:
        category_features_kernel(table, sentence, row, into)


@kernel(counted=False)
def features_kernel(table, dense, into, first, hashes, values):
    """Write the features of all candidates consecutively, and fill ``first`` with where each candidate's begin."""
    for sentence in range(table.candidates.first.shape[0] - 1):
        for row in range(table.candidates.first[sentence], table.candidates.first[sentence + 1]):
            row_kernel(table, sentence, row, into)
            at, type_id = first[row], table.candidates.type_id[row]
            for place in range(into.n[1]):
                for of_type in range(2):
                    feature = dense[type_id, into.places[place], of_type]
                    if feature:
                        hashes[at], values[at] = feature, into.dense_values[place]
                        at += 1
            for place in range(into.n[0]):
                hashes[at], values[at] = into.hashes[place], into.values[place]
                at += 1
            first[row + 1] = at


@kernel(counted=False)
def log_odds_kernel(table, weights, into, sums):
    """Fill ``sums`` with each candidate's sum of weights times feature values."""
    key, weight, mask = weights.key, weights.weight, np.uint64(weights.key.shape[0] - 1)
    for sentence in range(table.candidates.first.shape[0] - 1):
        for row in range(table.candidates.first[sentence], table.candidates.first[sentence + 1]):
            row_kernel(table, sentence, row, into)
            total, type_id = 0.0, table.candidates.type_id[row]
            for place in range(into.n[1]):
                total += weights.dense[type_id, into.places[place]] * into.dense_values[place]
            for place in range(into.n[0]):
                slot = into.hashes[place] & mask
                while key[slot] != into.hashes[place] and key[slot] != 0:
                    slot = (slot + np.uint64(1)) & mask
                if key[slot]:
                    total += weight[slot] * into.values[place]
            sums[row] = total

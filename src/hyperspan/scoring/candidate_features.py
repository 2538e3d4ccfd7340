"""The features of whole candidate mentions: hashes with a value each.

A feature's hash begins as that of its template; its values are mixed in one after another, and the type where it says
something of the type. `hyperspan.scoring.candidate_reference` says the same thing with texts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.features.columns import boundary, hash_text
from hyperspan.features.index import find_one_kernel
from hyperspan.features.kernels import mix_kernel
from hyperspan.scoring.candidate_table import Candidates, Hashes, Integers, Words

TEMPLATES = (
    "every",
    "odds",
    "odds_by_parts",
    "odds_range",
    "string",
    "word",
    "first",
    "last",
    "before",
    "after",
    "around",
    "enters",
    "leaves",
    "shapes",
    "length",
    "annotated",
    "annotated_as",
    "annotated_otherwise",
    "annotated_share",
    "gap_length",
    "gap_word",
    "gap_first",
    "gap_last",
    "gap",
    "gap_conjunction",
    "joined",
    "part",
    "rival",
    "rival_odds",
    "elsewhere",
    "elsewhere_odds",
    "lemmas",
    "pos",
    "category",
    "part_category",
)
"""By number; what each says is in `candidate_reference`."""

(
    _EVERY,
    _ODDS,
    _ODDS_BY_PARTS,
    _ODDS_RANGE,
    _STRING,
    _WORD,
    _FIRST,
    _LAST,
    _BEFORE,
    _AFTER,
    _AROUND,
    _ENTERS,
    _LEAVES,
    _SHAPES,
    _LENGTH,
    _ANNOTATED,
    _ANNOTATED_AS,
    _ANNOTATED_OTHERWISE,
    _ANNOTATED_SHARE,
    _GAP_LENGTH,
    _GAP_WORD,
    _GAP_FIRST,
    _GAP_LAST,
    _GAP,
    _GAP_CONJUNCTION,
    _JOINED,
    _PART,
    _RIVAL,
    _RIVAL_ODDS,
    _ELSEWHERE,
    _ELSEWHERE_ODDS,
    _LEMMAS,
    _POS,
    _CATEGORY,
    _PART_CATEGORY,
) = range(len(TEMPLATES))

RIVALS = (
    "shares a word",
    "lies inside it",
    "covers it",
    "shares a part",
    "is of another type and shares a word",
    "is of another type and has the same words",
)
"""Who competes with a candidate, by number."""

ODDS_UNIT = 2.0
"""So many log odds count as one: what the penalty on weights sees."""

_BEFORE_ALL, _AFTER_ALL = np.uint64(hash_text(boundary(-1))), np.uint64(hash_text(boundary(1)))
_MOST_PARTS, _LONGEST, _WIDEST, _FARTHEST = 3, 8, 10, 6
_MOST_WORDS = 12
_OF_A_ROW = 160
"""Room for the features of one candidate, whose words and gap words are looked at up to `_MOST_WORDS` each."""

_inlined = numba.njit(nogil=True, cache=True, inline="always")


class Table(NamedTuple):
    """All that the features of candidates are made of.

    ``counts`` are those of `Queries`, whose ``first_query`` says where those of parts begin; ``elsewhere`` and
    ``n_elsewhere`` are the best log odds of the same string and type in other sentences of the document, and how many
    such candidates there are.
    """

    words: Words
    candidates: Candidates
    counts: Integers
    first_query: Integers
    elsewhere: NDArray[np.float64]
    n_elsewhere: Integers
    template: Hashes
    n_types: int


@lru_cache(maxsize=1)
def template_hashes() -> Hashes:
    """Return the hash with which the features of each template begin."""
    return np.array([hash_text(f"mention {name}") for name in TEMPLATES], dtype=np.uint64)


def features_of(table: Table) -> tuple[Integers, Hashes, NDArray[np.float64]]:
    """Return the features of all candidates: those of candidate c are ``first[c]:first[c + 1]``, hash and value."""
    n_rows = table.candidates.n_rows
    first = np.zeros(n_rows + 1, dtype=np.int64)
    hashes, values = np.empty(n_rows * _OF_A_ROW, dtype=np.uint64), np.empty(n_rows * _OF_A_ROW)
    with np.errstate(over="ignore"):  # for runs without the compiler: products are meant to wrap around
        features_kernel(table, first, hashes, values)
    return first, hashes[: first[-1]].copy(), values[: first[-1]].copy()


def log_odds_of(
    table: Table, slots: tuple[Hashes, NDArray[np.int32]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum of the weights of each candidate's features times their values."""
    sums = np.empty(table.candidates.n_rows)
    with np.errstate(over="ignore"):  # as above
        log_odds_kernel(table, *slots, weights, sums)
    return sums


@_inlined
def put_kernel(hashes, values, n, feature, value):
    hashes[n], values[n] = max(feature, np.uint64(1)), value
    return n + 1


@numba.njit(nogil=True, cache=True)
def put_both_kernel(hashes, values, n, feature, type_id, n_types, value):
    """Put a feature of all types, if there are several, and the same of one type."""
    if n_types > 1:
        n = put_kernel(hashes, values, n, feature, value)
    return put_kernel(hashes, values, n, mix_kernel(feature ^ np.uint64(type_id + 1)), value)


@numba.njit(nogil=True, cache=True)
def with_kernel(feature, number):
    """Mix a number into the hash of a feature."""
    return mix_kernel(feature ^ np.uint64(number))


@numba.njit(nogil=True, cache=True)
def range_kernel(count):
    """Return the range that a count lies in: none, one, a few, …"""
    if count <= 1:
        return max(count, 0)
    if count <= 3:
        return 2
    if count <= 7:
        return 3
    return 4 if count <= 20 else 5


@numba.njit(nogil=True, cache=True)
def counted_kernel(feature, counts, query):
    """Mix into a feature in which ranges lie how often a string was annotated as such, and how often not at all."""
    feature = with_kernel(feature, range_kernel(counts[query, 0]))
    return with_kernel(feature, range_kernel(max(counts[query, 2] - counts[query, 1], 0)))


@numba.njit(nogil=True, cache=True)
def text_features_kernel(table, sentence, row, hashes, values, n):
    """Put the features of a candidate's own words, and of those beside it."""
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
            if n_words <= _LONGEST:
                shapes = with_kernel(shapes, words.shape[word])
                if words.pos.shape[0]:
                    pos = mix_kernel(pos ^ words.pos[word])
            if n_words <= _MOST_WORDS:
                feature = mix_kernel(template[_WORD] ^ words.lower[word])
                n = put_both_kernel(hashes, values, n, feature, type_id, 1, 1.0)
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
        n = put_both_kernel(hashes, values, n, feature, type_id, 1, 1.0)
    length = with_kernel(with_kernel(template[_LENGTH], min(n_parts, _MOST_PARTS)), min(n_words, _LONGEST))
    n = put_both_kernel(hashes, values, n, length, type_id, n_types, 1.0)
    if words.lemma.shape[0]:
        n = put_both_kernel(hashes, values, n, lemmas, type_id, 1, 1.0)
    if words.pos.shape[0]:
        n = put_both_kernel(hashes, values, n, pos, type_id, n_types, 1.0)
    return n


@numba.njit(nogil=True, cache=True)
def gap_features_kernel(table, sentence, row, hashes, values, n):
    """Put the features of a candidate's gaps."""
    words, candidates, template, n_types = table.words, table.candidates, table.template, table.n_types
    begin, type_id, parts = words.first[sentence], candidates.type_id[row], candidates.parts
    n_words, has_conjunction = 0, False
    for part in range(1, min(candidates.n_parts[row], _MOST_PARTS)):
        start, end = begin + parts[row, part - 1, 1], begin + parts[row, part, 0]
        gap = template[_GAP]
        for word in range(start, end):
            n_words += 1
            gap = mix_kernel(gap ^ words.lower[word])
            has_conjunction |= words.is_conjunction[word]
            if n_words <= _MOST_WORDS:
                feature = mix_kernel(template[_GAP_WORD] ^ words.lower[word])
                n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
        for feature in (
            gap,
            mix_kernel(template[_GAP_FIRST] ^ words.lower[start]),
            mix_kernel(template[_GAP_LAST] ^ words.lower[end - 1]),
        ):
            n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    for feature in (
        with_kernel(template[_GAP_LENGTH], min(n_words, _WIDEST)),
        with_kernel(template[_GAP_CONJUNCTION], 1 if has_conjunction else 0),
    ):
        n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    return n


@numba.njit(nogil=True, cache=True)
def count_features_kernel(table, row, hashes, values, n):
    """Put the features of how often a candidate's string, and those of its parts, were annotated in training."""
    candidates, template, counts, n_types = table.candidates, table.template, table.counts, table.n_types
    type_id, n_parts, first = candidates.type_id[row], candidates.n_parts[row], table.first_query[row]
    as_such, at_all = counts[row, 0], counts[row, 1]
    occurred = max(counts[row, 2], at_all)
    for feature in (
        counted_kernel(template[_ANNOTATED], counts, row),
        with_kernel(template[_ANNOTATED_AS], range_kernel(as_such)),
        with_kernel(template[_ANNOTATED_OTHERWISE], range_kernel(at_all - as_such)),
    ):
        n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    if occurred:
        share = np.log((as_such + 0.5) / (occurred - as_such + 0.5)) / ODDS_UNIT
        n = put_both_kernel(hashes, values, n, template[_ANNOTATED_SHARE], type_id, n_types, share)
    if n_parts > 1:
        joined = counted_kernel(template[_JOINED], counts, first)
        n = put_both_kernel(hashes, values, n, joined, type_id, n_types, 1.0)
        for part in range(min(n_parts, _MOST_PARTS)):
            feature = counted_kernel(template[_PART], counts, first + 1 + part)
            n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    return n


@numba.njit(nogil=True, cache=True)
def category_features_kernel(table, sentence, row, hashes, values, n):
    """Put the features of what the lexicon says of a candidate's words together, and of each part."""
    words, candidates, template, n_types = table.words, table.candidates, table.template, table.n_types
    begin, type_id, parts = words.first[sentence], candidates.type_id[row], candidates.parts
    feature = mix_kernel(template[_CATEGORY] ^ candidates.joined_category[row])
    n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    for part in range(min(candidates.n_parts[row], _MOST_PARTS)):
        category = words.category[begin + parts[row, part, 0]]
        for word in range(begin + parts[row, part, 0], begin + parts[row, part, 1]):
            if words.category[word] != category:
                category = np.uint64(0)
        feature = mix_kernel(template[_PART_CATEGORY] ^ category)
        n = put_both_kernel(hashes, values, n, feature, type_id, n_types, 1.0)
    return n


@numba.njit(nogil=True, cache=True)
def shared_words_kernel(parts, n_parts, one, other):
    """Return how many words two candidates share, and whether they share a part."""
    n_shared, shares_part = 0, False
    for part in range(n_parts[one]):
        for of_other in range(n_parts[other]):
            start = max(parts[one, part, 0], parts[other, of_other, 0])
            end = min(parts[one, part, 1], parts[other, of_other, 1])
            n_shared += max(end - start, 0)
            shares_part |= parts[one, part, 0] == parts[other, of_other, 0] and (
                parts[one, part, 1] == parts[other, of_other, 1]
            )
    return n_shared, shares_part


@numba.njit(nogil=True, cache=True)
def n_words_kernel(parts, n_parts, row):
    """Return how many words a candidate has."""
    n_words = 0
    for part in range(n_parts[row]):
        n_words += parts[row, part, 1] - parts[row, part, 0]
    return n_words


@numba.njit(nogil=True, cache=True)
def rivals_kernel(candidates, sentence, row, best):
    """Fill ``best`` with the highest log odds of each kind of rival, -inf where there is none."""
    parts, n_parts = candidates.parts, candidates.n_parts
    best[:] = -np.inf
    end, n_words = parts[row, n_parts[row] - 1, 1], n_words_kernel(parts, n_parts, row)
    for other in range(candidates.first[sentence], candidates.first[sentence + 1]):
        if parts[other, 0, 0] >= end:
            break  # they are in order
        if other == row or parts[other, n_parts[other] - 1, 1] <= parts[row, 0, 0]:
            continue
        n_shared, shares_part = shared_words_kernel(parts, n_parts, row, other)
        if n_shared == 0:
            continue
        odds, n_of_other = candidates.log_odds[other], n_words_kernel(parts, n_parts, other)
        if candidates.type_id[other] != candidates.type_id[row]:
            best[4] = max(best[4], odds)
            if n_shared == n_words == n_of_other:
                best[5] = max(best[5], odds)
            continue
        best[0] = max(best[0], odds)
        if n_shared == n_of_other:
            best[1] = max(best[1], odds)
        elif n_shared == n_words:
            best[2] = max(best[2], odds)
        if shares_part:
            best[3] = max(best[3], odds)


@numba.njit(nogil=True, cache=True)
def context_features_kernel(table, sentence, row, best, hashes, values, n):
    """Put the features of the first look: a candidate's log odds, those of its rivals, and of the same elsewhere."""
    candidates, template, n_types = table.candidates, table.template, table.n_types
    type_id, odds = candidates.type_id[row], candidates.log_odds[row]
    n_parts = min(candidates.n_parts[row], _MOST_PARTS)
    n = put_both_kernel(hashes, values, n, template[_EVERY], type_id, n_types, 1.0)
    n = put_both_kernel(hashes, values, n, template[_ODDS], type_id, n_types, odds / ODDS_UNIT)
    by_parts = with_kernel(template[_ODDS_BY_PARTS], n_parts)
    n = put_both_kernel(hashes, values, n, by_parts, type_id, n_types, odds / ODDS_UNIT)
    in_range = with_kernel(with_kernel(template[_ODDS_RANGE], round(odds) + 100), n_parts)
    n = put_kernel(hashes, values, n, in_range, 1.0)
    rivals_kernel(candidates, sentence, row, best)
    for kind in range(best.shape[0]):
        rival = with_kernel(template[_RIVAL], kind)
        if best[kind] == -np.inf:
            n = put_both_kernel(hashes, values, n, rival, type_id, n_types, 1.0)
            continue
        above = max(-_FARTHEST, min(_FARTHEST, odds - best[kind]))
        compared = with_kernel(with_kernel(rival, round(above) + 100), n_parts)
        n = put_both_kernel(hashes, values, n, compared, type_id, n_types, 1.0)
        feature = with_kernel(template[_RIVAL_ODDS], kind)
        n = put_both_kernel(hashes, values, n, feature, type_id, n_types, above / ODDS_UNIT)
    elsewhere = with_kernel(template[_ELSEWHERE], range_kernel(table.n_elsewhere[row]))
    n = put_both_kernel(hashes, values, n, elsewhere, type_id, n_types, 1.0)
    if table.n_elsewhere[row]:
        value = table.elsewhere[row] / ODDS_UNIT
        n = put_both_kernel(hashes, values, n, template[_ELSEWHERE_ODDS], type_id, n_types, value)
    return n


@numba.njit(nogil=True, cache=True)
def row_kernel(table, sentence, row, best, hashes, values):
    """Write the features of one candidate; return how many there are."""
    n = context_features_kernel(table, sentence, row, best, hashes, values, 0)
    n = text_features_kernel(table, sentence, row, hashes, values, n)
    n = count_features_kernel(table, row, hashes, values, n)
    if table.candidates.n_parts[row] > 1:
        n = gap_features_kernel(table, sentence, row, hashes, values, n)
    if table.candidates.joined_category.shape[0]:
        n = category_features_kernel(table, sentence, row, hashes, values, n)
    return n


@numba.njit(nogil=True, cache=True)
def features_kernel(table, first, hashes, values):
    """Write the features of all candidates, one after another; ``first`` gets where those of each begin."""
    best = np.empty(len(RIVALS))
    for sentence in range(table.candidates.first.shape[0] - 1):
        for row in range(table.candidates.first[sentence], table.candidates.first[sentence + 1]):
            at = first[row]
            first[row + 1] = at + row_kernel(table, sentence, row, best, hashes[at:], values[at:])


@numba.njit(nogil=True, cache=True)
def log_odds_kernel(table, key, id, weights, sums):
    """Fill ``sums`` with the sum of the weights of each candidate's features times their values."""
    best, hashes, values = np.empty(len(RIVALS)), np.empty(_OF_A_ROW, dtype=np.uint64), np.empty(_OF_A_ROW)
    for sentence in range(table.candidates.first.shape[0] - 1):
        for row in range(table.candidates.first[sentence], table.candidates.first[sentence + 1]):
            n_features = row_kernel(table, sentence, row, best, hashes, values)
            total = 0.0
            for place in range(n_features):
                feature = find_one_kernel(key, id, hashes[place])
                if feature >= 0:
                    total += weights[feature] * values[place]
            sums[row] = total


@numba.njit(nogil=True, cache=True)
def elsewhere_kernel(order, typed, document, sentence, log_odds, elsewhere, n_elsewhere):
    """Fill in the best log odds of the same string and type in other sentences of the document, and how many there are.

    In ``order`` those of one document and string stand together, and of these those of one sentence.
    """
    begin, n_rows = 0, order.shape[0]
    while begin < n_rows:
        first = order[begin]
        end, best, second, best_sentence = begin, -np.inf, -np.inf, -1
        while end < n_rows and document[order[end]] == document[first] and typed[order[end]] == typed[first]:
            row = order[end]
            if log_odds[row] > best:
                if sentence[row] != best_sentence:
                    second = best
                best, best_sentence = log_odds[row], sentence[row]
            elif sentence[row] != best_sentence:
                second = max(second, log_odds[row])
            end += 1
        own = begin
        while own < end:
            after = own
            while after < end and sentence[order[after]] == sentence[order[own]]:
                after += 1
            for place in range(own, after):
                row = order[place]
                n_elsewhere[row] = end - begin - (after - own)
                elsewhere[row] = second if sentence[row] == best_sentence else best
            own = after
        begin = end

"""Best tags, probable mentions and their probabilities in many sentences at once, for the linear chain.

What `TagSequences` says of one sentence, for as many as one likes. The probability of a mention is that the ``enough``
reading of the tags has it. That of plain runs is exact; what comes from bodies and heads is counted in samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.base import NO_OUTCOME, check_at_least_one
from hyperspan.inference.batch import check_first_word, check_scores, check_transitions
from hyperspan.inference.best import best_tags_of
from hyperspan.inference.outcomes import MOST_MENTIONS, most_probable, with_probs
from hyperspan.inference.paths import sample_labels
from hyperspan.inference.tag_readings import MOST_PARTS, WIDTH, parts_of, read_tags
from hyperspan.inference.tag_samples import (
    SamplingRoom,
    clear_kernel,
    count_linked_kernel,
    count_mentions,
    pool_of,
    slot_kernel,
)
from hyperspan.inference.tag_sums import TagSums, are_within_bounds, probable_runs_kernel, run_prob_kernel, tag_sums
from hyperspan.mentions import Mention, in_order, unchecked_mention
from hyperspan.structures.decoding import Decoded, decode_all
from hyperspan.structures.linear import Linear

N_SAMPLES = 200
"""How many samples there are of a sentence that surely has bodies or heads."""

LEAST_PROB = 0.001
"""Runs that are less probable are never looked for: this bounds time and memory."""

_ROOM = 1_024

Numbers = NDArray[np.float64]


class TagScores(NamedTuple):
    """The scores of the tags of many sentences.

    Attributes
    ----------
    structure : Linear
    scores : float64 array of shape (n_words, structure.n_labels)
        All words of all sentences; -inf forbids a tag.
    transitions : float64 array of shape (n_tags, n_tags)
        From the tag before to this one.
    first_word : int64 array of shape (n_sentences + 1,)
        Sentence s has the words ``first_word[s] : first_word[s + 1]``.
    """

    structure: Linear
    scores: Numbers
    transitions: Numbers
    first_word: NDArray[np.int64]

    @property
    def n_sentences(self) -> int:
        """How many there are."""
        return len(self.first_word) - 1

    @property
    def longest(self) -> int:
        """How many words the longest has."""
        return int(np.diff(self.first_word).max(initial=0))

    def checked(self) -> TagScores:
        """Return the same, in the form that kernels need.

        Raises
        ------
        StructureError
            If the arrays do not fit the structure or one another.
        """
        n_tags = self.structure.n_labels
        scores = check_scores(self.scores, n_tags)
        first_word = check_first_word(self.first_word, len(scores))
        return TagScores(self.structure, scores, check_transitions(self.transitions, n_tags), first_word)

    def within_bounds(self) -> NDArray[np.bool_]:
        """Say of each sentence whether scaled products lose nothing."""
        if are_within_bounds(self.scores, self.transitions):
            return np.ones(self.n_sentences, dtype=np.bool_)
        pieces = (self.scores[first:last] for first, last in pairwise(self.first_word.tolist()))
        return np.array([are_within_bounds(piece, self.transitions) for piece in pieces], dtype=np.bool_)

    def sums(self, is_within: NDArray[np.bool_]) -> TagSums:
        """Return the sums of the sentences within bounds; those of others mean nothing."""
        scores = self.scores
        if not is_within.all():
            scores = np.where(np.repeat(is_within, np.diff(self.first_word))[:, None], scores, 0.0)
        transitions = self.transitions if is_within.any() else np.zeros_like(self.transitions)
        return tag_sums(scores, transitions, self.first_word)


def best_tags_in(sentences: TagScores) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the score of the best tag sequence of each sentence, and the tags of every word.

    Raises
    ------
    StructureError
        If every tag sequence of a sentence is forbidden.
    """
    sentences = sentences.checked()
    best_score, tags = best_tags_of(sentences.scores, sentences.transitions, sentences.first_word)
    if np.any(best_score == -np.inf):
        raise StructureError(NO_OUTCOME)
    return best_score, tags


def all_tags_in(sentences: TagScores) -> list[Decoded]:
    """Return every mention that the best tags of each sentence can mean, with its probability.

    Raises
    ------
    StructureError
        If every tag sequence of a sentence is forbidden.
    """
    _, tags = best_tags_in(sentences)
    pieces = [tags[first:last].tolist() for first, last in pairwise(sentences.first_word.tolist())]
    decoded = [decode_all(sentences.structure, tuple(enumerate(piece))) for piece in pieces]
    probs = tag_probs_in(sentences, [here.mentions for here in decoded])
    return [with_probs(here, of_sentence) for here, of_sentence in zip(decoded, probs, strict=True)]


def enough_tags_in(sentences: TagScores) -> list[Decoded]:
    """Return as few mentions as explain the best tags of each sentence, with their probabilities.

    Raises
    ------
    StructureError
        If every tag sequence of a sentence is forbidden.

    Examples
    --------
    >>> scores = np.zeros((2, 7))
    >>> scores[:, 1] = 9.0
    >>> [decoded] = enough_tags_in(TagScores(Linear(("Finding",)), scores, np.zeros((7, 7)), np.array([0, 2])))
    >>> [(mention.parts, round(mention.prob, 2)) for mention in decoded.mentions]
    [(((0, 1),), 1.0), (((1, 2),), 1.0)]
    """
    sentences = sentences.checked()
    _, tags = best_tags_in(sentences)
    first_row, rows = read_tags(sentences.structure, tags, sentences.first_word)
    probs = _probs_of_rows(sentences, first_row, rows, N_SAMPLES, 0)
    found: list[list[Mention]] = [[] for _ in range(sentences.n_sentences)]
    whose = np.repeat(np.arange(sentences.n_sentences), np.diff(first_row))
    _append(found, sentences.structure, whose, rows, probs)
    return [Decoded(in_order(here)) for here in found]


def _append(
    found: list[list[Mention]],
    structure: Linear,
    whose: NDArray[np.int64],
    rows: NDArray[np.int32],
    probs: Numbers,
) -> None:
    """Append mentions to those of their sentences."""
    columns = zip(whose.tolist(), probs.tolist(), *rows[:, :4].T.tolist(), strict=True)
    for row, (sentence, prob, type_id, n_parts, start, end) in enumerate(columns):
        spans = ((start, end),) if n_parts == 1 else parts_of(rows[row].tolist())
        found[sentence].append(unchecked_mention(structure.types[type_id], spans, prob))


def probable_tags_in(
    sentences: TagScores,
    threshold: float = 0.3,
    *,
    limit: int = MOST_MENTIONS,
    n_samples: int = N_SAMPLES,
    seed: int = 0,
) -> list[Decoded]:
    """Return, for each sentence, every mention whose probability is at least the threshold, with its probability.

    Examples
    --------
    >>> zeros = TagScores(Linear(("Finding",)), np.zeros((3, 7)), np.zeros((7, 7)), np.array([0, 1, 3]))
    >>> for decoded in probable_tags_in(zeros, 0.25):
    ...     print([(mention.parts, round(mention.prob, 1)) for mention in decoded.mentions])
    [(((0, 1),), 0.6)]
    [(((0, 1),), 0.4), (((1, 2),), 0.4)]
    """
    check_at_least_one("limit", limit)
    check_at_least_one("n_samples", n_samples)
    sentences = sentences.checked()
    is_within = sentences.within_bounds()
    found: list[list[Mention]] = [[] for _ in range(sentences.n_sentences)]
    for whose, rows, probs in _probable_rows(sentences, is_within, threshold, n_samples, seed):
        _append(found, sentences.structure, whose, rows, probs)
    for sentence in np.flatnonzero(~is_within).tolist():
        counts = _counts_in_logs(sentences, sentence, n_samples, seed)
        found[sentence] = [
            Mention(type, parts, count / n_samples)
            for (type, parts), count in counts.items()
            if count / n_samples >= threshold
        ]
    return [most_probable(here, limit, truncated=False) for here in found]


def _probable_rows(
    sentences: TagScores, is_within: NDArray[np.bool_], threshold: float, n_samples: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32], Numbers]]:
    """Yield the sentences, rows and probabilities of mentions, as many as there is room for at a time."""
    structure, sums, capacity = sentences.structure, sentences.sums(is_within), _ROOM
    sentence = 0
    while sentence < sentences.n_sentences:
        whose, rows, probs = np.empty(capacity, np.int64), np.empty((capacity, WIDTH), np.int32), np.empty(capacity)
        before = sentence
        sentence, n_rows = probable_tags_kernel(
            sums,
            sentences.first_word,
            is_within,
            sentence,
            max(threshold, LEAST_PROB),
            structure.max_components,
            n_samples,
            pool_of(seed),
            SamplingRoom.of(structure, sentences.longest, capacity),
            whose,
            rows,
            probs,
        )
        if sentence == before:
            capacity *= 4
        yield whose[:n_rows], rows[:n_rows], probs[:n_rows]


def tag_probs_in(
    sentences: TagScores, mentions: Sequence[Sequence[Mention]], *, n_samples: int = N_SAMPLES, seed: int = 0
) -> list[list[float]]:
    """Return how probable each of some mentions is, for each sentence.

    Raises
    ------
    StructureError
        If a mention has a type that is not in the structure, or ends beyond its sentence.
    """
    check_at_least_one("n_samples", n_samples)
    sentences = sentences.checked()
    first_row, rows = _rows_of(sentences, mentions)
    probs = _probs_of_rows(sentences, first_row, rows, n_samples, seed).tolist()
    return [probs[first:last] for first, last in pairwise(first_row.tolist())]


def _probs_of_rows(
    sentences: TagScores, first_row: NDArray[np.int64], rows: NDArray[np.int32], n_samples: int, seed: int
) -> Numbers:
    """Return how probable each of some mentions is; those of sentence s are ``first_row[s] : first_row[s + 1]``."""
    is_within = sentences.within_bounds()
    structure, sums, capacity = sentences.structure, sentences.sums(is_within), _ROOM
    probs = np.zeros(len(rows))
    sentence = 0
    while sentence < sentences.n_sentences:
        sentence = tag_probs_kernel(
            sums,
            sentences.first_word,
            is_within,
            sentence,
            structure.max_components,
            n_samples,
            pool_of(seed),
            SamplingRoom.of(structure, sentences.longest, capacity),
            first_row,
            rows,
            probs,
        )
        capacity *= 4
    for sentence in np.flatnonzero(~is_within & (np.diff(first_row) > 0)).tolist():
        counts = _counts_in_logs(sentences, sentence, n_samples, seed)
        for row in range(first_row[sentence], first_row[sentence + 1]):
            key = (structure.types[rows[row, 0]], parts_of(rows[row].tolist()))
            probs[row] = counts.get(key, 0) / n_samples
    return probs


def _rows_of(
    sentences: TagScores, mentions: Sequence[Sequence[Mention]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return mentions as rows; those with more parts than tags can mean have no part there."""
    number_of = {type: number for number, type in enumerate(sentences.structure.types)}
    first_row = np.concatenate([[0], np.cumsum([len(here) for here in mentions], dtype=np.int64)])
    rows = np.zeros((int(first_row[-1]), WIDTH), dtype=np.int32)
    flat = []
    for here, n_words in zip(mentions, np.diff(sentences.first_word).tolist(), strict=True):
        for mention in here:
            if mention.type not in number_of:
                raise StructureError(f"there is no type {mention.type!r}; expected one of {', '.join(number_of)}")
            if mention.end > n_words:
                raise StructureError(f"{mention} ends beyond the {n_words} words of the sentence")
            parts = mention.parts if len(mention.parts) <= MOST_PARTS else ()
            bounds = [bound for part in parts for bound in part]
            flat.append([number_of[mention.type], len(parts), *bounds, *[0] * (WIDTH - 2 - len(bounds))])
    if flat:
        rows[:] = flat
    return first_row, rows


def _counts_in_logs(
    sentences: TagScores, sentence: int, n_samples: int, seed: int
) -> dict[tuple[str, tuple[tuple[int, int], ...]], int]:
    """Return in how many samples each mention is, for a sentence that needs log space."""
    scores = sentences.scores[sentences.first_word[sentence] : sentences.first_word[sentence + 1]]
    rng = np.random.default_rng(seed)
    tags = sample_labels(chain_automaton(sentences.transitions), scores, n_samples, rng)[:, :, 0]
    return count_mentions(sentences.structure, tags)


@numba.njit(nogil=True, cache=True)
def probable_tags_kernel(
    sums, first_word, is_within, begin, threshold, max_components, n_samples, pool, room, whose, rows, probs
):
    """Write the probable mentions of sentences until there is no more room; return the next sentence and how many."""
    slots, counted, counts = room.slots, room.rows, room.counts
    n_rows, capacity = 0, probs.shape[0]
    runs, run_probs = np.empty((capacity, 3), dtype=np.int64), np.empty(capacity)
    row = np.zeros(WIDTH, dtype=np.int32)
    for sentence in range(begin, is_within.shape[0]):
        if not is_within[sentence]:
            continue
        first, last = first_word[sentence], first_word[sentence + 1]
        n_counted, share = count_linked_kernel(sums, first, last, max_components, n_samples, pool, room)
        n_runs = probable_runs_kernel(sums, first, last, threshold, runs, run_probs)
        if n_counted < 0 or n_runs < 0 or n_rows + n_counted + n_runs > capacity:
            return sentence, n_rows
        for number in range(n_runs):
            row[0], row[1], row[2], row[3] = runs[number, 0], 1, runs[number, 1], runs[number, 2]
            if n_counted == 0 or slots[slot_kernel(row, slots, counted)] < 0:
                whose[n_rows], probs[n_rows], rows[n_rows] = sentence, run_probs[number], row
                n_rows += 1
        for number in range(n_counted):
            prob = prob_kernel(sums, first, last, counted[number], share * counts[number])
            if prob >= threshold:
                whose[n_rows], probs[n_rows], rows[n_rows] = sentence, prob, counted[number]
                n_rows += 1
        clear_kernel(room, n_counted)
    return is_within.shape[0], n_rows


@numba.njit(nogil=True, cache=True)
def tag_probs_kernel(sums, first_word, is_within, begin, max_components, n_samples, pool, room, first_row, rows, probs):
    """Fill the probabilities of the mentions of sentences until there is no more room; return the next sentence."""
    slots, counted, counts = room.slots, room.rows, room.counts
    for sentence in range(begin, is_within.shape[0]):
        if not is_within[sentence] or first_row[sentence] == first_row[sentence + 1]:
            continue
        first, last = first_word[sentence], first_word[sentence + 1]
        n_counted, share = count_linked_kernel(sums, first, last, max_components, n_samples, pool, room)
        if n_counted < 0:
            return sentence
        for number in range(first_row[sentence], first_row[sentence + 1]):
            place = slots[slot_kernel(rows[number], slots, counted)]
            probs[number] = prob_kernel(sums, first, last, rows[number], share * counts[place] if place >= 0 else 0.0)
        clear_kernel(room, n_counted)
    return is_within.shape[0]


@numba.njit(nogil=True, cache=True)
def prob_kernel(sums, first, last, row, counted):
    """Return how probable a mention is, given how probable it is that it comes from bodies and heads."""
    if row[1] == 1:
        counted += run_prob_kernel(sums, first, last, first + row[2], first + row[3], row[0])
    return min(1.0, counted)

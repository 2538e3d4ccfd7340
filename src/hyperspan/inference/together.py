"""Best encodings, probable mentions and their probabilities in many sentences at once: a call for each block.

What a `Distribution` says of one sentence, for as many as one likes: the same numbers, without the cost of many calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.base import NO_OUTCOME, check_at_least_one, steps_for
from hyperspan.inference.batch import check_first_word, check_scores, sum_batch
from hyperspan.inference.best import best_of_block, take_plain_kernel
from hyperspan.inference.borders import border_room
from hyperspan.inference.frontier import staircase_table
from hyperspan.inference.lanes import LANES, Lanes, chance_of_mentions
from hyperspan.inference.outcomes import MOST_MENTIONS, bounded, most_probable, with_probs
from hyperspan.inference.restricted import SLACK, path_probs_block_kernel, probable_block_kernel
from hyperspan.mentions import Mention, in_order, unchecked_mention
from hyperspan.structures.decoding import BlockEdges, Decoded, all_of_blocks, enough_of_blocks
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.staircase import START

_ROOM = 4_096
_LONGEST_IN_LANES = 2_000
"""Longer sentences are summed one at a time: lanes take eight times as much memory."""


class Sentences(NamedTuple):
    """The scores of many sentences.

    Attributes
    ----------
    structure : Hypergraph
    scores : float64 array of shape (n_words, structure.n_labels)
        All words of all sentences; -inf forbids an edge.
    first_word : int64 array of shape (n_sentences + 1,)
        Sentence s has the words ``first_word[s] : first_word[s + 1]``.
    """

    structure: Hypergraph
    scores: NDArray[np.float64]
    first_word: NDArray[np.int64]

    @property
    def n_sentences(self) -> int:
        """How many there are."""
        return len(self.first_word) - 1

    @property
    def longest(self) -> int:
        """How many words the longest has."""
        return int(np.diff(self.first_word).max(initial=0))

    def by_length(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of sentences from the longest to the shortest: lanes then end at about the same time."""
        return numbers[np.argsort(-np.diff(self.first_word)[numbers], kind="stable")]

    def checked(self) -> Sentences:
        """Return the same, in the form that kernels need.

        Raises
        ------
        StructureError
            If the arrays do not fit the structure or one another.
        """
        scores = check_scores(self.scores, self.structure.n_labels)
        return Sentences(self.structure, scores, check_first_word(self.first_word, len(scores)))


def probable_in(sentences: Sentences, threshold: float = 0.3, *, limit: int = MOST_MENTIONS) -> list[Decoded]:
    """Return, for each sentence, every mention whose probability is at least the threshold, with its probability.

    Over encodings.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> sentences = Sentences(shared_structure(["Finding"], 1), np.zeros((3, 5)), np.array([0, 1, 3]))
    >>> for decoded in probable_in(sentences):
    ...     print([(mention.parts, round(mention.prob, 3)) for mention in decoded.mentions])
    [(((0, 1),), 0.5)]
    [(((0, 1),), 0.5), (((0, 2),), 0.5), (((1, 2),), 0.5)]
    """
    check_at_least_one("limit", limit)
    sentences = sentences.checked()
    n_sentences = sentences.n_sentences
    impossible, was_cut = np.zeros(n_sentences, dtype=np.bool_), np.zeros(n_sentences, dtype=np.bool_)
    found: list[list[Mention]] = [[] for _ in range(n_sentences)]
    for block, chance in zip(sentences.structure.blocks, _chances(sentences), strict=True):
        wanted = np.flatnonzero(chance >= threshold * (1.0 - SLACK))
        _find_probable(sentences, block, sentences.by_length(wanted), threshold, limit, impossible, was_cut, found)
    return [
        Decoded(()) if is_impossible else most_probable(here, limit, is_cut)
        for here, is_impossible, is_cut in zip(found, impossible.tolist(), was_cut.tolist(), strict=True)
    ]


def _chances(sentences: Sentences) -> NDArray[np.float64]:
    """Return how probable any mention of each block can be: with several, most have none in most sentences."""
    if len(sentences.structure.blocks) > 1:
        return chance_of_mentions(*sentences)
    return np.ones((1, sentences.n_sentences))


def _find_probable(
    sentences: Sentences,
    block: Block,
    wanted: NDArray[np.int64],
    threshold: float,
    limit: int,
    impossible: NDArray[np.bool_],
    was_cut: NDArray[np.bool_],
    found: list[list[Mention]],
) -> None:
    table, automaton = staircase_table(block.staircase), staircase_automaton(block.staircase)
    lanes, room = Lanes.of(table, min(sentences.longest, _LONGEST_IN_LANES)), border_room(sentences.longest, table)
    capacity = _ROOM + LANES * limit
    rows, probs = _Rows.room(capacity, block), np.empty(capacity)
    rank = 0
    while rank < len(wanted):
        with np.errstate(all="ignore"):  # for runs without the compiler: a lane that is given up may hold anything
            rank, n_found = probable_block_kernel(
                table,
                automaton,
                block.first_label,
                sentences.scores,
                sentences.first_word,
                wanted,
                rank,
                threshold,
                steps_for(table.n_nodes),
                limit,
                lanes,
                room,
                impossible,
                was_cut,
                probs,
                *rows,
            )
        _append(found, block, rows.first(n_found), probs[:n_found])


def best_in(sentences: Sentences) -> list[list[BlockEdges]]:
    """Return the best encoding of each sentence, taken apart as `Hypergraph.edges_of` does it.

    Raises
    ------
    StructureError
        If every encoding of a sentence is forbidden.
    """
    sentences = sentences.checked()
    best: list[list[BlockEdges]] = [[] for _ in range(sentences.n_sentences)]
    for block, labels in _best_labels(sentences):
        for sentence, edges in _edges_of(sentences, block, labels).items():
            best[sentence].append(edges)
    return best


def all_in(sentences: Sentences) -> list[Decoded]:
    """Return every mention that the best encoding of each sentence can mean, with its probability.

    Raises
    ------
    StructureError
        If every encoding of a sentence is forbidden.
    """
    decoded = [bounded(all_of_blocks(blocks)) for blocks in best_in(sentences)]
    probs = probs_in(sentences, [here.mentions for here in decoded])
    return [with_probs(here, of_sentence) for here, of_sentence in zip(decoded, probs, strict=True)]


def enough_in(sentences: Sentences) -> list[Decoded]:
    """Return as few mentions as explain the best encoding of each sentence, with their probabilities.

    Raises
    ------
    StructureError
        If every encoding of a sentence is forbidden.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> scores = np.zeros((3, 5))
    >>> scores[0, 1] = 1.0
    >>> [decoded] = enough_in(Sentences(shared_structure(["Finding"], 1), scores, np.array([0, 3])))
    >>> [(mention.parts, round(mention.prob, 2)) for mention in decoded.mentions]
    [(((0, 1),), 0.57)]
    """
    sentences = sentences.checked()
    tangled: dict[int, list[BlockEdges]] = {}
    plain = []
    for block, labels in _best_labels(sentences):
        plain.append((block, _take_plain(sentences, block, labels)))
        for sentence, edges in _edges_of(sentences, block, labels).items():
            tangled.setdefault(sentence, []).append(edges)
    rest = {sentence: bounded(enough_of_blocks(blocks)) for sentence, blocks in tangled.items()}
    others = _rows_by_block(sentences, {sentence: here.mentions for sentence, here in rest.items()})
    found: list[list[Mention]] = [[] for _ in range(sentences.n_sentences)]
    for block, rows in plain:
        if block.first_label in others:
            rows = rows.with_others(others[block.first_label].rows)
        _append(found, block, rows, _probs(sentences, block, rows))
    decoded = [Decoded(in_order(here)) for here in found]
    for sentence, here in rest.items():
        decoded[sentence] = replace(here, mentions=decoded[sentence].mentions)
    return decoded


class _Rows(NamedTuple):
    """Mentions of one block.

    Attributes
    ----------
    whose : int64 array of shape (n_mentions,)
        The numbers of the sentences.
    n_parts : int64 array of shape (n_mentions,)
    parts : int64 array of shape (n_mentions, most_parts, 2)
    """

    whose: NDArray[np.int64]
    n_parts: NDArray[np.int64]
    parts: NDArray[np.int64]

    @classmethod
    def room(cls, n_rows: int, block: Block) -> _Rows:
        """Return room for so many."""
        parts = np.zeros((n_rows, block.staircase.n_parts, 2), dtype=np.int64)
        return cls(np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64), parts)

    def first(self, n_rows: int) -> _Rows:
        """Return the first so many."""
        return _Rows(*(column[:n_rows] for column in self))

    def with_others(self, others: _Rows) -> _Rows:
        """Return these and others."""
        order = np.argsort(np.concatenate([self.whose, others.whose]), kind="stable")
        return _Rows(*(np.concatenate(columns)[order] for columns in zip(self, others, strict=True)))


class _Placed(NamedTuple):
    """Mentions of one block, and where they come from: each the number of its sentence, and its rank there."""

    block: Block
    places: list[tuple[int, int]]
    rows: _Rows


def _rows_by_block(sentences: Sentences, mentions: Mapping[int, Sequence[Mention]]) -> dict[int, _Placed]:
    """Return the mentions of some sentences by the first label of their block; not those with too many parts.

    Raises
    ------
    StructureError
        If a mention has a type that is not in the structure, or ends beyond its sentence.
    """
    lengths = np.diff(sentences.first_word).tolist()
    places: dict[int, tuple[Block, list[tuple[int, int]]]] = {}
    for sentence, here in sorted(mentions.items()):
        for rank, mention in enumerate(here):
            if mention.end > lengths[sentence]:
                raise StructureError(f"{mention} ends beyond the {lengths[sentence]} words of the sentence")
            block = sentences.structure.block_of(mention)
            if block is not None:
                places.setdefault(block.first_label, (block, []))[1].append((sentence, rank))
    placed = {}
    for first_label, (block, of_block) in places.items():
        rows = _Rows.room(len(of_block), block)
        for row, (sentence, rank) in enumerate(of_block):
            parts = mentions[sentence][rank].parts
            rows.whose[row], rows.n_parts[row], rows.parts[row, : len(parts)] = sentence, len(parts), parts
        placed[first_label] = _Placed(block, of_block, rows)
    return placed


def _best_labels(sentences: Sentences) -> Iterator[tuple[Block, NDArray[np.int8]]]:
    """Yield each block with the labels of the best encodings, as `best_of_block` returns them."""
    for block in sentences.structure.blocks:
        table = staircase_table(block.staircase)
        best_score, labels = best_of_block(table, sentences.scores, sentences.first_word, block.first_label)
        if np.any(best_score == -np.inf):
            raise StructureError(NO_OUTCOME)
        yield block, labels


def _take_plain(sentences: Sentences, block: Block, labels: NDArray[np.int8]) -> _Rows:
    """Take paths that neither meet others nor part out of the labels; return their mentions."""
    rows = _Rows.room(len(labels), block)
    n_found = take_plain_kernel(staircase_table(block.staircase), labels, sentences.first_word, *rows)
    return rows.first(n_found)


def _append(found: list[list[Mention]], block: Block, rows: _Rows, probs: NDArray[np.float64]) -> None:
    """Append mentions of a block to those of their sentences."""
    whose, n_parts, parts = rows
    columns = (whose, probs, n_parts, parts[:, 0, 0], parts[:, 0, 1])
    for row, (sentence, prob, n, start, end) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        spans = ((start, end),) if n == 1 else tuple(map(tuple, parts[row, :n].tolist()))
        found[sentence].append(unchecked_mention(block.type, spans, prob))


def _edges_of(sentences: Sentences, block: Block, labels: NDArray[np.int8]) -> dict[int, BlockEdges]:
    """Return the edges of the sentences that have any, by the sentence's number."""
    begun = np.flatnonzero(labels[:, 0] == START)
    words, nodes = np.nonzero(labels[:, 1:] >= 0)
    bits = staircase_table(block.staircase).label_children[labels[words, nodes + 1]]
    sentence_of_start = np.searchsorted(sentences.first_word, begun, side="right") - 1
    sentence_of_node = np.searchsorted(sentences.first_word, words, side="right") - 1
    found: dict[int, BlockEdges] = {}
    for sentence, word in _by_sentence(sentences, sentence_of_start, begun):
        found.setdefault(sentence, (block, {}, []))[2].append(word)
    rows = zip(_by_sentence(sentences, sentence_of_node, words), nodes.tolist(), bits.tolist(), strict=True)
    for (sentence, word), node, children in rows:
        found[sentence][1][word, node] = children
    return found


def _by_sentence(
    sentences: Sentences, sentence_of: NDArray[np.int64], words: NDArray[np.int64]
) -> list[tuple[int, int]]:
    inside = words - sentences.first_word[sentence_of]
    return list(zip(sentence_of.tolist(), inside.tolist(), strict=True))


def probs_in(sentences: Sentences, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
    """Return how probable each of some mentions is, over encodings, for each sentence.

    Raises
    ------
    StructureError
        If a mention has a type that is not in the structure, or ends beyond its sentence.
    """
    sentences = sentences.checked()
    probs = [[0.0] * len(here) for here in mentions]
    impossible = _without_outcome(sentences)
    for block, places, rows in _rows_by_block(sentences, dict(enumerate(mentions))).values():
        for (sentence, rank), prob in zip(places, _probs(sentences, block, rows).tolist(), strict=True):
            probs[sentence][rank] = 0.0 if sentence in impossible else prob
    return probs


def _without_outcome(sentences: Sentences) -> set[int]:
    """Return the sentences in which scores of -inf leave no outcome."""
    if not np.any(sentences.scores == -np.inf):
        return set()
    totals = sum_batch(sentences.structure, sentences.scores, sentences.first_word, wants_expected=False, n_threads=1)
    return set(np.flatnonzero(totals.log_partition == -np.inf).tolist())


def _probs(sentences: Sentences, block: Block, rows: _Rows) -> NDArray[np.float64]:
    """Return how probable each of some mentions is, which come in the order of their sentences."""
    table, automaton = staircase_table(block.staircase), staircase_automaton(block.staircase)
    log_probs = np.empty(len(rows.whose))
    wanted = sentences.by_length(np.unique(rows.whose))
    with np.errstate(all="ignore"):
        path_probs_block_kernel(
            table,
            automaton,
            block.first_label,
            sentences.scores,
            sentences.first_word,
            wanted,
            np.searchsorted(rows.whose, wanted),
            np.searchsorted(rows.whose, wanted, side="right"),
            rows.n_parts,
            rows.parts,
            Lanes.of(table, min(sentences.longest, _LONGEST_IN_LANES)),
            border_room(sentences.longest, table),
            log_probs,
        )
        return np.exp(np.minimum(log_probs, 0.0))

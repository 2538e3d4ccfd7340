"""Sums over many sentences at once: what training asks for at every iteration."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.diagnostics import quoted
from hyperspan.errors import StructureError
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.chain import chain_batch_kernel
from hyperspan.inference.derivations import derivations_block_kernel
from hyperspan.inference.frontier import frontier_block_kernel, staircase_table
from hyperspan.structures.hypergraph import Hypergraph
from hyperspan.structures.linear import Linear
from hyperspan.threads import run

Over = Literal["encodings", "mention-sets", "derivations"]
OVER: tuple[Over, ...] = ("encodings", "mention-sets", "derivations")
"""What probabilities are over: distinct encodings, sets of mentions, or a mixture: normalised over derivations, but the
gold's edges count once each."""

MOST_CHUNKS, WORDS_A_CHUNK = 64, 200
"""A batch is cut into at most so many chunks, none much smaller than so many words: threads take one after the other,
and what they count is summed chunk by chunk, so that the order does not depend on the threads."""


class Totals(NamedTuple):
    """What `sum_batch` returns.

    Attributes
    ----------
    log_partition : float64 array of shape (n_sentences,)
    expected : float64 array of shape (n_words, n_labels)
        How often each edge is used at each word on average: its probability, where it can be used only once. All 0 in
        a sentence without any possible outcome. Empty if not asked for.
    expected_transitions : float64 array of shape (n_tags, n_tags)
        The same for transitions between tags, over all sentences; empty but for ``linear``.
    """

    log_partition: NDArray[np.float64]
    expected: NDArray[np.float64]
    expected_transitions: NDArray[np.float64]


def sum_batch(
    structure: Hypergraph | Linear,
    scores: NDArray[np.float64],
    first_word: NDArray[np.int64],
    *,
    over: Over = "encodings",
    transitions: NDArray[np.float64] | None = None,
    wants_expected: bool = True,
    n_threads: int = 2,
) -> Totals:
    """Sum over all outcomes of every sentence, and say how often each edge is used on average.

    Parameters
    ----------
    structure : Hypergraph or Linear
    scores : float64 array of shape (n_words, structure.n_labels)
        All words of all sentences; -inf forbids an edge.
    first_word : int64 array of shape (n_sentences + 1,)
        Sentence s has the words ``first_word[s] : first_word[s + 1]``.
    over : {"encodings", "mention-sets", "derivations"}
        What is summed over; ``linear`` knows only the first, tag sequences.
    transitions : float64 array of shape (n_tags, n_tags), optional
        Scores of a tag after another, for ``linear`` only; zeros if not given.
    wants_expected : bool
        Whether to go backward too.
    n_threads : int
        The result does not depend on it.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> totals = sum_batch(shared_structure(["Finding"]), np.zeros((5, 25)), np.array([0, 2, 5]))
    >>> np.exp(totals.log_partition).round(6)
    array([ 8., 80.])
    """
    scores = check_scores(scores, structure.n_labels)
    first_word = check_first_word(first_word, len(scores))
    n_sentences = len(first_word) - 1
    expected = np.empty(scores.shape if wants_expected else (0, structure.n_labels))
    n_chunks = min(MOST_CHUNKS, 1 + len(scores) // WORDS_A_CHUNK)
    bounds = np.searchsorted(first_word, np.linspace(0, len(scores), n_chunks + 1)[1:-1])
    chunks = np.unique(np.concatenate([[0], bounds, [n_sentences]]))
    spans = list(zip(chunks[:-1].tolist(), chunks[1:].tolist(), strict=True))
    check_over(over, structure)
    if isinstance(structure, Linear):
        transitions = check_transitions(transitions, structure.n_labels)
        automaton = chain_automaton(transitions)
        log_partition = np.empty((1, n_sentences))
        counts = np.zeros((len(spans), structure.n_labels, structure.n_labels))

        def work(chunk: int) -> None:
            begin, end = spans[chunk]
            chain_batch_kernel(
                automaton,
                transitions,
                scores,
                first_word,
                begin,
                end,
                wants_expected,
                log_partition[0],
                expected,
                counts[chunk],
            )
    else:
        if transitions is not None:
            raise StructureError(f"transitions are for the structure 'linear', not for {structure.name!r}")
        blocks = [
            (block.first_label, staircase_table(block.staircase), staircase_automaton(block.staircase))
            for block in structure.blocks
        ]
        log_partition = np.empty((len(blocks), n_sentences))
        counts = np.zeros((0, 0, 0))
        is_over_encodings = over == "encodings"

        def work(chunk: int) -> None:
            begin, end = spans[chunk]
            for (first_label, table, automaton), row in zip(blocks, log_partition, strict=True):
                if is_over_encodings:
                    frontier_block_kernel(
                        table,
                        automaton,
                        first_label,
                        scores,
                        first_word,
                        begin,
                        end,
                        wants_expected,
                        row,
                        expected,
                    )
                else:
                    derivations_block_kernel(
                        table, first_label, scores, first_word, begin, end, wants_expected, row, expected
                    )

    run(n_threads, work, len(spans))
    log_partition = log_partition.sum(axis=0)
    if wants_expected:
        for sentence in np.flatnonzero(log_partition == -np.inf):  # one block may leave nothing possible for the others
            expected[first_word[sentence] : first_word[sentence + 1]] = 0.0
    return Totals(log_partition, expected, counts.sum(axis=0))


def check_over(over: str, structure: Hypergraph | Linear) -> None:
    """Refuse a distribution that does not exist, or not for this structure."""
    if over not in OVER:
        raise StructureError(f"the distribution is {over!r}; expected one of {', '.join(OVER)}")
    if isinstance(structure, Linear) and over != "encodings":
        raise StructureError(
            f"the structure {structure.name!r} is over tag sequences only, not over {over!r}; "
            "expected 'encodings', or another structure"
        )


def check_scores(scores: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
    """Return scores as a contiguous array of numbers and -inf, or say what is wrong with them."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise StructureError(f"scores have shape {scores.shape}; expected (n_words, {n_labels})")
    if not np.all(scores < np.inf):
        word, label = np.argwhere(~(scores < np.inf))[0]
        raise StructureError(
            f"the score of label {label} at word {word} is {scores[word, label]}; "
            "expected a number, or -inf to forbid the edge"
        )
    return scores


def check_first_word(first_word: NDArray[np.int64], n_words: int) -> NDArray[np.int64]:
    """Return sentence borders as an array, or say what is wrong with them."""
    first_word = np.ascontiguousarray(first_word, dtype=np.int64)
    if (
        first_word.ndim != 1
        or len(first_word) == 0
        or first_word[0] != 0
        or first_word[-1] != n_words
        or np.any(np.diff(first_word) < 0)
    ):
        raise StructureError(
            f"first_word is {quoted(first_word.tolist())}; expected it to rise from 0 to the number of words, {n_words}"
        )
    return first_word


def check_transitions(transitions: NDArray[np.float64] | None, n_tags: int) -> NDArray[np.float64]:
    """Return transition scores as an array, zeros if there are none, or say what is wrong with them."""
    if transitions is None:
        return np.zeros((n_tags, n_tags))
    transitions = np.ascontiguousarray(transitions, dtype=np.float64)
    if transitions.shape != (n_tags, n_tags):
        raise StructureError(f"transitions have shape {transitions.shape}; expected ({n_tags}, {n_tags})")
    if not np.all(transitions < np.inf):
        before, after = np.argwhere(~(transitions < np.inf))[0]
        raise StructureError(
            f"the score of tag {after} after tag {before} is {transitions[before, after]}; "
            "expected a number, or -inf to forbid the transition"
        )
    return transitions

"""The scores of every label at every word of a batch of sentences: the interface between scorers and distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hyperspan.diagnostics import quoted
from hyperspan.errors import StructureError
from hyperspan.structures.structure import Structure


@dataclass(frozen=True)
class ScoreBatch:
    """The scores of the edges (or tags) of many sentences.

    Attributes
    ----------
    scores : float64 array of shape (n_words, n_labels)
        All words of all sentences; -inf forbids an edge.
    first_word : int64 array of shape (n_sentences + 1,)
        Sentence s has the words ``first_word[s] : first_word[s + 1]``.
    transitions : float64 array of shape (n_labels, n_labels) or (0, 0)
        Scores of pairs of consecutive labels, if the structure has transitions.

    Examples
    --------
    >>> batch = ScoreBatch(np.zeros((5, 25)), np.array([0, 2, 5]))
    >>> batch.n_sentences, batch.longest, batch.sentence(1).scores.shape
    (2, 3, (3, 25))
    """

    scores: NDArray[np.float64]
    first_word: NDArray[np.int64]
    transitions: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of_sentence(cls, scores: NDArray[np.float64], transitions: NDArray[np.float64] | None = None) -> ScoreBatch:
        """Return a batch of one sentence."""
        first_word = np.array([0, len(scores)], dtype=np.int64)
        return cls(scores, first_word, np.zeros((0, 0)) if transitions is None else transitions)

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.first_word) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has."""
        return np.diff(self.first_word)

    @property
    def longest(self) -> int:
        """How many words the longest sentence has."""
        return int(self.lengths.max(initial=0))

    def sentence(self, number: int) -> ScoreBatch:
        """Return one sentence as a batch."""
        return self.sentences(number, number + 1)

    def sentences(self, begin: int, end: int) -> ScoreBatch:
        """Return a range of sentences as a batch."""
        first, last = self.first_word[begin], self.first_word[end]
        return ScoreBatch(self.scores[first:last], self.first_word[begin : end + 1] - first, self.transitions)

    def cut(self, n_pieces: int) -> list[ScoreBatch]:
        """Split into pieces of about the same number of words, never inside a sentence; some may be empty."""
        shares = np.linspace(0, len(self.scores), n_pieces + 1)[1:-1]
        borders = [0, *np.searchsorted(self.first_word, shares).tolist(), self.n_sentences]
        return [self.sentences(begin, end) for begin, end in pairwise(borders)]

    def checked(self, structure: Structure) -> ScoreBatch:
        """Return the same batch, validated and in the form that kernels need.

        Raises
        ------
        StructureError
            If the arrays do not fit the structure or one another.
        """
        scores = np.ascontiguousarray(self.scores, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != structure.n_labels:
            raise StructureError(f"scores have shape {scores.shape}; expected (n_words, {structure.n_labels})")
        _check_finite(scores, "the score of label {1} at word {0}", "edge")
        first_word = np.ascontiguousarray(self.first_word, dtype=np.int64)
        rises = first_word.ndim == 1 and len(first_word) > 0 and first_word[0] == 0 and np.all(np.diff(first_word) >= 0)
        if not rises or first_word[-1] != len(scores):
            raise StructureError(
                f"first_word is {quoted(first_word.tolist())}; "
                f"expected it to rise from 0 to the number of words, {len(scores)}"
            )
        return ScoreBatch(scores, first_word, self._checked_transitions(structure))

    def _checked_transitions(self, structure: Structure) -> NDArray[np.float64]:
        transitions = np.ascontiguousarray(self.transitions, dtype=np.float64)
        n_labels = structure.n_labels
        if not structure.has_transitions:
            if transitions.size:
                raise StructureError(f"there are transitions, but the structure {structure.name!r} has none")
            return transitions
        if not transitions.size:
            return np.zeros((n_labels, n_labels))
        if transitions.shape != (n_labels, n_labels):
            raise StructureError(f"transitions have shape {transitions.shape}; expected ({n_labels}, {n_labels})")
        _check_finite(transitions, "the score of tag {1} after tag {0}", "transition")
        return transitions


def _check_finite(values: NDArray[np.float64], what: str, forbidden: str) -> None:
    if not np.all(values < np.inf):
        row, column = np.argwhere(~(values < np.inf))[0].tolist()
        raise StructureError(
            f"{what.format(row, column)} is {values[row, column]}; expected a number, or -inf to forbid the {forbidden}"
        )

"""Candidates as flat arrays, in the order of mentions: the first look passes them to the second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import overload

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.mentions import Mention

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Proposed(Sequence[tuple[Mention, ...]]):
    """The candidates of sentences: arrays for fast code, and a sequence of each sentence's mentions for the rest.

    Attributes
    ----------
    types : sequence of str
        The names of types, by the type id in the rows.
    first : int64 array of shape (n_sentences + 1,)
        The candidates of sentence s are ``first[s]:first[s + 1]``.
    rows : MentionRows
        Sorted by sentence, then in the order of mentions.
    document : int64 array of shape (n_sentences,), optional
        The number of each sentence's document, if it is known already.

    Examples
    --------
    >>> mention = Mention("Finding", [(0, 1), (2, 3)], prob=0.5)
    >>> proposed = Proposed.of([[], [mention]], ["Finding"])
    >>> proposed[1] == (mention,), len(proposed), proposed.n_rows
    (True, 2, 1)
    """

    types: Sequence[str]
    first: Integers
    rows: MentionRows
    document: Integers | None = None

    @classmethod
    def of(cls, mentions: Sequence[Sequence[Mention]], types: Sequence[str]) -> Proposed:
        """Return the mentions of sentences as candidates, in the given order.

        Raises
        ------
        KeyError
            If a mention has another type.
        """
        flat, number_of = list(chain.from_iterable(mentions)), {type: number for number, type in enumerate(types)}
        first = np.zeros(len(mentions) + 1, dtype=np.int64)
        np.cumsum(list(map(len, mentions)), out=first[1:])
        n_parts = np.array([len(mention.parts) for mention in flat], dtype=np.int64)
        parts = np.zeros((len(flat), n_parts.max(initial=1), 2), dtype=np.int64)
        parts[:, 0] = np.array([mention.parts[0] for mention in flat], dtype=np.int64).reshape(-1, 2)
        for row in np.flatnonzero(n_parts > 1).tolist():
            parts[row, : n_parts[row]] = flat[row].parts
        type_id = np.array([number_of[mention.type] for mention in flat], dtype=np.int64)
        prob = np.array([mention.prob or 0.0 for mention in flat], dtype=np.float64)
        sentence = np.repeat(np.arange(len(mentions)), np.diff(first))
        return cls(types, first, MentionRows(type_id, sentence, prob, n_parts, parts))

    @classmethod
    def found(cls, rows: MentionRows, types: Sequence[str], n_sentences: int) -> Proposed:
        """Return rows in any order as candidates."""
        rank = np.argsort(np.argsort(np.array(types, dtype=np.str_), kind="stable"))
        # Mentions are ordered by parts, an absent one first, and by type. Long sentences can have very many.
        is_absent = np.arange(rows.parts.shape[1]) >= rows.n_parts[:, None]
        borders = np.where(is_absent[:, :, None], -1, rows.parts).reshape(rows.n_rows, 2 * rows.parts.shape[1])
        order = np.lexsort((rank[rows.block], *borders.T[::-1], rows.sentence))
        first = np.searchsorted(rows.sentence[order], np.arange(n_sentences + 1))
        return cls(types, first, rows.chosen(order))

    @classmethod
    def joined(cls, pieces: Sequence[Proposed]) -> Proposed:
        """Concatenate the candidates of batches of sentences."""
        if len(pieces) == 1:
            return pieces[0]
        n_rows, n_sentences = (
            np.cumsum([0, *(number(each) for each in pieces)]) for number in (lambda each: each.n_rows, len)
        )
        first = [each.first[:-1] + before for each, before in zip(pieces, n_rows.tolist(), strict=False)]
        rows = [
            each.rows._replace(sentence=each.rows.sentence + before)
            for each, before in zip(pieces, n_sentences.tolist(), strict=False)
        ]
        return cls(pieces[0].types, np.concatenate([*first, n_rows[-1:]]), joined_rows(rows))

    def piece(self, begin: int, end: int) -> Proposed:
        """Return the candidates of some of the sentences."""
        start, stop = int(self.first[begin]), int(self.first[end])
        rows = self.rows.chosen(slice(start, stop))
        return Proposed(self.types, self.first[begin : end + 1] - start, rows._replace(sentence=rows.sentence - begin))

    def where_any(self) -> tuple[Integers, Proposed]:
        """Return the numbers of the sentences that have candidates, and the candidates of these."""
        counts = np.diff(self.first)
        chosen = np.flatnonzero(counts)
        rows = self.rows._replace(sentence=np.repeat(np.arange(len(chosen)), counts[chosen]))
        return chosen, Proposed(self.types, np.append(self.first[chosen], self.first[-1:]), rows)

    def most_probable(self, most: Integers) -> tuple[Proposed, MentionRows]:
        """Return the most probable candidates of each sentence and number of parts, and the rows of all others.

        ``most`` is how many of each sentence are kept, for each number of parts. Of equally probable candidates, these
        are the first.

        Examples
        --------
        >>> mentions = [Mention("Finding", [(0, end)], prob=prob) for end, prob in ((1, 0.5), (2, 0.25), (3, 0.75))]
        >>> kept, lost = Proposed.of([mentions], ["Finding"]).most_probable(np.array([2]))
        >>> [mention.prob for mention in kept[0]], lost.prob.tolist()
        ([0.5, 0.75], [0.25])
        """
        rows, counts = self.rows, np.diff(self.first)
        crowd = np.flatnonzero(counts[rows.sentence] > most[rows.sentence])
        crowd = crowd[np.lexsort((-rows.prob[crowd], rows.n_parts[crowd], rows.sentence[crowd]))]
        sentence, n_parts, place = rows.sentence[crowd], rows.n_parts[crowd], np.arange(len(crowd))
        begins = np.append(True, (sentence[1:] != sentence[:-1]) | (n_parts[1:] != n_parts[:-1]))[: len(crowd)]
        is_lost = np.zeros(self.n_rows, dtype=np.bool_)
        rank = place - np.maximum.accumulate(np.where(begins, place, 0))
        is_lost[crowd[rank >= most[sentence]]] = True
        lost = rows.chosen(np.flatnonzero(is_lost))
        if not lost.n_rows:
            return self, lost
        first = self.first - np.append(0, np.cumsum(np.bincount(lost.sentence, minlength=len(self))))
        return Proposed(self.types, first, rows.chosen(np.flatnonzero(~is_lost))), lost

    @property
    def n_rows(self) -> int:
        """The number of candidates."""
        return self.rows.n_rows

    def mentions(self, which: Integers, probs: NDArray[np.float64]) -> list[list[Mention]]:
        """Return some of the candidates of each sentence as mentions, with these probabilities."""
        return self.rows.chosen(which)._replace(prob=probs).mentions(self.types, len(self))

    @cached_property
    def _mentions(self) -> list[tuple[Mention, ...]]:
        return list(map(tuple, self.rows.mentions(self.types, len(self))))

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, number: int) -> tuple[Mention, ...]: ...
    @overload
    def __getitem__(self, number: slice) -> list[tuple[Mention, ...]]: ...
    def __getitem__(self, number: int | slice) -> tuple[Mention, ...] | list[tuple[Mention, ...]]:
        """Return the candidates of one sentence, or of several."""
        return self._mentions[number]

    def __iter__(self) -> Iterator[tuple[Mention, ...]]:
        return iter(self._mentions)

"""Mentions of many sentences in flat arrays, for kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.mentions import Mention, unchecked_mention
from hyperspan.structures.hypergraph import Hypergraph


class MentionRows(NamedTuple):
    """Mentions, one per row.

    Attributes
    ----------
    block, sentence : int64 arrays of shape (n_mentions,)
        The numbers of the block, or of the type where there are no blocks, and of the sentence.
    prob : float64 array of shape (n_mentions,)
    n_parts : int64 array of shape (n_mentions,)
    parts : int64 array of shape (n_mentions, most_parts, 2)
    """

    block: NDArray[np.int64]
    sentence: NDArray[np.int64]
    prob: NDArray[np.float64]
    n_parts: NDArray[np.int64]
    parts: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many mentions there are."""
        return len(self.block)

    @classmethod
    def room(cls, n_rows: int, most_parts: int) -> MentionRows:
        """Return uninitialised rows."""
        block, sentence, n_parts = np.zeros((3, n_rows), dtype=np.int64)
        parts = np.zeros((n_rows, most_parts, 2), dtype=np.int64)
        return cls(block, sentence, np.zeros(n_rows), n_parts, parts)

    @classmethod
    def of(
        cls, structure: Hypergraph, mentions: Mapping[int, Sequence[Mention]]
    ) -> tuple[MentionRows, list[tuple[int, int]]]:
        """Return the mentions of sentences, and for each row the sentence and the mention's rank there.

        Mentions with too many parts are left out: they have no block.
        """
        numbers = {block.first_label: number for number, block in enumerate(structure.blocks)}
        placed = [
            (sentence, rank, numbers[block.first_label])
            for sentence, here in mentions.items()
            for rank, mention in enumerate(here)
            if (block := structure.block_of(mention)) is not None
        ]
        rows = cls.room(len(placed), structure.max_components)
        for row, (sentence, rank, number) in enumerate(placed):
            parts = mentions[sentence][rank].parts
            rows.prob[row] = mentions[sentence][rank].prob or 0.0
            rows.block[row], rows.sentence[row], rows.n_parts[row] = number, sentence, len(parts)
            rows.parts[row, : len(parts)] = parts
        return rows, [(sentence, rank) for sentence, rank, _ in placed]

    def chosen(self, which: slice | NDArray[np.int64]) -> MentionRows:
        """Return a copy of a selection of the rows."""
        columns: Any = (np.array(column[which], order="C") for column in self)
        return MentionRows(*columns)

    def mentions(self, types: Sequence[str], n_sentences: int) -> list[list[Mention]]:
        """Return the mentions of each sentence, given the types by block."""
        found: list[list[Mention]] = [[] for _ in range(n_sentences)]
        columns = (self.block, self.sentence, self.prob, self.n_parts, self.parts[:, 0, 0], self.parts[:, 0, 1])
        several = iter(self.parts[self.n_parts > 1].tolist())
        for block, sentence, prob, n_parts, start, end in zip(*(column.tolist() for column in columns), strict=True):
            spans = ((start, end),) if n_parts == 1 else tuple(map(tuple, next(several)[:n_parts]))
            found[sentence].append(unchecked_mention(types[block], spans, prob))
        return found


def joined_rows(tables: Sequence[MentionRows]) -> MentionRows:
    """Return the rows of several tables, one after another; they need not have room for as many parts."""
    most_parts = max(table.parts.shape[1] for table in tables)
    wide = (
        np.pad(table.parts, ((0, 0), (0, most_parts - table.parts.shape[1]), (0, 0)))
        if table.parts.shape[1] < most_parts
        else table.parts
        for table in tables
    )
    columns: Any = (np.concatenate(column) for column in zip(*(table[:-1] for table in tables), strict=True))
    return MentionRows(*[*columns, np.concatenate([*wide])])

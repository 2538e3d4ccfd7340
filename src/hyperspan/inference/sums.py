"""Plan the sums over encodings: one for each sentence and block, in groups that run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.simd import SIMD
from hyperspan.inference.numba.frontier import (
    StaircaseTable,
    SumArrays,
    Workspace,
    forward_backward_kernel,
    staircase_table,
)
from hyperspan.inference.scores import ScoreBatch
from hyperspan.structures.hypergraph import Hypergraph
from hyperspan.structures.staircase import START, Staircase

MOST_CELLS = 1 << 17
"""Sums run side by side if their messages have at most this many states: 8 MB for eight. Longer ones run singly."""


@dataclass(frozen=True)
class Sums:
    """Sums over blocks of one staircase, from the longest to the shortest, all side by side or all one at a time.

    Attributes
    ----------
    staircase : Staircase
    width : int
        How many sums run side by side: 1 or `SIMD`.
    block, sentence : int64 arrays of shape (n_sums,)
        The block and the sentence of each sum.
    arrays : SumArrays
        The same in the form for kernels, with the results.
    """

    staircase: Staircase
    width: int
    block: NDArray[np.int64]
    sentence: NDArray[np.int64]
    arrays: SumArrays

    def __len__(self) -> int:
        return len(self.block)

    @property
    def table(self) -> StaircaseTable:
        """The staircase in flat arrays."""
        return staircase_table(self.staircase)

    @property
    def n_padded(self) -> int:
        """How many sums there are, including the padding of the last group."""
        return len(self.arrays.first)

    @property
    def longest(self) -> int:
        """How many words the longest sum has."""
        return int(self.arrays.n_words.max(initial=0))

    def workspace(self, *, keeps_beta: bool) -> Workspace:
        """Return the memory for one group."""
        return Workspace.of(self.table, self.longest, self.width, keeps_beta=keeps_beta)

    @property
    def given_up(self) -> list[int]:
        """Which sums could not be computed in scaled products."""
        return np.flatnonzero(~self.arrays.is_done[: len(self)]).tolist()

    def run(self, batch: ScoreBatch, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log totals, and set the marginals unless that array is empty; then more sums are given up."""
        work = self.workspace(keeps_beta=False)
        with np.errstate(all="ignore"):  # without the compiler, NumPy would warn about sums that are given up
            forward_backward_kernel(self.table, batch.scores, self.arrays, 0, self.n_padded, work, marginals)
        return self.arrays.log_total[: len(self)]


def sums_over(structure: Hypergraph, batch: ScoreBatch, wanted: NDArray[np.bool_] | None = None) -> Iterator[Sums]:
    """Yield the sums over all blocks and sentences, or over those that are ``wanted`` (n_blocks, n_sentences)."""
    for staircase, blocks in _blocks_by_staircase(structure).items():
        if wanted is None:
            sentence = np.repeat(np.arange(batch.n_sentences), len(blocks))
            block = np.tile(blocks, batch.n_sentences)
        else:
            sentence, place = np.nonzero(wanted[blocks].T)
            block = blocks[place]
        n_words = batch.lengths[sentence]
        order = np.argsort(-n_words, kind="stable")
        # Whether a sum runs singly depends only on its sentence, not on the rest of the batch.
        n_long = int(np.count_nonzero((n_words + 1) << staircase.n_nodes > MOST_CELLS))
        for chosen, width in ((order[:n_long], 1), (order[n_long:], SIMD)):
            if len(chosen):
                first_label = structure.start_labels[block[chosen]] - START
                arrays = _padded(batch, sentence[chosen], first_label, width)
                yield Sums(staircase, width, block[chosen], sentence[chosen], arrays)


def _padded(batch: ScoreBatch, sentence: NDArray[np.int64], first_label: NDArray[np.int64], width: int) -> SumArrays:
    padding = (0, -len(sentence) % width)
    n_words, first = np.pad(batch.lengths[sentence], padding), np.pad(batch.first_word[sentence], padding)
    first[n_words == 0] = 0  # an empty sentence at the end begins after the last word, which is out of bounds
    is_done = np.zeros(len(first), dtype=np.bool_)
    return SumArrays(first, n_words, np.pad(first_label, padding), np.empty(len(first)), is_done)


@lru_cache(maxsize=64)
def _blocks_by_staircase(structure: Hypergraph) -> dict[Staircase, NDArray[np.int64]]:
    staircases = [block.staircase for block in structure.blocks]
    return {
        staircase: np.array([number for number, other in enumerate(staircases) if other == staircase])
        for staircase in dict.fromkeys(staircases)
    }

"""Distributions over independent blocks: the common part of those for hypergraphs and segments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.distribution import NO_SAMPLE, BatchDistribution, Marginals, check_at_least_one
from hyperspan.inference.outcomes import Outcome, combine, joined, score_of
from hyperspan.structures.structure import Structure


class LabelBlock(Protocol):
    """Consecutive labels that are independent of those of other blocks."""

    @property
    def type(self) -> str: ...
    @property
    def first_label(self) -> int: ...
    @property
    def n_labels(self) -> int: ...


class Blocks(Structure, Protocol):
    """A structure whose labels fall into independent blocks."""

    @property
    def blocks(self) -> Sequence[Any]:
        """Each a `LabelBlock`."""


AnyBlocks = TypeVar("AnyBlocks", bound=Blocks)

_NOTHING = Outcome(0.0, (), ())


class BlockDistribution(BatchDistribution[AnyBlocks]):
    """A distribution in which an outcome of a sentence consists of one outcome of each block, independently."""

    @abstractmethod
    def log_totals(self, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log totals, of shape (n_blocks, n_sentences), and set the marginals unless that array is empty."""

    @abstractmethod
    def ranked(self, sentence: int, k: int) -> Iterator[list[Outcome]]:
        """Yield the k best outcomes of each block."""

    @abstractmethod
    def drawn(self, sentence: int, n_samples: int, seed: int) -> Iterator[list[Outcome]]:
        """Yield samples of each block, whose scores are not used."""

    def finished(self, outcome: Outcome) -> Outcome:
        """Return an outcome of all blocks in its final form: sorted."""
        mentions = None if outcome.mentions is None else tuple(sorted(outcome.mentions))
        return replace(outcome, edges=tuple(sorted(outcome.edges)), mentions=mentions)

    @cached_property
    def block_types(self) -> tuple[str, ...]:
        return tuple(block.type for block in self.structure.blocks)

    def place(self, block: LabelBlock, sentence: int) -> tuple[slice, slice]:
        """Return the rows and columns of a sentence and a block."""
        words = slice(self.batch.first_word[sentence], self.batch.first_word[sentence + 1])
        return words, slice(block.first_label, block.first_label + block.n_labels)

    def block_scores(self, block: LabelBlock, sentence: int) -> NDArray[np.float64]:
        """Return the scores of a sentence and a block, as kernels need them."""
        return np.ascontiguousarray(self.batch.scores[self.place(block, sentence)])

    def log_partition(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self.log_totals(self.batch.scores[:0]).sum(axis=0)
        return total

    def marginals(self) -> Marginals:
        edges = np.zeros(self.batch.scores.shape)
        total = self.log_totals(edges).sum(axis=0)
        for sentence in np.flatnonzero(total == -np.inf):  # one impossible block makes all impossible
            edges[self.batch.first_word[sentence] : self.batch.first_word[sentence + 1]] = 0.0
        return Marginals(total, edges, np.zeros((0, 0)))

    def k_best(self, k: int) -> list[list[Outcome]]:
        check_at_least_one("k", k)
        found = []
        for sentence in range(self.batch.n_sentences):
            combined = [_NOTHING]
            for outcomes in self.ranked(sentence, k):
                combined = combine(combined, outcomes, k)
            found.append([self.finished(outcome) for outcome in combined])
        return found

    def sample(self, n_samples: int, seed: int = 0) -> list[list[Outcome]]:
        check_at_least_one("n_samples", n_samples)
        if not self.is_possible.all():
            raise StructureError(NO_SAMPLE)
        found = []
        for sentence in range(self.batch.n_sentences):
            scores, samples = self.batch.sentence(sentence).scores, [_NOTHING] * n_samples
            for outcomes in self.drawn(sentence, n_samples, seed):
                samples = list(map(joined, samples, outcomes))
            found.append([self.finished(replace(one, score=score_of(scores, one.edges))) for one in samples])
        return found

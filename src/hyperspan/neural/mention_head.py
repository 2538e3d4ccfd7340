"""A head that scores whole candidate mentions from the vectors of their words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hyperspan.mentions import Mention

HIDDEN = 256
"""The hidden sizes for a word and for a candidate."""

LENGTHS = 8
"""The number of steps for lengths of mentions and gaps; the last includes all greater lengths."""

_VIEWS = 5
_SMALL_SIZE = 16


class Candidates(NamedTuple):
    """Candidate mentions of many sentences, in arrays.

    Attributes
    ----------
    word, owner : int64 arrays of shape (n_member_words,)
        The words of candidates, numbered through all sentences, and the candidate of each, in increasing order.
    gap_word, gap_owner : int64 arrays
        The same for the words in their gaps.
    first, last : int64 arrays of shape (n_candidates,)
        Their first and last words.
    kinds : int64 array of shape (4, n_candidates)
        Type, number of parts, and lengths of words and gaps in steps.
    """

    word: NDArray[np.int64]
    owner: NDArray[np.int64]
    gap_word: NDArray[np.int64]
    gap_owner: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    kinds: NDArray[np.int64]

    @classmethod
    def of(
        cls, candidates: Sequence[Sequence[Mention]], first_word: NDArray[np.int64], types: Sequence[str]
    ) -> Candidates:
        """Convert the candidates of sentences to arrays, given the first word of each sentence."""
        type_id = {type: number for number, type in enumerate(types)}
        words, gaps, ends, kinds = list[list[int]](), list[list[int]](), list[tuple[int, int]](), list[list[int]]()
        for begin, here in zip(first_word.tolist(), candidates, strict=False):
            for mention in here:
                parts = mention.parts
                own = [begin + word for start, end in parts for word in range(start, end)]
                between = [begin + word for (_, end), (start, _) in pairwise(parts) for word in range(end, start)]
                words.append(own)
                gaps.append(between)
                ends.append((own[0], own[-1]))
                kinds.append(
                    [type_id[mention.type], min(len(parts), LENGTHS) - 1, _step(len(own)), _step(len(between))]
                )
        first, last = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return cls(*_flat(words), *_flat(gaps), first, last, np.array(kinds, dtype=np.int64).reshape(-1, 4).T)

    def __len__(self) -> int:
        return len(self.first)


def _step(length: int) -> int:
    """Return the step of a length: 0 to 4 as they are, then by doubling."""
    return length if length < 5 else min(LENGTHS - 1, 3 + (length - 1).bit_length() - 1)


def _flat(rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    flat = np.array([word for row in rows for word in row], dtype=np.int64)
    return flat, np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)


class MentionHead(nn.Module):
    """Computes the log-odds of every candidate.

    The inputs are its first and last word, the mean and the maximum over its words, the mean over its gap, its type,
    lengths and number of parts.

    Parameters
    ----------
    size : int
        The size of a word's vector.
    n_types : int
    dropout : float
    """

    def __init__(self, size: int, n_types: int, dropout: float) -> None:
        super().__init__()
        self.words = nn.Linear(size, HIDDEN)
        self.kinds = nn.ModuleList(
            [nn.Embedding(number, _SMALL_SIZE) for number in (n_types, LENGTHS, LENGTHS, LENGTHS)]
        )
        self.hidden = nn.Linear(_VIEWS * HIDDEN + 4 * _SMALL_SIZE, HIDDEN)
        self.log_odds = nn.Linear(HIDDEN, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: torch.Tensor, candidates: Candidates) -> torch.Tensor:
        """Return log-odds of shape (n_candidates,).

        Parameters
        ----------
        vectors : tensor of shape (n_words, size)
            All words of all sentences.
        candidates : Candidates
        """
        device, n_candidates = vectors.device, len(candidates)
        word, owner, gap_word, gap_owner, first, last, kinds = (
            torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in candidates
        )
        words = nn.functional.gelu(self.words(vectors))
        own = words.index_select(0, word)
        most = own.new_zeros((n_candidates, HIDDEN)).scatter_reduce(
            0, owner[:, None].expand_as(own), own, "amax", include_self=False
        )
        views = [
            words.index_select(0, first),
            words.index_select(0, last),
            _mean(own, owner, n_candidates),
            most,
            _mean(words.index_select(0, gap_word), gap_owner, n_candidates),
            *(table(numbers) for table, numbers in zip(self.kinds, kinds, strict=True)),
        ]
        hidden = nn.functional.gelu(self.hidden(self.dropout(torch.cat(views, dim=1))))
        log_odds: torch.Tensor = self.log_odds(self.dropout(hidden)).squeeze(1)
        return log_odds


def _mean(rows: torch.Tensor, owner: torch.Tensor, n_owners: int) -> torch.Tensor:
    """Return the mean of the rows of each owner; zeros if there are none."""
    total = rows.new_zeros((n_owners, rows.shape[1])).index_add(0, owner, rows)
    number: Any = torch.bincount(owner, minlength=n_owners).clamp(min=1)
    return total / number[:, None]

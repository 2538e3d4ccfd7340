"""Compute the scores of whole parts, gaps and ends from the vectors of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hyperspan.inference import Gold
from hyperspan.structures.segments import GAP, PART, Segments

SIZE = 192
"""The hidden size for a part or a gap."""

_AT_ONCE = 1_024
"""How many words are scored at a time outside training; this bounds memory."""

_UNSEEN = 0.5


class SegmentHead(nn.Module):
    """Scores parts from their first and last word and the mean over their words, gaps likewise, and ends.

    Parameters
    ----------
    size : int
        The size of a word's vector.
    structure : Segments
    base_score : float64 array of shape (n_labels,)
        Scores that are added and never learned: the distribution's prior.
    dropout : float
    """

    def __init__(self, size: int, structure: Any, base_score: NDArray[np.float64], dropout: float) -> None:
        super().__init__()
        self.structure: Segments = structure
        self.n_types, self.n_levels = len(structure.types), structure.max_components
        n_turns = self.n_types * (self.n_levels - 1)
        self.parts = _SpanScores(size, structure.longest_part, self.n_types * self.n_levels, dropout)
        self.gaps = _SpanScores(size, structure.longest_gap, n_turns, dropout)
        self.ends = nn.Sequential(nn.Linear(2 * size, SIZE), nn.GELU(), nn.Dropout(dropout), nn.Linear(SIZE, n_turns))
        self.bias = nn.Parameter(torch.zeros(structure.n_labels))
        self.transitions = nn.Parameter(torch.zeros(0, 0))
        self.register_buffer("base_score", torch.from_numpy(base_score).float(), persistent=False)

    def start_from(self, gold: Gold) -> None:
        """Initialise scores so that segments are about as frequent as in the gold data."""
        self.bias.data.copy_(torch.from_numpy(segment_biases(self.structure, gold)))

    def forward(self, vectors: torch.Tensor, first_word: torch.Tensor) -> torch.Tensor:
        """Return scores of shape (n_words, n_labels): see `EdgeHead.forward`."""
        if not len(vectors):
            return vectors.new_zeros((0, len(self.bias)))
        lengths = first_word[1:] - first_word[:-1]
        last = torch.repeat_interleave(first_word[1:] - 1, lengths)
        here = torch.arange(len(vectors), device=vectors.device)
        after = torch.minimum(here + 1, last)
        parts, gaps = self.parts.prepared(vectors), self.gaps.prepared(vectors)
        n_at_once = len(vectors) if self.training else _AT_ONCE
        rows = []
        for word, limit, following in zip(*(each.split(n_at_once) for each in (here, last, after)), strict=True):
            # A gap begins with the next word; the words around it are more informative than its own first and last.
            of_parts = self.parts(parts, word, word, 0, limit).unflatten(1, (self.n_types, self.n_levels, -1))
            of_gaps = self.gaps(gaps, word, following, 1, limit).unflatten(1, (self.n_types, self.n_levels - 1, -1))
            around = torch.cat([_rows(vectors, word), _rows(vectors, following)], dim=1)
            ends = self.ends(around).unflatten(1, (self.n_types, -1))
            rows.append(torch.cat([of_parts.flatten(2), of_gaps.flatten(2), ends], dim=2).flatten(1))
        return torch.cat(rows) + self.bias + self.base_score


class _SpanScores(nn.Module):
    """Scores spans of every length from each word: by their outer words, the product of these, and the mean inside."""

    def __init__(self, size: int, longest: int, n_scores: int, dropout: float) -> None:
        super().__init__()
        self.longest = longest
        self.words = nn.Linear(size, 5 * SIZE)
        self.length = nn.Embedding(longest, SIZE)
        self.scores = nn.Linear(SIZE, n_scores, bias=False)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.length.weight, std=0.02)
        nn.init.normal_(self.scores.weight, std=0.02)

    def prepared(self, vectors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the projections of every word: as the left and right end of a span, twice, and inside one."""
        left, right, left_factor, right_factor, inside = self.words(vectors).split(SIZE, dim=1)
        sums = torch.cat([inside.new_zeros((1, SIZE)), inside.cumsum(dim=0)])
        return left, right, left_factor, right_factor, sums

    def forward(
        self,
        prepared: tuple[torch.Tensor, ...],
        left_word: torch.Tensor,
        first: torch.Tensor,
        beyond: int,
        limit: torch.Tensor,
    ) -> torch.Tensor:
        """Return scores of shape (n_words, n_scores * longest): for each score, one for every length.

        Parameters
        ----------
        prepared : tuple of tensors
        left_word : int64 tensor of shape (n_words,)
            The left end of the spans: their first word or the word before.
        first : int64 tensor of shape (n_words,)
            The first word of the spans.
        beyond : int
            How far after its last word the right end of a span is.
        limit : int64 tensor of shape (n_words,)
            The last word of the sentence; scores of spans that end beyond it are meaningless.
        """
        left, right, left_factor, right_factor, sums = prepared
        lengths = torch.arange(1, self.longest + 1, device=first.device)
        end = torch.minimum(first[:, None] + lengths - 1, limit[:, None])
        right_word = torch.minimum(end + beyond, limit[:, None])
        mean = (_rows(sums, end + 1) - _rows(sums, first)[:, None]) / (end + 1 - first[:, None])[..., None]
        outer = _rows(left, left_word)[:, None] + _rows(right, right_word)
        hidden = nn.functional.gelu(outer + mean + self.length(lengths - 1))
        hidden = hidden + _rows(left_factor, left_word)[:, None] * _rows(right_factor, right_word)
        scores: torch.Tensor = self.scores(self.dropout(hidden)).transpose(1, 2).flatten(1)
        return scores


def _rows(vectors: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return ``vectors[index]``, with a gradient that is summed in a fixed order.

    On a CPU, the gradient of indexing with a tensor is summed in the order in which threads happen to come.
    """
    return nn.functional.embedding(index, vectors)


def segment_biases(structure: Segments, gold: Gold) -> NDArray[np.float64]:
    """Return the log frequency of each segment in the gold data where it is possible, of shape (n_labels,).

    First parts can begin at any word, gaps and ends follow a part of their level, and later parts follow a gap. The
    frequencies of what follows a part then sum to about one, so that parts are about as frequent as their scores say.
    """
    counts = np.bincount(gold.label, minlength=structure.n_labels).astype(np.float64)
    type_id, what, level, _ = structure.segment_of(np.arange(structure.n_labels))
    n_parts, n_gaps = (np.zeros((len(structure.types), structure.max_components)) for _ in range(2))
    for total, kind in ((n_parts, PART), (n_gaps, GAP)):
        np.add.at(total, (type_id[what == kind], level[what == kind]), counts[what == kind])
    n_words = max(1.0, float(gold.first_word[-1]))
    chances = np.where(what == PART, np.where(level == 0, n_words, n_gaps[type_id, level - 1]), n_parts[type_id, level])
    n_lengths = np.choose(what, [structure.longest_part, structure.longest_gap, 1])
    unseen = _UNSEEN / n_lengths  # all lengths that never occur count together as half an occurrence
    biases: NDArray[np.float64] = np.log((counts + unseen) / (chances + 1.0))
    return biases

"""Heads: compute the scores of a structure's labels from the vectors of words."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hyperspan.inference import Gold
from hyperspan.learning import label_biases
from hyperspan.neural.segment_head import SegmentHead
from hyperspan.structures import Structure

HIDDEN = 512
"""The size of a head's hidden layer."""

_SMALL = 0.02


class EdgeHead(nn.Module):
    """Scores the labels of a word from its vector and those of its neighbours.

    Parameters
    ----------
    size : int
        The size of a word's vector.
    structure : Structure
    base_score : float64 array of shape (n_labels,)
        Scores that are added and never learned: the distribution's prior.
    dropout : float
    """

    def __init__(self, size: int, structure: Structure, base_score: NDArray[np.float64], dropout: float) -> None:
        super().__init__()
        n_labels, self.structure = structure.n_labels, structure
        self.hidden = nn.Linear(3 * size, HIDDEN)
        self.scores = nn.Linear(HIDDEN, n_labels)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.scores.weight, std=_SMALL)
        nn.init.zeros_(self.scores.bias)
        n_transitions = n_labels if structure.has_transitions else 0
        self.transitions = nn.Parameter(torch.zeros(n_transitions, n_transitions))
        has_weights = torch.from_numpy(~structure.weightless_labels)
        self.register_buffer("has_weights", has_weights, persistent=False)
        self.register_buffer("base_score", torch.from_numpy(base_score).float(), persistent=False)

    def start_from(self, gold: Gold) -> None:
        """Initialise scores so that every choice is as frequent as in the gold data, unless there is a prior."""
        if not bool(self.base_score.any()):
            self.scores.bias.data.copy_(torch.from_numpy(label_biases(self.structure, gold)))

    def forward(self, vectors: torch.Tensor, first_word: torch.Tensor) -> torch.Tensor:
        """Return scores of shape (n_words, n_labels).

        Parameters
        ----------
        vectors : tensor of shape (n_words, size)
            All words of all sentences.
        first_word : int64 tensor of shape (n_sentences + 1,)
        """
        left, right = neighbours(vectors, first_word)
        hidden = nn.functional.gelu(self.hidden(torch.cat([left, vectors, right], dim=1)))
        scores = self.scores(self.dropout(hidden))
        return torch.where(self.has_weights, scores, torch.zeros_like(scores)) + self.base_score


def neighbours(vectors: torch.Tensor, first_word: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the vectors of the words before and after each word; zeros beyond a sentence."""
    if not len(vectors):
        return vectors, vectors
    starts, ends = first_word[:-1], first_word[1:] - 1
    is_filled = starts <= ends
    keeps = torch.ones((2, len(vectors), 1), dtype=vectors.dtype, device=vectors.device)
    keeps[0, starts[is_filled]] = 0.0
    keeps[1, ends[is_filled]] = 0.0
    return vectors.roll(1, dims=0) * keeps[0], vectors.roll(-1, dims=0) * keeps[1]


HEADS: dict[str, type[EdgeHead] | type[SegmentHead]] = {"segments": SegmentHead}
"""The heads for certain kinds of structures; all others use an `EdgeHead`."""


def head_for(
    structure: Structure, size: int, base_score: NDArray[np.float64], dropout: float
) -> EdgeHead | SegmentHead:
    """Return the head for a structure."""
    return HEADS.get(structure.kind, EdgeHead)(size, structure, base_score, dropout)

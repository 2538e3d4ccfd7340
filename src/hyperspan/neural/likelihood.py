"""The exact likelihood as a loss for torch: compiled kernels compute its value and gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.structures import Structure
from hyperspan.threads import run

MOST_PIECES = 8
"""The maximum number of pieces into which a batch is split for threads."""

PIECE_SCORES = 1 << 16
"""The minimum number of scores in a piece: handing over fewer to another thread takes longer than summing them."""


def in_pieces(batch: ScoreBatch) -> list[ScoreBatch]:
    """Split a batch for threads; the split depends only on the batch, so results do not depend on the threads."""
    return batch.cut(min(MOST_PIECES, max(1, batch.scores.size // PIECE_SCORES)))


class _ExactLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Any, transitions: Any, distribution: Any, structure: Any, gold: Any, n: int) -> Any:
        batch = ScoreBatch(_float64(scores), gold.first_word, _float64(transitions))
        pieces = in_pieces(batch)
        borders = np.cumsum([0, *(piece.n_sentences for piece in pieces)]).tolist()

        def work(number: int) -> Any:
            here = gold.sentences(borders[number], borders[number + 1])
            return negative_log_likelihood(distribution(structure, pieces[number]), here)

        losses = run(n, work, len(pieces))
        slope = np.concatenate([loss.scores for loss in losses])
        ctx.save_for_backward(
            torch.from_numpy(slope).to(scores), torch.from_numpy(sum(loss.transitions for loss in losses)).to(scores)
        )
        # A number on the CPU, so that reading it does not wait for a GPU.
        return torch.tensor(sum(loss.value for loss in losses), dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        by_scores, by_transitions = ctx.saved_tensors
        (times,) = outer
        return times * by_scores, times * by_transitions, None, None, None, None


def exact_likelihood(
    scores: torch.Tensor,
    transitions: torch.Tensor,
    distribution: type[BatchDistribution[Any]],
    structure: Structure,
    gold: Gold,
    n_threads: int = 1,
) -> torch.Tensor:
    """Return the negative log-likelihood of gold mentions, summed over the sentences, with its gradient.

    Parameters
    ----------
    scores : tensor of shape (n_words, n_labels)
    transitions : tensor of shape (n_labels, n_labels) or (0, 0)
    distribution : class of BatchDistribution
    structure : Structure
    gold : Gold
        The gold of the same sentences, from `encode_gold` for the distribution.
    n_threads : int
        The value does not depend on it.
    """
    loss: torch.Tensor = _ExactLikelihood.apply(scores, transitions, distribution, structure, gold, n_threads)
    return loss


def _float64(tensor: torch.Tensor) -> Any:
    return tensor.detach().to("cpu", torch.float64).numpy()

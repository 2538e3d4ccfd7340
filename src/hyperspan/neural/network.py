"""The network: an encoder, word vectors, and the heads on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from hyperspan.neural.mention_head import MentionHead
from hyperspan.neural.pieces import PieceBatch, Window, WordPieces

AT_ONCE = {"cpu": 512, "cuda": 8_192}
"""How many pieces, including padding, the encoder processes at a time outside training."""


class Network(nn.Module):
    """An encoder and a head that scores labels.

    Parameters
    ----------
    encoder : Module
        An encoder of transformers.
    head : Module
        Computes scores from the vectors of words.
    layers : int
        The vector of a piece is the mean over this many of the last layers.
    dropout : float
        The dropout rate on word vectors during training.
    """

    def __init__(self, encoder: nn.Module, head: nn.Module, *, layers: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.layers = layers
        self.dropout = nn.Dropout(dropout)
        self.mentions: MentionHead | None = None
        self.autocast: torch.dtype | None = None

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        device: torch.device = next(self.parameters()).device
        return device

    def vectors(self, batch: PieceBatch) -> torch.Tensor:
        """Return the vectors of the wanted words, float32 (n_words, size): the maximum over the pieces of each."""
        device = self.device
        ids, mask = torch.from_numpy(batch.ids).to(device), torch.from_numpy(batch.mask).to(device)
        with torch.autocast(device.type, self.autocast, enabled=self.autocast is not None):
            out = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=self.layers > 1)
        if self.layers > 1:
            hidden = torch.stack([layer.float() for layer in out.hidden_states[-self.layers :]]).mean(dim=0)
        else:
            hidden = out.last_hidden_state.float()
        place, word = torch.from_numpy(batch.place).to(device), torch.from_numpy(batch.word).to(device)
        pieces = hidden.reshape(-1, hidden.shape[-1]).index_select(0, place)
        if batch.n_words == len(batch.word):  # every word is one piece
            return self.dropout(pieces)
        words = pieces.new_zeros((batch.n_words, pieces.shape[1]))
        index = word[:, None].expand_as(pieces)
        return self.dropout(words.scatter_reduce(0, index, pieces, "amax", include_self=False))

    def vectors_of_all(self, pieces: WordPieces, windows: Sequence[Window]) -> torch.Tensor:
        """Return the vectors of the words of many windows, in order; windows of similar length are batched."""
        lengths = np.array([len(window.ids) for window in windows], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        n_words = np.array([len(window.n_pieces) for window in windows], dtype=np.int64)
        at_once = AT_ONCE[self.device.type]
        found, begin = [], 0
        while begin < len(order):
            end = begin + max(1, at_once // int(lengths[order[begin]]))
            found.append(self.vectors(pieces.batch([windows[number] for number in order[begin:end]])))
            begin = end
        if not found:
            return torch.zeros((0, 1), device=self.device)
        first = np.zeros(len(windows), dtype=np.int64)
        first[order] = np.cumsum(n_words[order]) - n_words[order]
        place = np.arange(n_words.sum()) + np.repeat(first - (np.cumsum(n_words) - n_words), n_words)
        return torch.cat(found).index_select(0, torch.from_numpy(place).to(self.device))

    def scores(self, vectors: torch.Tensor, first_word: Any) -> torch.Tensor:
        """Return the scores of labels, given the vectors of the words of sentences."""
        scores: torch.Tensor = self.head(vectors, torch.from_numpy(first_word).to(vectors.device))
        return scores


def first_words(lengths: Sequence[int]) -> Any:
    """Return where each sentence begins among the words of all, and where the last ends."""
    return np.cumsum([0, *lengths])

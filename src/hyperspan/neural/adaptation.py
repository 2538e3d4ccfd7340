"""Adapt an encoder to the text of a corpus before training, by masked language modelling of whole words."""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForMaskedLM, AutoTokenizer

from hyperspan.errors import LearningError, UsageError
from hyperspan.mentions import Sentence
from hyperspan.neural.devices import best_device, learning_precision
from hyperspan.neural.encoder import load_encoder, quiet
from hyperspan.neural.pieces import PieceBatch, WordPieces
from hyperspan.neural.progress import EpochRecord
from hyperspan.recognizer.settings import check_number

HIDDEN_SHARE = 0.2
"""The share of the words to predict."""

MASKED, REPLACED = 0.8, 0.1
"""The shares of these that are masked and that are replaced by a random piece; the rest stays unchanged."""

CLIP = 1.0
WARM_UP = 0.06
NOTHING = -100
"""The label that torch ignores, for pieces that are not predicted."""


def adapt(
    encoder: str,
    sentences: Sequence[Sentence],
    output: str | Path,
    *,
    epochs: int = 5,
    lr: float = 5e-5,
    batch_size: int = 32,
    device: str = "auto",
    seed: int = 0,
    on_step: Callable[[EpochRecord], bool | None] | None = None,
) -> float:
    """Continue the pretraining of an encoder on text, and write it to a folder for use with `Recognizer`.

    Parameters
    ----------
    encoder : str
        The folder or name of an encoder.
    sentences : sequence of Sentence
        Only their words are used; mentions are not needed.
    output : path
        The folder to write; it appears once it is complete.
    epochs, lr, batch_size, device, seed
        As in `Recognizer`.
    on_step : callable, optional
        Called with a record after every step; if it returns True, training stops and nothing is written.

    Returns
    -------
    float
        The loss of the last epoch, in nats per masked piece.

    Raises
    ------
    LearningError
        If there is no text, or training was stopped.
    UsageError
        If the encoder cannot predict masked words, the folder already exists, or a setting makes no sense.
    """
    target = Path(output)
    if target.exists():
        raise UsageError(f"{target} already exists; name another folder")
    filled = [sentence for sentence in sentences if len(sentence)]
    if not filled:
        raise LearningError("there is no text to learn from; expected sentences with words")
    for name, value in (("epochs", epochs), ("batch_size", batch_size)):
        check_number(name, value)
    if not 0.0 < lr < 1.0:
        raise UsageError(f"lr is {lr!r}; expected a number above 0 and below 1")
    on_device = best_device(device)
    torch.manual_seed(seed)
    _, pieces = load_encoder(encoder)
    try:
        with quiet():
            model = AutoModelForMaskedLM.from_pretrained(encoder, dtype=torch.float32, trust_remote_code=False)
            tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
    except Exception as error:
        raise UsageError(f"the encoder {encoder!r} cannot predict masked words: {type(error).__name__}") from error
    if tokenizer.mask_token_id is None:
        raise UsageError(f"the encoder {encoder!r} has no mask piece")
    learner = _Adaptation(model.to(on_device), pieces, filled, int(tokenizer.mask_token_id), seed)
    loss = math.nan
    for record in learner.run(epochs, lr, batch_size):
        loss = record.loss
        if on_step is not None and on_step(record):
            raise LearningError(f"training was stopped in epoch {record.iteration}; nothing was written")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder, quiet():
        made = Path(folder) / target.name
        model.base_model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        shutil.move(made, target)
    return loss


class _Adaptation:
    def __init__(self, model: Any, pieces: WordPieces, sentences: Sequence[Sentence], mask: int, seed: int) -> None:
        self.model = model
        self.pieces = pieces
        self.windows = list(chain.from_iterable(pieces.windows(sentences)))
        self.mask = mask
        self.seed = seed
        self.n_pieces = int(model.get_input_embeddings().weight.shape[0])

    def run(self, epochs: int, lr: float, batch_size: int) -> Iterator[EpochRecord]:
        """Yield a record after every step."""
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        device = next(self.model.parameters()).device
        autocast = learning_precision("auto", device)
        n_steps = math.ceil(len(self.windows) / batch_size)
        begin, done, n_all = time.perf_counter(), 0, epochs * n_steps
        self.model.train()
        for epoch in range(epochs):
            draw = np.random.default_rng((self.seed, epoch))
            total = 0.0
            order = draw.permutation(len(self.windows))
            for step in range(n_steps):
                chosen = [self.windows[number] for number in order[step * batch_size : (step + 1) * batch_size]]
                ids, wanted = hidden_words(self.pieces.batch(chosen), self.mask, self.n_pieces, draw)
                torch.manual_seed(int(np.random.SeedSequence((self.seed, done)).generate_state(1)[0]))
                share = min((done + 1) / max(1.0, WARM_UP * n_all), (n_all - done) / max(1.0, n_all))
                for group in optimizer.param_groups:
                    group["lr"] = lr * min(1.0, share)
                with torch.autocast(device.type, autocast, enabled=autocast is not None):
                    loss = self.model(
                        **{name: each.to(device) for name, each in ids.items()}, labels=wanted.to(device)
                    ).loss
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
                optimizer.step()
                done += 1
                total += float(loss.item())
                seconds = time.perf_counter() - begin
                yield EpochRecord(
                    iteration=epoch + 1,
                    n_iterations=epochs,
                    share=(step + 1) / n_steps,
                    loss=total / (step + 1),
                    seconds=seconds,
                    seconds_left=seconds / done * (n_all - done),
                    is_complete=step + 1 == n_steps,
                )


def hidden_words(
    batch: PieceBatch, mask: int, n_pieces: int, draw: np.random.Generator
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Mask whole words: return the encoder's input, and the pieces to predict.

    Parameters
    ----------
    batch : PieceBatch
    mask : int
        The mask piece.
    n_pieces : int
        The size of the vocabulary.
    draw : numpy Generator
    """
    chance = draw.random(batch.n_words)
    is_chosen = chance < HIDDEN_SHARE
    if not is_chosen.any() and batch.n_words:
        is_chosen[int(chance.argmin())] = True
    how = draw.random(batch.n_words)
    ids: NDArray[np.int64] = batch.ids.copy()
    flat, wanted = ids.reshape(-1), np.full(batch.ids.size, NOTHING, dtype=np.int64)
    place, word = batch.place[is_chosen[batch.word]], batch.word[is_chosen[batch.word]]
    wanted[place] = flat[place]
    others = draw.integers(0, n_pieces, len(place))
    flat[place] = np.where(how[word] < MASKED, mask, np.where(how[word] < MASKED + REPLACED, others, flat[place]))
    read = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(batch.mask)}
    return read, torch.from_numpy(wanted.reshape(batch.ids.shape))

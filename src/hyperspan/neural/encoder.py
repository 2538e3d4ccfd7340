"""Load pretrained encoders from a folder or by name, and restore them from a model file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from hyperspan.errors import ModelError, UsageError
from hyperspan.neural.pieces import LONGEST_WINDOW, WordPieces

_SPARE_POSITIONS = 2
"""Some encoders number positions from two, so they read this many pieces fewer than they have positions."""


def load_encoder(name: str) -> tuple[nn.Module, WordPieces]:
    """Load an encoder and its tokenizer from a folder or, if it can be downloaded, by name.

    Raises
    ------
    UsageError
        If there is no such encoder, or its tokenizer cannot be written to a model file.
    """
    if not isinstance(name, (str, Path)) or not str(name):
        raise UsageError(f"encoder is {name!r}; expected a folder, or the name of a pretrained encoder")
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(str(name), trust_remote_code=False)
            model = AutoModel.from_pretrained(str(name), dtype=torch.float32, trust_remote_code=False)
    except Exception as error:  # any error of the library means that the folder or name is wrong
        raise UsageError(
            f"the encoder {str(name)!r} cannot be loaded ({type(error).__name__}: {_first_line(error)}). Expected a "
            "folder with config.json, weights and tokenizer.json, or a name that can be downloaded from here"
        ) from error
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UsageError(f"the encoder {str(name)!r} has no fast tokenizer; expected a tokenizer.json beside it")
    padding = tokenizer.pad_token_id
    unknown = next(
        (
            each
            for each in (tokenizer.unk_token_id, tokenizer.mask_token_id, tokenizer.sep_token_id)
            if each is not None
        ),
        padding or 0,
    )
    longest = min(_positions(model.config) - _SPARE_POSITIONS, LONGEST_WINDOW)
    pieces = WordPieces(Tokenizer.from_str(backend.to_str()), longest, unknown, 0 if padding is None else padding)
    return _bare(model), pieces


def encoder_of_config(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> nn.Module:
    """Return an encoder with uninitialised weights, given its configuration and the required shapes of its weights.

    The weights come from the model file. Nothing is allocated unless the shapes fit.

    Raises
    ------
    ModelError
        If there is no such encoder, or its weights have other shapes.
    """
    try:
        with quiet(), torch.device("meta"):
            made = AutoConfig.for_model(**{name: value for name, value in config.items() if name != "auto_map"})
            if not 0 < int(getattr(made, "num_hidden_layers", 1)) <= _MOST_LAYERS:
                raise ModelError(f"its encoder has {made.num_hidden_layers} layers; expected 1 to {_MOST_LAYERS}")
            model = _bare(AutoModel.from_config(made, trust_remote_code=False))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"its encoder cannot be made: {type(error).__name__}: {_first_line(error)}") from None
    wanted = {name: tuple(each.shape) for name, each in tensors_of(model).items()}
    if wanted != dict(shapes):
        wrong = sorted(set(wanted.items()) ^ set(shapes.items()))[0][0]
        raise ModelError(f"its encoder's weights {wrong!r} do not fit its configuration")
    return model.to_empty(device="cpu")


_MOST_LAYERS = 500


def tensors_of(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return all weights and buffers of a module by name, including buffers that torch itself does not save."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def size_of(model: nn.Module) -> int:
    """Return the size of an encoder's vectors."""
    return int(model.config.hidden_size)


def _positions(config: Any) -> int:
    n_positions = getattr(config, "max_position_embeddings", None)
    if isinstance(n_positions, int) and n_positions > _SPARE_POSITIONS:
        return n_positions
    return LONGEST_WINDOW + _SPARE_POSITIONS


def _bare(model: nn.Module) -> nn.Module:
    """Remove the pooling layer: it would be saved but never used."""
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library's progress bars and advice."""
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(before)
        transformers_logging.enable_progress_bar()

"""The options of ``hyperspan train`` that only apply with an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperspan.errors import UsageError

PANEL = "With a pretrained encoder"


def _option(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel=PANEL, **more)


EncoderOption = Annotated[
    str | None, _option("--encoder", "A pretrained encoder: its folder, or its name if it can be downloaded.")
]
DeviceOption = Annotated[str, _option("--device", "The device for training.", metavar="auto|cpu|cuda")]
EpochsOption = Annotated[int, _option("--epochs", "The maximum number of passes over the training data.", min=1)]
BatchSizeOption = Annotated[int, _option("--batch-size", "The number of sentences per step.", min=1)]
EncoderLrOption = Annotated[float, _option("--encoder-lr", "The peak learning rate of the encoder.")]
HeadLrOption = Annotated[float, _option("--head-lr", "The peak learning rate of the layers on top of it.")]
DropoutOption = Annotated[float, _option("--dropout", "The dropout rate on word vectors.")]
LayersOption = Annotated[
    int, _option("--layers", "The vector of a piece of a word is the mean over this many of the last layers.", min=1)
]
ContextOption = Annotated[
    int, _option("--context", "How many words of the neighbouring sentences the encoder also sees.", min=0)
]
PatienceOption = Annotated[int, _option("--patience", "Stop after this many epochs without improvement.", min=1)]
PrecisionOption = Annotated[
    str, _option("--precision", "The precision of the encoder during training.", metavar="auto|float32|bfloat16")
]
FreezeOption = Annotated[bool, _option("--freeze", "Keep the encoder fixed, and train only the layers on top of it.")]
SavePrecisionOption = Annotated[
    str, _option("--save-precision", "The precision of the network in the model file.", metavar="float32|float16")
]


def check_encoder_options(encoder: str | None, options: Mapping[str, Any], of_features: Mapping[str, Any]) -> None:
    """Raise an error for options that would have no effect: those of an encoder without one, and those of features.

    An encoder that looks like a path must exist.
    """
    from hyperspan.recognizer import Recognizer

    known = Recognizer().get_params()
    for name, value in (options if encoder is None else of_features).items():
        if value != known[name]:
            option = f"--{name.replace('_', '-')}"
            if encoder is None:
                raise UsageError(f"{option} needs --encoder: it has no effect with features")
            raise UsageError(f"{option} has no effect with --encoder; leave one of them out")
    looks_like_path = encoder is not None and (encoder.startswith((".", "/", "~")) or "\\" in encoder)
    if encoder is not None and looks_like_path and not Path(encoder).is_dir():
        raise UsageError(f"there is no folder {encoder!r}; expected an encoder with config.json and tokenizer.json")

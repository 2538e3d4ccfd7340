"""The options of ``hyperspan train`` that mean something only where there is an encoder."""

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
    str | None, _option("--encoder", "A pretrained encoder: its folder, or its name where it can be downloaded.")
]
DeviceOption = Annotated[str, _option("--device", "Where it learns.", metavar="auto|cpu|cuda")]
EpochsOption = Annotated[int, _option("--epochs", "Go through the training data at most so often.", min=1)]
BatchSizeOption = Annotated[int, _option("--batch-size", "Sentences of a step.", min=1)]
EncoderLrOption = Annotated[float, _option("--encoder-lr", "The highest learning rate of the encoder.")]
HeadLrOption = Annotated[float, _option("--head-lr", "The highest learning rate of what stands on it.")]
DropoutOption = Annotated[float, _option("--dropout", "The share of a word's vector that is left out.")]
LayersOption = Annotated[int, _option("--layers", "Words are the mean over so many of the last layers.", min=1)]
ContextOption = Annotated[
    int, _option("--context", "How many words of the neighbouring sentences the encoder also sees.", min=0)
]
PatienceOption = Annotated[int, _option("--patience", "Stop after so many epochs that bring nothing.", min=1)]
PrecisionOption = Annotated[
    str, _option("--precision", "In what the encoder computes while it learns.", metavar="auto|float32|bfloat16")
]
FreezeOption = Annotated[bool, _option("--freeze", "Leave the encoder as it is: learn only what stands on it.")]
SavePrecisionOption = Annotated[
    str, _option("--save-precision", "In what the model file holds it.", metavar="float32|float16")
]


def check_encoder_options(encoder: str | None, options: Mapping[str, Any]) -> None:
    """Refuse options of an encoder where there is none: they would do nothing.

    An encoder that looks like a path must be there.
    """
    if encoder is None:
        from hyperspan.recognizer import Recognizer

        known = Recognizer().get_params()
        for name, value in options.items():
            if value != known[name]:
                raise UsageError(f"--{name.replace('_', '-')} needs --encoder: features have no such thing")
    elif (encoder.startswith((".", "/", "~")) or "\\" in encoder) and not Path(encoder).is_dir():
        raise UsageError(f"there is no folder {encoder!r}; expected an encoder with config.json and tokenizer.json")

"""Choose the device of a network, and its precision in training."""

from __future__ import annotations

import torch

from hyperspan.errors import UsageError
from hyperspan.recognizer.settings import CHOICES


def best_device(name: str) -> torch.device:
    """Return a device by name; ``auto`` is a GPU if there is one.

    Raises
    ------
    UsageError
        If there is no such device.
    """
    if name not in CHOICES["device"]:
        raise UsageError(f"device is {name!r}; expected one of {', '.join(CHOICES['device'])}")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("device is 'cuda', but torch sees no GPU here; choose 'cpu', or 'auto'")
    return torch.device(name)


def learning_precision(name: str, device: torch.device) -> torch.dtype | None:
    """Return the precision of the encoder in training; None is float32 throughout.

    ``auto`` is bfloat16 on a GPU that supports it. Scores and sums are always in higher precision.
    """
    if name == "auto":
        name = "bfloat16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    return torch.bfloat16 if name == "bfloat16" else None

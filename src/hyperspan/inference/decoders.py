"""Decoders: from a distribution to mentions, by name.

A decoder takes a batched distribution and a threshold, and returns the mentions of each sentence with probabilities.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperspan.errors import UsageError
from hyperspan.inference.distribution import BatchDistribution
from hyperspan.structures.decoding import Decoded
from hyperspan.structures.structure import Structure

Decoder = Callable[[BatchDistribution[Structure], float], list[Decoded]]
"""Returns the mentions of each sentence, from a distribution and a threshold."""


def probable(distribution: BatchDistribution[Structure], threshold: float) -> list[Decoded]:
    """Return every mention that is at least as probable as the threshold."""
    return distribution.probable(threshold)


def enough(distribution: BatchDistribution[Structure], threshold: float) -> list[Decoded]:
    """Return as few mentions as explain the best outcome; the threshold is ignored."""
    return distribution.read_best("enough")


def everything(distribution: BatchDistribution[Structure], threshold: float) -> list[Decoded]:
    """Return every mention that the best outcome can mean; the threshold is ignored."""
    return distribution.read_best("all")


DECODERS: dict[str, Decoder] = {"probable": probable, "enough": enough, "all": everything}
"""Every decoder by its name; the first is the default."""


def register_decoder(name: str, decoder: Decoder) -> None:
    """Register a decoder for the recognizer, the command line, the server and the experiments."""
    DECODERS[name] = decoder


def check_decoder(name: str) -> Decoder:
    """Return a decoder by name.

    Raises
    ------
    UsageError
        If there is no decoder of that name.
    """
    if name not in DECODERS:
        raise UsageError(f"decode is {name!r}; expected one of {', '.join(DECODERS)}")
    return DECODERS[name]

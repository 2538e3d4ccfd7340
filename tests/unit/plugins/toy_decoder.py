"""A decoder of one's own in one file: of the mentions that explain the best outcome, those that are probable enough."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hyperspan.inference import BatchDistribution, register_decoder
from hyperspan.structures import Decoded


def confident(distribution: BatchDistribution[Any], threshold: float) -> list[Decoded]:
    return [
        replace(decoded, mentions=tuple(mention for mention in decoded.mentions if (mention.prob or 0.0) >= threshold))
        for decoded in distribution.read_best("enough")
    ]


def register() -> None:
    register_decoder("confident", confident)

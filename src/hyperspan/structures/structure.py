"""What all structures have in common: types, labels, and what encoding gives back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention

MAX_COMPONENTS = 5
"""The most parts a mention can have in any structure; the sweeps keep 2^(2K-1) states."""

Encoding = tuple[tuple[int, int], ...]
"""The edges (or tags) of a sentence as ``(word, label)``, in order, each once."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoding, and the mentions that the structure cannot write."""

    encoding: Encoding
    left_out: tuple[Mention, ...] = ()


def check_types(types: Sequence[str]) -> None:
    """Refuse types that cannot be told apart, or none at all."""
    if len(set(types)) != len(types) or not types:
        raise StructureError(f"the types are {types!r}; expected at least one, and each once")


def check_max_components(max_components: int) -> None:
    """Refuse a number of parts that the sweeps cannot hold."""
    if not 1 <= max_components <= MAX_COMPONENTS:
        raise StructureError(f"max_components is {max_components}; expected a number from 1 to {MAX_COMPONENTS}")


def check_type(mention: Mention, types: Collection[str]) -> None:
    """Refuse a mention of an unknown type."""
    if mention.type not in types:
        raise StructureError(
            f"type {mention.type!r} is not in this structure, which knows {', '.join(map(repr, types))}"
        )


def check_end(mention: Mention, n_words: int) -> None:
    """Refuse a mention that ends beyond the sentence."""
    if mention.end > n_words:
        raise StructureError(f"{mention} ends beyond the {n_words} words of the sentence")

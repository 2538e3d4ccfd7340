"""What every structure can be asked: its labels, how mentions become edges, and how edges are read as mentions.

A structure is all that says how mentions are written. A new one implements `Structure`, is registered in
`hyperspan.structures.STRUCTURES`, and says by its ``kind`` which distributions sum over its outcomes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading

MAX_COMPONENTS = 5
"""The most parts a mention can have in any structure; the sweeps keep 2^(2K-1) states."""

Encoding = tuple[tuple[int, int], ...]
"""The edges (or tags) of a sentence as ``(word, label)``, in order, each once; of ``segments`` a tree, depth first."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoding, and the mentions that the structure cannot write."""

    encoding: Encoding
    left_out: tuple[Mention, ...] = ()


class Labels(Protocol):
    """Labels that words can have weights for: those of a structure, or others that its scores are made of."""

    @property
    def n_labels(self) -> int:
        """How many labels there are: the width of a score array."""

    @property
    def has_transitions(self) -> bool:
        """Whether a label after another has a score of its own."""

    @property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """Which labels need no weights, because another label of the same choice is scored against them."""

    @property
    def start_labels(self) -> NDArray[np.int64]:
        """The labels that start a mention, where a label does just that."""

    def label_name(self, label: int) -> str:
        """Name a label in words."""


class Structure(Labels, Protocol):
    """How mentions are written as edges or tags."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def kind(self) -> str:
        """What an outcome is made of, ``staircase``, ``chain`` or ``segments``: it decides on the distributions."""

    @property
    def types(self) -> tuple[str, ...]:
        """The types of mentions, in the order of their labels."""

    @property
    def max_components(self) -> int:
        """The most parts a mention can have."""

    @property
    def sizes(self) -> dict[str, int]:
        """Whatever else `hyperspan.structures.structure` must be told to make it again, by name."""

    @property
    def choices(self) -> Sequence[NDArray[np.int64]]:
        """The sets of labels that exclude one another at a word: all tags, or the edges of a node."""

    def labels_of(self, type: str) -> NDArray[np.bool_]:
        """Say which labels have to do with a type."""

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions, and the mentions that cannot be written."""

    def decode(
        self, encoding: Encoding, reading: Reading, *, limit: int = MOST_MENTIONS, any_number: bool = False
    ) -> Decoded:
        """Return the mentions that an encoding is read as.

        Parameters
        ----------
        encoding : tuple of (word, label)
            As `encode` makes it.
        reading : {"all", "enough"}
            Every mention it can mean, or as few as explain it.
        limit : int
            At most so many mentions are given back.
        any_number : bool
            Under ``all``, combine any number of components of tags, instead of at most ``max_components``.

        Raises
        ------
        StructureError
            If the encoding does not belong to the structure.
        """

    def clamp(self, scores: NDArray[np.float64], mention: Mention, best: Encoding) -> NDArray[np.float64]:
        """Return the scores of one sentence with -inf for edges that it cannot have if it has a mention.

        ``best`` is the best encoding, for structures in which a mention can be written in several ways.
        """


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

"""The interface of structures: their labels, and how to encode mentions as edges and decode edges to mentions.

A structure alone defines how mentions are encoded. A new structure implements `Structure` and is registered in
`hyperspan.structures.STRUCTURES`; its ``kind`` determines which distributions apply to it.
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
"""The most parts a mention can have in any structure; the forward pass keeps 2^(2K-1) states."""

Encoding = tuple[tuple[int, int], ...]
"""The edges (or tags) of a sentence as ``(word, label)``, sorted, each once; for ``segments`` a tree, depth first."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoding, and the mentions that the structure cannot encode."""

    encoding: Encoding
    left_out: tuple[Mention, ...] = ()


class Labels(Protocol):
    """Labels with weights at words: those of a structure, or others from which its scores are computed."""

    @property
    def n_labels(self) -> int:
        """How many labels there are: the width of a score array."""

    @property
    def has_transitions(self) -> bool:
        """Whether pairs of consecutive labels have scores of their own."""

    @property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """Which labels need no weights, because the other labels of the same choice are scored relative to them."""

    @property
    def start_labels(self) -> NDArray[np.int64]:
        """The labels that mean only that a mention starts, if there are any."""

    def label_name(self, label: int) -> str:
        """Name a label in words."""


class Structure(Labels, Protocol):
    """How mentions are encoded as edges or tags."""

    @property
    def name(self) -> str:
        """The short name."""

    @property
    def kind(self) -> str:
        """What outcomes consist of (``staircase``, ``chain`` or ``segments``), which determines the distributions."""

    @property
    def types(self) -> tuple[str, ...]:
        """The types of mentions, in the order of their labels."""

    @property
    def max_components(self) -> int:
        """The most parts a mention can have."""

    @property
    def sizes(self) -> dict[str, int]:
        """The other arguments that `hyperspan.structures.structure` needs to make it again, by name."""

    @property
    def choices(self) -> Sequence[NDArray[np.int64]]:
        """The sets of labels that exclude one another at a word: all tags, or the edges of a node."""

    def labels_of(self, type: str) -> NDArray[np.bool_]:
        """Return which labels concern a type, as a mask."""

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions, and the mentions that cannot be encoded."""

    def decode(
        self, encoding: Encoding, reading: Reading, *, limit: int = MOST_MENTIONS, any_number: bool = False
    ) -> Decoded:
        """Return the mentions that an encoding is read as.

        Parameters
        ----------
        encoding : tuple of (word, label)
            As `encode` makes it.
        reading : {"all", "enough"}
            Every mention that it can mean, or as few as explain it.
        limit : int
            The maximum number of mentions to return.
        any_number : bool
            Under ``all``, combine any number of components of tags, instead of at most ``max_components``.

        Raises
        ------
        StructureError
            If the encoding does not belong to the structure.
        """

    def clamp(self, scores: NDArray[np.float64], mention: Mention, best: Encoding) -> NDArray[np.float64]:
        """Return the scores of one sentence with -inf for edges that cannot occur together with a mention.

        ``best`` is the best encoding, for structures in which a mention can be encoded in several ways.
        """


def check_types(types: Sequence[str]) -> None:
    """Raise an error if types are missing or repeated."""
    if len(set(types)) != len(types) or not types:
        raise StructureError(f"the types are {types!r}; expected at least one, and each once")


def check_max_components(max_components: int) -> None:
    """Raise an error if the number of parts is too small or too large for inference."""
    if not 1 <= max_components <= MAX_COMPONENTS:
        raise StructureError(f"max_components is {max_components}; expected a number from 1 to {MAX_COMPONENTS}")


def check_type(mention: Mention, types: Collection[str]) -> None:
    """Raise an error if a mention's type is unknown."""
    if mention.type not in types:
        raise StructureError(
            f"type {mention.type!r} is not in this structure, which knows {', '.join(map(repr, types))}"
        )


def check_end(mention: Mention, n_words: int) -> None:
    """Raise an error if a mention ends beyond the sentence."""
    if mention.end > n_words:
        raise StructureError(f"{mention} ends beyond the {n_words} words of the sentence")

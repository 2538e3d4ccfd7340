"""The linear-chain structure: one tag per word, after Tang et al. 2013.

A word covered by two or more mentions is *head* (BH, IH). A word covered by exactly one mention is *body* (BD, ID) if
that mention has several parts, and otherwise *contiguous* (B, I). Tags do not say which body belongs to which head, so
mentions may be lost; see `hyperspan.structures.linear_decoding`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading, check_limit
from hyperspan.structures.linear_decoding import all_readings, enough_readings
from hyperspan.structures.structure import (
    Encoded,
    Encoding,
    check_end,
    check_max_components,
    check_type,
    check_types,
)

Kind = Literal["contiguous", "body", "head"]

_FORMS: tuple[tuple[str, Kind, bool], ...] = (
    ("B", "contiguous", True),
    ("I", "contiguous", False),
    ("BD", "body", True),
    ("ID", "body", False),
    ("BH", "head", True),
    ("IH", "head", False),
)
_OFFSET: dict[tuple[Kind, bool], int] = {
    (kind, begins): offset for offset, (_, kind, begins) in enumerate(_FORMS, start=1)
}


@dataclass(frozen=True, slots=True)
class TagMeaning:
    """What a tag says about its word: the type, the kind of component, and whether the component begins there."""

    type: str
    kind: Kind
    begins: bool


@dataclass(frozen=True)
class Linear:
    """The tags O B I BD ID BH IH. With several types, every tag but O carries its type: ``BD-Finding``.

    Parameters
    ----------
    types : tuple of str
        The types of mentions, in the order of their tags.
    max_components : int
        Mentions with more parts are left out, and decoding combines at most this many components.
    name : str
        The short name.

    Examples
    --------
    >>> structure = Linear(("Finding",))
    >>> tokens = "Infarctions either water shed or embolic".split()
    >>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
    >>> encoded = structure.encode(mentions, len(tokens))
    >>> " ".join(f"{tokens[word]}/{structure.label_name(label)}" for word, label in encoded.encoding)
    'Infarctions/BH either/O water/BD shed/ID or/O embolic/BD'
    """

    types: tuple[str, ...]
    max_components: int = 3
    name: str = "linear"

    kind = "chain"
    has_transitions = True

    def __post_init__(self) -> None:
        check_types(self.types)
        check_max_components(self.max_components)

    @property
    def sizes(self) -> dict[str, int]:
        """Empty: there are no sizes."""
        return {}

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Every tag, O first, then those of each type."""
        suffixes = [""] if len(self.types) == 1 else [f"-{type}" for type in self.types]
        return ("O", *(f"{form}{suffix}" for suffix in suffixes for form, _, _ in _FORMS))

    @cached_property
    def meanings(self) -> tuple[TagMeaning | None, ...]:
        """What each tag says; None for O."""
        return (None, *(TagMeaning(type, kind, begins) for type in self.types for _, kind, begins in _FORMS))

    @property
    def n_labels(self) -> int:
        """How many tags there are: the width of a score array."""
        return len(self.types) * len(_FORMS) + 1

    def label_name(self, label: int) -> str:
        """Return a tag's name.

        Raises
        ------
        StructureError
            If there is no such label.
        """
        if not 0 <= label < self.n_labels:
            raise StructureError(f"label {label} is not one of the {self.n_labels} of {self.name!r}")
        return self.tags[label]

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the tags of a set of mentions.

        Mentions with too many parts are left out, and so are overlaps between different types, which tags cannot
        encode: mentions are taken longest first, then leftmost, then by type name, and one that shares a word with an
        earlier mention of another type is left out. The result includes the mentions left out.
        """
        covering: list[list[Mention]] = [[] for _ in range(n_words)]
        left_out = []
        for mention in sorted(set(mentions), key=_longest_first):
            check_type(mention, self.types)
            check_end(mention, n_words)
            blocked = any(covering[word] and covering[word][0].type != mention.type for word in mention.words())
            if blocked or len(mention.parts) > self.max_components:
                left_out.append(mention)
                continue
            for word in mention.words():
                covering[word].append(mention)
        labels = []
        before: Collection[Mention] = ()
        for word, here in enumerate(covering):
            labels.append((word, self._label(here, before)))
            before = frozenset(here)  # only asked for members, of which a hostile sentence has thousands
        return Encoded(tuple(labels), tuple(sorted(left_out)))

    def decode(
        self, encoding: Encoding, reading: Reading, *, limit: int = MOST_MENTIONS, any_number: bool = False
    ) -> Decoded:
        """Return the mentions that tags are read as. See `hyperspan.structures.linear_decoding`."""
        check_limit(limit)
        if reading == "enough":
            return Decoded.first(enough_readings(self, encoding), limit)
        return Decoded.first(all_readings(self, encoding, None if any_number else self.max_components), limit)

    def clamp(self, scores: NDArray[np.float64], mention: Mention, best: Encoding) -> NDArray[np.float64]:
        """Return scores with -inf for all tags but the best one at each word of a mention."""
        clamped, tags = scores.copy(), dict(best)
        for word in mention.words():
            clamped[word, np.arange(scores.shape[1]) != tags[word]] = -np.inf
        return clamped

    @cached_property
    def choices(self) -> tuple[NDArray[np.int64], ...]:
        """All tags exclude one another."""
        return (np.arange(self.n_labels),)

    @cached_property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """None: all tags have weights."""
        return np.zeros(self.n_labels, dtype=np.bool_)

    @cached_property
    def start_labels(self) -> NDArray[np.int64]:
        """None: no tag means only that a mention starts."""
        return np.empty(0, dtype=np.int64)

    def labels_of(self, type: str) -> NDArray[np.bool_]:
        """All labels: tags exclude one another whatever their type, so all of them concern every type."""
        return np.ones(self.n_labels, dtype=np.bool_)

    def _label(self, here: Sequence[Mention], before: Collection[Mention]) -> int:
        """Return the label of a word, given the mentions that cover it and those that cover the word before."""
        if not here:
            return 0
        kind: Kind
        if len(here) > 1:
            kind = "head"
            begins = sum(mention in before for mention in here) < 2
        else:
            kind = "body" if here[0].is_discontiguous else "contiguous"
            begins = here[0] not in before
        return self.types.index(here[0].type) * len(_FORMS) + _OFFSET[kind, begins]


def _longest_first(mention: Mention) -> tuple[int, int, str, tuple[tuple[int, int], ...]]:
    return -mention.n_words, mention.start, mention.type, mention.parts


def linear_structure(types: Sequence[str], max_components: int = 3) -> Linear:
    """Return the linear chain."""
    return Linear(tuple(types), max_components)

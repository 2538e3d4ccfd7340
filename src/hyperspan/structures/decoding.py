"""What decoding gives back: the mentions that an encoding is read as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention, in_order

MOST_MENTIONS = 1_000
"""How many mentions of a sentence are given back unless the caller says otherwise; more sets ``truncated``."""

Reading = Literal["all", "enough"]
"""Every mention that an encoding can mean, or as few as explain it."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The mentions read from an encoding.

    Parameters
    ----------
    mentions : tuple of Mention
        In order.
    truncated : bool
        There were more than the limit, and some are missing.
    is_exact : bool
        The rule was carried out to the end. False only under ``enough``, for encodings so tangled that the best of the
        smallest covers was not found within the budget of `hyperspan.structures.cover`; what is given back is a
        smallest cover all the same.
    """

    mentions: tuple[Mention, ...]
    truncated: bool = False
    is_exact: bool = True

    @classmethod
    def ordered(cls, mentions: Iterable[Mention], limit: int = MOST_MENTIONS) -> Decoded:
        """Return mentions put in order, the first so many of them."""
        found = in_order(mentions)
        return cls(found[:limit], len(found) > limit)

    @classmethod
    def first(cls, mentions: Iterable[Mention], limit: int) -> Decoded:
        """Return the first so many mentions, put in order."""
        found = list(islice(mentions, limit + 1))
        return cls(in_order(found[:limit]), len(found) > limit)


def check_limit(limit: int) -> None:
    """Refuse a limit that leaves no room."""
    if limit < 1:
        raise StructureError(f"limit is {limit}; expected at least 1 mention")

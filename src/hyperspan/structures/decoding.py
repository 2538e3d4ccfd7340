"""The result of decoding: the mentions that an encoding is read as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention, in_order

MOST_MENTIONS = 1_000
"""The default limit on the mentions of a sentence; if there are more, ``truncated`` is set."""

Reading = Literal["all", "enough"]
"""Every mention that an encoding can mean, or as few mentions as explain it."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The mentions read from an encoding.

    Parameters
    ----------
    mentions : tuple of Mention
        In order.
    truncated : bool
        Whether there were more than the limit, so that some are missing.
    is_exact : bool
        Whether the result is exact. False only under ``enough``, for encodings so complex that the search did not find
        the best of the smallest covers within the budget of `hyperspan.structures.cover`; the result is still a
        smallest cover.
    """

    mentions: tuple[Mention, ...]
    truncated: bool = False
    is_exact: bool = True

    @classmethod
    def ordered(cls, mentions: Iterable[Mention], limit: int = MOST_MENTIONS) -> Decoded:
        """Sort mentions and return the first ``limit`` of them."""
        found = in_order(mentions)
        return cls(found[:limit], len(found) > limit)

    @classmethod
    def first(cls, mentions: Iterable[Mention], limit: int) -> Decoded:
        """Return the first ``limit`` mentions, sorted."""
        found = list(islice(mentions, limit + 1))
        return cls(in_order(found[:limit]), len(found) > limit)


def check_limit(limit: int) -> None:
    """Raise an error if a limit is below 1."""
    if limit < 1:
        raise StructureError(f"limit is {limit}; expected at least 1 mention")

"""Classes of mentions: by their parts, their gaps, and how they overlap others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperspan.diagnostics import LostMention
from hyperspan.evaluation.matching import neighbours
from hyperspan.mentions import Mention

PARTS = ("1", "2", "3", "4+")
"""Classes of mentions by their number of parts."""

GAPS = ("0", "1", "2", "3-5", "6+")
"""Classes of mentions by the number of words between their parts."""

OVERLAPS = ("none", "nested", "crossing", "shared part")
"""Classes of mentions by how they overlap others."""

_FIRST_THAT_HOLDS = ("crossing", "shared part", "nested")

_Sets = tuple[set[int], set[tuple[int, int]]]
"""The words and the parts of a mention."""


def parts_class(mention: Mention | LostMention) -> str:
    """Return the class of a mention by its number of parts, one of `PARTS`."""
    n_parts = mention.n_parts if isinstance(mention, LostMention) else len(mention.parts)
    return str(n_parts) if n_parts < 4 else "4+"


def gap_class(gap: int) -> str:
    """Return the class of a mention by the words between its parts, summed; one of `GAPS`.

    Examples
    --------
    >>> [gap_class(gap) for gap in (0, 2, 3, 5, 6)]
    ['0', '2', '3-5', '3-5', '6+']
    """
    if gap < 3:
        return str(gap)
    return "3-5" if gap < 6 else "6+"


def overlap_of(one: Mention, other: Mention) -> str:
    """Return how two mentions of one sentence overlap, whatever their types; one of `OVERLAPS`.

    ``none``: no word in common. ``nested``: all words of one are words of the other. ``shared part``: not nested, and
    a part of one is also a part of the other. ``crossing``: any other pair with a word in common.

    Examples
    --------
    >>> infarctions, shed = Mention("Finding", [(0, 1)]), Mention("Finding", [(0, 1), (2, 4)])
    >>> overlap_of(infarctions, shed), overlap_of(shed, Mention("Finding", [(0, 1), (5, 6)]))
    ('nested', 'shared part')
    >>> overlap_of(Mention("Finding", [(11, 14)]), Mention("Finding", [(13, 14), (16, 17)]))
    'crossing'
    """
    return _overlap(_sets_of(one), _sets_of(other))


def overlap_classes(mentions: Sequence[Mention]) -> list[str]:
    """Return the class of each mention of a sentence by how it overlaps the others; each one of `OVERLAPS`.

    A mention that overlaps others in several ways is ``crossing`` if it crosses any, otherwise ``shared part`` if it
    shares a part with any, and otherwise ``nested``.

    Examples
    --------
    >>> overlap_classes([Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])])
    ['nested', 'shared part', 'shared part']
    """
    sets = [_sets_of(mention) for mention in mentions]  # once for each mention, not for each of its pairs
    return [
        _first_that_holds(_overlap(sets[position], sets[other]) for other in shared if other != position)
        for position, shared in enumerate(neighbours(mentions, mentions))
    ]


def _sets_of(mention: Mention) -> _Sets:
    return set(mention.words()), set(mention.parts)


def _overlap(one: _Sets, other: _Sets) -> str:
    mine, theirs = one[0], other[0]
    if mine.isdisjoint(theirs):
        return "none"
    if mine <= theirs or theirs <= mine:
        return "nested"
    return "crossing" if one[1].isdisjoint(other[1]) else "shared part"


def _first_that_holds(ways: Iterable[str]) -> str:
    found = set()
    for way in ways:
        if way == _FIRST_THAT_HOLDS[0]:
            return way  # whatever the others are, and a bad prediction may have thousands
        found.add(way)
    return next((name for name in _FIRST_THAT_HOLDS if name in found), "none")

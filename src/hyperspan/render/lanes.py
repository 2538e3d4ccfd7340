"""Lanes under a sentence: each mention whole on one of them, never two in the same place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from hyperspan.mentions import Mention

Lane: TypeAlias = list[Mention]


def lay_lanes(mentions: Iterable[Mention], extent: Callable[[Mention], tuple[int, int]] | None = None) -> list[Lane]:
    """Place mentions on as few lanes as a greedy rule finds: the longest first, each on the first lane with room.

    Parameters
    ----------
    mentions : iterable of Mention
    extent : callable, optional
        The columns a mention takes, label included; from its first to its last word if not given.

    Examples
    --------
    >>> lanes = lay_lanes([Mention("A", [(0, 2)]), Mention("A", [(0, 1), (3, 4)]), Mention("B", [(4, 5)])])
    >>> [[mention.parts for mention in lane] for lane in lanes]
    [[((0, 1), (3, 4)), ((4, 5),)], [((0, 2),)]]
    """
    measure = extent or (lambda mention: (mention.start, mention.end))
    lanes: list[tuple[Lane, list[tuple[int, int]]]] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start - mention.end, mention)):
        start, end = measure(mention)
        for lane, taken in lanes:
            if all(end <= other_start or other_end <= start for other_start, other_end in taken):
                lane.append(mention)
                taken.append((start, end))
                break
        else:
            lanes.append(([mention], [(start, end)]))
    return [sorted(lane) for lane, _ in lanes]

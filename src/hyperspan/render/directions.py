"""The direction of words: left to right, right to left, or mixed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

_LEFT, _RIGHT = ("L",), ("R", "AL")


def runs_right_to_left(text: str) -> bool | None:
    """Return whether the first letter of a text belongs to a right-to-left script; None without letters.

    Examples
    --------
    >>> runs_right_to_left("(שלום)"), runs_right_to_left("5 mg"), runs_right_to_left("12 .")
    (True, False, None)
    """
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in _LEFT:
            return False
        if kind in _RIGHT:
            return True
    return None


def directions(tokens: Sequence[str]) -> tuple[bool, list[bool]]:
    """Return whether a sentence as a whole runs right to left, and whether each of its words does.

    A word without letters has the direction of its neighbours if these agree, otherwise that of the sentence.

    Examples
    --------
    >>> directions(["שלום", ",", "two", "-", "words", "."])
    (True, [True, True, False, False, False, True])
    """
    own = [runs_right_to_left(token) for token in tokens]
    base = next((direction for direction in own if direction is not None), False)
    before = list(_filled(own, base))
    after = list(_filled(reversed(own), base))[::-1]
    return base, [left if left == right else base for left, right in zip(before, after, strict=True)]


def visual_order(base: bool, words: Sequence[bool]) -> list[int]:
    """Return the indices of a line's words from left to right on the page.

    Examples
    --------
    >>> visual_order(True, [True, True, False, False, True])
    [4, 2, 3, 1, 0]
    """
    order: list[int] = []
    for first, last in equal_runs(words):
        run = list(range(first, last))
        order.extend(reversed(run) if words[first] != base else run)
    return order[::-1] if base else order


def equal_runs(words: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the half-open runs of words with the same direction."""
    first = 0
    for position in range(1, len(words) + 1):
        if position == len(words) or words[position] != words[first]:
            yield first, position
            first = position


def _filled(own: Iterable[bool | None], base: bool) -> Iterator[bool]:
    last = base
    for direction in own:
        last = last if direction is None else direction
        yield last

"""How sentences, documents, corpora and scores show themselves in a notebook.

Drawing stands above data, so the package says here who draws.
"""

from __future__ import annotations

from collections.abc import Callable

_drawers: list[Callable[[object], str]] = []

LONGEST_SHOWN = 40
"""Characters of a text that a ``repr`` shows."""


def draw_with(drawer: Callable[[object], str]) -> None:
    """Say who makes the HTML of whatever is shown."""
    _drawers[:] = [drawer]


class Shown:
    """Shows itself as HTML where that is asked for."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _drawers[0](self) if _drawers else None


def shortened(text: str) -> str:
    """Quote the beginning of a text in one line.

    Examples
    --------
    >>> shortened("no fever"), shortened("no fever, " * 10)
    ("'no fever'", "'no fever, no fever, no fever, no fever, …'")
    """
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def counted(n: int, what: str) -> str:
    """Write a number of things: ``1 mention``, ``3 mentions``."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"

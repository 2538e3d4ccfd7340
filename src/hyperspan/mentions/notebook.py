"""Display sentences, documents, corpora and scores in a notebook.

The drawing code imports the data classes, so it registers itself here with `draw_with`.
"""

from __future__ import annotations

from collections.abc import Callable

_drawers: list[Callable[[object], str]] = []

LONGEST_SHOWN = 40
"""How many characters of a text a ``repr`` shows."""


def draw_with(drawer: Callable[[object], str]) -> None:
    """Register the function that makes the HTML of an object."""
    _drawers[:] = [drawer]


class Shown:
    """Base class of objects that notebooks display as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _drawers[0](self) if _drawers else None


def shortened(text: str) -> str:
    """Quote the beginning of a text on one line.

    Examples
    --------
    >>> shortened("no fever"), shortened("no fever, " * 10)
    ("'no fever'", "'no fever, no fever, no fever, no fever, …'")
    """
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")

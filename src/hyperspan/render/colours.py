"""One colour for each type: legible on white and on black, told apart by most colour-blind readers."""

from __future__ import annotations

from collections.abc import Iterable

LIGHT = ("#005fa8", "#b04600", "#00704f", "#a02c7c", "#755800", "#5b45b0", "#b3261e", "#4a5560")
DARK = ("#6cb6ff", "#ffa463", "#4fd1a1", "#f495cf", "#e3c04f", "#b9a5ff", "#ff8a80", "#aab4c0")

PAPER = ("#ffffff", "#15181c")
INK = ("#1b1f24", "#e8eaed")
QUIET = ("#59626d", "#9aa5b1")
FAINT = ("#c3c9d0", "#454d57")


class TypeColours:
    """Gives types colours in the order they are met, again from the first when there are no more.

    Examples
    --------
    >>> colours = TypeColours(["Drug", "Finding"])
    >>> colours.index("Finding"), colours.index("Test"), colours.types
    (1, 2, ('Drug', 'Finding', 'Test'))
    """

    def __init__(self, types: Iterable[str] = ()) -> None:
        self._order: dict[str, int] = {}
        for type in types:
            self.index(type)

    @property
    def types(self) -> tuple[str, ...]:
        """The types met so far."""
        return tuple(self._order)

    def index(self, type: str) -> int:
        """Return the number of a type's colour."""
        return self._order.setdefault(type, len(self._order)) % len(LIGHT)


def as_colours(types: Iterable[str] | TypeColours | None, present: Iterable[str]) -> TypeColours:
    """Return what the caller gave, or else colours for the types that are there, in alphabetical order."""
    if isinstance(types, TypeColours):
        return types
    return TypeColours(sorted(set(present)) if types is None else types)

"""Colours of types: legible on white and on black, and distinguishable for most colour-blind readers."""

from __future__ import annotations

from collections.abc import Iterable

LIGHT = ("#005fa8", "#b04600", "#00704f", "#a02c7c", "#755800", "#5b45b0", "#b3261e", "#4a5560")
DARK = ("#6cb6ff", "#ffa463", "#4fd1a1", "#f495cf", "#e3c04f", "#b9a5ff", "#ff8a80", "#aab4c0")

PAPER = ("#ffffff", "#15181c")
INK = ("#1b1f24", "#e8eaed")
QUIET = ("#59626d", "#9aa5b1")
FAINT = ("#c3c9d0", "#454d57")


_SEED = 2424
"""Chosen so that the types of the embedded corpus have different colours."""


class TypeColours:
    """Assigns colours to types by their names, so that a type has the same colour in every drawing.

    If another type already has that colour, the next free one is used; if none is free, two types share a colour.

    Examples
    --------
    >>> colours = TypeColours(["Drug", "Finding"])
    >>> colours.index("Finding"), colours.index("Drug"), colours.types
    (0, 2, ('Drug', 'Finding'))
    >>> TypeColours().index("Drug")
    2
    """

    def __init__(self, types: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for type in types:
            self.index(type)

    @property
    def types(self) -> tuple[str, ...]:
        """The types so far, in order."""
        return tuple(self._numbers)

    def index(self, type: str) -> int:
        """Return the number of a type's colour."""
        if type not in self._numbers:
            taken = set(self._numbers.values())
            wanted = _number(type)
            choices = ((wanted + step) % len(LIGHT) for step in range(len(LIGHT)))
            self._numbers[type] = next((number for number in choices if number not in taken), wanted)
        return self._numbers[type]


def _number(type: str) -> int:
    """Return the number of the colour that a type would have by itself: an FNV-1a hash, folded."""
    bits = _SEED
    for byte in type.encode("utf-8", "replace"):
        bits = ((bits ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (bits ^ bits >> 16) % len(LIGHT)


def as_colours(types: Iterable[str] | TypeColours | None, present: Iterable[str]) -> TypeColours:
    """Return the given colours, or colours for the types that occur, in alphabetical order."""
    if isinstance(types, TypeColours):
        return types
    return TypeColours(sorted(set(present)) if types is None else types)

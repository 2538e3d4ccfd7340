"""What edges exist, and how mentions become edges and edges mentions.

>>> from hyperspan import Mention
>>> shared = structure("shared", ["Finding"])
>>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
>>> encoding = shared.encode(mentions, n_words=6).encoding
>>> decode_all(shared, encoding).mentions == decode_enough(shared, encoding).mentions == tuple(mentions)
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from hyperspan.diagnostics import quoted
from hyperspan.errors import StructureError
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, decode_all, decode_enough
from hyperspan.structures.hypergraph import (
    Block,
    Hypergraph,
    mention_structure,
    shared_structure,
    split_structure,
)
from hyperspan.structures.linear import Linear, linear_structure
from hyperspan.structures.staircase import Staircase
from hyperspan.structures.structure import MAX_COMPONENTS, Encoded, Encoding, check_max_components

__all__ = [
    "MAX_COMPONENTS",
    "MOST_MENTIONS",
    "STRUCTURES",
    "Block",
    "Decoded",
    "Encoded",
    "Encoding",
    "Hypergraph",
    "Linear",
    "Staircase",
    "decode_all",
    "decode_enough",
    "linear_structure",
    "mention_structure",
    "shared_structure",
    "split_structure",
    "structure",
]

Factory = Callable[[Sequence[str], int], Hypergraph | Linear]

STRUCTURES: dict[str, Factory] = {
    "hyperspan.Linear.v1": linear_structure,
    "hyperspan.Mention.v1": mention_structure,
    "hyperspan.Shared.v1": shared_structure,
    "hyperspan.Split.v1": split_structure,
}
"""Every structure by its full name; its short name, ``shared`` for ``hyperspan.Shared.v1``, is the newest one."""

_SHORT = {name.split(".")[1].lower(): name for name in STRUCTURES}


def structure(name: str, types: Sequence[str], max_components: int = 3) -> Hypergraph | Linear:
    """Return a structure by name.

    Parameters
    ----------
    name : str
        ``linear``, ``mention``, ``shared`` or ``split``, or a full name out of `STRUCTURES`.
    types : sequence of str
        The types of mentions, in the order of their labels.
    max_components : int
        The most parts a mention can have, 1 to 5. ``mention`` holds contiguous mentions whatever is said here.

    Raises
    ------
    StructureError
        If there is no such structure, no type or one twice, or the number of parts is out of range.

    Examples
    --------
    >>> structure("split", ["Finding", "Drug"], max_components=2).n_labels
    32
    """
    factory = STRUCTURES.get(_SHORT.get(name, name))
    if factory is None:
        near = get_close_matches(str(name).lower(), [*_SHORT, *STRUCTURES], n=1)
        meant = f". Did you mean {near[0]!r}?" if near else ""
        raise StructureError(f"there is no structure {quoted(name)}; expected one of {', '.join(_SHORT)}{meant}")
    if isinstance(types, str):
        raise StructureError(f"types are the text {quoted(types)}; expected a sequence of names")
    check_max_components(max_components)
    return factory(types, max_components)

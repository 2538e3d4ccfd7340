"""Structures by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

from hyperspan.diagnostics import quoted
from hyperspan.errors import StructureError
from hyperspan.mentions import Mention
from hyperspan.structures.hypergraph import mention_structure, shared_structure, split_structure
from hyperspan.structures.linear import linear_structure
from hyperspan.structures.segments import segment_sizes, segments_structure
from hyperspan.structures.structure import Structure, check_max_components

Factory = Callable[..., Structure]
"""Makes a structure from the types, the most parts of a mention, and the structure's sizes by name, if it has any."""

Sizes = Callable[[Iterable[Mention], float], dict[str, int]]
"""Returns the sizes with which a share of the mentions' parts and gaps can be encoded."""

COVERED = 0.999
"""The share of the parts (and of the gaps) of training mentions to cover: a few outliers would cost much time."""

STRUCTURES: dict[str, Factory] = {
    "hyperspan.Linear.v1": linear_structure,
    "hyperspan.Mention.v1": mention_structure,
    "hyperspan.Shared.v1": shared_structure,
    "hyperspan.Split.v1": split_structure,
    "hyperspan.Segments.v1": segments_structure,
}
"""Every structure by its full name; a short name (``shared`` for ``hyperspan.Shared.v1``) means the newest version."""

SIZES: dict[str, Sizes] = {"hyperspan.Segments.v1": segment_sizes}
"""For structures with sizes (how long parts and gaps can be): the functions that choose them."""


def register_structure(name: str, factory: Factory, sizes: Sizes | None = None) -> None:
    """Register a structure under its full name, such as ``mine.Pairs.v1``; its short name is then ``pairs``."""
    STRUCTURES[name] = factory
    if sizes is not None:
        SIZES[name] = sizes


def structure_names() -> tuple[str, ...]:
    """Return the short names of all structures, for choices on the command line and elsewhere."""
    return tuple(_by_short_name())


def _by_short_name() -> dict[str, str]:
    return {name.split(".")[-2].lower(): name for name in STRUCTURES}


def structure(
    name: str, types: Sequence[str], max_components: int = 3, sizes: Mapping[str, int] | None = None
) -> Structure:
    """Return a structure by name.

    Parameters
    ----------
    name : str
        ``linear``, ``mention``, ``shared``, ``split`` or ``segments``, or a full name from `STRUCTURES`.
    types : sequence of str
        The types of mentions, in the order of their labels.
    max_components : int
        The most parts a mention can have, 1 to 5 (default 3). ``mention`` ignores it: it holds contiguous mentions
        only.
    sizes : mapping of str to int, optional
        For ``segments``: its ``longest_part`` and ``longest_gap``, as `sizes_for` returns them.

    Raises
    ------
    StructureError
        If there is no such structure or size, types are missing or repeated, or the number of parts is out of range.

    Examples
    --------
    >>> structure("split", ["Finding", "Drug"], max_components=2).n_labels
    32
    """
    full = check_structure(name)
    if isinstance(types, str):
        raise StructureError(f"types are the text {quoted(types)}; expected a sequence of names")
    check_max_components(max_components)
    if sizes and full not in SIZES:
        having = ", ".join(short for short, each in _by_short_name().items() if each in SIZES)
        raise StructureError(f"the structure {name!r} has no {' nor '.join(sizes)}; only {having} has")
    return STRUCTURES[full](types, max_components, **(sizes or {}))


def sizes_for(name: str, mentions: Iterable[Mention], covered: float = COVERED) -> dict[str, int]:
    """Return the sizes that a structure needs for training mentions; empty if it has no sizes.

    Parameters
    ----------
    name : str
        The name of the structure.
    mentions : iterable of Mention
    covered : float
        The share of the parts, and of the gaps, that the sizes must cover.

    Examples
    --------
    >>> sizes_for("segments", [Mention("Finding", [(0, 3), (4, 5)])])
    {'longest_part': 3, 'longest_gap': 1}
    >>> sizes_for("shared", [])
    {}
    """
    full = check_structure(name)
    return SIZES[full](mentions, covered) if full in SIZES else {}


def check_structure(name: str) -> str:
    """Return the full name of a structure, or raise an error if it does not exist."""
    short = _by_short_name()
    full = short.get(name, name)
    if full not in STRUCTURES:
        near = get_close_matches(str(name).lower(), [*short, *STRUCTURES], n=1)
        meant = f". Did you mean {near[0]!r}?" if near else ""
        raise StructureError(f"there is no structure {quoted(name)}; expected one of {', '.join(short)}{meant}")
    return full

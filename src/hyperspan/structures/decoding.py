"""From a structure to mentions: every mention it can mean (`decode_all`), or as few as explain it (`decode_enough`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import islice

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention, in_order
from hyperspan.structures.cover import smallest_cover
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.linear import Linear
from hyperspan.structures.linear_decoding import all_readings, enough_readings
from hyperspan.structures.paths import Node, connected, paths
from hyperspan.structures.structure import Encoding

MOST_MENTIONS = 10_000
"""How many mentions of a sentence are given back unless the caller says otherwise."""

BlockEdges = tuple[Block, dict[Node, int], list[int]]
"""One block of an encoding, taken apart: the children of every node in it, and the words where T starts."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The mentions read from an encoding.

    Parameters
    ----------
    mentions : tuple of Mention
        In order.
    truncated : bool
        There were more than the limit, and some are missing.
    is_exact : bool
        The rule was carried out to the end. False only under `decode_enough`, for encodings so tangled that the best
        of the smallest covers was not found within the budget of `hyperspan.structures.cover`; what is given back is
        a smallest cover all the same.
    """

    mentions: tuple[Mention, ...]
    truncated: bool = False
    is_exact: bool = True


def decode_all(
    structure: Hypergraph | Linear,
    encoding: Encoding,
    *,
    limit: int = MOST_MENTIONS,
    any_number: bool = False,
) -> Decoded:
    """Return every mention that an encoding can mean.

    For the hypergraphs this is every mention on some path, which includes all mentions that were encoded. For tags see
    `hyperspan.structures.linear_decoding.all_readings`.

    Parameters
    ----------
    structure : Hypergraph or Linear
        The structure of the encoding.
    encoding : tuple of (word, label)
        As `encode` makes it.
    limit : int
        At most so many mentions are given back. Of a hypergraph these are the first in order.
    any_number : bool
        Combine any number of components of tags, instead of at most the structure's ``max_components``.

    Raises
    ------
    StructureError
        If the encoding does not belong to the structure.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> structure = shared_structure(["Finding"])
    >>> mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
    >>> encoding = structure.encode(mentions, n_words=5).encoding
    >>> [mention.parts for mention in decode_all(structure, encoding).mentions]
    [((0, 1), (3, 4)), ((0, 1), (4, 5)), ((1, 2), (3, 4)), ((1, 2), (4, 5))]
    """
    _check_limit(limit)
    if isinstance(structure, Linear):
        return _cut(all_readings(structure, encoding, None if any_number else structure.max_components), limit)
    return all_of_blocks(structure.edges_of(encoding), limit)


def decode_enough(structure: Hypergraph | Linear, encoding: Encoding, *, limit: int = MOST_MENTIONS) -> Decoded:
    """Return as few mentions as explain an encoding.

    For the hypergraphs these are the fewest mentions whose paths together use every link; of several such sets the one
    with the least Σ(words)², then the first in the order end < stay < gap at the first difference, see
    `hyperspan.structures.cover.in_order_of_links`. For tags see
    `hyperspan.structures.linear_decoding.enough_readings`.

    Parameters
    ----------
    structure, encoding, limit
        As for `decode_all`.

    Raises
    ------
    StructureError
        If the encoding does not belong to the structure.

    Examples
    --------
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> structure = shared_structure(["Finding"])
    >>> mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
    >>> encoding = structure.encode(mentions, n_words=5).encoding
    >>> [mention.parts for mention in decode_enough(structure, encoding).mentions]
    [((0, 1), (4, 5)), ((1, 2), (3, 4))]
    """
    _check_limit(limit)
    if isinstance(structure, Linear):
        return _cut(enough_readings(structure, encoding), limit)
    return enough_of_blocks(structure.edges_of(encoding), limit)


def all_of_blocks(blocks: Iterable[BlockEdges], limit: int = MOST_MENTIONS) -> Decoded:
    """Return every mention that an encoding can mean, given what `Hypergraph.edges_of` makes of it."""
    streams = []
    for block, children, starts in blocks:
        connected(children, starts)
        streams.append(map(partial(Mention, block.type), paths(children, starts)))
    return _cut(streams[0] if len(streams) == 1 else merge(*streams), limit)


def enough_of_blocks(blocks: Iterable[BlockEdges], limit: int = MOST_MENTIONS) -> Decoded:
    """Return as few mentions as explain an encoding, given what `Hypergraph.edges_of` makes of it."""
    mentions: list[Mention] = []
    is_exact = True
    for block, children, starts in blocks:
        for group in connected(children, starts):
            cover, is_best = smallest_cover(children, group)
            is_exact &= is_best
            mentions.extend(Mention(block.type, parts) for parts in cover)
    return Decoded(in_order(mentions)[:limit], len(mentions) > limit, is_exact)


def _cut(mentions: Iterable[Mention], limit: int) -> Decoded:
    found = list(islice(mentions, limit + 1))
    return Decoded(in_order(found[:limit]), len(found) > limit)


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise StructureError(f"limit is {limit}; expected at least 1 mention")

"""Everything there is in a sentence of a few words, found the slow and obvious way.

The tests of structures, inference and counting compare themselves with this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, product
from math import prod

from hyperspan.mentions import Mention
from hyperspan.structures.hypergraph import Block, Hypergraph
from hyperspan.structures.linear import Linear
from hyperspan.structures.staircase import Link
from hyperspan.structures.structure import Encoding

MOST_SETS = 1 << 16
"""Up to so many sets of mentions are encoded one by one."""


def all_mentions(n_words: int, type: str = "Finding", max_parts: int = 3) -> list[Mention]:
    """Every mention of one type with at most ``max_parts`` parts, in order."""
    found = (
        Mention.of_words(type, [word for word in range(n_words) if words >> word & 1])
        for words in range(1, 1 << n_words)
    )
    return sorted(mention for mention in found if len(mention.parts) <= max_parts)


def all_subsets(mentions: Sequence[Mention]) -> Iterator[frozenset[Mention]]:
    """Every set of these mentions, the small ones first."""
    for size in range(len(mentions) + 1):
        yield from map(frozenset, combinations(mentions, size))


def all_mention_sets(
    n_words: int, types: Iterable[str] = ("Finding",), max_parts: int = 3
) -> Iterator[frozenset[Mention]]:
    """Every set of mentions: for one type and three parts 2, 8, 128 and 32,768 sets for 1 to 4 words."""
    return all_subsets(list(chain.from_iterable(all_mentions(n_words, type, max_parts) for type in types)))


@cache
def all_encodings(structure: Hypergraph | Linear, n_words: int) -> frozenset[Encoding]:
    """Every canonical encoding: by encoding every set of mentions, or, where these are too many, every union of paths.

    Five words and three parts are 533,504 encodings of ``shared``: a second and 100 MB, so do not ask for six.
    """
    n_mentions = len(structure.types) * len(all_mentions(n_words, max_parts=structure.max_components))
    if 1 << n_mentions <= MOST_SETS:
        sets = all_mention_sets(n_words, structure.types, structure.max_components)
        return frozenset(structure.encode(mentions, n_words).encoding for mentions in sets)
    if isinstance(structure, Linear):
        raise ValueError(f"{n_mentions} mentions are too many to encode all their sets as tags")
    by_block = [_encodings(block, n_words) for block in structure.blocks]
    if len(by_block) == 1:
        return frozenset(by_block[0])
    return frozenset(tuple(sorted(chain.from_iterable(encodings))) for encodings in product(*by_block))


def count_encodings(structure: Hypergraph, n_words: int) -> int:
    """How many canonical encodings there are; staircases are independent, so their counts multiply."""
    return prod(len(link_unions(block, n_words)[1]) for block in structure.blocks)


def link_unions(block: Block, n_words: int) -> tuple[list[Link], set[int]]:
    """The links of one staircase, and every union of paths as bits over them; T → B0 is the link ``(word, -1, 0)``."""
    bits: dict[Link, int] = {}
    unions = {0}
    for mention in all_mentions(n_words, block.type, block.staircase.n_parts):
        if block.staircase.holds(mention):
            path = 0
            for link in ((mention.start, -1, 0), *block.staircase.path(mention)):
                path |= 1 << bits.setdefault(link, len(bits))
            unions |= {union | path for union in unions}
    return list(bits), unions


def _encodings(block: Block, n_words: int) -> list[Encoding]:
    links, unions = link_unions(block, n_words)
    pairs: dict[tuple[int, int], tuple[int, int]] = {}  # the encodings share their pairs, which saves hundreds of MB
    encodings = []
    for union in unions:
        starts = set()
        children: dict[tuple[int, int], int] = {}
        for bit, (word, node, child) in enumerate(links):
            if union >> bit & 1:
                if node < 0:
                    starts.add(word)
                else:
                    children[word, node] = children.get((word, node), 0) | child
        edges = [(word, block.first_label + (word in starts)) for word in range(n_words)]
        for (word, node), of_node in children.items():
            edges.append((word, block.first_label + block.staircase.label_of[node, of_node]))
        encodings.append(tuple(pairs.setdefault(edge, edge) for edge in sorted(edges)))
    return encodings

"""The hypergraph structures ``mention``, ``shared`` and ``split``, made of independent staircases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import merge

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention, in_order
from hyperspan.structures.cover import smallest_cover
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading, check_limit
from hyperspan.structures.paths import Node, connected, paths
from hyperspan.structures.staircase import NO_START, START, Staircase, T
from hyperspan.structures.structure import (
    Encoded,
    Encoding,
    check_end,
    check_max_components,
    check_type,
    check_types,
)


@dataclass(frozen=True, slots=True)
class Block:
    """One staircase of one type, and the first of its labels."""

    type: str
    staircase: Staircase
    first_label: int

    @property
    def n_labels(self) -> int:
        """How many labels it has."""
        return self.staircase.n_labels


BlockEdges = tuple[Block, dict[Node, int], list[int]]
"""One block of an encoding: the block, the children of every node in it, and the words where T starts."""


@dataclass(frozen=True)
class Hypergraph:
    """A structure made of staircases: the same ones for every type, without interaction.

    Parameters
    ----------
    name : str
        The short name.
    types : tuple of str
        The types of mentions, in the order of their labels.
    staircases : tuple of Staircase
        The staircases of each type. A mention belongs to the first one that can hold it.

    Examples
    --------
    >>> structure = Hypergraph("shared", ("Finding",), (Staircase(2),))
    >>> encoded = structure.encode([Mention("Finding", [(0, 1), (2, 3)])], n_words=3)
    >>> [f"{word}:{structure.label_name(label)}" for word, label in encoded.encoding]
    ['0:Finding T→B0', '0:Finding B0→O1', '1:Finding T→X', '1:Finding O1→B1', '2:Finding T→X', '2:Finding B1→X']
    """

    name: str
    types: tuple[str, ...]
    staircases: tuple[Staircase, ...]

    kind = "staircase"
    has_transitions = False

    def __post_init__(self) -> None:
        check_types(self.types)
        check_max_components(self.max_components)

    @property
    def max_components(self) -> int:
        """The most parts a mention can have."""
        return max((staircase.n_parts for staircase in self.staircases), default=0)

    @property
    def sizes(self) -> dict[str, int]:
        """Empty: there are no sizes."""
        return {}

    @property
    def labels_per_type(self) -> int:
        """How many labels each type has."""
        return sum(staircase.n_labels for staircase in self.staircases)

    @property
    def n_labels(self) -> int:
        """How many labels there are: the width of a score array."""
        return len(self.types) * self.labels_per_type

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every staircase of every type, in the order of their labels."""
        blocks, first_label = [], 0
        for type in self.types:
            for staircase in self.staircases:
                blocks.append(Block(type, staircase, first_label))
                first_label += staircase.n_labels
        return tuple(blocks)

    def edge_of_label(self, label: int) -> tuple[Block, int, int]:
        """Return the block of a label, and the node and the children of its edge.

        Raises
        ------
        StructureError
            If there is no such label.
        """
        if label not in self._edges_by_label:
            raise StructureError(f"label {label} is not one of the {self.n_labels} of {self.name!r}")
        return self._edges_by_label[label]

    @cached_property
    def _edges_by_label(self) -> dict[int, tuple[Block, int, int]]:
        return {
            block.first_label + label: (block, *edge)
            for block in self.blocks
            for edge, label in block.staircase.label_of.items()
        }

    def label_name(self, label: int) -> str:
        """Name a label: its type, the number of parts if staircases are split by it, and its edge."""
        block, _, _ = self.edge_of_label(label)
        parts = f" ({block.staircase.n_parts})" if block.staircase.exact else ""
        return f"{block.type}{parts} {block.staircase.label_name(label - block.first_label)}"

    def block_of(self, mention: Mention) -> Block | None:
        """Return the block that encodes a mention, or None if it has too many parts.

        Raises
        ------
        StructureError
            If the structure does not have the type.
        """
        check_type(mention, self.types)
        return next((block for block in self._blocks_by_type[mention.type] if block.staircase.holds(mention)), None)

    @cached_property
    def _blocks_by_type(self) -> dict[str, list[Block]]:
        return {type: [block for block in self.blocks if block.type == type] for type in self.types}

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions, and the mentions left out because they have too many parts."""
        return self._written(mentions, n_words, Staircase.encode)

    def unfold(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of the mentions' prefix trees, each as often as it is used: what ``mention-sets`` scores."""
        return self._written(mentions, n_words, Staircase.unfold)

    def _written(
        self,
        mentions: Iterable[Mention],
        n_words: int,
        write: Callable[[Staircase, list[Mention], int], list[tuple[int, int]]],
    ) -> Encoded:
        held, left_out = self.by_block(mentions, n_words)
        empty = [block.first_label + NO_START for block in self.blocks if block.first_label not in held]
        edges = [(word, label) for word in range(n_words) for label in empty]
        for block in self.blocks:
            if block.first_label in held:
                written = write(block.staircase, held[block.first_label], n_words)
                edges += [(word, block.first_label + label) for word, label in written]
        return Encoded(tuple(sorted(edges)), tuple(left_out))

    def by_block(self, mentions: Iterable[Mention], n_words: int) -> tuple[dict[int, list[Mention]], list[Mention]]:
        """Return mentions by the first label of their block, and mentions with too many parts; all sorted."""
        held: dict[int, list[Mention]] = {}
        left_out: list[Mention] = []
        for mention in sorted(set(mentions)):
            check_end(mention, n_words)
            block = self.block_of(mention)
            (left_out if block is None else held.setdefault(block.first_label, [])).append(mention)
        return held, left_out

    def decode(
        self, encoding: Encoding, reading: Reading, *, limit: int = MOST_MENTIONS, any_number: bool = False
    ) -> Decoded:
        """Return every mention on some path of an encoding, or as few as use all its links.

        Under ``all`` this includes every mention that was encoded. Under ``enough`` it is a smallest set of mentions
        whose paths together use every link: of several such sets, the one with the least Σ(words)², then the first in
        the order end < stay < gap at the first difference. See `hyperspan.structures.cover`.

        Examples
        --------
        >>> structure = shared_structure(["Finding"])
        >>> mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
        >>> encoding = structure.encode(mentions, n_words=5).encoding
        >>> [mention.parts for mention in structure.decode(encoding, "all").mentions]
        [((0, 1), (3, 4)), ((0, 1), (4, 5)), ((1, 2), (3, 4)), ((1, 2), (4, 5))]
        >>> [mention.parts for mention in structure.decode(encoding, "enough").mentions]
        [((0, 1), (4, 5)), ((1, 2), (3, 4))]
        """
        check_limit(limit)
        blocks = self.edges_of(encoding)
        return _all_of_blocks(blocks, limit) if reading == "all" else _enough_of_blocks(blocks, limit)

    def clamp(self, scores: NDArray[np.float64], mention: Mention, best: Encoding) -> NDArray[np.float64]:
        """Return scores with -inf for edges that cannot occur together with a mention; ``best`` is ignored."""
        clamped = scores.copy()
        block = self.block_of(mention)
        if block is None:
            clamped[:] = -np.inf
            return clamped
        clamped[mention.start, block.first_label + NO_START] = -np.inf
        for word, node, child in block.staircase.path(mention):
            for label, (parent, children) in enumerate(block.staircase.edges, start=block.first_label + 2):
                if parent == node and not children & child:
                    clamped[word, label] = -np.inf
        return clamped

    @cached_property
    def choices(self) -> tuple[NDArray[np.int64], ...]:
        """The labels that exclude one another: T's two, and the edges of each node."""
        choices = []
        for block in self.blocks:
            choices.append(block.first_label + np.array([NO_START, START]))
            nodes = np.array([node for node, _ in block.staircase.edges])
            choices.extend(block.first_label + 2 + np.flatnonzero(nodes == node) for node in np.unique(nodes))
        return tuple(choices)

    @cached_property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """T → X needs no weights: T → B0 is scored against it."""
        weightless = np.zeros(self.n_labels, dtype=np.bool_)
        weightless[[block.first_label + NO_START for block in self.blocks]] = True
        return weightless

    @cached_property
    def start_labels(self) -> NDArray[np.int64]:
        """T → B0 of every block."""
        return np.array([block.first_label + START for block in self.blocks], dtype=np.int64)

    def labels_of(self, type: str) -> NDArray[np.bool_]:
        """Return which labels belong to the blocks of a type, as a mask."""
        found = np.zeros(self.n_labels, dtype=np.bool_)
        for block in self.blocks:
            found[block.first_label : block.first_label + block.staircase.n_labels] = block.type == type
        return found

    def edges_of(self, encoding: Encoding) -> Iterator[BlockEdges]:
        """Split an encoding into blocks: the children of every node in each, and the words where T starts.

        Blocks without mentions, usually most of them, are skipped.

        Raises
        ------
        StructureError
            If the structure does not have a label.
        """
        found: dict[int, BlockEdges] = {}
        nothing = {block.first_label + NO_START for block in self.blocks}
        for word, label in encoding:
            if label in nothing:
                continue
            block, node, bits = self.edge_of_label(label)
            _, children, starts = found.setdefault(block.first_label, (block, {}, []))
            if node == T:
                starts.append(word)
            else:
                children[word, node] = bits
        for first_label in sorted(found):
            yield found[first_label]


def _all_of_blocks(blocks: Iterable[BlockEdges], limit: int) -> Decoded:
    """Return every mention that an encoding can mean, up to the limit."""
    streams = []
    for block, children, starts in blocks:
        connected(children, starts)
        streams.append(map(partial(Mention, block.type), paths(children, starts)))
    return Decoded.first(streams[0] if len(streams) == 1 else merge(*streams), limit)


def _enough_of_blocks(blocks: Iterable[BlockEdges], limit: int) -> Decoded:
    """Return as few mentions as explain an encoding."""
    mentions: list[Mention] = []
    is_exact = True
    for block, children, starts in blocks:
        for piece in connected(children, starts):
            cover, is_best = smallest_cover(*piece)
            is_exact &= is_best
            mentions.extend(Mention(block.type, parts) for parts in cover)
    return Decoded(in_order(mentions)[:limit], len(mentions) > limit, is_exact)


def mention_structure(types: Sequence[str], max_components: int = 1) -> Hypergraph:
    """Return the structure of Lu & Roth 2015: contiguous mentions that may overlap. ``max_components`` is always 1."""
    return Hypergraph("mention", tuple(types), (Staircase(1),))


def shared_structure(types: Sequence[str], max_components: int = 3) -> Hypergraph:
    """Return the paper's SHARED structure: one staircase for mentions of any number of parts."""
    return Hypergraph("shared", tuple(types), (Staircase(max_components),))


def split_structure(types: Sequence[str], max_components: int = 3) -> Hypergraph:
    """Return the paper's SPLIT structure: a staircase for each number of parts."""
    return Hypergraph(
        "split", tuple(types), tuple(Staircase(n_parts, exact=True) for n_parts in range(1, max_components + 1))
    )

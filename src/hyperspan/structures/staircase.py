"""The staircase: the nodes and edges of one type in the hypergraph structures, and the encoding of mentions.

For at most ``n_parts`` parts the nodes at a word are numbered v = 0 .. 2 * n_parts - 2. Even v = 2i is B_i: the word
belongs to part i. Odd v = 2i - 1 is O_i: the word lies in the gap before part i. A path climbs this staircase: at each
word a node may *stay* (the same node at the next word), *step* (node v + 1 at the next word) or *end* (X). An edge is a
non-empty set of these three, so that one node can be on the paths of several mentions. In addition, T says whether a
mention starts at this word.

This table is the only place that defines which edges exist. Encoding, inference, counting and drawing all use it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from hyperspan.mentions import Mention, Span

STAY, STEP, END = 4, 2, 1
"""The children of a node, as bits of an edge. The resulting numbers are in the order of the paper."""

NO_START, START = 0, 1
"""The labels of T's two edges: T → X and T → B_0."""

T = -1
"""The node number of T, one below B0: it steps to B0 or ends."""

Link = tuple[int, int, int]
"""A word, a node and one child (`STAY`, `STEP` or `END`)."""


def node_name(node: int) -> str:
    """Name a node as the paper does, parts counted from 0: B0, O1, B1 …"""
    return f"B{node // 2}" if node % 2 == 0 else f"O{node // 2 + 1}"


def links_of(parts: Sequence[Span]) -> Iterator[Link]:
    """Yield the links of the path of a mention with these parts, from its first word to its last.

    Examples
    --------
    >>> list(links_of([(0, 2), (3, 4)])) == [(0, 0, STAY), (1, 0, STEP), (2, 1, STEP), (3, 2, END)]
    True
    """
    last = parts[-1][1] - 1
    for part, (start, end) in enumerate(parts):
        if part:
            for word in range(parts[part - 1][1], start):
                yield word, 2 * part - 1, STEP if word == start - 1 else STAY
        for word in range(start, end - 1):
            yield word, 2 * part, STAY
        yield end - 1, 2 * part, END if end - 1 == last else STEP


@dataclass(frozen=True)
class Staircase:
    """Nodes and edges of one type, for mentions of ``1 .. n_parts`` parts or of exactly ``n_parts``.

    Labels number the edges of one staircase: first those of T, then the edges of each node, ordered by their bits.

    Parameters
    ----------
    n_parts : int
        The most parts a mention can have.
    exact : bool
        Whether every mention has exactly ``n_parts`` parts, so that only the last B may end.

    Examples
    --------
    >>> shared = Staircase(3)
    >>> shared.n_nodes, shared.n_labels
    (5, 25)
    >>> shared.label_name(7)
    'B0→B0,O1'
    >>> [Staircase(n, exact=True).n_labels for n in (1, 2, 3)]
    [5, 11, 17]
    """

    n_parts: int
    exact: bool = False

    @property
    def n_nodes(self) -> int:
        """How many B and O nodes a word has."""
        return 2 * self.n_parts - 1

    def children(self, node: int) -> int:
        """Return the children a node can have, as bits."""
        is_last = node == self.n_nodes - 1
        may_end = node % 2 == 0 and (is_last or not self.exact)
        return STAY | (0 if is_last else STEP) | (END if may_end else 0)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Every edge except those of T, as ``(node, children)``; edge i has label i + 2."""
        return tuple(
            (node, children)
            for node in range(self.n_nodes)
            for children in range(1, 8)
            if children & self.children(node) == children
        )

    @cached_property
    def label_of(self) -> dict[tuple[int, int], int]:
        """The label of each edge given as ``(node, children)``, including those of T."""
        return {edge: label for label, edge in enumerate(((T, END), (T, STEP), *self.edges))}

    @property
    def n_labels(self) -> int:
        """How many edges there are, including those of T."""
        return len(self.edges) + 2

    def label_name(self, label: int) -> str:
        """Name an edge: its parent, and its children separated by commas."""
        if label < 2:
            return "T→B0" if label == START else "T→X"
        node, children = self.edges[label - 2]
        names = [node_name(node)] if children & STAY else []
        names += [node_name(node + 1)] if children & STEP else []
        names += ["X"] if children & END else []
        return f"{node_name(node)}→{','.join(names)}"

    def holds(self, mention: Mention) -> bool:
        """Return whether a mention has a path here."""
        n_parts = len(mention.parts)
        return n_parts == self.n_parts if self.exact else n_parts <= self.n_parts

    def path(self, mention: Mention) -> Iterator[Link]:
        """Yield the links of a mention's path from its first word to its last."""
        return links_of(mention.parts)

    def encode(self, mentions: Iterable[Mention], n_words: int) -> list[tuple[int, int]]:
        """Return the edges of a set of mentions, as ``(word, label)`` in order: the union of their paths.

        T has an edge at every word; B and O nodes have one only on a path.
        """
        children = {(word, T): END for word in range(n_words)}
        for mention in mentions:
            children[mention.start, T] = STEP
            for word, node, child in self.path(mention):
                children[word, node] = children.get((word, node), 0) | child
        return sorted((word, self.label_of[node, bits]) for (word, node), bits in children.items())

    def unfold(self, mentions: Collection[Mention], n_words: int) -> list[tuple[int, int]]:
        """Return the edges of the prefix tree of a set of mentions: one for every use, so edges may be repeated.

        Two mentions share an edge only while their paths have been the same since the first word.
        """
        starts = {mention.start for mention in mentions}
        branches: list[tuple[int, int, int]] = []
        numbers: dict[tuple[int, int], int] = {}
        for mention in mentions:
            before = T, mention.start
            for word, node, child in self.path(mention):
                number = numbers.setdefault(before, len(branches))
                if number == len(branches):
                    branches.append((word, node, 0))
                branches[number] = word, node, branches[number][2] | child
                before = number, child
        edges = [(word, START if word in starts else NO_START) for word in range(n_words)]
        return sorted([*edges, *((word, self.label_of[node, bits]) for word, node, bits in branches)])

    def mention(self, type: str, path: Sequence[tuple[int, int]], prob: float | None = None) -> Mention:
        """Return the mention whose path runs through these nodes, given as ``(word, node)``."""
        return Mention.of(type, ((word, word + 1) for word, node in path if node % 2 == 0), prob=prob)

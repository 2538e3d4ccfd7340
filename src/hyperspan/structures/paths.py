"""The paths of an encoded staircase: one for every mention it can mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperspan.errors import StructureError
from hyperspan.mentions import Span
from hyperspan.structures.staircase import END, STAY, STEP, node_name

Node = tuple[int, int]
"""A word and one of its B or O nodes."""

Parts = tuple[Span, ...]
"""A path, given as the parts of its mention."""

Children = Mapping[Node, int]
"""The edge of every node in an encoding, as a bit mask."""


def paths(children: Children, starts: Sequence[int]) -> Iterator[Parts]:
    """Yield every path that starts at one of the given words, in the order of mentions.

    Parameters
    ----------
    children : mapping of (word, node) to bits
        The edge of each node; every path in it reaches X.
    starts : sequence of int
        Words where T → B0, in order.

    Examples
    --------
    >>> children = {(0, 0): STEP | END, (1, 1): STAY | STEP, (2, 1): STEP, (2, 2): END, (3, 2): END}
    >>> list(paths(children, [0]))
    [((0, 1),), ((0, 1), (2, 3)), ((0, 1), (3, 4))]
    """
    for start in starts:
        waiting: list[tuple[int, int, int, Parts]] = [(start, 0, start, ())]
        while waiting:
            word, node, begin, done = waiting.pop()
            while True:  # X before the next node before the same node: the order of mentions
                bits = children[word, node]
                if bits & END:
                    yield (*done, (begin, word + 1))
                if bits & STEP:
                    if bits & STAY:
                        waiting.append((word + 1, node, begin, done))
                    if node % 2 == 0:
                        done = (*done, (begin, word + 1))
                    else:
                        begin = word + 1
                    node += 1
                elif not bits & STAY:
                    break
                word += 1


def connected(children: Children, starts: Sequence[int]) -> list[tuple[Children, Sequence[int]]]:
    """Split an encoding into connected components, whose paths share nodes directly or through other paths.

    Raises
    ------
    StructureError
        If a path leads to a node without an edge, or a node with an edge lies on no path: no set of mentions has such
        an encoding.
    """
    group_of: dict[Node, int] = {}
    same_as = list(range(len(starts)))

    def root(group: int) -> int:
        while same_as[group] != group:
            same_as[group] = group = same_as[same_as[group]]
        return group

    for group, start in enumerate(starts):
        waiting = [(start, 0)]
        while waiting:
            at = waiting.pop()
            if at in group_of:
                same_as[root(group_of[at])] = root(group)
                continue
            word, node = at
            bits = children.get(at)
            if bits is None:
                raise StructureError(
                    f"the encoding leads to {node_name(node)} at word {word}, but has no edge for it; "
                    "expected an edge for every node that is reached"
                )
            group_of[at] = group
            if bits & STAY:
                waiting.append((word + 1, node))
            if bits & STEP:
                waiting.append((word + 1, node + 1))
    if len(group_of) < len(children):
        word, node = min(children.keys() - group_of.keys())
        raise StructureError(
            f"the encoding has an edge for {node_name(node)} at word {word}, but nothing leads there; "
            "expected edges only for nodes that are reached"
        )
    if len(starts) == 1:
        return [(children, starts)]
    pieces: dict[int, tuple[dict[Node, int], list[int]]] = {}
    for group, start in enumerate(starts):
        pieces.setdefault(root(group), ({}, []))[1].append(start)
    for at, group in group_of.items():
        pieces[root(group)][0][at] = children[at]
    return list(pieces.values())

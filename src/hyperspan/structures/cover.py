"""The smallest path cover: as few mentions as possible whose paths together use every link of an encoding.

Among the smallest covers, we want the one with the least Σ(words)², then the first by `in_order_of_links`. Finding it
is hard in general: if many paths run through common nodes in several rows, the words before and after must be matched
into equal sums, which is numerical matching. Two facts make it easy for nearly everything that annotators and models
produce:

- Connected components of an encoding are independent, and a path with a link of its own is in every cover.
- Of two sets of equal size, the first in order contains the first mention that is in only one of them. So the order is
  a sum too: mention number r of P counts −2^(P−r), and one integer per path is enough.

Branch and bound searches the rest, within a budget of `MOST_PATHS` and `MOST_STEPS`. Beyond that, a minimum flow with
at least one unit on every link is decomposed into paths, first in, first out: still a smallest cover, but perhaps not
the best one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf

import numpy as np

from hyperspan.structures.paths import Children, Parts, paths
from hyperspan.structures.staircase import END, STAY, STEP, Link, T, links_of

MOST_PATHS = 200
"""The search is limited to components of an encoding with at most this many paths."""

MOST_STEPS = 5_000
"""The search gives up after this many steps."""


def smallest_cover(children: Children, starts: Sequence[int]) -> tuple[list[Parts], bool]:
    """Return the best of the smallest covers of one connected component, and whether it is certainly the best.

    Parameters
    ----------
    children : mapping of (word, node) to bits
        The edge of each node.
    starts : sequence of int
        The words where T → B0, in order. Both as `hyperspan.structures.paths.connected` returns them.

    Examples
    --------
    Two heads and two bodies with one gap between them can mean four mentions, two of which are enough:

    >>> children = {(0, 0): STAY | STEP, (1, 0): STEP, (1, 1): STAY, (2, 1): STAY | STEP, (3, 1): STEP,
    ...             (3, 2): END, (4, 2): END}
    >>> list(paths(children, [0]))
    [((0, 1), (3, 4)), ((0, 1), (4, 5)), ((0, 2), (3, 4)), ((0, 2), (4, 5))]
    >>> smallest_cover(children, [0])
    ([((0, 1), (3, 4)), ((0, 2), (4, 5))], True)
    """
    found = list(islice(paths(children, starts), MOST_PATHS + 1))
    if len(found) == 1:
        return found, True
    if len(found) <= MOST_PATHS:
        best = _best_cover(found)
        if best is not None:
            return sorted(best), True
    return first_in_first_out(children, starts), False


def in_order_of_links(path: Parts) -> tuple[int, ...]:
    """Return a sort key for paths: the earlier start first, then end < stay < gap at the first difference.

    Staying in a gap comes before leaving it. So of two mentions that share a gap, the one that began first ends last:
    beginnings and ends are paired from the inside out.

    Examples
    --------
    >>> sorted([((0, 1), (3, 4)), ((0, 1), (4, 5)), ((0, 2),), ((0, 1),)], key=in_order_of_links)
    [((0, 1),), ((0, 2),), ((0, 1), (4, 5)), ((0, 1), (3, 4))]
    """
    ranks = {END: 0, STAY: 1, STEP: 2}
    return path[0][0], *(ranks[child] for _, _, child in links_of(path))


def _best_cover(found: list[Parts]) -> list[Parts] | None:
    """Return the best cover by a subset of these paths, all those of a component; None if the search gives up."""
    rank = {path: place for place, path in enumerate(sorted(found, key=in_order_of_links), start=1)}
    by_cost = sorted(found, key=lambda path: (_n_words(path), rank[path]))
    users: dict[Link, int] = {}
    for index, path in enumerate(by_cost):
        for link in ((path[0][0], T, STEP), *links_of(path)):
            users[link] = users.get(link, 0) | 1 << index
    certain = 0
    for using in users.values():
        if using.bit_count() == 1:
            certain |= using
    needed = {using for using in users.values() if not using & certain}
    needed = {using for using in needed if not any(other != using and other & using == other for other in needed)}
    squares = [_n_words(path) ** 2 for path in by_cost]
    one_more = 1 + sum(squares)  # one more path is worse than any number of words
    costs = [
        (one_more + square << len(found)) - (1 << len(found) - rank[path])
        for path, square in zip(by_cost, squares, strict=True)
    ]
    search = _Search(costs)
    search.extend(certain, sum(costs[index] for index in _bits(certain)), list(needed), (1 << len(found)) - 1)
    return None if search.steps > MOST_STEPS else [by_cost[index] for index in _bits(search.best)]


class _Search:
    """Branch and bound over the paths of one component, numbered by increasing cost; sets of paths are bit masks.

    ``costs`` has the cost of each path; see the module's docstring.
    """

    def __init__(self, costs: list[int]) -> None:
        self.costs = costs
        self.best = 0
        self.best_cost: float = inf
        self.steps = 0

    def extend(self, chosen: int, cost: int, needed: list[int], allowed: int) -> None:
        """Improve `best` by adding allowed paths to the chosen ones: at least one from each of the needed sets."""
        if not needed:
            if cost < self.best_cost:
                self.best, self.best_cost = chosen, cost
            return
        self.steps += 1
        options = sorted((using & allowed for using in needed), key=int.bit_count)
        if not options[0] or self.steps > MOST_STEPS:
            return
        seen, least = 0, cost
        for option in options:  # sets with no path in common need a path each
            if not option & seen:
                seen |= option
                least += self.costs[_lowest(option)]
        if least >= self.best_cost:
            return
        for index in _bits(options[0]):
            allowed &= ~(1 << index)
            left = [using for using in needed if not using >> index & 1]
            self.extend(chosen | 1 << index, cost + self.costs[index], left, allowed)


def _n_words(path: Parts) -> int:
    return sum(end - start for start, end in path)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        yield _lowest(bits)
        bits &= bits - 1


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def first_in_first_out(children: Children, starts: Sequence[int]) -> list[Parts]:
    """Return a smallest cover: at every node, the path that reached its row first ends first, or leaves first."""
    flow = minimum_flow(children, starts)
    rows: dict[int, deque[tuple[int, Parts]]] = {}
    found: list[Parts] = []
    for word, node in sorted(children, key=lambda at: (at[0], -at[1])):  # a step takes effect one word later
        row = rows.setdefault(node, deque())
        if node == 0:
            row.extend([(word, ())] * flow.get((word, T, STEP), 0))
        for _ in range(flow.get((word, node, END), 0)):
            begin, done = row.popleft()
            found.append((*done, (begin, word + 1)))
        above = rows.setdefault(node + 1, deque())
        for _ in range(flow.get((word, node, STEP), 0)):
            begin, done = row.popleft()
            above.append((begin, (*done, (begin, word + 1))) if node % 2 == 0 else (word + 1, done))
    found.sort()
    return found


def minimum_flow(children: Children, starts: Sequence[int]) -> dict[Link, int]:
    """Return how many paths use each link in some smallest cover; T → B0 is the link ``(word, -1, STEP)``.

    It is a linear program: at least 1 on every link, as much into every node as out of it, as little as possible out of
    T. All vertices of a network flow polytope are integral, so the solution is too.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    nodes = {at: number for number, at in enumerate(sorted(children))}
    links: list[Link] = [(start, T, STEP) for start in starts]
    links += [(*at, child) for at in nodes for child in (END, STEP, STAY) if children[at] & child]
    into, out_of = [], []
    for column, (word, node, child) in enumerate(links):
        if node != T:
            out_of.append((nodes[word, node], column))
        if child != END:
            into.append((nodes[(word, 0) if node == T else (word + 1, node + (child == STEP))], column))
    rows, columns = np.array([*into, *out_of]).T
    balance = csr_array((np.repeat([1.0, -1.0], [len(into), len(out_of)]), (rows, columns)))
    from_t = [float(node == T) for _, node, _ in links]
    solution = linprog(from_t, A_eq=balance, b_eq=np.zeros(len(nodes)), bounds=(1, None), method="highs-ds")
    return dict(zip(links, map(round, solution.x.tolist()), strict=True))

"""The smallest path cover: as few mentions as possible whose paths together use every link of an encoding.

How few are needed is a minimum flow with at least one unit on every link. Among the smallest covers the one with the
least Σ(words)² is wanted, then the lexicographically first. Finding it is hard in general: when many paths run through
common nodes in several rows, words so far and words to come must be matched into equal sums, which is numerical
matching. Three facts make it easy in nearly all that annotators and models produce:

- Connected pieces of an encoding are independent, and a path with a link of its own is in every cover.
- Two paths through a common node can exchange what comes after it and still use the same links. A cover with two paths
  that are better off exchanged is not the best, so such pairs (*rivals*) never stand together.
- Of two sets of equal size the lexicographically first holds the smallest mention that is only in one of them. So
  lexicographic order is a sum too: mention number r of P counts −2^(P−r), and one integer per path says it all.

What is left is searched, branch and bound, within a budget of `MOST_PATHS` and `MOST_STEPS`. Beyond it the flow is cut
into paths first in, first out: still a smallest cover, but perhaps not the best of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from hyperspan.structures.paths import Children, Node, Parts, paths
from hyperspan.structures.staircase import END, STAY, STEP, Link, links_of

MOST_PATHS = 200
"""The search looks at pieces of an encoding with at most so many paths."""

MOST_STEPS = 5_000
"""The search gives up after so many steps."""

_T = -1
"""The node number of T in a link."""


def smallest_cover(children: Children, starts: Sequence[int]) -> tuple[list[Parts], bool]:
    """Return the best of the smallest covers of one connected piece, and whether it is certainly the best.

    Parameters
    ----------
    children : mapping of (word, node) to bits
        The edge of each node.
    starts : sequence of int
        Words where T → B0, in order, as grouped by `hyperspan.structures.paths.connected`.

    Examples
    --------
    Two heads, two bodies and one gap between them mean four mentions, two of which are enough:

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
    if len(found) > MOST_PATHS:
        return first_in_first_out(children, starts), False
    return _best_cover(found, children, starts)


def _best_cover(found: list[Parts], children: Children, starts: Sequence[int]) -> tuple[list[Parts], bool]:
    order = sorted(range(len(found)), key=lambda rank: (_n_words(found[rank]), rank))
    by_cost = [found[rank] for rank in order]
    users: dict[Link, int] = {}
    for index, path in enumerate(by_cost):
        for link in ((path[0][0], _T, STEP), *links_of(path)):
            users[link] = users.get(link, 0) | 1 << index
    sets_of_users = set(users.values())
    certain = 0
    for using in sets_of_users:
        if using.bit_count() == 1:
            certain |= using
    open_sets = [using for using in sets_of_users if not using & certain]
    if not open_sets:
        return sorted(by_cost[index] for index in _bits(certain)), True
    open_sets = [
        using for using in open_sets if not any(other != using and other & using == other for other in open_sets)
    ]
    fallback = first_in_first_out(children, starts)
    costs = [(_n_words(found[rank]) ** 2 << len(found)) - (1 << len(found) - 1 - rank) for rank in order]
    search = _Search(by_cost, costs, {by_cost.index(path) for path in fallback})
    search.run(certain, open_sets)
    return sorted(by_cost[index] for index in search.best), search.steps <= MOST_STEPS


class _Search:
    """Branch and bound over the paths of one piece, which are numbered from the cheapest on; sets of paths are bits.

    Parameters
    ----------
    paths : list of Parts
        The paths.
    costs : list of int
        What each counts, see the top of the module.
    best : set of int
        Some smallest cover.
    """

    def __init__(self, paths: list[Parts], costs: list[int], best: set[int]) -> None:
        self.paths = paths
        self.costs = costs
        self.best = best
        self.best_cost = sum(costs[index] for index in best)
        self.steps = 0
        self._rivals: dict[int, int] = {}

    def run(self, certain: int, open_sets: list[int]) -> None:
        """Improve `best`, given the paths in every cover and the sets of which one path each is still needed."""
        allowed = (1 << len(self.paths)) - 1 & ~certain
        for index in _bits(certain):
            allowed &= ~self.rivals(index)
        self._extend(set(_bits(certain)), open_sets, allowed, len(self.best) - certain.bit_count())

    def _extend(self, chosen: set[int], open_sets: list[int], allowed: int, n_left: int) -> None:
        cost = sum(self.costs[index] for index in chosen)
        if not open_sets:
            if cost < self.best_cost:
                self.best, self.best_cost = set(chosen), cost
            return
        self.steps += 1
        if self.steps > MOST_STEPS:
            return
        options = sorted((using & allowed for using in open_sets), key=int.bit_count)
        if not options[0] or not n_left:
            return
        seen, n_apart = 0, 0
        for option in options:  # sets with no path in common need a path each
            if not option & seen:
                seen |= option
                n_apart += 1
                cost += self.costs[_lowest(option)]
        if n_apart > n_left or cost + (n_left - n_apart) * self.costs[_lowest(allowed)] >= self.best_cost:
            return
        for index in _bits(options[0]):
            allowed &= ~(1 << index)
            self._extend(
                chosen | {index},
                [using for using in open_sets if not using >> index & 1],
                allowed & ~self.rivals(index),
                n_left - 1,
            )

    def rivals(self, index: int) -> int:
        """Return the paths that are not in the best cover together with this one."""
        if index not in self._rivals:
            mine = self.paths[index]
            self._rivals[index] = sum(1 << other for other, path in enumerate(self.paths) if _are_rivals(mine, path))
        return self._rivals[index]


def _are_rivals(one: Parts, other: Parts) -> bool:
    return any(_cost_of_pair(*exchanged) < _cost_of_pair(one, other) for exchanged in _exchanges(one, other))


def _exchanges(one: Parts, other: Parts) -> Iterator[tuple[Parts, Parts]]:
    """Yield the two paths with their continuations exchanged, for each row in which they share a node."""
    for part in range(min(len(one), len(other))):
        (start, end), (other_start, other_end) = one[part], other[part]
        if start < other_end and other_start < end:
            yield (
                (*one[:part], (start, other_end), *other[part + 1 :]),
                (*other[:part], (other_start, end), *one[part + 1 :]),
            )
        if part and one[part - 1][1] < other_start and other[part - 1][1] < start:
            yield one[:part] + other[part:], other[:part] + one[part:]


def _cost_of_pair(one: Parts, other: Parts) -> tuple[int, Parts]:
    return _n_words(one) ** 2 + _n_words(other) ** 2, min(one, other)


def _n_words(path: Parts) -> int:
    return sum(end - start for start, end in path)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        yield _lowest(bits)
        bits &= bits - 1


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def first_in_first_out(children: Children, starts: Sequence[int]) -> list[Parts]:
    """Return a smallest cover: at every node the path that came to its row first ends first, or else leaves first."""
    flow = minimum_flow(children, starts)
    rows: dict[int, deque[tuple[int, Parts]]] = {}
    found: list[Parts] = []
    for word, node in sorted(_reached(children, starts), key=lambda at: (at[0], -at[1])):  # a step is seen a word later
        row = rows.setdefault(node, deque())
        if node == 0:
            row.extend([(word, ())] * flow.get((word, _T, STEP), 0))
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
    """Return how many paths use each link in some smallest cover; T → B0 is the link ``(word, -1, STEP)``."""
    nodes = sorted(_reached(children, starts))
    leaving: dict[Node, list[Link]] = {}
    arriving: dict[Node, list[Link]] = {at: [] for at in nodes}
    for start in starts:
        arriving[start, 0].append((start, _T, STEP))
    for word, node in nodes:
        bits = children[word, node]
        leaving[word, node] = [(word, node, child) for child in (END, STEP, STAY) if bits & child]
        if bits & STEP:
            arriving[word + 1, node + 1].append((word, node, STEP))
        if bits & STAY:
            arriving[word + 1, node].append((word, node, STAY))
    flow: dict[Link, int] = {}
    for at in reversed(nodes):  # enough comes in for all that must go out ...
        for link in leaving[at]:
            flow.setdefault(link, 1)
        needed = sum(flow[link] for link in leaving[at])
        for link in arriving[at]:
            flow[link] = 1
        flow[arriving[at][0]] += max(0, needed - len(arriving[at]))
    for at in nodes:  # ... and what came in too much goes out
        flow[leaving[at][0]] += sum(flow[link] for link in arriving[at]) - sum(flow[link] for link in leaving[at])
    return _reduced(flow, nodes)


def _reduced(flow: dict[Link, int], nodes: Sequence[Node]) -> dict[Link, int]:
    """Take as much as possible out of a flow that has at least 1 on every link: a maximum flow from X back to T.

    Against a link, all but 1 of what flows there can be taken back; along it, any amount can be added. This is Dinic's
    algorithm: level by level, with dead ends left behind for good.
    """
    number = {at: index for index, at in enumerate(nodes, start=2)}
    root, sink = 0, 1
    links = list(flow)
    heads: list[int] = []
    rooms: list[int] = []
    arcs: list[list[int]] = [[] for _ in range(len(nodes) + 2)]
    unbounded = sum(flow.values())
    for word, node, child in links:
        parent = root if node == _T else number[word, node]
        below = (word, 0) if node == _T else (word + 1, node + (child == STEP))
        target = sink if child == END else number[below]
        arcs[target].append(len(heads))
        arcs[parent].append(len(heads) + 1)
        heads += [parent, target]
        rooms += [flow[word, node, child] - 1, unbounded]
    while (level := _levels(sink, root, arcs, heads, rooms)) is not None:
        next_arc = [0] * len(arcs)
        route: list[int] = []
        at = sink
        while True:
            if at == root:
                amount = min(rooms[arc] for arc in route)
                for arc in route:
                    rooms[arc] -= amount
                    rooms[arc ^ 1] += amount
                route, at = [], sink
            while next_arc[at] < len(arcs[at]):
                arc = arcs[at][next_arc[at]]
                if rooms[arc] and level[heads[arc]] == level[at] + 1:
                    route.append(arc)
                    at = heads[arc]
                    break
                next_arc[at] += 1
            else:
                if not route:
                    break
                at = heads[route.pop() ^ 1]
                next_arc[at] += 1
    return {link: rooms[2 * index] + 1 for index, link in enumerate(links)}


def _levels(sink: int, root: int, arcs: list[list[int]], heads: list[int], rooms: list[int]) -> list[int] | None:
    level = [-1] * len(arcs)
    level[sink] = 0
    waiting = deque([sink])
    while waiting:
        at = waiting.popleft()
        for arc in arcs[at]:
            if rooms[arc] and level[heads[arc]] < 0:
                level[heads[arc]] = level[at] + 1
                waiting.append(heads[arc])
    return level if level[root] >= 0 else None


def _reached(children: Children, starts: Sequence[int]) -> set[Node]:
    reached: set[Node] = set()
    waiting = [(start, 0) for start in starts]
    while waiting:
        at = waiting.pop()
        if at not in reached:
            reached.add(at)
            word, node = at
            if children[at] & STAY:
                waiting.append((word + 1, node))
            if children[at] & STEP:
                waiting.append((word + 1, node + 1))
    return reached

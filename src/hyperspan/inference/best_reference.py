"""The best outcome, written to be read: what the kernels of `best` find, tie rule included."""

from __future__ import annotations

from collections.abc import Sequence

from hyperspan.structures.staircase import NO_START, START, STAY, STEP, Staircase

Way = tuple[float, tuple[tuple[int, int], ...]]
"""A score, and the ``(word, label)`` that led to it."""


def best_reference(staircase: Staircase, scores: Sequence[Sequence[float]]) -> Way | None:
    """Return the score and the edges of the best encoding of one staircase; None if every one is forbidden.

    Of equal scores, what comes from the lower state wins, then the lower label.

    Examples
    --------
    >>> row = [0.0, 2.0, 1.0, *[0.0] * 22]
    >>> best_reference(Staircase(3), [row])
    (3.0, ((0, 1), (0, 2)))
    """
    ways: dict[int, Way] = {0: (0.0, ())}
    for word, row in enumerate(scores):
        moves = [(state, state, NO_START) for state in ways] + [(state, state | 1, START) for state in ways]
        ways = _best_ways(ways, moves, word, row)
        for node in reversed(range(staircase.n_nodes)):
            bit = 1 << node
            moves = [(state, state, -1) for state in ways if not state & bit]
            for label, (parent, children) in enumerate(staircase.edges, start=2):
                if parent == node:
                    added = (bit if children & STAY else 0) | (bit << 1 if children & STEP else 0)
                    moves += [(state, (state & ~bit) | added, label) for state in ways if state & bit]
            ways = _best_ways(ways, moves, word, row)
    if 0 not in ways:
        return None
    score, edges = ways[0]
    return score, tuple(sorted(edges))


def _best_ways(
    ways: dict[int, Way], moves: list[tuple[int, int, int]], word: int, row: Sequence[float]
) -> dict[int, Way]:
    after: dict[int, Way] = {}
    for state, target, label in sorted(moves, key=lambda move: (move[0], move[2])):
        score, edges = ways[state]
        score += row[label] if label >= 0 else 0.0
        if score > after.get(target, (float("-inf"), ()))[0]:
            after[target] = score, edges if label < 0 else (*edges, (word, label))
    return after


def best_tags_reference(
    scores: Sequence[Sequence[float]], transitions: Sequence[Sequence[float]]
) -> tuple[float, list[int]] | None:
    """Return the score and the tags of the best tag sequence; None if every one is forbidden.

    Of equal scores, the lower tag wins, counted from the last word back.

    Examples
    --------
    >>> best_tags_reference([[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]])
    (3.0, [1, 1])
    """
    ways: list[tuple[float, list[int]]] = []
    for word, row in enumerate(scores):
        after: list[tuple[float, list[int]]] = []
        for tag, score in enumerate(row):
            if word == 0:
                after.append((score, [tag]))
                continue
            best = max(
                range(len(ways)), key=lambda before: (ways[before][0] + (transitions[before][tag] + score), -before)
            )
            after.append((ways[best][0] + (transitions[best][tag] + score), [*ways[best][1], tag]))
        ways = after
    if not ways:
        return 0.0, []
    score, tags = max(ways, key=lambda way: way[0])  # the first of equals
    return None if score == float("-inf") else (score, tags)

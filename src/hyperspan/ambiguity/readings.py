"""Count the sets of mentions that have the same encoding.

For the hypergraphs these are the sets of paths that together use every link. For tags they are the sets of mentions, of
at most K parts each, that are encoded as exactly these tags. Both are counted by dynamic programming over the mentions,
with what remains to be covered as the state, within a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, pairwise
from typing import Any

from hyperspan.mentions import Mention
from hyperspan.structures import Encoding, Hypergraph, Linear, Structure
from hyperspan.structures.linear import TagMeaning
from hyperspan.structures.paths import Children, Parts, connected, paths
from hyperspan.structures.staircase import Link, links_of

MOST_MENTIONS = 400
"""An encoding with more possible mentions in one connected component is not counted."""

MOST_STATES = 10_000
"""An encoding with more states of partial coverage is not counted either."""


def count_readings(structure: Structure, encoding: Encoding) -> int | None:
    """Return how many sets of mentions have this encoding, or None if there are too many to count.

    Sets that the structure cannot encode completely are not counted.

    Examples
    --------
    Two beginnings share a gap with two ends. Tags only allow them to be paired, in two ways; ``shared`` allows any of
    four mentions, as long as each beginning and each end is used.

    >>> from hyperspan import Mention
    >>> from hyperspan.structures import structure
    >>> mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
    >>> for name in ("linear", "shared"):
    ...     chosen = structure(name, ["Finding"])
    ...     print(name, count_readings(chosen, chosen.encode(mentions, 5).encoding))
    linear 2
    shared 7
    """
    return _COUNTERS[structure.kind](structure, encoding)


def _graph_readings(structure: Hypergraph, encoding: Encoding) -> int | None:
    total = 1
    for _, children, starts in structure.edges_of(encoding):
        for piece in connected(children, starts):
            number = _covers(*piece)
            if number is None:
                return None
            total *= number
    return total


def _covers(children: Children, starts: Sequence[int]) -> int | None:
    """Count the sets of paths that use every link of one connected component."""
    found = list(islice(paths(children, starts), MOST_MENTIONS + 1))
    if len(found) > MOST_MENTIONS:
        return None
    users: dict[Link, int] = {}
    for index, path in enumerate(found):
        for link in ((path[0][0], -1, 0), *links_of(path)):
            users[link] = users.get(link, 0) | 1 << index
    certain = 0
    for using in users.values():
        if using.bit_count() == 1:
            certain |= using
    still_open = {using for using in users.values() if not using & certain}
    needed = [
        using for using in still_open if not any(other != using and other & using == other for other in still_open)
    ]
    useful = 0
    for using in needed:
        useful |= using
    n_free = len(found) - (certain | useful).bit_count()
    number = _hitting_sets(needed, useful)
    return None if number is None else number << n_free


def _hitting_sets(needed: Sequence[int], useful: int) -> int | None:
    """Count the sets of paths, given as bits, with at least one member in each of the sets needed."""
    order = sorted(needed)
    ways = {0: 1}
    while useful:
        path = useful & -useful
        useful ^= path
        covers = sum(1 << index for index, using in enumerate(order) if using & path)
        # A set whose last path this is must be covered by now, and can be dropped from the state.
        finished = sum(1 << index for index, using in enumerate(order) if using & path and not using & useful)
        after: dict[int, int] = {}
        for covered, number in ways.items():
            with_path = (covered | covers) & ~finished
            after[with_path] = after.get(with_path, 0) + number
            if covered & finished == finished:
                without = covered & ~finished
                after[without] = after.get(without, 0) + number
        if len(after) > MOST_STATES:
            return None
        ways = after
    return ways[0]


def possible_mentions(structure: Linear, encoding: Encoding) -> set[Mention]:
    """Return every mention that a set with these tags can contain, and perhaps some others.

    Unlike `hyperspan.structures.linear_decoding.all_readings`, it also begins and ends parts inside heads, so it misses
    no mention that tags can encode. It returns far more mentions than are meant.

    Examples
    --------
    >>> from hyperspan.structures import structure
    >>> chosen = structure("linear", ["Finding"])
    >>> mentions = [Mention("Finding", [part]) for part in ((0, 3), (1, 2), (1, 3))]
    >>> encoding = chosen.encode(mentions, 3).encoding
    >>> set(mentions) <= set(chosen.decode(encoding, "all").mentions)
    False
    >>> set(mentions) <= possible_mentions(chosen, encoding)
    True
    """
    tags = [structure.meanings[label] for _, label in encoding]
    return {
        Mention(type, parts)
        for type in {tag.type for tag in tags if tag is not None}
        for parts in _candidates([tag if tag and tag.type == type else None for tag in tags], structure.max_components)
    }


def _tag_readings(structure: Linear, encoding: Encoding) -> int | None:
    tags = [structure.meanings[label] for _, label in encoding]
    total = 1
    for type in {tag.type for tag in tags if tag is not None}:
        of_type = [tag if tag is not None and tag.type == type else None for tag in tags]
        number = _sets_with_tags(of_type, structure.max_components)
        if number is None:
            return None
        total *= number
    return total


def _sets_with_tags(tags: Sequence[TagMeaning | None], max_components: int) -> int | None:
    """Count the sets of mentions of one type that have these tags.

    Each word has two counters of two bits, 0, 1 or 3 for "more": how many mentions cover it, and how many of them also
    cover the word before. Mentions are sorted, so that the first words are soon finished and dropped.
    """
    candidates = sorted(islice(_candidates(tags, max_components), MOST_MENTIONS + 1))
    if len(candidates) > MOST_MENTIONS:
        return None
    adds = []
    for parts in candidates:
        added = 0
        for start, end in parts:
            for word in range(start, end):
                added |= (1 if word == start else 5) << 4 * word
        adds.append(added)
    last_use = {
        word: index for index, parts in enumerate(candidates) for start, end in parts for word in range(start, end)
    }
    if any(tag is not None and word not in last_use for word, tag in enumerate(tags)):
        return 0
    finished_at: dict[int, list[int]] = {}
    for word, index in last_use.items():
        finished_at.setdefault(index, []).append(word)
    never_twice = sum(_never_twice(tag) << 4 * word for word, tag in enumerate(tags))
    ways = {0: 1}
    for index, added in enumerate(adds):
        after: dict[int, int] = {}
        for covered, number in ways.items():
            after[covered] = after.get(covered, 0) + number
            if not covered & added & never_twice:
                more = covered | (covered & added) << 1 | added
                after[more] = after.get(more, 0) + number
        if index in finished_at:
            after = _finished(after, [(word, tags[word]) for word in finished_at[index]])
        if len(after) > MOST_STATES:
            return None
        ways = after
    return ways.get(0, 0)


def _finished(ways: dict[int, int], words: Sequence[tuple[int, TagMeaning | None]]) -> dict[int, int]:
    """Keep the states in which these words have their tags, and drop the words."""
    keep = ~sum(15 << 4 * word for word, _ in words)
    after: dict[int, int] = {}
    for covered, number in ways.items():
        if all(_agrees(covered >> 4 * word & 15, tag) for word, tag in words):
            after[covered & keep] = after.get(covered & keep, 0) + number
    return after


def _never_twice(tag: TagMeaning | None) -> int:
    """Return the counters of a word that must not be incremented twice."""
    if tag is None:
        return 0
    if tag.kind != "head":
        return 5
    return 4 if tag.begins else 0


def _agrees(counters: int, tag: TagMeaning | None) -> bool:
    """Return whether a word with these counters has this tag; the kind of its mentions is already checked."""
    covered, with_before = counters & 3, counters >> 2
    assert tag is not None
    if tag.kind == "head":
        return covered == 3 and (with_before == 3) != tag.begins
    return covered == 1 and (with_before == 0) == tag.begins


def _candidates(tags: Sequence[TagMeaning | None], max_components: int) -> Iterator[Parts]:
    """Yield every mention that can be in a set with these tags, and perhaps some others."""
    spans = list(_spans(tags))
    for start, end, kinds in spans:
        if "body" not in kinds:
            yield ((start, end),)
    pieces = [(start, end) for start, end, kinds in spans if "contiguous" not in kinds]
    for n_parts in range(2, max_components + 1):
        for parts in combinations(pieces, n_parts):
            if all(one[1] < other[0] for one, other in pairwise(parts)):
                yield parts


def _spans(tags: Sequence[TagMeaning | None]) -> Iterator[tuple[int, int, set[str]]]:
    """Yield every run of words that can be a part, with the kinds of its words."""
    for start, first in enumerate(tags):
        if first is None or (first.kind != "head" and not first.begins):
            continue
        kinds: set[str] = set()
        for end in range(start + 1, len(tags) + 1):
            tag = tags[end - 1]
            if tag is None or (end - 1 > start and tag.kind != "head" and tag.begins):
                break
            kinds.add(tag.kind)
            if {"body", "contiguous"} <= kinds:
                break
            follower = tags[end] if end < len(tags) else None
            goes_on = follower is not None and follower.kind != "head" and not follower.begins and tag.kind != "head"
            if not goes_on:
                yield start, end, kinds.copy()


def _tree_readings(structure: Structure, encoding: Encoding) -> int:
    """Return 1, since a prefix tree is one set of mentions; raise an error if the encoding is not a prefix tree."""
    structure.decode(encoding, "all")
    return 1


_COUNTERS: dict[str, Callable[[Any, Encoding], int | None]] = {
    "staircase": _graph_readings,
    "chain": _tag_readings,
    "segments": _tree_readings,
}
"""The function that counts readings, by the kind of structure."""

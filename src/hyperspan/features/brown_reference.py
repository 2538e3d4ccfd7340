"""The readable reference implementation of Brown clustering: every merger is chosen by trying them all.

Logarithms are rounded to the same integers as in `hyperspan.features.brown`, so the two must agree on every merger,
including ties; everything else is recomputed at every step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from hyperspan.features.brown_kernels import log_bits


class BrownReference(NamedTuple):
    """The steps of the clustering."""

    words: list[str]
    clusters: list[set[str]]
    """The clusters, before they are merged into a tree."""
    merges: list[tuple[int, int]]
    """The slots merged as words were added, one pair for every word beyond the first ``n_clusters``."""
    tree: list[tuple[int, int]]
    """The slots merged after that, for the tree."""
    paths: dict[str, str]
    average_mutual_information: float


def brown_reference(sentences: Iterable[Sequence[str]], n_clusters: int, min_count: int = 1) -> BrownReference:
    """Cluster words as `brown_clusters` does.

    Examples
    --------
    >>> text = "no fever or chills . no nausea or vomiting . no fever or vomiting . no pain or chills .".split()
    >>> [sorted(cluster) for cluster in brown_reference([text], 5).clusters]
    [['.'], ['no'], ['or'], ['chills', 'vomiting'], ['fever', 'nausea', 'pain']]
    """
    sentences = [list(sentence) for sentence in sentences]
    count = Counter(word for sentence in sentences for word in sentence)
    words = sorted((word for word in count if count[word] >= min_count), key=lambda word: (-count[word], word))
    known = set(words)
    pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence) if known.issuperset(pair))
    slots: dict[int, set[str]] = {}
    merges = []
    free = 0
    for word in words:
        slots[free] = {word}
        free = len(slots)
        if len(slots) > n_clusters:
            kept, free = _merge_best(slots, pairs)
            merges.append((kept, free))
    clusters = [set(slots[slot]) for slot in sorted(slots)]
    information = _information(clusters, pairs, math.log)
    leaves = {slot: set(slots[slot]) for slot in slots}
    tree = [_merge_best(slots, pairs) for _ in range(len(slots) - 1)]
    paths = dict.fromkeys(leaves, "")
    below = {leaf: {leaf} for leaf in leaves}
    for kept, gone in tree:
        for leaf in below[kept]:
            paths[leaf] = "0" + paths[leaf]
        for leaf in below[gone]:
            paths[leaf] = "1" + paths[leaf]
        below[kept] |= below.pop(gone)
    by_word = {word: paths[leaf] or "0" for leaf, members in leaves.items() for word in members}
    return BrownReference(words, clusters, merges, tree, by_word, information / max(pairs.total(), 1))


def _merge_best(slots: dict[int, set[str]], pairs: Counter[tuple[str, str]]) -> tuple[int, int]:
    """Merge the two clusters whose merger keeps the most information, in a tie the lowest slots; return the slots."""
    scale = 1 << log_bits(pairs.total())

    def integer_log(x: int) -> int:
        return math.floor(math.log(x) * scale + 0.5)

    def left_after(pair: tuple[int, int]) -> float:
        kept, gone = pair
        merged = [slots[slot] for slot in slots if slot not in pair] + [slots[kept] | slots[gone]]
        return _information(merged, pairs, integer_log)

    kept, gone = max(combinations(sorted(slots), 2), key=left_after)
    slots[kept] |= slots.pop(gone)
    return kept, gone


def _information(clusters: list[set[str]], pairs: Counter[tuple[str, str]], log: Callable[[int], float]) -> float:
    """Return Σ n(c, d) log(n(c, d) N / (l(c) r(d))), where n runs over these clusters and l, r, N over all words."""
    total = pairs.total()
    left = [sum(n for (word, _), n in pairs.items() if word in cluster) for cluster in clusters]
    right = [sum(n for (_, word), n in pairs.items() if word in cluster) for cluster in clusters]
    of = {word: number for number, cluster in enumerate(clusters) for word in cluster}
    joint: Counter[tuple[int, int]] = Counter()
    for (first, second), n in pairs.items():
        if first in of and second in of:
            joint[of[first], of[second]] += n
    return sum(n * (log(n) + log(total) - log(left[c]) - log(right[d])) for (c, d), n in joint.items())

"""Brown clusters: words that occur in similar contexts share a bit string.

The algorithm is the windowed one of Brown et al. 1992, as implemented by Liang 2005. The most frequent words start as
clusters of their own. Each further word, in order of frequency, is added as one more cluster, and then the two clusters
whose merger loses the least average mutual information are merged. At the end, the clusters are merged into a binary
tree, which gives the bit strings.

Two things make it fast. In counts instead of probabilities, the loss of a merger is a sum of terms ``g(x, y) = f(x + y)
- f(x) - f(y)`` with ``f(x) = x log x``, and ``g(x, 0) = 0``: only neighbours that both clusters have in common cost
anything. And the losses of all pairs are stored and updated where a new word or a merger changes them, so that a
typical step touches thousands of numbers instead of millions.

Logarithms are integers, in units of ``2 ** -bits``. So sums of losses are exact in any order: updated losses equal
recomputed ones, ties are exact, and the tree never depends on rounding. `hyperspan.features.brown_reference` is the
same algorithm without these optimisations.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError, UsageError
from hyperspan.features.bigrams import Bigrams, count_bigrams
from hyperspan.features.brown_kernels import (
    LOWEST,
    Window,
    grow_kernel,
    information_kernel,
    log_bits,
    log_kernel,
    slots_kernel,
    tree_kernel,
)
from hyperspan.features.lines import broken, lines_of
from hyperspan.files import writing

UNKNOWN = -1
"""The cluster id of a word that is in no cluster."""

MOST_CLUSTERS = 20_000
"""Memory grows with the square of the number of clusters: 16 bytes per pair."""

LARGEST_TABLE = 1 << 22
"""Logarithms of counts up to this are looked up; larger ones are computed."""

_SECONDS_A_REPORT = 0.5

Ints = npt.NDArray[np.int64]


class Progress(NamedTuple):
    """The progress of the clustering: word ``word`` of ``n_words``."""

    word: int
    n_words: int
    mutual_information: float
    """The contribution of the words so far to the average mutual information, in nats."""
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """Words and the bit strings of their clusters.

    Parameters
    ----------
    words : sequence of str
        The words, without duplicates.
    cluster_ids : array of int32, (n_words,)
        The cluster of each word: an index into ``paths``.
    paths : sequence of str
        The bit string of each cluster; every prefix of it names a larger cluster that contains it.
    counts : array of int64, (n_words,)
        How often each word occurred.
    average_mutual_information : float, optional
        The average mutual information of the clusters of adjacent words in the text they were made from, in nats; None
        if unknown, as for clusters read from a file.

    Examples
    --------
    >>> clusters = Clusters(("fever", "pain", "no"), np.array([1, 1, 0]), ("0", "10"), np.array([2, 1, 3]))
    >>> clusters.path_of("pain"), clusters.path_of("cough")
    ('10', None)
    >>> clusters.words_of("1")
    ['fever', 'pain']
    """

    words: tuple[str, ...]
    cluster_ids: npt.NDArray[np.int32]
    paths: tuple[str, ...]
    counts: Ints
    average_mutual_information: float | None = None
    _id_of: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "paths", tuple(self.paths))
        object.__setattr__(self, "cluster_ids", np.asarray(self.cluster_ids, dtype=np.int32))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.int64))
        n_words = len(self.words)
        if self.cluster_ids.shape != (n_words,) or self.counts.shape != (n_words,):
            raise FeatureError(
                f"there are {n_words} words, but {self.cluster_ids.size} cluster ids and {self.counts.size} counts"
            )
        if n_words and not 0 <= self.cluster_ids.min() <= self.cluster_ids.max() < len(self.paths):
            raise FeatureError(f"a cluster id is not the index of one of the {len(self.paths)} paths")
        object.__setattr__(self, "_id_of", dict(zip(self.words, self.cluster_ids.tolist(), strict=True)))
        if len(self._id_of) != n_words:
            raise FeatureError("a word occurs twice; expected every word in one cluster")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._id_of

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Clusters):
            return NotImplemented
        return self._table() == other._table()

    def __repr__(self) -> str:
        return f"Clusters({len(self.words)} words, {self.n_clusters} clusters)"

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.paths)

    def path_of(self, word: str) -> str | None:
        """Return the bit string of a word, or None if it has no cluster."""
        cluster = self._id_of.get(word, UNKNOWN)
        return None if cluster == UNKNOWN else self.paths[cluster]

    def ids_of(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return the cluster of each word as an index into ``paths``, or `UNKNOWN` (-1) if it has none.

        Examples
        --------
        >>> clusters = Clusters(("dog", "cat", "the"), np.array([1, 1, 0]), ("0", "1"), np.array([2, 1, 3]))
        >>> clusters.ids_of(["the", "lazy", "dog"]).tolist()
        [0, -1, 1]
        """
        get = self._id_of.get
        return np.fromiter((get(word, UNKNOWN) for word in words), dtype=np.int32)

    def words_of(self, prefix: str) -> list[str]:
        """Return the words whose bit string begins with ``prefix``, most frequent first."""
        inside = [path.startswith(prefix) for path in self.paths]
        rows = zip(self.words, self.cluster_ids.tolist(), self.counts.tolist(), strict=True)
        return [word for _, word in sorted((-count, word) for word, cluster, count in rows if inside[cluster])]

    def save(self, path: str | Path) -> None:
        """Write the clusters in the usual ``paths`` format: bit string, word and count, separated by tabs.

        Lines are sorted by bit string, then by decreasing count, so that neighbours in the tree are neighbours in the
        file.
        """
        with writing(Path(path)) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return what `save` writes, to be stored in a model."""
        try:
            return "".join(f"{bits}\t{word}\t{count}\n" for bits, _, word, count in self._table()).encode()
        except UnicodeEncodeError as error:
            raise FeatureError(f"a word holds {error.object[error.start]!r}, which UTF-8 cannot encode") from None

    @classmethod
    def load(cls, path: str | Path) -> Clusters:
        """Read clusters from a file in the ``paths`` format, written by any program.

        A line is ``bit string<TAB>word<TAB>count``; the count may be missing (it is then 0), and empty lines are
        skipped. A word may contain tabs if there is a count.

        Raises
        ------
        FeatureError
            If a line has another form or a word occurs twice.
        """
        return cls._parsed(Path(path), lines_of(Path(path)))

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "<clusters>") -> Clusters:
        """Read what `to_bytes` returned; messages use ``name`` as the file name."""
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FeatureError(f"{name}: byte {error.start} is not UTF-8") from None
        return cls._parsed(Path(name), enumerate(text.split("\n"), 1))

    @classmethod
    def _parsed(cls, path: Path, lines: Iterable[tuple[int, str]]) -> Clusters:
        words: dict[str, int] = {}
        ids: dict[str, int] = {}
        cluster_ids, counts = array("i"), array("q")
        for number, line in lines:
            if not line:
                continue
            bits, tab, rest = line.partition("\t")
            word, _, count = rest.rpartition("\t") if "\t" in rest else (rest, "", "0")
            if not tab or bits.strip("01") or not word:
                raise broken(path, number, f"{quoted(line)} is not a bit string, a word and a count separated by tabs")
            if not (count.isascii() and count.isdigit() and len(count) < 19):
                raise broken(path, number, f"the count of {quoted(word)} is {quoted(count)}; expected a whole number")
            first = words.setdefault(word, number)
            if first != number:
                raise broken(path, number, f"the word {quoted(word)} was given before, on line {first}")
            cluster_ids.append(ids.setdefault(bits, len(ids)))
            counts.append(int(count))
        if not words:
            raise FeatureError(f"{path}: there are no clusters in this file; expected lines of bit string, word, count")
        return cls(
            tuple(words), np.array(cluster_ids, dtype=np.int32), tuple(ids), np.array(counts, dtype=np.int64), None
        )

    def _table(self) -> list[tuple[str, int, str, int]]:
        rows = zip(self.words, self.cluster_ids.tolist(), self.counts.tolist(), strict=True)
        return sorted((self.paths[cluster], -count, word, count) for word, cluster, count in rows)


def brown_clusters(
    sentences: Iterable[Sequence[str]],
    n_clusters: int = 1000,
    min_count: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Clusters:
    """Cluster words by their contexts.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The text. Two words are neighbours only within a sentence, never across its boundary.
    n_clusters : int
        The number of clusters. If there are fewer words, every word is a cluster of its own.
    min_count : int
        Rarer words have no cluster and do not count as neighbours.
    on_progress : callable, optional
        Called with a `Progress` about twice a second, and at the end.

    Returns
    -------
    Clusters
        All words of a cluster have the same bit string; a single cluster has the bit string ``0``. The result depends
        only on the sentences (not on their order) and the two numbers.

    Raises
    ------
    FeatureError
        If there are no words to cluster, or a file of clusters could not hold one of them: an empty word, or one with a
        line break or half a character.

    Notes
    -----
    Let n(c, d) be the number of pairs of adjacent words with the first in cluster c and the second in d, l and r its
    row and column sums, and N its total. The average mutual information is Σ n(c, d)/N · log(n(c, d) N / (l(c) r(d))).
    While words remain to be added, the sum runs over the clusters so far, but l, r and N count the whole text. Of
    several mergers with the same loss, the one with the lowest cluster numbers is made.

    Time grows with words times clusters, memory with the square of the clusters (about 16 MB for 1,000).

    Examples
    --------
    >>> text = "no fever or chills . no nausea or vomiting . no fever or vomiting . no pain or chills .".split()
    >>> clusters = brown_clusters([text], n_clusters=5)
    >>> for path in sorted(clusters.paths):
    ...     print(path, *clusters.words_of(path))
    0000 .
    0001 no
    001 chills vomiting
    01 or
    1 fever nausea pain
    """
    if n_clusters < 1 or n_clusters > MOST_CLUSTERS:
        raise UsageError(f"n_clusters is {n_clusters}; expected a number from 1 to {MOST_CLUSTERS:,}")
    bigrams = count_bigrams(sentences, min_count)
    n_words = len(bigrams.words)
    merging = _Merging(bigrams, min(n_clusters, n_words))
    started = time.perf_counter()
    done, step = 0, 64
    while done < n_words:
        before = time.perf_counter()
        last = min(done + step, n_words)
        merging.grow(done, last)
        done = last
        now = time.perf_counter()
        if now - before < _SECONDS_A_REPORT / 2:
            step *= 2
        elif now - before > _SECONDS_A_REPORT * 2:
            step = max(step // 2, 1)
        if on_progress is not None and done < n_words:
            left = (now - started) / done * (n_words - done)
            on_progress(Progress(done, n_words, merging.mutual_information(), left))
    slots = merging.slots()
    used, cluster_ids = np.unique(slots, return_inverse=True)
    information = average_mutual_information(bigrams, cluster_ids)
    paths = bit_strings(used.tolist(), merging.tree())
    if on_progress is not None:
        on_progress(Progress(n_words, n_words, information, 0.0))
    return Clusters(bigrams.words, cluster_ids.astype(np.int32), tuple(paths), bigrams.counts, information)


def average_mutual_information(bigrams: Bigrams, cluster_ids: npt.ArrayLike) -> float:
    """Return the average mutual information of the clusters of adjacent words in nats, computed by definition.

    Parameters
    ----------
    bigrams : Bigrams
        As `count_bigrams` returns them.
    cluster_ids : array of int, (n_words,)
        The cluster of each of ``bigrams.words``.

    Examples
    --------
    >>> bigrams = count_bigrams([["a", "b"], ["c", "d"]])
    >>> round(average_mutual_information(bigrams, [0, 1, 2, 3]), 6), average_mutual_information(bigrams, [0, 0, 0, 0])
    (0.693147, 0.0)
    """
    cluster_ids = np.unique(np.asarray(cluster_ids), return_inverse=True)[1].astype(np.int64)
    n_clusters = int(cluster_ids.max()) + 1
    total = bigrams.total
    if not total:
        return 0.0
    left = np.repeat(cluster_ids, np.diff(bigrams.first_right))
    right = cluster_ids[bigrams.right]
    pairs, which = np.unique(left * n_clusters + right, return_inverse=True)
    count = np.bincount(which, bigrams.right_count)
    left_total = np.bincount(left, bigrams.right_count, n_clusters)
    right_total = np.bincount(right, bigrams.right_count, n_clusters)
    expected = left_total[pairs // n_clusters] * right_total[pairs % n_clusters]
    return max(float(np.sum(count * np.log(count * total / expected)) / total), 0.0)


def bit_strings(leaves: Sequence[int], merges: Sequence[tuple[int, int]]) -> list[str]:
    """Return the bit string of each leaf of a tree.

    Parameters
    ----------
    leaves : sequence of int
        The numbers of the leaves.
    merges : sequence of (kept, gone)
        In the order they were made. A merged node has the number ``kept``; the bit is 0 on its side and 1 on the other.

    Examples
    --------
    >>> bit_strings([0, 1, 2], [(0, 2), (0, 1)])
    ['00', '1', '01']
    """
    path = {leaves[0]: ""}
    for kept, gone in reversed(merges):
        path[kept], path[gone] = path[kept] + "0", path[kept] + "1"
    return [path[leaf] or "0" for leaf in leaves]


class _Merging:
    """A `Window` over bigrams, and its operations."""

    def __init__(self, bigrams: Bigrams, n_clusters: int) -> None:
        total = bigrams.total
        if total >= 1 << 31:
            raise FeatureError(f"the text has {total:,} pairs of neighbours; expected fewer than {1 << 31:,}")
        n_words, n_slots = len(bigrams.words), n_clusters + 1
        self.bigrams = bigrams
        self.scale = float(1 << log_bits(total))
        log = np.zeros(min(total, LARGEST_TABLE) + 1, dtype=np.int64)
        log_kernel(log, self.scale)
        self.window = Window(
            pairs=np.zeros((n_slots, n_slots), dtype=np.int32),
            turned=np.zeros((n_slots, n_slots), dtype=np.int32),
            left_total=np.zeros(n_slots, dtype=np.int64),
            right_total=np.zeros(n_slots, dtype=np.int64),
            left_seen=np.zeros(n_slots, dtype=np.int64),
            right_seen=np.zeros(n_slots, dtype=np.int64),
            own=np.zeros(n_slots, dtype=np.int64),
            active=np.zeros(n_slots, dtype=np.bool_),
            core=np.zeros((n_slots, n_slots), dtype=np.int64),
            least=np.full(n_slots, LOWEST, dtype=np.int64),
            partner=np.full(n_slots, -1, dtype=np.int64),
            stale=np.ones(n_slots, dtype=np.bool_),
            parent=np.arange(n_words, dtype=np.int64),
            slot_of=np.full(n_words, -1, dtype=np.int64),
            root_of=np.full(n_slots, -1, dtype=np.int64),
            free=np.zeros(1, dtype=np.int64),
            log=log,
            scale=self.scale,
            gain=np.zeros(n_slots, dtype=np.int64),
        )
        self.merges = np.full((n_words, 2), -1, dtype=np.int64)
        """The slots merged after each word; (-1, -1) while the window is not yet full."""

    def grow(self, first: int, last: int) -> None:
        """Add the words from ``first`` to before ``last``, merging whenever there is one cluster too many."""
        grow_kernel(self.window, *self.bigrams[2:], self.merges, first, last)

    def tree(self) -> list[tuple[int, int]]:
        """Merge all remaining clusters; return the mergers."""
        merges = np.zeros((max(int(self.window.active.sum()) - 1, 0), 2), dtype=np.int64)
        tree_kernel(self.window, merges)
        return [(kept, gone) for kept, gone in merges.tolist()]

    def slots(self) -> Ints:
        """Return the slot of every word."""
        slots = np.zeros(len(self.bigrams.words), dtype=np.int64)
        slots_kernel(self.window, slots)
        return slots

    def mutual_information(self) -> float:
        """Return the contribution of the words so far to the average mutual information."""
        total = max(self.bigrams.total, 1)
        return float(information_kernel(self.window, total) / (self.scale * total))

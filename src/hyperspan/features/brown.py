"""Brown clusters: words that keep the same company share a bit string.

The algorithm is the windowed one of Brown et al. 1992, as Liang 2005 runs it. The most frequent words start as clusters
of their own. Each further word, in order of frequency, joins as one cluster more, and the two clusters whose merger
loses least average mutual information become one. At the end the clusters are merged into a binary tree, which gives
the bit strings.

Two things make it fast. In counts instead of probabilities, the loss of a merger is a sum of terms
``g(x, y) = f(x + y) - f(x) - f(y)`` with ``f(x) = x log x``, and ``g(x, 0) = 0``: only neighbours that both clusters
have in common cost anything. And the losses of all pairs are kept and corrected where a new word or a merger changes
them, so that a typical step touches thousands of numbers instead of millions.

Logarithms are integers, in units of ``2 ** -bits``. So every loss is exact with respect to them, in whatever order it
was added up: corrected losses equal recomputed ones, ties are ties, and the tree never depends on chance.
`hyperspan.features.brown_reference` says the same without any of this.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError, UsageError
from hyperspan.features.lines import broken, lines_of
from hyperspan.files import writing

UNKNOWN = -1
"""The cluster id of a word that is in no cluster."""

MOST_CLUSTERS = 20_000
"""Memory grows with the square of the number of clusters: 16 bytes a pair."""

LARGEST_TABLE = 1 << 22
"""Logarithms of counts up to this are looked up; larger ones are computed."""

_NEVER = np.iinfo(np.int64).max
_LOWEST = np.iinfo(np.int64).min
_SECONDS_A_REPORT = 0.5

Ints = npt.NDArray[np.int64]


class Progress(NamedTuple):
    """How far the clustering is: word ``word`` of ``n_words``."""

    word: int
    n_words: int
    mutual_information: float
    """What the words so far contribute to the average mutual information, in nats."""
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """Words and the bit strings of their clusters.

    Parameters
    ----------
    words : sequence of str
        None twice.
    cluster_ids : array of int32, (n_words,)
        The cluster of each word: an index into ``paths``.
    paths : sequence of str
        The bit string of each cluster; every prefix of it names a larger cluster around it.
    counts : array of int64, (n_words,)
        How often each word occurred.
    average_mutual_information : float, optional
        Of the clusters of neighbouring words, in the text they were made from and in nats; None if not known, as for
        clusters read from a file.

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
            raise FeatureError("a word is there twice; expected every word in one cluster")

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
        """Return the bit string of a word, or None for a word that has no cluster."""
        cluster = self._id_of.get(word, UNKNOWN)
        return None if cluster == UNKNOWN else self.paths[cluster]

    def ids_of(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return the cluster of each word as an index into ``paths``, `UNKNOWN` (-1) for those that have none.

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
        """Write the clusters in the usual ``paths`` format: bit string, word and count, with tabs between them.

        Lines are in the order of the bit strings, then of falling count, so that neighbours in the tree are
        neighbours in the file.
        """
        with writing(Path(path)) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return what `save` writes, to travel inside a model."""
        try:
            return "".join(f"{bits}\t{word}\t{count}\n" for bits, _, word, count in self._table()).encode()
        except UnicodeEncodeError as error:
            raise FeatureError(f"a word holds {error.object[error.start]!r}, which UTF-8 cannot write") from None

    @classmethod
    def load(cls, path: str | Path) -> Clusters:
        """Read clusters from a file in the ``paths`` format, whoever wrote it.

        A line is ``bit string<TAB>word<TAB>count``; the count may be missing (it is then 0) and empty lines are passed
        over. A word may hold tabs if there is a count.

        Raises
        ------
        FeatureError
            If a line is something else or a word comes twice.
        """
        return cls._parsed(Path(path), lines_of(Path(path)))

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "<clusters>") -> Clusters:
        """Read what `to_bytes` returned; ``name`` stands for the file in messages."""
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
                raise broken(path, number, f"{quoted(line)} is not a bit string, a word and a count with tabs between")
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


class Bigrams(NamedTuple):
    """Words by falling frequency, and how often each follows each.

    ``right[first_right[w]:first_right[w + 1]]`` are the words that follow word ``w`` and ``right_count`` how often;
    ``first_left``, ``left`` and ``left_count`` say the same of the words before it.
    """

    words: tuple[str, ...]
    counts: Ints
    first_right: Ints
    right: Ints
    right_count: Ints
    first_left: Ints
    left: Ints
    left_count: Ints

    @property
    def total(self) -> int:
        """How many pairs of neighbours there are."""
        return int(self.right_count.sum())


def brown_clusters(
    sentences: Iterable[Sequence[str]],
    n_clusters: int = 1000,
    min_count: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Clusters:
    """Cluster words by the company they keep.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The text. Two words are neighbours only within a sentence, never across its boundary.
    n_clusters : int
        How many clusters; with fewer words than that, every word is a cluster of its own.
    min_count : int
        Words that are rarer have no cluster, and are no neighbour of any.
    on_progress : callable, optional
        Called with a `Progress` about twice a second, and at the end.

    Returns
    -------
    Clusters
        All words of a cluster have the same bit string; a single cluster has the bit string ``0``. The result depends
        on nothing but the sentences (not on their order) and the two numbers.

    Raises
    ------
    FeatureError
        If there is no word to cluster, or one that a file of clusters could not hold: an empty one, one with a line
        break in it, half a character.

    Notes
    -----
    With n(c, d) pairs of neighbours of which the first is in cluster c and the second in d, l and r its row and column
    sums and N its sum, the average mutual information is Σ n(c, d)/N · log(n(c, d) N / (l(c) r(d))). While words are
    still waiting, the sum runs over the clusters so far, and l, r and N count the whole text. Of several mergers
    that lose equally little, the one of the lowest cluster numbers is made.

    Time grows with words times clusters, memory with clusters squared (about 16 MB for 1,000).

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


def count_bigrams(sentences: Iterable[Sequence[str]], min_count: int = 1) -> Bigrams:
    """Count words and pairs of neighbours; words rarer than ``min_count`` are left out.

    Words come by falling count, equally frequent ones in alphabetical order.
    """
    if min_count < 1:
        raise UsageError(f"min_count is {min_count}; expected at least 1")
    first_seen: dict[str, int] = {}
    stream = array("q")
    for sentence in sentences:
        if isinstance(sentence, str):
            raise FeatureError(f"a sentence is the text {quoted(sentence)}; expected a sequence of words")
        for word in sentence:
            stream.append(first_seen.setdefault(word, len(first_seen)))
        stream.append(-1)
    tokens = np.frombuffer(stream, dtype=np.int64) if stream else np.zeros(0, dtype=np.int64)
    count = np.bincount(tokens[tokens >= 0], minlength=len(first_seen))
    seen = list(first_seen)
    kept = sorted((i for i in range(len(seen)) if count[i] >= min_count), key=lambda i: (-count[i], seen[i]))
    words = tuple(_checked(seen[i]) for i in kept)
    if not words:
        rare = f", but {len(seen)} rarer than min_count = {min_count}" if seen else ""
        raise FeatureError(f"the text has no words to cluster{rare}; expected sentences of words")
    rank = np.full(len(seen) + 1, -1, dtype=np.int64)  # the last one is for sentence ends, which are -1
    rank[kept] = np.arange(len(kept))
    tokens = rank[tokens]
    left, right = tokens[:-1], tokens[1:]
    inside = (left >= 0) & (right >= 0)
    keys, pair_count = np.unique(left[inside] * len(words) + right[inside], return_counts=True)
    left, right = keys // len(words), keys % len(words)
    order = np.argsort(right, kind="stable")
    ranks = np.arange(len(words) + 1)
    return Bigrams(
        words,
        count[kept].astype(np.int64),
        np.searchsorted(left, ranks),
        right,
        pair_count,
        np.searchsorted(right[order], ranks),
        left[order],
        pair_count[order],
    )


def _checked(word: str) -> str:
    if not isinstance(word, str) or not word or "\n" in word or not _can_be_written(word):
        raise FeatureError(
            f"the word {quoted(word)} cannot be clustered: expected a text that is not empty, has no line break and "
            "can be written in UTF-8"
        )
    return word


def _can_be_written(word: str) -> bool:
    return word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)


def average_mutual_information(bigrams: Bigrams, cluster_ids: npt.ArrayLike) -> float:
    """Return the average mutual information of the clusters of neighbouring words, by definition, in nats.

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
        In the order they were made; a merged node has the number ``kept``, whose side is 0, the other's is 1.

    Examples
    --------
    >>> bit_strings([0, 1, 2], [(0, 2), (0, 1)])
    ['00', '1', '01']
    """
    path = {leaves[0]: ""}
    for kept, gone in reversed(merges):
        path[kept], path[gone] = path[kept] + "0", path[kept] + "1"
    return [path[leaf] or "0" for leaf in leaves]


def log_bits(total: int) -> int:
    """Return how many binary digits after the point a logarithm can have, so that sums of losses fit into 64 bits."""
    largest = 16.0 * max(total, 2) * math.log(max(total, 2))
    return min(40, 62 - math.ceil(math.log2(largest)))


class Window(NamedTuple):
    """The clusters so far, each in a slot, as the kernels see them. Slots that hold no cluster are all zeros.

    ``pairs[a, b]`` says how often b follows a, and ``turned`` is its transpose. ``left_total`` and ``right_total`` are
    a cluster's pairs in the whole text, ``left_seen`` and ``right_seen`` those with clusters of the window.

    The loss of merging a < b is ``core[b, a]``, which depends on common neighbours, plus what `_loss` adds for row and
    column sums; ``own`` is the part of those that a cluster has without any merger. ``least[b]`` is the least loss in
    row b and ``partner[b]`` where it stands; where ``stale[b]``, it is only known that no loss in the row is less.
    ``parent`` joins words into trees; ``slot_of`` is the slot of a root and ``root_of`` the root of a slot. ``free``
    holds the next slot to fill, ``gain`` is scratch.
    """

    pairs: npt.NDArray[np.int32]
    turned: npt.NDArray[np.int32]
    left_total: Ints
    right_total: Ints
    left_seen: Ints
    right_seen: Ints
    own: Ints
    active: npt.NDArray[np.bool_]
    core: Ints
    least: Ints
    partner: Ints
    stale: npt.NDArray[np.bool_]
    parent: Ints
    slot_of: Ints
    root_of: Ints
    free: Ints
    log: Ints
    scale: float
    gain: Ints


class _Merging:
    """A `Window` over some bigrams, and what can be done with it."""

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
            least=np.full(n_slots, _LOWEST, dtype=np.int64),
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
        """The slots merged after each word, (-1, -1) while the window was not yet full."""

    def grow(self, first: int, last: int) -> None:
        """Add the words from ``first`` to before ``last``, merging whenever there is a cluster too many."""
        grow_kernel(self.window, *self.bigrams[2:], self.merges, first, last)

    def tree(self) -> list[tuple[int, int]]:
        """Merge everything that is left; return the mergers."""
        merges = np.zeros((max(int(self.window.active.sum()) - 1, 0), 2), dtype=np.int64)
        tree_kernel(self.window, merges)
        return [(kept, gone) for kept, gone in merges.tolist()]

    def slots(self) -> Ints:
        """Return the slot of every word."""
        slots = np.zeros(len(self.bigrams.words), dtype=np.int64)
        slots_kernel(self.window, slots)
        return slots

    def mutual_information(self) -> float:
        """Return what the words so far contribute to the average mutual information."""
        total = max(self.bigrams.total, 1)
        return float(information_kernel(self.window, total) / (self.scale * total))


@numba.njit(nogil=True, cache=True)
def _log(window, x):
    if x < window.log.shape[0]:
        return window.log[x]
    return _integer_log(x, window.scale)


@numba.njit(nogil=True, cache=True)
def _integer_log(x, scale):
    return np.int64(math.floor(math.log(x) * scale + 0.5))


@numba.njit(nogil=True, cache=True)
def log_kernel(log, scale):
    """Fill ``log[x]`` with log x in units of 1 / ``scale``, 0 for 0."""
    for x in range(1, log.shape[0]):
        log[x] = _integer_log(x, scale)


@numba.njit(nogil=True, cache=True)
def _f(window, x):
    return x * _log(window, x)


@numba.njit(nogil=True, cache=True)
def grow_kernel(window, first_right, right, right_count, first_left, left, left_count, merges, first, last):
    """Add words ``first`` to ``last`` - 1 of some `Bigrams`; ``merges`` (n_words, 2) takes the slots merged."""
    n_slots = window.pairs.shape[0]
    for word in range(first, last):
        slot = window.free[0]
        window.root_of[slot] = word
        window.slot_of[word] = slot
        for k in range(first_right[word], first_right[word + 1]):
            window.left_total[slot] += right_count[k]
            if right[k] <= word:
                other = window.slot_of[_root(window.parent, right[k])]
                window.pairs[slot, other] += right_count[k]
                window.turned[other, slot] += right_count[k]
        for k in range(first_left[word], first_left[word + 1]):
            window.right_total[slot] += left_count[k]
            if left[k] < word:
                other = window.slot_of[_root(window.parent, left[k])]
                window.pairs[other, slot] += left_count[k]
                window.turned[slot, other] += left_count[k]
        _add(window, slot)
        if word + 1 < n_slots:
            window.free[0] = word + 1
        else:
            kept, gone = _best(window)
            _merge(window, kept, gone)
            window.free[0] = gone
            merges[word, 0], merges[word, 1] = kept, gone


@numba.njit(nogil=True, cache=True)
def tree_kernel(window, merges):
    """Merge the least costly pair ``len(merges)`` times; ``merges`` takes the slots."""
    for step in range(merges.shape[0]):
        kept, gone = _best(window)
        _merge(window, kept, gone)
        merges[step, 0], merges[step, 1] = kept, gone


@numba.njit(nogil=True, cache=True)
def slots_kernel(window, slots):
    """Write the slot of every word to ``slots``."""
    for word in range(slots.shape[0]):
        slots[word] = window.slot_of[_root(window.parent, word)]


@numba.njit(nogil=True, cache=True)
def information_kernel(window, total):
    """Return Σ n(c, d) log(n(c, d) N / (l(c) r(d))) over the window, in units of 1 / scale."""
    result = 0
    for a in range(window.pairs.shape[0]):
        if not window.active[a]:
            continue
        for b in range(window.pairs.shape[0]):
            if window.pairs[a, b]:
                result += _f(window, np.int64(window.pairs[a, b]))
        result += window.left_seen[a] * (_log(window, total) - _log(window, window.left_total[a]))
        result -= window.right_seen[a] * _log(window, window.right_total[a])
    return result


@numba.njit(nogil=True, cache=True)
def _root(parent, word):
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = parent[word]
    return word


@numba.njit(nogil=True, cache=True)
def _loss(window, b, a):
    return (
        window.core[b, a]
        + (window.left_seen[a] + window.left_seen[b]) * _log(window, window.left_total[a] + window.left_total[b])
        + (window.right_seen[a] + window.right_seen[b]) * _log(window, window.right_total[a] + window.right_total[b])
        - window.own[a]
        - window.own[b]
    )


@numba.njit(nogil=True, cache=True)
def _see(window, a, left, right):
    # Count further pairs with clusters of the window.
    window.left_seen[a] += left
    window.right_seen[a] += right
    window.own[a] = window.left_seen[a] * _log(window, window.left_total[a]) + window.right_seen[a] * _log(
        window, window.right_total[a]
    )


@numba.njit(nogil=True, cache=True)
def _set(window, b, a, core):
    window.core[b, a] = core
    if window.least[b] == _LOWEST:
        return
    loss = _loss(window, b, a)
    if loss < window.least[b] or (loss == window.least[b] and a < window.partner[b]):
        window.least[b] = loss
        window.partner[b] = a
    elif a == window.partner[b] and loss > window.least[b]:
        window.stale[b] = True


@numba.njit(nogil=True, cache=True)
def _change(window, a, b, by):
    if a < b:
        _set(window, b, a, window.core[b, a] + by)
    else:
        _set(window, a, b, window.core[a, b] + by)


@numba.njit(nogil=True, cache=True)
def _add(window, slot):
    """Make a cluster of the counts in ``slot`` and correct the losses of all pairs."""
    n_slots = window.pairs.shape[0]
    # More pairs seen can only raise what a neighbour loses by any merger: what was least is still a lower bound.
    for a in range(n_slots):
        if window.pairs[slot, a] or window.turned[slot, a]:
            if a != slot:
                _see(window, a, window.turned[slot, a], window.pairs[slot, a])
            window.stale[a] = True
    for b in range(n_slots):
        a = window.partner[b]
        if a >= 0 and (window.pairs[slot, a] or window.turned[slot, a]):
            window.stale[b] = True
    _see(window, slot, window.pairs[slot].sum(), window.turned[slot].sum())
    window.active[slot] = True
    _share(window, window.turned[slot], slot)
    _share(window, window.pairs[slot], slot)
    _fill(window, slot)


@numba.njit(nogil=True, cache=True)
def _share(window, new, slot):
    # Every two clusters that have the new one as a neighbour lose less by merging.
    found = np.flatnonzero(new)
    for i in range(found.shape[0]):
        a, x = found[i], np.int64(new[found[i]])
        if a == slot:
            continue
        f_x = _f(window, x)
        for j in range(i):
            if found[j] != slot:
                y = np.int64(new[found[j]])
                _change(window, a, found[j], f_x + _f(window, y) - _f(window, x + y))


@numba.njit(nogil=True, cache=True)
def _fill(window, slot):
    """Compute the losses of all pairs with ``slot`` from their counts."""
    n_slots = window.pairs.shape[0]
    gain = window.gain
    gain[:] = 0
    for k in range(n_slots):
        _gain(window, np.int64(window.pairs[slot, k]), window.turned[k], gain)
        _gain(window, np.int64(window.turned[slot, k]), window.pairs[k], gain)
    own = np.int64(window.pairs[slot, slot])
    f_own = _f(window, own)
    for other in range(n_slots):
        if other == slot or not window.active[other]:
            continue
        core = -gain[other]
        # The two are neighbours of themselves and of each other: four counts that become one, not twice two.
        there, back = np.int64(window.pairs[slot, other]), np.int64(window.turned[slot, other])
        its = np.int64(window.pairs[other, other])
        if there or back or (own and its):
            core += (
                _f(window, own + back)
                + _f(window, there + its)
                + _f(window, own + there)
                + _f(window, back + its)
                - f_own
                - _f(window, there)
                - _f(window, back)
                - _f(window, its)
                - _f(window, own + there + back + its)
            )
        if other < slot:
            window.core[slot, other] = core
        else:
            _set(window, other, slot, core)
    window.stale[slot] = True
    window.least[slot] = _LOWEST
    window.partner[slot] = -1


@numba.njit(nogil=True, cache=True)
def _gain(window, x, counts, gain):
    if x == 0:
        return
    f_x = _f(window, x)
    for other in range(counts.shape[0]):
        y = np.int64(counts[other])
        if y:
            gain[other] += _f(window, x + y) - f_x - _f(window, y)


@numba.njit(nogil=True, cache=True)
def _best(window):
    """Return the pair of slots with the least loss, the lowest of several."""
    n_slots = window.pairs.shape[0]
    least = _NEVER
    for b in range(n_slots):
        if window.active[b] and not window.stale[b]:
            least = min(least, window.least[b])
    for b in range(n_slots):
        if window.active[b] and window.stale[b] and window.least[b] <= least:
            _refresh(window, b)
            least = min(least, window.least[b])
    kept, gone = n_slots, n_slots
    for b in range(n_slots):
        if window.active[b] and not window.stale[b] and window.least[b] == least and window.partner[b] < kept:
            kept, gone = window.partner[b], b
    return kept, gone


@numba.njit(nogil=True, cache=True)
def _refresh(window, b):
    least, partner = _NEVER, -1
    for a in range(b):
        if window.active[a]:
            loss = _loss(window, b, a)
            if loss < least:
                least, partner = loss, a
    window.least[b] = least
    window.partner[b] = partner
    window.stale[b] = False


@numba.njit(nogil=True, cache=True)
def _merge(window, kept, gone):
    """Join the cluster in slot ``gone`` to the one in ``kept`` < ``gone`` and correct the losses of all pairs."""
    n_slots = window.pairs.shape[0]
    _join(window, window.pairs[kept], window.pairs[gone], kept, gone)
    _join(window, window.turned[kept], window.turned[gone], kept, gone)
    _move(window.pairs, window.turned, kept, gone)
    _move(window.turned, window.pairs, kept, gone)
    for of in (window.left_total, window.right_total, window.left_seen, window.right_seen):
        of[kept] += of[gone]
        of[gone] = 0
    _see(window, kept, 0, 0)
    window.active[gone] = False
    for b in range(n_slots):
        if window.partner[b] == gone or window.partner[b] == kept:
            window.stale[b] = True
    window.parent[window.root_of[gone]] = window.root_of[kept]
    _fill(window, kept)


@numba.njit(nogil=True, cache=True)
def _move(count, turned, kept, gone):
    # Row by row in one matrix, which is column by column in the other.
    for k in range(count.shape[0]):
        if count[gone, k]:
            count[kept, k] += count[gone, k]
            turned[k, kept] = count[kept, k]
            count[gone, k] = 0
            turned[k, gone] = 0


@numba.njit(nogil=True, cache=True)
def _join(window, counts, more, kept, gone):
    # Two clusters that had ``kept`` and ``gone`` as neighbours now have one. Nothing changes for a pair of which
    # neither is beside the rarer of the two, so those that are drive the loop.
    n_slots = counts.shape[0]
    n_counts, n_more = 0, 0
    for k in range(n_slots):
        n_counts += counts[k] != 0
        n_more += more[k] != 0
    if n_counts < n_more:
        counts, more = more, counts
    union = np.empty(n_slots, dtype=np.int64)
    own = np.empty(n_slots, dtype=np.int64)
    n_union = 0
    for rare in (True, False):
        for k in range(n_slots):
            if k != kept and k != gone and (more[k] != 0) == rare and (rare or counts[k] != 0):
                union[n_union] = k
                x, y = np.int64(counts[k]), np.int64(more[k])
                own[n_union] = _f(window, x + y) - _f(window, x) - _f(window, y)
                n_union += 1
    i = 0
    while i < n_union and more[union[i]] != 0:
        a = union[i]
        x, x_more = np.int64(counts[a]), np.int64(more[a])
        for j in range(i + 1, n_union):
            b = union[j]
            y, y_more = np.int64(counts[b]), np.int64(more[b])
            by = own[i] + own[j] + _f(window, x + y) + _f(window, x_more + y_more) - _f(window, x + x_more + y + y_more)
            if by:
                _change(window, a, b, by)
        i += 1

"""The index of features, from 64-bit hashes to consecutive ids.

Ids are assigned in order of first appearance. The hashes are in an open-addressing table of flat arrays, so a lookup
takes one or two probes; zero marks a free slot, and no feature has the hash zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel
from hyperspan.compiled.prefetch import prefetch
from hyperspan.errors import FeatureError

Hashes = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

MOST_FEATURES = 2**31 - 2
"""Ids are 32-bit integers."""

_SMALLEST_TABLE = 1 << 10

_AHEAD = 32
"""How many lookups ahead a slot is prefetched."""


class FeatureIndex:
    """Assigns a number to every feature.

    Parameters
    ----------
    hashes : array of uint64, optional
        The known features, in the order of their ids, without duplicates or zeros.

    Examples
    --------
    >>> index = FeatureIndex()
    >>> index.add(np.array([70, 50, 70], dtype=np.uint64)).tolist()
    [0, 1, 0]
    >>> index.ids_of(np.array([50, 60], dtype=np.uint64)).tolist()
    [1, -1]
    >>> FeatureIndex(index.hashes).ids_of(np.array([50, 60], dtype=np.uint64)).tolist()
    [1, -1]
    """

    def __init__(self, hashes: Hashes | None = None) -> None:
        self._key = np.zeros(_SMALLEST_TABLE, np.uint64)
        self._id = np.full(_SMALLEST_TABLE, -1, np.int32)
        self._hash = np.zeros(_SMALLEST_TABLE // 2, np.uint64)
        self._count = np.zeros(_SMALLEST_TABLE // 2, np.int64)
        self._n_features = 0
        if hashes is not None:
            hashes = np.ascontiguousarray(hashes, dtype=np.uint64)
            if hashes.ndim != 1 or (hashes == 0).any():
                raise FeatureError("the hashes of an index must be one row of numbers other than zero")
            self.add(hashes)
            if self._n_features != len(hashes):
                raise FeatureError(
                    f"of {len(hashes)} hashes only {self._n_features} differ; "
                    "an index has each once. The file they were read from is damaged"
                )
            self._count[: len(hashes)] = 0

    def __len__(self) -> int:
        return self._n_features

    def __repr__(self) -> str:
        return f"FeatureIndex({self._n_features:,} features)"

    @property
    def hashes(self) -> Hashes:
        """The features in the order of their ids, from which the index can be restored."""
        return self._hash[: self._n_features].copy()

    @property
    def slots(self) -> tuple[Hashes, Ids]:
        """The hash table for kernels: the hash in each slot, and its id."""
        return self._key, self._id

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each feature was added; zero for those given to the constructor."""
        return self._count[: self._n_features].copy()

    def add(self, hashes: Hashes) -> Ids:
        """Return the ids of features, assigning new ids to new features, and count them."""
        hashes = np.ascontiguousarray(hashes, dtype=np.uint64)
        ids = np.empty(len(hashes), np.int32)
        done = 0
        while done < len(hashes):
            if 2 * (self._n_features + 1) > len(self._key):
                self._grow()
            done, self._n_features = add_kernel(
                self._key, self._id, self._hash, self._count, self._n_features, hashes, done, ids
            )
        return ids

    def ids_of(self, hashes: Hashes) -> Ids:
        """Return the ids of features, -1 for those that are not in the index."""
        hashes = np.ascontiguousarray(hashes, dtype=np.uint64)
        ids = np.empty(len(hashes), np.int32)
        find_kernel(self._key, self._id, hashes, ids)
        return ids

    def at_least(self, min_count: int) -> tuple[FeatureIndex, Ids]:
        """Return an index of the features added at least ``min_count`` times, and the new id or -1 of each old one."""
        kept = self._count[: self._n_features] >= min_count
        new_id = np.where(kept, np.cumsum(kept, dtype=np.int64) - 1, -1).astype(np.int32)
        index = FeatureIndex(self.hashes[kept])
        index._count[: len(index)] = self.counts[kept]
        return index, new_id

    def _grow(self) -> None:
        size = 2 * len(self._key)
        if self._n_features >= MOST_FEATURES:
            raise FeatureError(
                f"there are more than {MOST_FEATURES:,} features; leave out rare ones (min_count) or some templates"
            )
        key, id = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
        fill_kernel(self._hash[: self._n_features], key, id)
        self._key, self._id = key, id
        self._hash = np.concatenate([self._hash, np.zeros(size // 2 - len(self._hash), np.uint64)])
        self._count = np.concatenate([self._count, np.zeros(size // 2 - len(self._count), np.int64)])


def drop_unknown(first_feature: Offsets, ids: Ids) -> tuple[Offsets, Ids]:
    """Return a CSR block without the ids that are -1."""
    kept = np.empty_like(ids)
    first_kept = np.empty_like(first_feature)
    n_kept = compact_kernel(first_feature, ids, first_kept, kept)
    return first_kept, kept[:n_kept]


class Collision(NamedTuple):
    """Two features with the same id."""

    id: int
    name: str
    other: str


class FeatureNames:
    """The readable names of features, by id, as far as they are known.

    Attributes
    ----------
    names : dict of int to str
    collisions : list of Collision
        Different names with the same hash, each pair once.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.collisions: list[Collision] = []
        self._others: set[tuple[int, str]] = set()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, id: int) -> str:
        return self.names[id]

    def add(self, id: int, name: str) -> None:
        """Record a feature's name.

        Examples
        --------
        >>> names = FeatureNames()
        >>> for name in ("word[0]=lac", "word[0]=hernia", "word[0]=lac"):
        ...     names.add(7, name)
        >>> names[7], names.collisions
        ('word[0]=lac', [Collision(id=7, name='word[0]=lac', other='word[0]=hernia')])
        """
        known = self.names.setdefault(id, name)
        if known != name and (id, name) not in self._others:
            self._others.add((id, name))
            self.collisions.append(Collision(id, known, name))


@kernel
def add_kernel(key, id, hash, count, n_features, hashes, begin, ids):
    """Assign ids to ``hashes[begin:]`` until the table is half full; return where it stopped and how many there are."""
    mask = np.uint64(key.shape[0] - 1)
    one = np.uint64(1)
    for position in range(begin, hashes.shape[0]):
        wanted = hashes[position]
        slot = wanted & mask
        while key[slot] != wanted and key[slot] != 0:
            slot = (slot + one) & mask
        if key[slot] == 0:
            if 2 * (n_features + 1) > key.shape[0]:
                return position, n_features
            key[slot] = wanted
            id[slot] = n_features
            hash[n_features] = wanted
            n_features += 1
        ids[position] = id[slot]
        count[id[slot]] += 1
    return hashes.shape[0], n_features


@kernel
def fill_kernel(hashes, key, id):
    """Insert distinct hashes into an empty table."""
    mask = np.uint64(key.shape[0] - 1)
    one = np.uint64(1)
    for position in range(hashes.shape[0]):
        slot = hashes[position] & mask
        while key[slot] != 0:
            slot = (slot + one) & mask
        key[slot] = hashes[position]
        id[slot] = position


@kernel
def find_kernel(key, id, hashes, ids):
    """Look up hashes; -1 for unknown ones."""
    mask = np.uint64(key.shape[0] - 1)
    for position in range(hashes.shape[0]):
        if position + _AHEAD < hashes.shape[0]:
            prefetch(key, hashes[position + _AHEAD] & mask)
            prefetch(id, hashes[position + _AHEAD] & mask)
        ids[position] = find_one_kernel(key, id, hashes[position])


@kernel
def find_one_kernel(key, id, wanted):
    """Look up one hash; -1 if it is unknown."""
    mask, one = np.uint64(key.shape[0] - 1), np.uint64(1)
    slot = wanted & mask
    while key[slot] != wanted and key[slot] != 0:
        slot = (slot + one) & mask
    return id[slot]


@kernel
def compact_kernel(first_feature, ids, first_kept, kept):
    """Copy the ids that are not negative; return how many there are."""
    n_kept = 0
    first_kept[0] = 0
    for token in range(first_feature.shape[0] - 1):
        for position in range(first_feature[token], first_feature[token + 1]):
            if ids[position] >= 0:
                kept[n_kept] = ids[position]
                n_kept += 1
        first_kept[token + 1] = n_kept
    return n_kept

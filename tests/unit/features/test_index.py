"""The index of features."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan.errors import FeatureError
from hyperspan.features import FeatureIndex
from hyperspan.features.index import FeatureNames, drop_unknown

pytestmark = pytest.mark.kernel


def hashes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def test_ids_are_given_in_order_of_first_appearance():
    index = FeatureIndex()
    assert index.add(hashes(9, 3, 9, 2**64 - 1)).tolist() == [0, 1, 0, 2]
    assert index.add(hashes(5, 3)).tolist() == [3, 1]
    assert index.hashes.tolist() == [9, 3, 2**64 - 1, 5]
    assert index.counts.tolist() == [2, 2, 1, 1]
    assert len(index) == 4


def test_unknown_features_are_not_found():
    index = FeatureIndex(hashes(9, 3))
    assert index.ids_of(hashes(3, 4, 9, 0)).tolist() == [1, -1, 0, -1]
    assert FeatureIndex().ids_of(hashes(1)).tolist() == [-1]


def test_the_index_grows_and_can_be_made_again():
    rng = np.random.default_rng(7)
    many = rng.integers(1, 2**64, size=3000, dtype=np.uint64)
    index = FeatureIndex()
    assert index.add(many).tolist() == list(range(3000))
    again = FeatureIndex(index.hashes)
    assert again.ids_of(many).tolist() == list(range(3000))
    assert again.counts.sum() == 0
    assert (again.ids_of(many + np.uint64(1)) == -1).sum() >= 2999


def test_hashes_that_want_the_same_slot_are_told_apart():
    crowded = np.arange(1, 400, dtype=np.uint64) << np.uint64(40)
    index = FeatureIndex(crowded)
    assert index.ids_of(crowded).tolist() == list(range(399))
    assert index.ids_of(hashes(400 << 40)).tolist() == [-1]


def test_rare_features_are_left_out():
    index = FeatureIndex()
    index.add(hashes(8, 9, 9, 7, 7, 7))
    kept, new_id = index.at_least(2)
    assert kept.hashes.tolist() == [9, 7]
    assert kept.counts.tolist() == [2, 3]
    assert new_id.tolist() == [-1, 0, 1]


def test_unknown_ids_are_dropped_from_a_block():
    first, ids = drop_unknown(np.array([0, 2, 2, 4]), np.array([-1, 5, 6, -1], np.int32))
    assert (first.tolist(), ids.tolist()) == ([0, 1, 1, 2], [5, 6])


def test_a_damaged_index_is_refused():
    with pytest.raises(FeatureError, match="of 3 hashes only 2 differ"):
        FeatureIndex(hashes(4, 5, 4))
    with pytest.raises(FeatureError, match="numbers other than zero"):
        FeatureIndex(hashes(4, 0))


def test_different_names_of_one_feature_are_collisions():
    names = FeatureNames()
    for id, name in [(0, "a"), (1, "b"), (0, "a"), (1, "c"), (1, "c")]:
        names.add(id, name)
    assert (names[0], names[1], len(names)) == ("a", "b", 2)
    assert names.collisions == [(1, "b", "c")]

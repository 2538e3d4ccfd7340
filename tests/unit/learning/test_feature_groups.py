"""Groups and rows of a word together are its rows; lists and their transposes say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.learning.feature_groups import Grouped, check_kernel, group_rows
from hyperspan.learning.sparse import Lists

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8)


def lists_of(lists: list[list[int]]) -> Lists:
    return Lists(
        np.cumsum([0, *map(len, lists)]), np.array([item for items in lists for item in items], dtype=np.int32)
    )


def lists_in(lists: Lists) -> list[list[int]]:
    return [lists.item[begin:end].tolist() for begin, end in zip(lists.first[:-1], lists.first[1:], strict=True)]


def unfolded(grouped: Grouped) -> list[list[int]]:
    of_group = lists_in(grouped.of_group)
    return [
        sorted([*rows, *(row for group in groups for row in of_group[group])])
        for rows, groups in zip(lists_in(grouped.rows), lists_in(grouped.groups), strict=True)
    ]


@given(LISTS, st.lists(st.integers(0, 3), min_size=10, max_size=10))
def test_nothing_is_lost_or_added(lists, group_key):
    grouped = group_rows(lists_of(lists), np.array(group_key, dtype=np.int32))
    assert unfolded(grouped) == [sorted(rows) for rows in lists]
    uses = np.bincount(grouped.groups.item, minlength=grouped.of_group.n_lists)
    assert np.all(uses >= 2)
    for rows in lists_in(grouped.of_group):
        assert len(rows) >= 2
        assert len({group_key[row] for row in rows}) == 1


def test_what_comes_back_is_grouped_by_key():
    group_key = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    grouped = group_rows(lists_of([[0, 2, 1, 3], [0, 1], [2, 3, 4], [2, 3], [4, 0]]), group_key)
    assert lists_in(grouped.of_group) == [[0, 1], [2, 3]]
    assert lists_in(grouped.groups) == [[0, 1], [0], [], [1], []]
    assert lists_in(grouped.rows) == [[], [], [2, 3, 4], [], [0, 4]]


@pytest.mark.kernel
def test_lists_decide_where_keys_are_equal_by_chance():
    starts, sizes = np.array([[0], [2], [4]]), np.array([[2], [2], [2]], dtype=np.int32)
    first_word = np.zeros((3, 1), dtype=np.int32)
    check_kernel(np.array([5, 6, 5, 6, 6, 5], dtype=np.int32), starts, sizes, first_word)
    assert first_word.ravel().tolist() == [0, 0, -1]


def test_a_list_that_comes_back_only_in_another_order_is_no_group():
    grouped = group_rows(lists_of([[0, 1], [1, 0]]), np.zeros(2, dtype=np.int32))
    assert grouped.of_group.n_lists == 0
    assert lists_in(grouped.rows) == [[0, 1], [1, 0]]


def test_no_words_and_no_rows():
    assert unfolded(group_rows(lists_of([]), np.empty(0, dtype=np.int32))) == []
    assert unfolded(group_rows(lists_of([[], []]), np.empty(0, dtype=np.int32))) == [[], []]


@given(LISTS)
def test_transposing_twice_sorts_the_lists(lists):
    there = lists_of(lists).transposed(10)
    assert lists_in(there) == [
        [number for number, items in enumerate(lists) for here in items if here == item] for item in range(10)
    ]
    assert lists_in(there.transposed(len(lists))) == [sorted(items) for items in lists]

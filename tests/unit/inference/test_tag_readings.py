"""Tags read by the kernel: what ``enough`` reads."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.inference.numba.tag_readings import parts_of, read_tags
from hyperspan.structures import Linear

pytestmark = pytest.mark.kernel

TYPES = ("Drug", "Finding")
# Once mostly bodies and heads of one type, once mostly runs, once anything.
tags = st.one_of(st.sampled_from([0, 3, 3, 4, 5, 6]), st.sampled_from([0, 0, 1, 2, 2, 5, 7, 8]), st.integers(0, 12))
sequences = st.one_of([st.lists(choice, max_size=14) for choice in (tags, st.sampled_from([0, 3, 4]), tags)])


@settings(max_examples=400)
@given(rows=st.lists(sequences, max_size=4), max_components=st.integers(1, 5))
def test_kernel_and_plain_words_read_the_same(rows: list[list[int]], max_components: int) -> None:
    structure = Linear(TYPES, max_components)
    first_word = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    found = read_tags(structure, np.array(list(chain(*rows)), dtype=np.int64), first_word)
    wanted = [
        (number, mention.parts, mention.type)
        for number, row in enumerate(rows)
        for mention in structure.decode(tuple(enumerate(row)), "enough").mentions
    ]
    assert sorted((one[0], parts_of(one), TYPES[one[1]]) for one in found.tolist()) == wanted


def test_the_last_three_bodies_come_together_and_those_that_touch_are_one_part() -> None:
    structure = Linear(("Finding",))
    for tags, parts in [
        ("BD O BD O BD", ((0, 1), (2, 3), (4, 5))),
        ("BD BD O BD", ((0, 2), (3, 4))),
        ("BD O BD ID BD", ((0, 1), (2, 5))),
    ]:
        labels = np.array([structure.tags.index(tag) for tag in tags.split()])
        rows = read_tags(structure, labels, np.array([0, len(labels)]))
        assert [parts_of(row) for row in rows.tolist()] == [parts]

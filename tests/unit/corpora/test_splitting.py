"""Train, dev and test: shares, and which document goes where."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.corpora.splitting import SPLITS, assign_splits, parse_shares
from hyperspan.errors import UsageError

names = st.lists(st.text(min_size=1, max_size=4), max_size=40)


@st.composite
def shares(draw: st.DrawFn) -> tuple[float, float, float]:
    train = draw(st.integers(0, 100))
    dev = draw(st.integers(0, 100 - train))
    return train, dev, 100 - train - dev


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80,10,10", (80, 10, 10)),
        (" 70, 20 ,10 ", (70, 20, 10)),
        ("100,0,0", (100, 0, 0)),
        ("33.3,33.3,33.4", (33.3, 33.3, 33.4)),
    ],
)
def test_shares_are_read(text, expected):
    assert parse_shares(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "80", "80,20", "80,10,10,0", "80,10,9", "120,-10,-10", "a,b,c", "nan,nan,nan", "inf,-inf,100", "80 10 10"],
)
def test_other_shares_are_refused(text):
    with pytest.raises(UsageError) as refused:
        parse_shares(text)
    assert str(refused.value) == f"the split {text!r} is not three shares that add up to 100, such as 80,10,10"


def test_splits_have_their_shares():
    assigned = assign_splits((f"note-{number}" for number in range(200)), (80, 15, 5), seed=0)
    assert Counter(assigned.values()) == {"train": 160, "dev": 30, "test": 10}


@given(names, shares(), st.integers(0, 5))
def test_every_document_has_one_split_and_no_share_is_off_by_one(documents, shares, seed):
    assigned = assign_splits(documents, shares, seed)
    assert assigned.keys() == set(documents)
    counts = Counter(assigned.values())
    for name, share in zip(SPLITS, shares, strict=True):
        assert abs(counts[name] - len(assigned) * share / 100) <= 1
        assert share or not counts[name]


@given(names, st.randoms(use_true_random=False), shares(), st.integers(0, 5))
def test_neither_order_nor_repetition_matters(documents, random, shares, seed):
    again = documents * 2
    random.shuffle(again)
    assert assign_splits(again, shares, seed) == assign_splits(documents, shares, seed)


def test_another_seed_cuts_otherwise():
    documents = [f"note-{number}" for number in range(50)]
    one, other = (assign_splits(documents, (50, 25, 25), seed) for seed in (0, 1))
    assert one != other
    assert one == assign_splits(documents, (50, 25, 25), 0)


def test_nothing_to_split():
    assert assign_splits([], (80, 10, 10), seed=0) == {}

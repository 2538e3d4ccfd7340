"""Folds: by document, the same whatever the order, and never trained on what they hold out."""

from __future__ import annotations

from collections import Counter

import pytest

from hyperspan import Mention, Sentence
from hyperspan.annotation.folds import assign_folds, cross_train
from hyperspan.errors import UsageError


def test_folds_are_even_and_do_not_depend_on_the_order():
    docs = [f"note {number}" for number in range(23)]
    found = assign_folds(docs, 5, seed=3)
    assert sorted(Counter(found.values()).values()) == [4, 4, 5, 5, 5]
    assert assign_folds(reversed(docs), 5, seed=3) == found
    assert assign_folds(docs * 2, 5, seed=3) == found
    assert assign_folds(docs, 5, seed=4) != found


@pytest.mark.parametrize(
    ("n_docs", "n_folds", "message"),
    [
        (1, 2, "there is 1 document for 2 folds"),
        (3, 4, "there are 3 documents for 4 folds; expected at least as many documents"),
        (3, 1, "n_folds is 1; expected at least 2"),
    ],
)
def test_too_few_documents_or_folds(n_docs, n_folds, message):
    with pytest.raises(UsageError, match=message):
        assign_folds(map(str, range(n_docs)), n_folds)


def test_every_sentence_is_held_out_once_with_its_document():
    sentences = [Sentence(["a", f"w{n}"], [Mention(f"T{n // 2}", [(1, 2)])], doc=str(n // 2)) for n in range(8)]
    folds = list(cross_train({"max_iterations": 2}, sentences, 2))
    assert sorted(place for fold in folds for place in fold.held_out) == list(range(8))
    for fold in folds:
        seen = {sentences[place].mentions[0].type for place in range(8) if place not in fold.held_out}
        assert set(fold.recognizer.types_) == seen
        assert seen.isdisjoint(sentences[place].mentions[0].type for place in fold.held_out)

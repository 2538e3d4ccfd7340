"""The list of errors: what kind each is, and what it was taken for."""

from __future__ import annotations

from typing import Any

from examples import LACERATION
from hyperspan import Document, Mention, Sentence
from hyperspan.evaluation import KINDS, compare, list_errors
from hyperspan.text import tokenize

WORDS = ["a", "b", "c", "d", "e", "f"]


def errors(gold: list[Mention], predicted: list[Mention]) -> list[dict[str, Any]]:
    record = list_errors(compare(Sentence(WORDS, gold), Sentence(WORDS, predicted)))
    assert record is not None
    return record["errors"]


def kinds(gold: list[Mention], predicted: list[Mention]) -> list[tuple[str, str, str | None]]:
    return [
        (error["kind"], error["text"], error["partner"]["text"] if "partner" in error else None)
        for error in errors(gold, predicted)
    ]


def test_no_errors_no_record():
    assert list_errors(compare(LACERATION, LACERATION)) is None


def test_a_record_says_where_and_what():
    gold = Sentence(WORDS, [Mention("X", [(0, 1), (2, 4)])], doc="note", place="gold.jsonl:3")
    predicted = gold.with_mentions([Mention("X", [(5, 6)], prob=0.5)])
    assert list_errors(compare(gold, predicted)) == {
        "doc": "note",
        "place": "gold.jsonl:3",
        "tokens": WORDS,
        "errors": [
            {"error": "false negative", "kind": "missed", "type": "X", "spans": [[0, 1], [2, 4]], "text": "a … c d"},
            {"error": "false positive", "kind": "spurious", "type": "X", "spans": [[5, 6]], "text": "f", "prob": 0.5},
        ],
    }


def test_every_kind():
    assert kinds([Mention("X", [(0, 2)])], [Mention("Y", [(0, 2)])]) == [
        ("wrong type", "a b", "a b"),
        ("wrong type", "a b", "a b"),
    ]
    assert kinds([Mention("X", [(0, 2)])], [Mention("X", [(1, 2)])]) == [
        ("wrong boundary", "a b", "b"),
        ("wrong boundary", "b", "a b"),
    ]
    assert kinds([Mention("X", [(0, 2)])], [Mention("Y", [(1, 2)])]) == [
        ("wrong type and boundary", "a b", "b"),
        ("wrong type and boundary", "b", "a b"),
    ]
    assert kinds([Mention("X", [(0, 2)])], [Mention("X", [(2, 3)])]) == [
        ("missed", "a b", None),
        ("spurious", "c", None),
    ]
    assert set(KINDS) == {"missed", "spurious", "wrong type", "wrong boundary", "wrong type and boundary"}


def test_the_closest_partner_is_chosen():
    wanted = Mention("X", [(0, 3)])
    far, near, other_type = Mention("X", [(2, 4)]), Mention("X", [(1, 4)]), Mention("Y", [(0, 4)])
    assert kinds([wanted], [far, near, other_type])[0] == ("wrong boundary", "a b c", "b c d")
    assert kinds([wanted], [far, near, other_type, Mention("Y", [(0, 3)])])[0] == ("wrong type", "a b c", "a b c")


def test_what_is_right_is_nobodys_partner():
    inner, outer = Mention("X", [(1, 2)]), Mention("X", [(0, 3)])
    assert kinds([inner, outer], [outer]) == [("missed", "b", None)]


def test_documents_without_their_text():
    text = "no chest  pain"
    gold = Document("note", text, [Mention("X", [(3, 8), (10, 14)])])
    record = list_errors(compare(gold, gold.with_mentions([Mention("X", [(10, 13)])]), tokenize=tokenize))
    assert record is not None
    assert sorted(record) == ["doc", "errors"]
    assert [error["text"] for error in record["errors"]] == ["chest … pain", "pai"]
    assert {error["kind"] for error in record["errors"]} == {"wrong boundary"}

"""Mentions, sentences, documents and corpora check themselves once, when they are made."""

from __future__ import annotations

import pickle
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan import Corpus, Document, Mention, Sentence
from hyperspan.errors import AlignmentError, MentionError
from hyperspan.mentions import NOTHING, to_characters, to_tokens, unchecked_sentence
from strategies import mentions, sentences

TEXT = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlying lac ."
EGD = TEXT.split()


@pytest.mark.parametrize(
    ("type", "parts", "message"),
    [
        ("", [(0, 1)], "a mention's type is ''; expected a text that is not empty"),
        (None, [(0, 1)], "a mention's type is None"),
        ("X", [], "a mention of type 'X' has no parts; expected at least one"),
        ("X", [(0, 1, 2)], "expected pairs (start, end)"),
        ("X", 7, "parts are 7; expected pairs (start, end)"),
        ("X", [(0.0, 1)], "part (0.0, 1) is not a pair of integers"),
        ("X", [(False, True)], "part (False, True) is not a pair of integers"),
        ("X", [(-1, 1)], "part (-1, 1) starts before 0"),
        ("X", [(1, 1)], "part (1, 1) is empty; offsets are half-open and increasing"),
        ("X", [(2, 1)], "part (2, 1) ends before it starts"),
        (
            "X",
            [(0, 1), (1, 2)],
            "part (1, 2) comes after a part that ends at 1; parts are in text order and never touch",
        ),
        ("X", [(3, 4), (0, 1)], "part (0, 1) comes after a part that ends at 4"),
    ],
)
def test_a_mention_that_breaks_its_rules_is_refused(type, parts, message):
    with pytest.raises(MentionError) as raised:
        Mention(type, parts)
    assert message in str(raised.value)


def test_what_a_mention_knows_of_itself():
    mention = Mention("Finding", [(6, 7), (9, 10)])
    assert (mention.start, mention.end, mention.n_words, mention.gap) == (6, 10, 2, 2)
    assert mention.is_discontiguous
    assert list(mention.words()) == [6, 9]
    assert mention.shift(-6).parts == ((0, 1), (3, 4))
    assert not Mention("Finding", [(6, 10)]).is_discontiguous


def test_of_sorts_and_joins():
    assert Mention.of("X", [(4, 6), (0, 2), (2, 3), (5, 8)]).parts == ((0, 3), (4, 8))
    assert Mention.of_words("X", [5, 0, 1, 5]).parts == ((0, 2), (5, 6))
    with pytest.raises(MentionError, match=r"part \(3, 3\) is empty"):
        Mention.of("X", [(3, 3), (3, 5)])
    with pytest.raises(MentionError, match=r"part \(1, 1\) is empty"):
        Mention.of("X", [(0, 3), (1, 1)])


def test_equality_and_order_look_at_type_and_parts_only():
    plain, rich = Mention("X", [(0, 1)]), Mention("X", [(0, 1)], 0.5, {"cui": "C1"})
    assert plain == rich
    assert hash(plain) == hash(rich)
    assert plain != Mention("Y", [(0, 1)])
    assert plain != "X"
    later = Mention("A", [(0, 2)])
    assert sorted([later, Mention("Y", [(0, 1)]), plain]) == [plain, Mention("Y", [(0, 1)]), later]
    with pytest.raises(TypeError):
        _ = plain < "X"


@given(mentions(8), mentions(8))
def test_overlap_is_a_common_word(one, other):
    assert one.overlaps(other) == bool(set(one.words()) & set(other.words())) == other.overlaps(one)


@given(mentions(8))
def test_a_mention_is_its_words(mention):
    assert Mention.of_words(mention.type, mention.words()) == mention
    assert mention.n_words == len(list(mention.words()))


def test_a_mention_is_frozen():
    with pytest.raises(AttributeError):
        Mention("X", [(0, 1)]).type = "Y"


def test_a_sentence_made_without_checks_is_like_any_other():
    given = {
        "tokens": ("no", "fever"),
        "mentions": (Mention("X", ((1, 2),)),),
        "doc": "a",
        "attributes": {"section": "plan"},
        "offsets": ((0, 2), (3, 8)),
        "split": "train",
        "place": "a.txt:1",
    }
    made, checked = unchecked_sentence(**given), Sentence(**given)
    assert all(getattr(made, each.name) == getattr(checked, each.name) for each in fields(Sentence))
    assert pickle.loads(pickle.dumps(made)) == checked
    assert hash(made) == hash(checked)


def test_a_sentence_keeps_mentions_in_order():
    found = [Mention("Finding", [(13, 14), (16, 17)]), Mention("Finding", [(2, 4)])]
    sentence = Sentence(EGD, iter(found))
    assert sentence.mentions == (found[1], found[0])
    assert [sentence.text_of(mention) for mention in sentence.mentions] == ["hiatal hernia", "stomach … lac"]
    assert len(sentence) == len(EGD)
    assert sentence.is_discontiguous
    assert not sentence.with_mentions(found[1:]).is_discontiguous


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": "fever"}, "tokens are the text 'fever'; expected a sequence of words"),
        ({"tokens": ["a", ""]}, "token 1 is ''; expected a text that is not empty"),
        ({"tokens": ["a", 3]}, "token 1 is 3"),
        ({"mentions": [Mention("X", [(0, 3)])]}, "the 'X' mention [(0, 3)] ends at 3, but there are only 2 tokens"),
        (
            {"mentions": [Mention("X", [(0, 1)])] * 2},
            "the 'X' mention [(0, 1)] occurs twice; expected every mention once",
        ),
        ({"columns": {"pos": ["N"]}}, "column 'pos' has 1 values, but there are 2 tokens"),
        ({"offsets": [(0, 1)]}, "there are 1 offsets, but 2 tokens"),
    ],
)
def test_a_sentence_that_breaks_its_rules_is_refused(arguments, message):
    with pytest.raises(MentionError) as raised:
        Sentence(**{"tokens": ["no", "fever"], **arguments})
    assert message in str(raised.value)


def test_place_split_and_source_are_not_compared():
    one = Sentence(["fever"], split="train", place="a:1", source=1)
    assert one == Sentence(["fever"])
    assert hash(one) == hash(Sentence(["fever"]))
    assert one != Sentence(["fever"], attributes={"ward": "7"})
    assert hash(one) == hash(Sentence(["fever"], attributes={"ward": "7"}))


def test_a_document_counts_characters():
    document = Document("note", "no\r\nfever", [Mention("Finding", [(0, 2), (4, 9)])])
    assert document.text_of(document.mentions[0]) == "no … fever"
    assert document.is_discontiguous
    with pytest.raises(MentionError, match="ends at 10, but there are only 9 characters"):
        document.with_mentions([Mention("Finding", [(4, 10)])])


def test_what_a_corpus_knows_of_itself():
    units = [
        Sentence(["a", "b", "c"], [Mention("Y", [(0, 1), (2, 3)]), Mention("X", [(0, 1)])], split="train"),
        Sentence(["a"], split="test"),
        Sentence(["a"]),
    ]
    corpus = Corpus(iter(units))
    assert list(corpus) == units
    assert (len(corpus), corpus.n_mentions, corpus.types, corpus.splits) == (3, 2, ("X", "Y"), ("train", "test"))
    assert corpus.split("test").units == (units[1],)
    assert corpus.discontiguous().units == (units[0],)


OFFSETS = [(0, 5), (6, 8), (8, 9), (10, 15)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(0, 5)], ((0, 1),)),
        ([(0, 6), (9, 15)], ((0, 1), (3, 4))),
        ([(0, 5), (6, 8)], ((0, 2),)),
        ([(8, 9)], ((2, 3),)),
        ([(0, 15)], ((0, 4),)),
    ],
)
def test_characters_become_tokens(parts, expected):
    assert to_tokens(Mention("X", parts, 0.5, {"a": 1}), OFFSETS).parts == expected
    assert to_tokens(Mention("X", parts, 0.5, {"a": 1}), OFFSETS).prob == 0.5


def test_a_boundary_inside_a_token_is_refused_or_widened():
    mention = Mention("X", [(2, 5), (10, 12)])
    with pytest.raises(
        AlignmentError, match=r"part \(2, 5\) of a 'X' mention has a boundary inside the token \(0, 5\)"
    ):
        to_tokens(mention, OFFSETS)
    assert to_tokens(mention, OFFSETS, widen=True).parts == ((0, 1), (3, 4))


@pytest.mark.parametrize("widen", [False, True])
def test_a_part_without_tokens_is_refused(widen):
    with pytest.raises(AlignmentError, match=r"part \(5, 6\) of a 'X' mention covers no token"):
        to_tokens(Mention("X", [(5, 6)]), OFFSETS, widen=widen)


@given(sentences(), st.data())
def test_tokens_to_characters_and_back(sentence, data):
    offsets, reached = [], 0
    for token in sentence.tokens:
        start = reached + data.draw(st.integers(0, 2))
        reached = start + len(token)
        offsets.append((start, reached))
    for mention in sentence.mentions:
        assert to_tokens(to_characters(mention, offsets), offsets) == mention


def test_nothing_cannot_be_changed():
    with pytest.raises(TypeError):
        NOTHING["a"] = 1

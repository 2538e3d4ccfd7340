from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.corpora.demo.filling import concept_code, fill, without_mentions
from hyperspan.corpora.demo.grammar import Choice, Number, Slot, Words, parse, parse_block, parse_entry
from hyperspan.errors import CorpusError

LISTS = {
    "organ": tuple(map(parse_entry, ("liver", "spleen"))),
    "lesion": (parse_entry("laceration = lac"),),
    "hospital": (parse_entry("[**Hospital {1..9}**]"),),
}


def mentions_of(line: str, seed: int = 0) -> set[tuple[str, str]]:
    filled = fill(parse(line), Random(seed), LISTS)
    return {
        (mention.type, " … ".join(" ".join(filled.tokens[start:end]) for start, end in mention.parts))
        for mention in filled.mentions
    }


def test_a_word_group_may_belong_to_several_mentions():
    assert mentions_of("[blood:F1,F2] [in his [mouth:A1]:F1] and [on his [tongue:A2]:F2], awake") == {
        ("Finding", "blood in his mouth"),
        ("Finding", "blood … on his tongue"),
        ("Anatomy", "mouth"),
        ("Anatomy", "tongue"),
    }


def test_three_parts():
    assert mentions_of("[dark:F1] or [black:F2] [material:F1,F2] when you [vomit:F1,F2].") == {
        ("Finding", "dark … material … vomit"),
        ("Finding", "black material … vomit"),
    }


def test_adjacent_groups_of_one_mention_are_one_part():
    assert mentions_of("[water:F1] [shed:F1] area") == {("Finding", "water shed")}


def test_marks_reach_into_choices_and_slots():
    assert mentions_of("[(old|old) <lesion>:F1]", seed=1)
    assert {text for _, text in mentions_of("[(left |)<organ>:A1] seen", seed=3)} <= {
        f"{side}{organ}" for side in ("left ", "") for organ in ("liver", "spleen")
    }


def test_a_slot_is_not_filled_twice_with_the_same():
    for seed in range(20):
        assert sorted(fill(parse("<organ> <organ>"), Random(seed), LISTS).tokens) == ["liver", "spleen"]


def test_a_capital_slot_and_a_capital_sentence():
    assert fill(parse("<Lesion> here"), Random(1), LISTS).text[0] == "L"
    assert fill(parse("<lesion> here"), Random(1), LISTS, capital=True).text[0] == "L"
    assert fill(parse("(here|hence) <Organ>"), Random(1), LISTS, capital=True).text[0] == "H"


def test_weights_and_splits_are_read_before_the_words():
    assert parse("3x test> no <organ>")[1:] == (3, "test")
    assert parse("no <organ>")[1:] == (1, "")


def test_what_the_parser_makes_of_each_form():
    nodes = parse(r"a \(b\) <Organ> {2..14} {0.40..1.25} {01..12} (x|)").nodes
    assert nodes[0] == Words("a (b) ", (), ("a", "b"))
    assert nodes[1] == Slot("organ", True, ())
    assert [node for node in nodes if isinstance(node, Number)] == [
        Number(2, 13, 0, 0, ()),
        Number(40, 86, 2, 0, ()),
        Number(1, 12, 0, 2, ()),
    ]
    assert nodes[-1] == Choice(((Words("x", (), ("x",)),), ()))


def test_colons_are_words_unless_marks_follow():
    assert mentions_of("[Mitral valve:A1,F1]: [leaflets: both:F1] thick") == {
        ("Anatomy", "Mitral valve"),
        ("Finding", "Mitral valve … leaflets : both"),
    }


@pytest.mark.parametrize("seed", range(5))
def test_numbers_stay_in_their_range(seed):
    rng = Random(seed)
    for _ in range(50):
        whole, broken, padded = fill(parse("{2..14} {0.4..2.1} {01..12}"), rng, {}).text.split()
        assert 2 <= int(whole) <= 14
        assert 0.4 <= float(broken) <= 2.1
        assert len(broken.partition(".")[2]) == 1
        assert len(padded) == 2


def test_a_deidentification_mark_is_one_token():
    assert fill(parse("at <hospital>, today"), Random(2), LISTS).tokens[1:] == ["[**Hospital 9**]", ",", "today"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a [b", "exam:3: column 3: '[' is never closed; expected ']'"),
        ("a [b]", "exam:3: column 3: the group has no marks; expected [words:F1] or [words:F1,A1]"),
        ("a [:F1]", "exam:3: column 3: the group has no words; expected [words:F1]"),
        ("[b:F]", "exam:3: column 3: mark 'F' is unknown; expected a type (A, D, F, P) and a figure, as in F1"),
        ("[b:F1,Q2]", "exam:3: column 3: mark 'Q2' is unknown"),
        ("[b:]", "exam:3: column 3: mark '' is unknown"),
        ("a b]", "exam:3: column 4: ']' closes or parts nothing; write \\] if it means itself"),
        ("a | b", "exam:3: column 3: '|' closes or parts nothing"),
        ("a (b|c", "exam:3: column 3: '(' is never closed; expected ')'"),
        ("a (b) c", "exam:3: column 3: there is only one alternative; expected (one|another), or \\( for a bracket"),
        ("<organ", "exam:3: column 1: '<' is never closed; expected '>'"),
        ("<two words>", "exam:3: column 1: slot 'two words' is not a name; expected the name of a word list"),
        ("{2-4}", "exam:3: column 1: '2-4' is not a range; expected {2..14} or {0.4..2.1}"),
        ("{9..4}", "exam:3: column 1: the range '9..4' ends before it starts"),
        ("a \\b", "exam:3: column 3: there is a backslash before 'b'"),
        ("3x ", "exam:3: column 4: there is nothing; expected words"),
        ("0x a", "exam:3: the construction has the weight 0; expected 1x or more"),
        ("tset> a", "exam:3: there is no split 'tset'; expected train, dev, test"),
    ],
)
def test_malformed_constructions_say_what_is_wrong_and_where(line, message):
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}"):
        parse(line, where="exam", number=3)


def test_unknown_word_lists_are_refused_with_a_proposal():
    with pytest.raises(CorpusError, match=re.escape("exam:2: there is no word list 'organs'; did you mean 'organ'?")):
        parse_block("a\nthe (<organs>|b)\n", where="exam", split="train", lists=LISTS)
    with pytest.raises(CorpusError, match=re.escape("no word list 'xyz'; expected one of hospital, lesion, organ")):
        parse_block("<xyz>", where="exam", split="train", lists=LISTS)


def test_a_block_without_constructions_for_a_split_is_refused():
    with pytest.raises(CorpusError, match=re.escape("exam: no construction is left for the split 'dev'")):
        parse_block("test> a\n\n", where="exam", split="dev", lists=LISTS)


def test_a_mark_inside_a_word_is_our_own_mistake():
    with pytest.raises(AssertionError, match="a mark begins inside a word: 'nontender'"):
        fill(parse("non[tender:F1]"), Random(0), {})
    with pytest.raises(AssertionError, match="a mark ends inside a word"):
        fill(parse("[non:F1]tender"), Random(0), {})


def test_heavier_constructions_are_drawn_more_often():
    pool = parse_block("9x often\nrare", where="exam", split="train", lists={})
    rng = Random(0)
    drawn = Counter(pool.draw(rng).weight for _ in range(2_000))
    assert 1_700 < drawn[9] < 1_900
    assert drawn[1] == 2_000 - drawn[9]


def test_some_words_are_misspelled_inside_but_keep_their_code():
    rng = Random(0)
    template = parse("a [<lesion>:F1]")
    filled = [fill(template, rng, LISTS) for _ in range(2_000)]
    words = Counter(each.tokens[1] for each in filled)
    misspelled = {word for word in words if word not in ("laceration", "lac")}
    assert 0.003 < sum(words[word] for word in misspelled) / 2_000 < 0.04
    assert all(word[0] == "l" and word[-1] == "n" and sorted(word) == sorted("laceration") for word in misspelled)
    assert 0.2 < words["lac"] / 2_000 < 0.4
    assert len({each.mentions[0].attributes["cui"] for each in filled}) == 1


def test_codes_ignore_order_and_function_words():
    one = fill(parse("[laceration of the tongue:F1]"), Random(0), {})
    other = fill(parse("[tongue:F1] has a [laceration:F1]"), Random(0), {})
    assert one.mentions[0].attributes == other.mentions[0].attributes
    assert concept_code("F", ["x"]) != concept_code("A", ["x"])


def test_a_bullet_moves_tokens_and_mentions():
    filled = fill(parse("[fever:F1]"), Random(0), {}).after("2. ")
    assert filled.text == "2. fever"
    assert filled.tokens == ["2", ".", "fever"]
    assert filled.offsets == [(0, 1), (1, 2), (3, 8)]
    assert filled.mentions[0].parts == ((2, 3),)
    assert without_mentions("PMH:").tokens == ["PMH", ":"]


@given(st.text(st.sampled_from("[]<>(){}|\\:,. aF1Q2x-")))
def test_any_line_is_parsed_or_refused_with_its_place(line):
    refusal = None
    try:
        assert parse(line, where="block", number=7).nodes
    except CorpusError as error:
        refusal = str(error)
    assert refusal is None or refusal.startswith("block:7: ")


@given(st.lists(st.tuples(st.sampled_from(["ab", "cd", "ef"]), st.frozensets(st.sampled_from(["F1", "F2", "A1"])))))
def test_marked_words_come_back_as_mentions(pairs):
    line = " ".join(f"[{word}:{','.join(sorted(marks))}]" if marks else word for word, marks in pairs)
    if not line:
        return
    filled = fill(parse(line), Random(0), {})
    expected = [
        {position for position, (_, marks) in enumerate(pairs) if mark in marks}
        for mark in ("A1", "F1", "F2")
        if any(mark in marks for _, marks in pairs)
    ]
    found = [set(mention.words()) for mention in filled.mentions]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))

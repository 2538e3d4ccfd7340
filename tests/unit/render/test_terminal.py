"""Sentences drawn with characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from examples import EXAMPLES, INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.render import TypeColours, draw_text
from strategies import sentences


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_papers_sentences(name: str, golden):
    golden(f"render/{name}.txt", draw_text(EXAMPLES[name], width=80).plain + "\n")


def test_a_light_line_and_a_number_for_what_is_improbable():
    mentions = [Mention("Finding", [(0, 1)], prob=0.31), Mention("Finding", [(2, 4)], prob=0.9)]
    assert draw_text(INFARCTIONS.with_mentions(mentions)).plain.splitlines()[1:] == [
        " " * 19 + "━━━━━━━━━━ Finding 0.90",
        "─" * 11 + " Finding 0.31",
    ]


def test_control_characters_of_words_and_types_are_shown():
    sentence = Sentence(["\x1b[31mred", "a\tb"], [Mention("T\x07", [(0, 2)])])
    assert draw_text(sentence).plain == "␛[31mred a␉b\n━━━━━━━━━━━━ T␇"


def test_wide_characters_have_their_width():
    sentence = Sentence(["急性", "胸痛", "x"], [Mention("症状", [(0, 1)]), Mention("B", [(2, 3)])])
    assert draw_text(sentence).plain.splitlines() == ["急性 胸痛 x", "━━━━ 症状 ━ B"]


def test_a_word_without_width_is_not_hidden():
    assert draw_text(Sentence(["\u0301"], [Mention("A", [(0, 1)])])).plain == "◌\u0301\n━ A"


def test_types_fix_colours():
    sentence = INFARCTIONS.with_mentions([Mention("B", [(0, 1)])])
    alone, taken = draw_text(sentence), TypeColours()
    other = next(name for name in map(str, range(100)) if TypeColours().index(name) == TypeColours().index("B"))
    beside = draw_text(sentence, types=[other, "B"])
    assert len({span.style for span in alone.spans}) == 1
    assert {span.style for span in alone.spans} != {span.style for span in beside.spans}, "its colour was taken"
    assert draw_text(sentence, types=["A", "B"]).spans == alone.spans == draw_text(sentence, types=taken).spans


@given(sentences(max_tokens=12), st.integers(20, 60))
def test_lines_keep_to_the_width(sentence: Sentence, width: int):
    for line in draw_text(sentence, width=width).plain.splitlines():
        assert cell_len(line) <= width
        assert line.isprintable()


@given(st.integers(1, 9).flatmap(lambda n: sentences(max_tokens=n)), st.integers(10, 80))
def test_under_each_word_stand_all_its_mentions(sentence: Sentence, width: int):
    named = Sentence([f"w{position}" for position in range(len(sentence))], sentence.mentions)
    drawn = draw_text(named, width=width, ascii_only=True).plain
    covering = dict.fromkeys(named.tokens, 0)
    words: dict[str, int] = {}
    for line in drawn.splitlines():
        if line.startswith("w"):
            words = {token: line.index(token) for token in line.split()}
            continue
        for token, column in words.items():
            covering[token] += line[column : column + 2] == "=="
    assert list(covering.values()) == [
        sum(position in set(mention.words()) for mention in sentence.mentions) for position in range(len(sentence))
    ]


def test_an_empty_sentence_is_nothing():
    assert draw_text(Sentence([])).plain == ""


def test_a_long_type_is_cut():
    sentence = Sentence(["fever"], [Mention("x" * 500, [(0, 1)])])
    assert draw_text(sentence, width=60).plain.splitlines()[1] == "━━━━━ " + "x" * 19 + "…"
    assert draw_text(sentence, width=60, ascii_only=True).plain.splitlines()[1] == "===== " + "x" * 17 + "..."


def test_every_line_of_a_long_gap_shows_it():
    drawn = draw_text(LACERATION.with_mentions([Mention("A", [(0, 1), (16, 17)])]), width=40).plain.splitlines()
    assert len(drawn) == 6
    assert all("╌" in line for line in drawn[1::2])

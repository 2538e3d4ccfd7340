"""Sentences drawn as SVG."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from examples import EXAMPLES, INFARCTIONS
from hyperspan import Mention, Sentence
from hyperspan.render import draw_svg, sentence_data, sentence_picture, svg_document
from hyperspan.render.svg import CELL
from hyperspan.render.visible import visible_word
from strategies import mentions, sentences

SVG = "{http://www.w3.org/2000/svg}"
HEBREW = ("כאב", "חריף", "בחזה")


def words_of(root: ElementTree.Element) -> list[tuple[str, float, float, float]]:
    """The words with left end, right end and height."""
    found = []
    for text in root.iter(f"{SVG}text"):
        if text.attrib.get("class") == "hs-word":
            middle, width = float(text.attrib["x"]), cell_len(text.text or "") * CELL
            found.append((text.text or "", middle - width / 2, middle + width / 2, float(text.attrib["y"])))
    return found


def bars_of(root: ElementTree.Element) -> dict[str, list[tuple[float, float, float]]]:
    """The bars of each mention, by its title: left end, right end and height of the middle."""
    bars = defaultdict(list)
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is None:
            continue
        for rect in group.iter(f"{SVG}rect"):
            left, top = float(rect.attrib["x"]), float(rect.attrib["y"])
            width, height = float(rect.attrib["width"]), float(rect.attrib["height"])
            bars[title.text or ""].append((left, left + width, top + height / 2))
    return bars


@pytest.mark.parametrize("name", ["laceration", "infarctions"])
def test_the_papers_sentences(name: str, golden):
    golden(f"render/{name}.svg", draw_svg(EXAMPLES[name]))


def test_it_stands_alone():
    svg = draw_svg(INFARCTIONS)
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == root.findtext(f"{SVG}title") == "Infarctions either water shed or embolic"
    assert "Finding, 2 parts: Infarctions … water shed" in (root.findtext(f"{SVG}desc") or "")
    assert "prefers-color-scheme:dark" in svg
    assert "<script" not in svg
    assert re.findall(r"https?://[^\"' ]+", svg) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in svg
    assert "@import" not in svg


def test_each_mention_is_a_group_with_a_title():
    root = ElementTree.fromstring(draw_svg(EXAMPLES["laceration"]))
    assert set(bars_of(root)) == {
        "Finding: hiatal hernia",
        "Finding, 2 parts: laceration … esophagus",
        "Finding: blood in stomach",
        "Finding, 2 parts: stomach … lac",
    }


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("<b>", "<b>"),
        ("R&D", "R&D"),
        ('"it\'s"', '"it\'s"'),
        ("]]>", "]]>"),
        ("\x00\x1b\x0b", "␀␛␋"),
        ("\ufffe\ud800", "��"),
        ("abc\u202ecba", "abc�cba"),
        ("שלום", "שלום"),
        ("</text><script>alert(1)</script>", "</text><script>alert(1)</script>"),
    ],
)
def test_hostile_words_and_types_are_text(token: str, shown: str):
    root = ElementTree.fromstring(draw_svg(Sentence([token, "x"], [Mention(token, [(0, 1)])])))
    assert [word[0] for word in words_of(root)] == [shown, "x"]
    assert list(bars_of(root)) == [f"{shown}: {shown}"]
    assert not list(root.iter(f"{SVG}script"))


@given(sentences(), st.integers(1, 30))
def test_every_drawing_is_xml_and_shows_every_word(sentence: Sentence, width: int):
    root = ElementTree.fromstring(draw_svg(sentence, width=width))
    assert [word[0] for word in words_of(root)] == [visible_word(token, keep_joiners=True) for token in sentence.tokens]


@st.composite
def named_sentences(draw: st.DrawFn) -> Sentence:
    """Sentences whose words are all different, some of them Hebrew."""
    n_words = draw(st.integers(1, 9))
    hebrew = draw(st.sets(st.integers(0, n_words - 1)))
    tokens = [f"{HEBREW[at % 3]}{at}" if at in hebrew else f"word{at}" for at in range(n_words)]
    return Sentence(tokens, draw(st.sets(mentions(n_words, ("A", "LongerType")), max_size=5)))


@given(named_sentences(), st.integers(6, 60))
def test_bars_stand_under_the_words_of_their_mention_and_no_others(sentence: Sentence, width: int):
    root = ElementTree.fromstring(draw_svg(sentence, width=width))
    words = words_of(root)
    lines = sorted({height for *_, height in words})
    bars = bars_of(root)
    for mention in sentence.mentions:
        count = f", {len(mention.parts)} parts" if mention.is_discontiguous else ""
        drawn = bars[f"{mention.type}{count}: {sentence.text_of(mention)}"]
        covered = set()
        for left, right, height in drawn:
            line = max(above for above in lines if above < height)
            covered |= {
                position
                for position, (_, start, end, at) in enumerate(words)
                if at == line and left < (start + end) / 2 < right
            }
        assert covered == set(mention.words())


@given(named_sentences(), st.integers(6, 60))
def test_no_two_mentions_are_drawn_in_the_same_place(sentence: Sentence, width: int):
    bars = bars_of(ElementTree.fromstring(draw_svg(sentence, width=width)))
    drawn = [(title, *bar) for title, here in bars.items() for bar in here]
    for number, (title, left, right, height) in enumerate(drawn):
        for other, other_left, other_right, other_height in drawn[:number]:
            if title != other and height == other_height:
                assert right <= other_left or other_right <= left


@given(named_sentences(), st.integers(6, 60))
def test_words_do_not_overlap_and_nothing_lies_outside(sentence: Sentence, width: int):
    picture = sentence_picture(sentence, width=width)
    root = ElementTree.fromstring(svg_document([picture]))
    words = sorted((height, left, right) for _, left, right, height in words_of(root))
    for (height, _, right), (next_height, left, _) in pairwise(words):
        assert height < next_height or right < left
    places = [bar for here in bars_of(root).values() for bar in here] + [word[1:] for word in words_of(root)]
    for left, right, height in places:
        assert left >= 0
        assert right <= picture.width
        assert 0 <= height <= picture.height


def test_a_right_to_left_sentence_begins_at_the_right():
    sentence = Sentence(["כאב", "acute", "pain", "בחזה"])
    words = words_of(ElementTree.fromstring(draw_svg(sentence)))
    assert [word[0] for word in sorted(words, key=lambda word: word[1])] == ["בחזה", "acute", "pain", "כאב"]


def test_words_are_as_wide_as_their_cells_but_right_to_left_ones_are_not_stretched():
    root = ElementTree.fromstring(draw_svg(Sentence(["chest", "急性", "כאב"])))
    words = [text for text in root.iter(f"{SVG}text") if text.attrib.get("class") == "hs-word"]
    assert [word.attrib.get("textLength") for word in words] == ["45", "36", None]


def test_probability_is_weight_and_number():
    def drawn(prob: float | None) -> tuple[float, float, str]:
        sentence = INFARCTIONS.with_mentions([Mention("Finding", [(0, 1)], prob=prob)])
        root = ElementTree.fromstring(draw_svg(sentence))
        (group,) = (group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None)
        inner, rect = group.find(f"{SVG}g"), next(group.iter(f"{SVG}rect"))
        assert inner is not None
        return float(rect.attrib["height"]), float(inner.attrib["opacity"]), group.findtext(f"{SVG}text") or ""

    likely, unlikely, unknown = drawn(0.9), drawn(0.1), drawn(None)
    assert likely[0] > unlikely[0]
    assert likely[1] > unlikely[1]
    assert (likely[2], unlikely[2], unknown[2]) == ("Finding 0.90", "Finding 0.10", "Finding")
    assert unknown[:2] == (6, 1)


def test_plain_data_draws_the_same():
    assert draw_svg(sentence_data(INFARCTIONS)) == draw_svg(INFARCTIONS)


def test_several_pictures_stand_below_each_other():
    pictures = [sentence_picture(sentence) for sentence in EXAMPLES.values()]
    root = ElementTree.fromstring(svg_document(pictures))
    assert root.findtext(f"{SVG}title") == "5 sentences"
    titles = [title for title in bars_of(root) if title.startswith("Finding")]
    assert len(titles) == sum(len(sentence.mentions) for sentence in EXAMPLES.values())
    assert float(root.attrib["height"]) > sum(picture.height for picture in pictures)


def test_no_sentence_and_an_empty_one():
    ElementTree.fromstring(svg_document([]))
    assert "an empty sentence" in draw_svg(Sentence([]))


def test_an_endless_text_does_not_flood_titles():
    svg = draw_svg(Sentence(["x" * 100_000], [Mention("A", [(0, 1)])]))
    assert svg.count("x") < 110_000

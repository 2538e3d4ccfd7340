"""Sentences as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given

from examples import EXAMPLES, INFARCTIONS
from hyperspan import Mention, Sentence
from hyperspan.render import html_head, html_pieces, html_sentence, html_tail, sentence_data
from hyperspan.render.html import html_legend
from hyperspan.render.visible import visible_word
from strategies import sentences


def words_of(html: str) -> list[ElementTree.Element]:
    """The words of a sentence, which is well-formed XML."""
    return [span for span in ElementTree.fromstring(html).iter("span") if "hs-w" in span.attrib.get("class", "")]


def lanes_of(word: ElementTree.Element) -> list[set[str]]:
    """The classes of the pieces of lanes under a word."""
    return [set(cell.attrib["class"].split()) for cell in word.findall("span")]


def test_the_papers_sentences(golden):
    paper = [replace(sentence, doc="paper") for sentence in EXAMPLES.values()]
    golden("render/paper.html", "".join(html_pieces(paper, title="Mentions of the paper", types=["Finding"])))


@given(sentences(max_tokens=10, max_mentions=8))
def test_under_each_word_stand_all_its_mentions(sentence: Sentence):
    words = words_of(html_sentence(sentence))
    assert len(words) == len(sentence)
    for position, word in enumerate(words):
        lanes = lanes_of(word)
        covering = sum(position in set(mention.words()) for mention in sentence.mentions)
        around = sum(mention.start <= position < mention.end for mention in sentence.mentions)
        assert sum("hs-b" in lane for lane in lanes) == covering
        assert sum("hs-g" in lane for lane in lanes) == around - covering


@given(sentences(max_tokens=10))
def test_words_are_read_and_copied_with_blanks_between_them(sentence: Sentence):
    root = ElementTree.fromstring(html_sentence(sentence))
    for element in root.iter():
        if element.attrib.get("aria-hidden") == "true":
            element.text, element[:] = "", []
    text = "".join(root[0].itertext())
    assert text.strip(" ") == " ".join(visible_word(token, keep_joiners=True) for token in sentence.tokens)


@given(sentences(max_tokens=10))
def test_every_mention_is_spoken_and_named(sentence: Sentence):
    html = html_sentence(sentence)
    root = ElementTree.fromstring(html)
    assert len(list(root.iter("li"))) == len(sentence.mentions)
    titled = [span for span in root.iter("span") if "title" in span.attrib]
    assert len(titled) == sum(len(mention.parts) for mention in sentence.mentions)


def test_hostile_words_types_and_names_are_text():
    hostile = '</p><script>alert("1")</script>&\x00'
    sentence = Sentence([hostile], [Mention(hostile, [(0, 1)])], doc=hostile)
    page = "".join(html_pieces([sentence], title=hostile))
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;␀") >= 6
    assert "\x00" not in page


def test_right_to_left_runs_keep_their_order():
    root = ElementTree.fromstring(html_sentence(Sentence(["כאב", "acute", "pain", "בחזה"])))
    assert root.attrib["dir"] == "rtl"
    (run,) = (span for span in root.iter("span") if "dir" in span.attrib)
    assert run.attrib["dir"] == "ltr"
    assert [bdi.text for bdi in run.iter("bdi")] == ["acute", "pain"]


def test_probability_is_weight_and_number():
    sentence = INFARCTIONS.with_mentions([Mention("Finding", [(0, 1)], prob=0.28)])
    (lane,) = lanes_of(words_of(html_sentence(sentence))[0])
    assert "hs-p3" in lane
    assert ">Finding 0.28</span>" in html_sentence(sentence)


def test_a_later_part_repeats_the_type_where_there_is_room():
    tokens = ["a", "b", "c", "d", "e"]
    names = [
        element.text
        for element in ElementTree.fromstring(
            html_sentence(Sentence(tokens, [Mention("Finding", [(0, 1), (2, 3), (4, 5)])]))
        ).iter("span")
        if element.attrib.get("class") == "hs-n"
    ]
    assert names == ["Finding", "…Finding"]


def test_the_page_allows_nothing_but_its_own_style():
    page = "".join(html_pieces(EXAMPLES.values()))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert re.findall(r"<(script|link|img|iframe|object|embed|form|base)\b", page) == []
    assert re.findall(r"\son\w+=", page) == []
    assert re.findall(r"https?:|url\(|@import", page) == []
    assert "prefers-color-scheme:dark" in page
    assert "@media print" in page


def test_headings_when_the_document_changes():
    docs = ["a", "a", "b", "", "a"]
    page = "".join(html_pieces([Sentence(["x"], doc=doc) for doc in docs]))
    assert re.findall(r"<h2[^>]*>(.*?)</h2>|(<hr>)", page) == [("a", ""), ("b", ""), ("", "<hr>"), ("a", "")]


def test_sentences_go_through_one_at_a_time():
    taken = []

    def endless() -> Iterator[Sentence]:
        number = 0
        while True:
            taken.append(number)
            yield Sentence([f"w{number}"])
            number += 1

    pieces = html_pieces(endless())
    head, first, second = next(pieces), next(pieces), next(pieces)
    assert head.startswith("<!doctype html>")
    assert "w0" in first
    assert "w1" in second
    assert taken == [0, 1]


def test_the_legend_stands_where_types_are_known():
    assert "hs-legend" in html_head("x", ["A"]).split("</style>")[1]
    assert "hs-legend" not in html_head("x").split("</style>")[1]
    known = "".join(html_pieces([INFARCTIONS], types=["Finding"]))
    late = "".join(html_pieces([INFARCTIONS]))
    assert known.count('<ul class="hs-legend"') == late.count('<ul class="hs-legend"') == 1
    assert known.index('<ul class="hs-legend"') < known.index("hs-sentence", known.index("<main>"))
    assert late.index('<ul class="hs-legend"') > late.index("</main>")
    assert html_tail() == "</main>\n</body>\n</html>\n"
    assert "and 20 more" in html_legend([f"T{number}" for number in range(120)])


def test_plain_data_draws_the_same():
    assert html_sentence(sentence_data(INFARCTIONS)) == html_sentence(INFARCTIONS)

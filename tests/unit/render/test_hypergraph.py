"""Hypergraphs and tags as plain data, and drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.errors import StructureError
from hyperspan.render import draw_hypergraph_svg, hypergraph_data, hypergraph_text
from hyperspan.structures import structure
from strategies import TYPES, sentences

SVG = "{http://www.w3.org/2000/svg}"
HYPERGRAPHS = ("mention", "shared", "split")


def data_of(sentence: Sentence, name: str = "shared", types=("Finding",), **options: Any) -> dict[str, Any]:
    made = structure(name, types)
    encoded = made.encode(sentence.mentions, len(sentence))
    return hypergraph_data(made, sentence.tokens, encoded.encoding, **options)


def mentions_on_paths(data: dict[str, Any]) -> Iterator[Mention]:
    """Walk the chosen edges from every T that starts a mention to every X."""
    nodes = {node["id"]: node for node in data["nodes"]}
    chosen = {edge["parent"]: edge for edge in data["edges"] if edge["is_chosen"] and edge["block"] is not None}

    def walk(id: str, words: tuple[int, ...], type: str) -> Iterator[Mention]:
        node = nodes[id]
        if node["name"] == "X":
            if words:
                yield Mention.of_words(type, words)
            return
        words += (node["word"],) if node["name"].startswith("B") else ()
        for child in chosen[id]["children"]:
            yield from walk(child, words, type)

    for id, node in nodes.items():
        if node["name"] == "T":
            yield from walk(id, (), data["blocks"][node["block"]]["type"])


@given(sentences(max_tokens=6), st.sampled_from(HYPERGRAPHS))
def test_the_chosen_paths_are_the_mentions_that_the_encoding_means(sentence: Sentence, name: str):
    made = structure(name, TYPES)
    encoding = made.encode(sentence.mentions, len(sentence)).encoding
    data = hypergraph_data(made, sentence.tokens, encoding)
    assert json.loads(json.dumps(data)) == data
    assert sorted(mentions_on_paths(data)) == list(made.decode(encoding, "all").mentions)


@given(sentences(max_tokens=6), st.sampled_from(("linear", *HYPERGRAPHS)))
def test_every_drawing_is_xml_with_every_word(sentence: Sentence, name: str):
    root = ElementTree.fromstring(draw_hypergraph_svg(data_of(sentence, name, TYPES)))
    assert sum(text.attrib.get("class") == "hs-word" for text in root.iter(f"{SVG}text")) == len(sentence)


def test_a_and_e_lead_to_every_word():
    data = data_of(INFARCTIONS)
    frame = [edge for edge in data["edges"] if edge["block"] is None]
    assert frame[0] == {
        "parent": "A:0",
        "children": ["E:0", "A:1"],
        "word": 0,
        "block": None,
        "label": "A→E,A",
        "is_chosen": True,
        "expected": None,
    }
    assert frame[1]["children"] == ["0:T:0"]
    assert frame[-2]["label"] == "A→E"
    assert frame[-2]["children"] == ["E:5"]


def test_the_papers_figure(golden):
    data = data_of(INFARCTIONS)
    assert data["blocks"] == [{"type": "Finding", "n_parts": None, "rows": ["T", "B0", "O1", "B1"]}]
    ends = [edge for edge in data["edges"] if edge["block"] == 0 and any(":X:B" in child for child in edge["children"])]
    assert [(edge["word"], edge["label"]) for edge in ends] == [(0, "B0→O1,X"), (3, "B1→X"), (5, "B1→X")]
    golden("render/infarctions-shared.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    golden("render/infarctions-shared.svg", draw_hypergraph_svg(data))


@pytest.mark.parametrize("name", ["split", "linear"])
def test_other_structures_drawn(name: str, golden):
    golden(f"render/infarctions-{name}.svg", draw_hypergraph_svg(data_of(INFARCTIONS, name)))


def test_only_blocks_with_something_to_show():
    data = data_of(INFARCTIONS, "split", ("Drug", "Finding"))
    assert [(block["type"], block["n_parts"]) for block in data["blocks"]] == [("Finding", 1), ("Finding", 2)]
    assert data["n_left_out"] == 4
    svg = draw_hypergraph_svg(data)
    assert "Left out: 4 blocks (a type and a number of parts) with nothing to show." in svg
    assert "Drug" not in svg
    assert "Left out: 1 type with nothing to show." in draw_hypergraph_svg(data_of(INFARCTIONS, types=("A", "Finding")))


def test_a_sentence_without_mentions_has_a_and_e_only():
    data = data_of(INFARCTIONS.with_mentions([]))
    assert data["blocks"] == []
    assert data["n_left_out"] == 1
    assert {node["name"] for node in data["nodes"]} == {"A", "E"}
    ElementTree.fromstring(draw_hypergraph_svg(data))


def expected_of(made: Any, n_words: int, *sets: tuple[float, list[Mention]]) -> np.ndarray:
    """Expected counts of a distribution over a few sets of mentions, given with their probabilities."""
    expected = np.zeros((n_words, made.n_labels))
    for prob, mentions in sets:
        for word, label in made.encode(mentions, n_words).encoding:
            expected[word, label] += prob
    return expected


def test_what_is_not_chosen_is_shown_with_its_probability():
    made = structure("shared", ("Finding",))
    whole, first = Mention("Finding", [(0, 2)]), Mention("Finding", [(0, 1)])
    expected = expected_of(made, 2, (0.75, [whole]), (0.2, [first]), (0.05, []))
    chosen = made.encode([whole], 2).encoding
    data = hypergraph_data(made, ["chest", "pain"], chosen, expected=expected, min_expected=0.1)
    shown = {(edge["word"], edge["label"]): (edge["is_chosen"], edge["expected"]) for edge in data["edges"]}
    assert shown[0, "T→B0"] == (True, pytest.approx(0.95))
    assert shown[0, "B0→B0"] == (True, pytest.approx(0.75))
    assert shown[0, "B0→X"] == (False, pytest.approx(0.2))
    assert (0, "T→X") not in shown
    svg = draw_hypergraph_svg(data)
    assert "Dashed: not chosen, with its probability." in svg
    numbers = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if "0." in (text.text or "")]
    assert sorted(numbers) == ["0.20", "0.75", "0.75", "0.95"]


def test_a_type_is_shown_for_its_probability_alone():
    made = structure("shared", ("Drug", "Finding"))
    expected = expected_of(made, 1, (0.4, [Mention("Drug", [(0, 1)])]), (0.6, []))
    data = hypergraph_data(made, ["aspirin"], made.encode([], 1).encoding, expected=expected)
    assert [block["type"] for block in data["blocks"]] == ["Drug"]
    assert not any(node["is_chosen"] for node in data["nodes"] if node["name"] == "B0")


def test_a_link_of_several_edges_has_the_sum_of_their_probabilities():
    made = structure("shared", ("Finding",))
    whole, first = Mention("Finding", [(0, 2)]), Mention("Finding", [(0, 1)])
    expected = expected_of(made, 2, (0.5, [whole, first]), (0.3, [whole]), (0.2, [first]))
    chosen = made.encode([whole, first], 2).encoding
    svg = draw_hypergraph_svg(hypergraph_data(made, ["chest", "pain"], chosen, expected=expected))
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts.count("0.80") == 2  # B0→B0, and then its end
    assert texts.count("0.70") == 1


def test_tags_with_their_probabilities():
    made = structure("linear", ("Finding",))
    expected = np.zeros((2, made.n_labels))
    expected[0, :3] = 0.2, 0.7, 0.1
    expected[1, 0] = 1
    chosen = made.encode([Mention("Finding", [(0, 1)])], 2).encoding
    data = hypergraph_data(made, ["fever", "today"], chosen, expected=expected, min_expected=0.15)
    assert data["tags"] == [
        [
            {"tag": "B", "type": "Finding", "is_chosen": True, "expected": 0.7},
            {"tag": "O", "type": None, "is_chosen": False, "expected": 0.2},
        ],
        [{"tag": "O", "type": None, "is_chosen": True, "expected": 1.0}],
    ]
    svg = draw_hypergraph_svg(data)
    assert "<title>B at fever</title>" in svg
    assert ">0.70</text>" in svg


def test_as_text():
    assert hypergraph_text(data_of(INFARCTIONS), ascii_only=True).splitlines()[:2] == [
        "Infarctions  Finding: T->B0 B0->O1,X",
        "either       Finding: T->X O1->O1,B1",
    ]
    assert hypergraph_text(data_of(INFARCTIONS, "linear")).splitlines()[3] == "shed         ID"
    hostile = Sentence(["\x1b[2J"], [Mention("\x07", [(0, 1)])])
    assert hypergraph_text(data_of(hostile, types=("\x07",))) == "␛[2J  ␇: T→B0 B0→X"


def test_hostile_words_and_types_are_text():
    sentence = Sentence(["<script>", "\x00&"], [Mention("<b>", [(0, 2)])])
    for name in ("shared", "linear"):
        root = ElementTree.fromstring(draw_hypergraph_svg(data_of(sentence, name, ("<b>", "x"))))
        texts = [text.text for text in root.iter(f"{SVG}text")]
        assert "<script>" in texts
        assert "␀&" in texts


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ([(0, 99)], "the encoding has label 99 at word 0; expected one of the 25 labels of 'shared' at one of 2 words"),
        ([(2, 0)], "the encoding has label 0 at word 2; expected one of the 25 labels of 'shared' at one of 2 words"),
        ([(1, 5)], "the edge B0→B0 at the last word leads beyond it; expected one that ends"),
    ],
)
def test_an_encoding_of_something_else(encoding: list[tuple[int, int]], message: str):
    with pytest.raises(StructureError) as caught:
        hypergraph_data(structure("shared", ("Finding",)), ["chest", "pain"], encoding)
    assert str(caught.value) == message


def test_expected_counts_of_something_else():
    made = structure("shared", ("Finding",))
    with pytest.raises(StructureError) as caught:
        hypergraph_data(made, ["pain"], [], expected=np.zeros((2, 25)))
    assert str(caught.value) == ("expected counts have shape (2, 25), but there are 1 words and 25 labels of 'shared'")
    for wrong in (np.nan, -1.0):
        with pytest.raises(StructureError, match="expected counts are finite and not negative"):
            hypergraph_data(made, ["pain"], [], expected=np.full((1, 25), wrong))


def test_no_words():
    made = structure("shared", ("Finding",))
    ElementTree.fromstring(draw_hypergraph_svg(hypergraph_data(made, [], [])))
    ElementTree.fromstring(draw_hypergraph_svg(hypergraph_data(structure("linear", ("Finding",)), [], [])))


def test_an_arc_for_every_edge_with_several_children():
    def n_arcs(sentence: Sentence) -> int:
        paths = ElementTree.fromstring(draw_hypergraph_svg(data_of(sentence))).iter(f"{SVG}path")
        return sum("A24 24" in path.attrib["d"] for path in paths)

    assert n_arcs(INFARCTIONS) == 5 + 2
    assert n_arcs(LACERATION.with_mentions([Mention("Finding", [(0, 1)])])) == 17

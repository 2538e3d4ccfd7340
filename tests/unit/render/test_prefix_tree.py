"""The picture of a prefix tree."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.render import draw_hypergraph_svg, hypergraph_data, hypergraph_text
from hyperspan.structures import Segments

TOKENS = ["Infarctions", "either", "<water>", "shed", "or", "embolic"]
MADE = Segments(("Finding",), 2, 3, 4)
MENTIONS = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
ENCODING = MADE.encode(MENTIONS, 6).encoding


def test_parts_stand_below_those_that_they_follow():
    parts = hypergraph_data(MADE, TOKENS, ENCODING)["parts"]
    assert [(part["span"], part["after"], part["level"], part["is_end"]) for part in parts] == [
        ([0, 1], None, 0, True),
        ([2, 4], 0, 1, True),
        ([5, 6], 0, 1, True),
    ]


def test_text_and_picture():
    data = hypergraph_data(MADE, TOKENS, ENCODING)
    assert hypergraph_text(data, ascii_only=True) == ("Finding: Infarctions *\n  ... <water> shed *\n  ... embolic *")
    svg = draw_hypergraph_svg(data)
    assert svg.count("<circle") == 3
    assert svg.count("stroke-dasharray") == 2
    assert "&lt;water&gt;" in svg


def test_parts_that_are_expected_but_not_chosen_come_last():
    expected = np.zeros((6, MADE.n_labels))
    expected[3, MADE.part_label(0, 0, 2)] = 0.25
    expected[3, MADE.end_label(0, 0)] = 0.5
    parts = hypergraph_data(MADE, TOKENS, ENCODING, expected=expected)["parts"]
    assert parts[-1] == {
        "type": "Finding",
        "level": 0,
        "span": [3, 5],
        "after": None,
        "is_end": False,
        "is_chosen": False,
        "expected": 0.25,
    }
    assert "0.25" in draw_hypergraph_svg(hypergraph_data(MADE, TOKENS, ENCODING, expected=expected))


@pytest.mark.parametrize("encoding", [((5, MADE.part_label(0, 0, 2)),), ((0, 999),), ((4, MADE.gap_label(0, 0, 1)),)])
def test_what_leaves_the_sentence_is_refused(encoding):
    with pytest.raises(StructureError, match=r"expected one of the .* labels of 'segments' that fits into 6 words"):
        hypergraph_data(MADE, TOKENS, encoding)


def test_a_sentence_without_mentions_can_be_drawn():
    data = hypergraph_data(MADE, TOKENS, ())
    assert hypergraph_text(data) == ""
    assert draw_hypergraph_svg(data).startswith("<svg")

"""Segments: labels, prefix trees, and the lengths that training data need."""

from __future__ import annotations

import numpy as np
import pytest

from brute_force import all_mentions, all_subsets
from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.structures import Segments, sizes_for, structure
from hyperspan.structures.segments import END, GAP, PART, longest_of

MADE = Segments(("Drug", "Finding"), 3, 4, 5)


def test_labels_go_there_and_back_one_by_one_and_all_at_once():
    labels = np.arange(MADE.n_labels)
    assert MADE.n_labels == 2 * (3 * 4 + 2 * 5 + 2)
    segments = MADE.segment_of(labels)
    assert [tuple(MADE.segment_of(label)) for label in labels.tolist()] == list(zip(*segments, strict=True))
    made = np.choose(
        segments.what,
        [
            MADE.part_label(segments.type_id, segments.level, segments.length),
            MADE.gap_label(segments.type_id, segments.level, segments.length),
            MADE.end_label(segments.type_id, segments.level),
        ],
    )
    assert made.tolist() == labels.tolist()
    assert [int((segments.what == what).sum()) for what in (PART, GAP, END)] == [24, 20, 4]
    assert len({MADE.label_name(label) for label in labels.tolist()}) == MADE.n_labels
    assert MADE.labels_of("Finding").tolist() == (segments.type_id == 1).tolist()
    is_start = (segments.what == PART) & (segments.level == 0)
    assert MADE.start_labels.tolist() == np.flatnonzero(is_start).tolist()


@pytest.mark.parametrize("label", [-1, MADE.n_labels])
def test_there_is_no_such_label(label):
    with pytest.raises(StructureError, match=f"label {label} is not one of the 48 of 'segments'"):
        MADE.label_name(label)


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_every_set_of_mentions_is_written_in_its_own_way_and_read_back(n_parts):
    made = Segments(("Finding",), n_parts, 4, 4)
    mentions = [mention for mention in all_mentions(4, "Finding") if len(mention.parts) <= n_parts]
    seen = set()
    for here in all_subsets(mentions):
        encoding = made.encode(here, 4).encoding
        assert encoding not in seen
        seen.add(encoding)
        for reading in ("all", "enough"):
            assert made.decode(encoding, reading).mentions == tuple(sorted(here))


def test_mentions_that_share_parts_and_gaps_share_edges():
    parts = ([(0, 1), (2, 3)], [(0, 1), (2, 4)], [(0, 2), (3, 4)])
    names = [
        f"{word} {MADE.label_name(label).removeprefix('Finding ')}"
        for word, label in MADE.encode([Mention("Finding", each) for each in parts], 4).encoding
    ]
    assert names == [
        "0 part 1, 1 word",
        "0 gap after part 1, 1 word",
        "2 part 2, 1 word",
        "2 end after part 2",
        "2 part 2, 2 words",
        "3 end after part 2",
        "0 part 1, 2 words",
        "1 gap after part 1, 1 word",
        "3 part 2, 1 word",
        "3 end after part 2",
    ]


def test_types_do_not_share_edges():
    mentions = [Mention("Drug", [(0, 1)]), Mention("Finding", [(0, 1)])]
    encoding = MADE.encode(mentions, 2).encoding
    assert len(encoding) == 4
    assert MADE.decode(encoding, "all").mentions == tuple(sorted(mentions))


def test_too_many_parts_too_long_parts_and_too_long_gaps_are_left_out():
    left_out = (
        Mention("Drug", [(0, 5)]),
        Mention("Finding", [(0, 1), (2, 3), (4, 5), (6, 7)]),
        Mention("Finding", [(0, 1), (7, 8)]),
    )
    encoded = MADE.encode([*left_out, Mention("Finding", [(0, 1)])], 8)
    assert encoded.left_out == tuple(sorted(left_out))
    assert MADE.decode(encoded.encoding, "all").mentions == (Mention("Finding", [(0, 1)]),)


def test_mentions_of_other_types_and_beyond_the_sentence_are_refused():
    with pytest.raises(StructureError, match="type 'Sign' is not in this structure"):
        MADE.encode([Mention("Sign", [(0, 1)])], 2)
    with pytest.raises(StructureError, match="ends beyond the 2 words"):
        MADE.encode([Mention("Drug", [(0, 3)])], 2)


PART_1, GAP_1, END_1, PART_2 = (
    MADE.part_label(0, 0, 1),
    MADE.gap_label(0, 0, 1),
    MADE.end_label(0, 0),
    MADE.part_label(0, 1, 1),
)


@pytest.mark.parametrize(
    "encoding",
    [
        ((0, END_1),),
        ((0, GAP_1),),
        ((2, PART_2),),
        ((0, PART_1), (1, END_1)),
        ((0, PART_1), (0, GAP_1), (3, PART_2)),
        ((0, PART_1), (0, GAP_1), (0, END_1)),
        ((0, PART_1), (1, PART_1)),
    ],
)
def test_what_is_no_prefix_tree_is_refused(encoding):
    with pytest.raises(StructureError, match="but nothing leads there; expected the edges of a prefix tree"):
        MADE.decode(encoding, "all")


@pytest.mark.parametrize(
    "encoding", [((0, PART_1),), ((0, PART_1), (0, GAP_1)), ((0, PART_1), (0, GAP_1), (2, PART_2))]
)
def test_a_prefix_tree_that_stops_inside_a_mention_is_refused(encoding):
    with pytest.raises(StructureError, match="the encoding of type 'Drug' stops inside a mention"):
        MADE.decode(encoding, "all")


def test_decoding_is_bounded():
    encoding = MADE.encode([Mention("Drug", [(word, word + 1)]) for word in range(5)], 5).encoding
    decoded = MADE.decode(encoding, "all", limit=2)
    assert (len(decoded.mentions), decoded.truncated) == (2, True)


def test_sizes_come_from_training_mentions():
    mentions = [Mention("Finding", [(0, 2), (4, 5)])] * 2000 + [Mention("Finding", [(0, 30)])]
    assert longest_of(mentions) == (30, 2)
    assert sizes_for("segments", mentions) == {"longest_part": 2, "longest_gap": 2}
    assert sizes_for("segments", []) == {"longest_part": 1, "longest_gap": 1}
    assert sizes_for("segments", [Mention("Finding", [(0, 1), (20_000, 40_000)])]) == {
        "longest_part": 10_000,
        "longest_gap": 10_000,
    }
    assert sizes_for("shared", mentions) == {}
    assert structure("segments", ["Finding"], 2, {"longest_part": 7, "longest_gap": 3}).sizes["longest_part"] == 7


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(StructureError, match="longest_gap is 0; expected 1 to 10,000 words"):
        structure("segments", ["Finding"], 2, {"longest_part": 7, "longest_gap": 0})
    with pytest.raises(StructureError, match="longest_part is 10001; expected 1 to 10,000 words"):
        structure("segments", ["Finding"], 2, {"longest_part": 10_001})
    with pytest.raises(StructureError, match="the structure 'shared' has no longest_part; only segments has"):
        structure("shared", ["Finding"], 2, {"longest_part": 7})

"""From a structure to mentions."""

from __future__ import annotations

from itertools import chain

import pytest

from examples import BLOOD, EXAMPLES, INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence, corpora
from hyperspan.errors import StructureError
from hyperspan.structures import (
    MOST_MENTIONS,
    Encoding,
    Hypergraph,
    Linear,
    Reading,
    cover,
    shared_structure,
    split_structure,
    structure,
)
from hyperspan.structures.linear_decoding import enough_readings
from hyperspan.structures.staircase import END, STAY, STEP

TYPES = ("Finding",)
ALL: Reading = "all"
ENOUGH: Reading = "enough"


def finding(*parts: tuple[int, int]) -> Mention:
    return Mention("Finding", parts)


def round_trip(reading: Reading, made: Hypergraph | Linear, sentence: Sentence) -> set[str]:
    decoded = made.decode(made.encode(sentence.mentions, len(sentence)).encoding, reading)
    assert not decoded.truncated
    assert decoded.is_exact
    assert list(decoded.mentions) == sorted(set(decoded.mentions))
    return {sentence.text_of(mention) for mention in decoded.mentions}


def texts(sentence: Sentence) -> set[str]:
    return {sentence.text_of(mention) for mention in sentence.mentions}


@pytest.mark.parametrize("name", ["infarctions", "mouth", "ethanol"])
@pytest.mark.parametrize("make", [shared_structure, split_structure])
@pytest.mark.parametrize("reading", [ALL, ENOUGH])
def test_hypergraphs_return_the_examples(reading, make, name: str) -> None:
    assert round_trip(reading, make(TYPES), EXAMPLES[name]) == texts(EXAMPLES[name])


def test_the_laceration_example_shares_the_stomach() -> None:
    assert round_trip(ENOUGH, shared_structure(TYPES), LACERATION) == texts(LACERATION)
    extra = {"stomach", "blood in stomach … lac"}
    assert round_trip(ALL, shared_structure(TYPES), LACERATION) == texts(LACERATION) | extra
    for reading in (ALL, ENOUGH):
        assert round_trip(reading, split_structure(TYPES), LACERATION) == texts(LACERATION)


def test_the_blood_example_is_held_whole_but_explained_by_fewer() -> None:
    assert round_trip(ALL, shared_structure(TYPES), BLOOD) == texts(BLOOD) | {
        "blood … material … vomit",
        "dark … vomit",
    }
    assert round_trip(ALL, split_structure(TYPES), BLOOD) == texts(BLOOD) | {"dark … vomit"}
    assert len(round_trip(ENOUGH, shared_structure(TYPES), BLOOD)) == 3
    enough = round_trip(ENOUGH, split_structure(TYPES), BLOOD)
    assert enough - texts(BLOOD) == {"dark … vomit"}
    assert len(enough) < len(texts(BLOOD))


def test_contiguous_mentions_are_all_that_mention_holds() -> None:
    assert round_trip(ALL, structure("mention", TYPES), LACERATION) == {"hiatal hernia", "blood in stomach"}


def crossing(made: Hypergraph, *mentions: Mention, n_words: int) -> list[Mention]:
    decoded = made.decode(made.encode(mentions, n_words).encoding, "enough")
    assert decoded.is_exact
    return list(decoded.mentions)


def test_enough_is_as_few_as_possible() -> None:
    corners = [finding(left, right) for left in ((0, 1), (1, 2)) for right in ((3, 4), (4, 5))]
    assert crossing(shared_structure(TYPES), *corners, n_words=5) == [corners[1], corners[2]]


def test_enough_prefers_even_lengths() -> None:
    """Of long-long and short-short, or long-short twice, the second has the smaller sum of squares."""
    uneven = [finding((0, 3), (5, 8)), finding((2, 3), (9, 10))]
    even = [finding((0, 3), (9, 10)), finding((2, 3), (5, 8))]
    for make in (shared_structure, split_structure):
        assert crossing(make(TYPES), *uneven, n_words=10) == even
        assert crossing(make(TYPES), *even, n_words=10) == even


def test_enough_of_contiguous_mentions_is_crossing_rather_than_nested() -> None:
    nested = [finding((0, 4)), finding((1, 3))]
    assert crossing(structure("mention", TYPES), *nested, n_words=4) == [finding((0, 3)), finding((1, 4))]


def test_enough_takes_the_first_of_equals() -> None:
    """The first to begin stays in the gap for longer; of two that end alike it stays in its part for longer."""
    equals = [finding((0, 1), (3, 4)), finding((1, 2), (4, 5))]
    assert crossing(shared_structure(TYPES), *equals, n_words=5) == [
        finding((0, 1), (4, 5)),
        finding((1, 2), (3, 4)),
    ]
    equals = [finding((0, 1), (2, 4), (6, 7)), finding((1, 2), (2 + 1, 5))]
    assert crossing(shared_structure(TYPES), *equals, n_words=7) == [
        finding((0, 1), (2, 5)),
        finding((1, 2), (3, 4), (6, 7)),
    ]


def test_enough_weighs_the_whole_cover_where_no_two_mentions_can_be_exchanged_for_better() -> None:
    mentions = [finding((0, 3)), finding((1, 2), (3, 4)), finding((0, 1), (3, 5))]
    assert crossing(shared_structure(TYPES), *mentions, n_words=5) == [
        finding((0, 1), (3, 4)),
        finding((0, 3)),
        finding((1, 2), (3, 5)),
    ]
    mentions = [finding((2, 5), (6, 9)), finding((0, 4), (8, 9))]
    assert crossing(shared_structure(TYPES, 2), *mentions, n_words=9) == [
        finding((0, 5), (8, 9)),
        finding((2, 4), (6, 9)),
    ]


def test_gaps_that_only_touch_share_no_node() -> None:
    mentions = [finding((2, 5), (6, 8)), finding((1, 2), (5, 6)), finding((2, 4), (6, 8))]
    assert crossing(shared_structure(TYPES, 2), *mentions, n_words=8) == [
        finding((1, 2), (6, 8)),
        finding((2, 4), (5, 6)),
        finding((2, 5), (6, 8)),
    ]


def test_types_are_decoded_apart_and_given_back_in_order() -> None:
    made = split_structure(("Drug", "Finding"))
    mentions = [finding((0, 1), (2, 3)), Mention("Drug", [(1, 2)]), finding((1, 2))]
    for reading in (ALL, ENOUGH):
        decoded = made.decode(made.encode(mentions, 3).encoding, reading).mentions
        assert decoded == (mentions[0], mentions[1], mentions[2])


def full(n_words: int) -> tuple[Hypergraph, Encoding]:
    """The structure in which every node has every child it can have."""
    made = shared_structure(TYPES)
    (staircase,) = made.staircases
    edges = [(word, 1) for word in range(n_words)]
    for word in range(n_words):
        for node in range(min(word + 1, staircase.n_nodes)):
            bits = staircase.children(node)
            n_left = n_words - 1 - word
            if node % 2 == 0 and n_left < 2:
                bits &= ~STEP
            if n_left == 0 or (node % 2 and n_left == 1):
                bits &= ~STAY
            if bits and (node % 2 == 0 or n_left):
                edges.append((word, staircase.label_of[node, bits]))
    return made, tuple(sorted(edges))


def test_all_is_bounded_and_says_so() -> None:
    made, encoding = full(40)
    decoded = made.decode(encoding, "all")
    assert decoded.truncated
    assert len(decoded.mentions) == MOST_MENTIONS == 1_000
    assert made.decode(encoding, "all", limit=10).mentions == decoded.mentions[:10]
    made, encoding = full(4)
    assert not made.decode(encoding, "all", limit=15).truncated
    assert made.decode(encoding, "all", limit=14).truncated


def test_enough_of_a_hopeless_tangle_is_still_a_smallest_cover() -> None:
    made, encoding = full(40)
    decoded = made.decode(encoding, "enough")
    assert not decoded.is_exact
    assert not decoded.truncated
    assert made.encode(decoded.mentions, 40).encoding == encoding
    # Inside the sentence three mentions start for every word: as many as end there or go over to the second part.
    assert len(decoded.mentions) == 3 * 40 - 1
    assert made.decode(encoding, "enough", limit=5).truncated


def test_a_search_that_gives_up_still_finds_a_smallest_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    made = shared_structure(TYPES)
    mentions = [finding((start, 6), (7 + end, 20)) for start, end in enumerate((5, 1, 4, 2, 3))]
    encoding = made.encode(mentions, 20).encoding
    best = made.decode(encoding, "enough")
    monkeypatch.setattr(cover, "MOST_STEPS", 0)
    other = made.decode(encoding, "enough")
    assert (best.is_exact, other.is_exact) == (True, False)
    assert len(best.mentions) == len(other.mentions) == 5
    assert made.encode(other.mentions, 20).encoding == encoding
    assert sum(m.n_words**2 for m in best.mentions) < sum(m.n_words**2 for m in other.mentions)


def test_very_long_sentences() -> None:
    n_words = 5_000
    made = shared_structure(TYPES)
    long = [finding((0, n_words)), finding((0, 1), (n_words - 1, n_words)), finding((1, 2), (3, 4), (4_990, 4_999))]
    encoding = made.encode(long, n_words).encoding
    assert set(long) <= set(made.decode(encoding, "all").mentions)
    assert len(made.decode(encoding, "enough").mentions) == 3
    n_full = 500
    tangle, encoding = full(n_full)
    decoded = tangle.decode(encoding, "enough", limit=2_000)
    assert tangle.encode(decoded.mentions, n_full).encoding == encoding


@pytest.mark.parametrize("reading", [ALL, ENOUGH])
def test_what_no_set_of_mentions_encodes_to_is_refused(reading: Reading) -> None:
    made = shared_structure(TYPES)
    (staircase,) = made.staircases
    with pytest.raises(StructureError, match="leads to B0 at word 0, but has no edge for it"):
        made.decode(((0, 1),), reading)
    with pytest.raises(StructureError, match="leads to O1 at word 1, but has no edge for it"):
        made.decode(((0, 1), (0, staircase.label_of[0, STEP])), reading)
    with pytest.raises(StructureError, match="has an edge for B1 at word 3, but nothing leads there"):
        made.decode(((3, 0), (3, staircase.label_of[2, END])), reading)
    with pytest.raises(StructureError, match="label 99 is not one of the 25 of 'shared'"):
        made.decode(((0, 99),), reading)
    with pytest.raises(StructureError, match="limit is 0; expected at least 1 mention"):
        made.decode((), reading, limit=0)
    assert made.decode((), reading).mentions == ()


# ---- Tags. Each test is one sentence of the rules in linear_decoding.


def read(
    reading: Reading, tags: str, *, types: tuple[str, ...] = TYPES, max_components: int = 3, **options: bool
) -> list[str]:
    """The mentions of some tags, each as its words: ``0-1 4``."""
    made = Linear(types, max_components)
    encoding = tuple((word, made.tags.index(tag)) for word, tag in enumerate(tags.split()))
    decoded = made.decode(encoding, reading, **options)
    assert not decoded.truncated
    return [
        " ".join(str(start) if end == start + 1 else f"{start}-{end - 1}" for start, end in mention.parts)
        for mention in decoded.mentions
    ]


def test_a_b_form_starts_a_component() -> None:
    assert read(ALL, "B I B") == ["0-1", "2"]


def test_a_change_of_kind_starts_a_component() -> None:
    assert read(ALL, "BD IH O BD") == ["0 3", "0-1 3", "1", "1 3"]


def test_all_combines_bodies_and_heads_that_leave_a_gap() -> None:
    assert read(ALL, "BD O BD O BH") == ["0 2", "0 2 4", "0 4", "2 4", "4"]


def test_all_combines_no_more_components_than_a_mention_may_have() -> None:
    tags = "BD O BD O BD O BD"
    assert "0 2 4 6" not in read(ALL, tags)
    assert "0 2 4 6" in read(ALL, tags, max_components=4)
    assert "0 2 4 6" in read(ALL, tags, any_number=True)
    assert read(ALL, tags, max_components=1) == []


def test_adjacent_components_join_into_one_part() -> None:
    assert read(ALL, "BD BH O BD") == ["0 3", "0-1 3", "1", "1 3"]


def test_every_head_is_a_mention_under_all() -> None:
    assert read(ALL, "BH O BH") == ["0", "0 2", "2"]


def test_bodies_and_contiguous_components_are_never_combined() -> None:
    assert read(ALL, "B O BD") == ["0"]


def test_all_has_every_run_of_contiguous_and_head_components() -> None:
    assert read(ALL, "B I BH I") == ["0-1", "0-2", "0-3", "2", "2-3", "3"]


def test_a_contiguous_component_in_the_b_form_only_begins_a_run() -> None:
    assert read(ALL, "BH B") == ["0", "1"]
    assert read(ALL, "BH I") == ["0", "0-1", "1"]
    assert read(ALL, "B BH") == ["0", "0-1", "1"]


def test_components_are_taken_whole() -> None:
    """A mention that ends inside a component is lost: tags cannot say where."""
    made = Linear(TYPES)
    mentions = [finding((0, 4)), finding((1, 3)), finding((2, 4))]
    assert finding((1, 3)) not in made.decode(made.encode(mentions, 4).encoding, "all").mentions


def test_a_head_pairs_with_the_nearest_on_its_left_then_on_its_right() -> None:
    assert read(ENOUGH, "BD O BD O BH O BD O BD") == ["0 8", "2 4", "4 6"]


def test_a_head_without_bodies_on_one_side_pairs_twice_on_the_other() -> None:
    assert read(ENOUGH, "BH O BD O BD O BD O BD") == ["0 2", "0 4", "6 8"]
    assert read(ENOUGH, "BD O BD O BD O BD O BH") == ["0 2", "4 8", "6 8"]


def test_a_head_takes_the_last_remaining_body_too() -> None:
    assert read(ENOUGH, "BH O BD O BD O BD") == ["0 2", "0 4", "0 6"]


def test_heads_come_from_left_to_right_and_bodies_are_used_once() -> None:
    assert read(ENOUGH, "BH O BD O BD O BH O BD O BD") == ["0 2", "0 4", "6 8", "6 10"]


def test_remaining_bodies_pair_up_from_left_to_right() -> None:
    assert read(ENOUGH, "BD O BD O BD O BD") == ["0 2", "4 6"]


def test_the_last_three_bodies_come_together() -> None:
    assert read(ENOUGH, "BD O BD O BD") == ["0 2 4"]
    assert read(ENOUGH, "BD O BD O BD O BD O BD") == ["0 2", "4 6 8"]
    assert read(ENOUGH, "BD O BD O BD", max_components=2) == ["0 2"]


def test_a_lone_body_is_dropped() -> None:
    assert read(ENOUGH, "O BD O") == read(ALL, "O BD O") == []


def test_contiguous_components_join_adjacent_heads() -> None:
    assert read(ENOUGH, "B I BH O BD") == ["0-2", "2 4"]
    assert read(ENOUGH, "BH I O BD") == ["0 3", "0-1"]
    assert read(ENOUGH, "B BH I") == ["0-2"]
    assert read(ENOUGH, "BH B") == ["0", "1"]


def test_a_head_left_without_any_mention_stands_alone() -> None:
    assert read(ENOUGH, "BH IH") == ["0-1"]
    assert read(ENOUGH, "BH BH O BH") == ["0", "1", "3"]


def test_bodies_without_a_gap_are_passed_over() -> None:
    assert read(ENOUGH, "BD BH O BD") == ["1 3"]
    assert read(ENOUGH, "BD BD O BD BD") == ["0 3", "1 4"]
    assert read(ENOUGH, "BD BD") == []
    assert read(ENOUGH, "BD BD BD") == []
    assert read(ENOUGH, "BD BD BD", max_components=2) == ["0 2"]


def test_tags_that_no_mentions_encode_to_are_read_all_the_same() -> None:
    assert read(ENOUGH, "I O I") == ["0", "2"]
    assert read(ENOUGH, "ID O IH") == ["0 2"]
    assert read(ENOUGH, "BD O BD", max_components=1) == []


def test_types_never_meet_in_a_mention() -> None:
    types = ("A", "B")
    assert read(ALL, "BD-A O BD-B", types=types) == []
    assert read(ENOUGH, "B-A I-B", types=types) == ["0", "1"]
    assert read(ENOUGH, "BD-A BH-B BD-A BD-B O BD-B", types=types) == ["0 2", "1 3", "1 5"]


def test_linear_examples() -> None:
    made = Linear(TYPES)
    assert round_trip(ENOUGH, made, INFARCTIONS) == texts(INFARCTIONS) - {"Infarctions"}
    assert round_trip(ALL, made, INFARCTIONS) > texts(INFARCTIONS)
    assert round_trip(ALL, made, LACERATION) > texts(LACERATION)
    assert round_trip(ENOUGH, made, EXAMPLES["ethanol"]) == texts(EXAMPLES["ethanol"])


def test_tags_are_read_within_bounds() -> None:
    made = Linear(TYPES)
    n_words = 5_000
    for tags in (("BD", "O"), ("BH", "I"), ("BD", "BH"), ("BH",)):
        encoding = tuple((word, made.tags.index(tags[word % len(tags)])) for word in range(n_words))
        decoded = made.decode(encoding, "all", any_number=True)
        assert decoded.truncated
        assert len(set(decoded.mentions)) == MOST_MENTIONS
        assert len(made.decode(encoding, "enough").mentions) <= n_words


def test_a_head_takes_one_body_from_each_side_or_both_from_its_left() -> None:
    made = structure("linear", TYPES)
    tags = ["BD", "O", "BD", "O", "BH", "O", "BD", "O", "BD"]
    encoding = tuple((word, made.tags.index(tag)) for word, tag in enumerate(tags))
    sides = [finding((2, 3), (4, 5)), finding((4, 5), (6, 7)), finding((0, 1), (8, 9))]
    left = [finding((2, 3), (4, 5)), finding((0, 1), (4, 5)), finding((6, 7), (8, 9))]
    assert list(enough_readings(made, encoding)) == sides
    assert list(enough_readings(made, encoding, left_first=True)) == left


@pytest.mark.parametrize(("name", "n_different"), [("chia", 1), ("pgxcorpus", 0)])
def test_which_side_a_head_begins_with_hardly_matters_for_real_annotations(shared_data, name: str, n_different) -> None:
    corpus = corpora.read(shared_data / name)
    made = structure("linear", corpus.types)
    found = {False: 0, True: 0}
    for sentence in corpus:
        encoding = made.encode(sentence.mentions, len(sentence)).encoding
        for left_first in found:
            found[left_first] += len(
                set(sentence.mentions) & set(enough_readings(made, encoding, left_first=left_first))
            )
    assert found[False] - found[True] == n_different


# ---- Real annotations: (right, wrong, missed) over all sentences, then over those with a discontiguous mention.

ROUND_TRIPS = {
    "chia": {
        ("linear", ALL): ((39059, 5548, 1886), (7434, 5457, 368)),
        ("linear", ENOUGH): ((38686, 308, 2259), (7100, 308, 702)),
        ("mention", ALL): ((39174, 28, 1771), (6031, 0, 1771)),
        ("mention", ENOUGH): ((39146, 28, 1799), (6031, 0, 1771)),
        ("shared", ALL): ((40944, 211, 1), (7801, 183, 1)),
        ("shared", ENOUGH): ((40907, 35, 38), (7792, 7, 10)),
        ("split", ALL): ((40944, 184, 1), (7801, 156, 1)),
        ("split", ENOUGH): ((40909, 33, 36), (7794, 5, 8)),
    },
    "pgxcorpus": {
        ("linear", ALL): ((4410, 2251, 2351), (1324, 1769, 865)),
        ("linear", ENOUGH): ((4065, 91, 2696), (1169, 91, 1020)),
        ("mention", ALL): ((6354, 163, 407), (1782, 50, 407)),
        ("mention", ENOUGH): ((6237, 116, 524), (1747, 34, 442)),
        ("shared", ALL): ((6761, 219, 0), (2189, 106, 0)),
        ("shared", ENOUGH): ((6631, 125, 130), (2141, 43, 48)),
        ("split", ALL): ((6761, 198, 0), (2189, 85, 0)),
        ("split", ENOUGH): ((6638, 120, 123), (2148, 38, 41)),
    },
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_round_trips_of_real_annotations(shared_data, name: str) -> None:
    corpus = corpora.read(shared_data / name)
    for made in (structure(kind, corpus.types) for kind in ("linear", "mention", "shared", "split")):
        encodings = [made.encode(sentence.mentions, len(sentence)).encoding for sentence in corpus]
        for reading in (ALL, ENOUGH):
            counts = {False: [0, 0, 0], True: [0, 0, 0]}
            for sentence, encoding in zip(corpus, encodings, strict=True):
                decoded = made.decode(encoding, reading)
                assert decoded.is_exact
                assert not decoded.truncated
                gold, read_back = set(sentence.mentions), set(decoded.mentions)
                for subset in {False, sentence.is_discontiguous}:
                    counts[subset][0] += len(gold & read_back)
                    counts[subset][1] += len(read_back - gold)
                    counts[subset][2] += len(gold - read_back)
            expected = list(chain.from_iterable(ROUND_TRIPS[name][made.name, reading]))
            assert [*counts[False], *counts[True]] == expected, (made.name, reading)

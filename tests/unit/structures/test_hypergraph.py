"""Encoding sets of mentions with staircases side by side."""

from __future__ import annotations

import pytest

from brute_force import all_encodings, all_mention_sets, count_encodings, link_unions
from examples import EXAMPLES, INFARCTIONS
from hyperspan import Mention, Sentence
from hyperspan.errors import StructureError
from hyperspan.structures import Hypergraph, Staircase, structure
from hyperspan.structures.hypergraph import mention_structure, shared_structure, split_structure
from hyperspan.structures.linear import linear_structure

TYPES = ("Finding",)


def test_the_papers_figure_encodes_as_drawn() -> None:
    shared = shared_structure(TYPES)
    encoded = shared.encode(INFARCTIONS.mentions, len(INFARCTIONS))
    named = [(word, shared.label_name(label).removeprefix("Finding ")) for word, label in encoded.encoding]
    assert [edge for edge in named if edge[1] != "T→X"] == [
        *((0, "T→B0"), (0, "B0→O1,X")),
        (1, "O1→O1,B1"),
        *((2, "O1→O1"), (2, "B1→B1")),
        *((3, "O1→O1"), (3, "B1→X")),
        (4, "O1→B1"),
        (5, "B1→X"),
    ]
    assert encoded.left_out == ()


@pytest.mark.parametrize("sentence", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.parametrize("name", ["shared", "split"])
def test_examples_are_held_whole(name: str, sentence: Sentence) -> None:
    assert structure(name, TYPES).encode(sentence.mentions, len(sentence)).left_out == ()


@pytest.mark.parametrize(
    ("make", "max_components", "counts"),
    [
        (linear_structure, 3, [2, 8, 46, 310]),
        (shared_structure, 3, [2, 8, 80, 3584]),
        (split_structure, 3, [2, 8, 80, 6656]),
        (mention_structure, 1, [2, 8, 40, 208]),
        (shared_structure, 2, [2, 8, 80]),
        (linear_structure, 1, [2, 8, 35, 142]),
    ],
)
def test_distinct_encodings_are_as_many_as_published(make, max_components: int, counts: list[int]) -> None:
    made = make(TYPES, max_components)
    assert [len(all_encodings(made, n_words)) for n_words in range(1, len(counts) + 1)] == counts


def test_sets_of_mentions_are_as_many_as_published() -> None:
    assert [sum(1 for _ in all_mention_sets(n_words)) for n_words in range(1, 5)] == [2, 2**3, 2**7, 2**15]


def test_every_union_of_paths_is_an_encoding() -> None:
    for made in (shared_structure(TYPES), split_structure(TYPES)):
        for n_words in range(1, 5):
            assert count_encodings(made, n_words) == len(all_encodings(made, n_words))


def test_five_words_have_as_many_encodings_as_published() -> None:
    assert count_encodings(shared_structure(TYPES), 5) == 533_504
    assert count_encodings(split_structure(TYPES), 5) == 2_367_488


def test_counts_of_single_staircases() -> None:
    counts = {
        n_parts: [
            len(link_unions(Hypergraph("one", TYPES, (Staircase(n_parts, exact=True),)).blocks[0], n_words)[1])
            for n_words in range(1, 6)
        ]
        for n_parts in (1, 2, 3)
    }
    assert counts == {1: [2, 8, 40, 208, 1088], 2: [1, 1, 2, 32, 1088], 3: [1, 1, 1, 1, 2]}
    one = counts[1]
    assert all(one[i] == 6 * one[i - 1] - 4 * one[i - 2] for i in range(2, 5)), "grows like 3 + √5"


def test_types_and_staircases_have_labels_of_their_own() -> None:
    split = split_structure(("Drug", "Finding"), 2)
    assert (split.labels_per_type, split.n_labels) == (16, 32)
    assert [block.first_label for block in split.blocks] == [0, 5, 16, 21]
    assert split.label_name(6) == "Drug (2) T→B0"
    assert len({split.label_name(label) for label in range(split.n_labels)}) == split.n_labels


def test_encoding_two_types_is_encoding_each() -> None:
    drug, finding = Mention("Drug", [(0, 2)]), Mention("Finding", [(1, 2), (3, 4)])
    both = shared_structure(("Drug", "Finding"), 2)
    alone = shared_structure(("Finding",), 2).encode([finding], 4).encoding
    shifted = {(word, label + both.labels_per_type) for word, label in alone}
    encoding = both.encode([finding, drug, finding], 4).encoding
    assert shifted <= set(encoding)
    assert list(encoding) == sorted(set(encoding))
    assert {edge for edge in encoding if edge[1] < both.labels_per_type} == set(
        shared_structure(("Drug",), 2).encode([drug], 4).encoding
    )


def test_mentions_with_too_many_parts_are_given_back() -> None:
    long, short = Mention("Finding", [(0, 1), (2, 3), (4, 5)]), Mention("Finding", [(0, 1)])
    for made in (shared_structure(TYPES, 2), split_structure(TYPES, 2), mention_structure(TYPES)):
        encoded = made.encode([long, short], 5)
        assert encoded.left_out == (long,)
        assert encoded.encoding == made.encode([short], 5).encoding
        assert made.unfold([long, short], 5).left_out == (long,)


def test_no_words_and_no_mentions() -> None:
    shared = shared_structure(("Drug", "Finding"))
    assert shared.encode([], 0).encoding == ()
    assert shared.encode([], 2).encoding == ((0, 0), (0, 25), (1, 0), (1, 25))
    assert list(shared.edges_of(shared.encode([], 2).encoding)) == []


def test_what_cannot_be_encoded_is_refused() -> None:
    shared = shared_structure(TYPES)
    with pytest.raises(StructureError, match="type 'Drug' is not in this structure, which knows 'Finding'"):
        shared.encode([Mention("Drug", [(0, 1)])], 3)
    with pytest.raises(StructureError, match="ends beyond the 3 words of the sentence"):
        shared.encode([Mention("Finding", [(2, 4)])], 3)
    with pytest.raises(StructureError, match="label 25 is not one of the 25 of 'shared'"):
        shared.label_name(25)
    with pytest.raises(StructureError, match="label -1 is not one of the 25 of 'shared'"):
        list(shared.edges_of(((0, -1),)))

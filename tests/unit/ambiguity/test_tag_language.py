"""The canonical tag sequences: proved for any sentence, and compared with all sets of mentions of short ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from brute_force import all_encodings
from examples import EXAMPLES
from hyperspan.ambiguity.matrices import largest_eigenvalue
from hyperspan.ambiguity.tag_language import TAGS, OpenMentions, canonical_tags, language_of
from hyperspan.errors import StructureError
from hyperspan.structures import linear_structure
from tag_profiles import canonical_sequences


@pytest.mark.parametrize("max_components", [1, 2, 3])
@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_accepts_exactly_what_some_set_of_mentions_becomes(n_words, max_components):
    structure = linear_structure(["Finding"], max_components)
    encoded = {tuple(structure.tags[label] for _, label in encoding) for encoding in all_encodings(structure, n_words)}
    language = canonical_tags(max_components)
    assert {tags for tags in product(TAGS, repeat=n_words) if language.accepts(tags)} == encoded
    assert canonical_sequences(n_words, max_components) == encoded


@pytest.mark.parametrize("max_components", [1, 2, 3, 4])
def test_accepts_exactly_the_sequences_of_five_words(max_components):
    language = canonical_tags(max_components)
    accepted = {tags for tags in product(TAGS, repeat=5) if language.accepts(tags)}
    assert accepted == canonical_sequences(5, max_components)


BELOW_AND_ABOVE = {
    "1 part": (OpenMentions(1, False, (1, 2, 3), "below"), OpenMentions(1, False, (2, 2, 2), "above")),
    "2 parts": (OpenMentions(2, False, (1, 2, 3), "below"), OpenMentions(2, False, (2, 2, 2), "above", period=2)),
    "3 parts and any number": (OpenMentions(3, False, (1, 2, 2), "below"), OpenMentions(2, True, (2, 2, 2), "above")),
}


@pytest.mark.parametrize(("name", "max_components"), [("1 part", 1), ("2 parts", 2), ("3 parts and any number", 3)])
def test_bounds_from_below_and_above_meet(name, max_components):
    """The proof for sentences of any length: both automata are the same, so both are exact."""
    below, above = BELOW_AND_ABOVE[name]
    assert language_of(below) == language_of(above) == canonical_tags(max_components)


def test_too_small_a_bound_leaves_sequences_out():
    smaller = language_of(OpenMentions(2, False, (1, 1, 1), "below"))
    assert smaller.counts(5) == [2, 8, 46, 294, 1858]
    assert canonical_tags(2).counts(5) == [2, 8, 46, 310, 2044]


def test_more_than_three_parts_make_no_difference():
    assert canonical_tags(3) == canonical_tags(4) == canonical_tags(7)
    assert canonical_tags(2) != canonical_tags(3)


@pytest.mark.parametrize(
    ("max_components", "counts"),
    [
        (1, [2, 8, 35, 142, 562, 2219, 8773]),
        (2, [2, 8, 46, 310, 2044, 12598, 73433, 412231]),
        (3, [2, 8, 46, 310, 2049, 12663, 73944, 415390]),
    ],
)
def test_counts(max_components, counts):
    assert canonical_tags(max_components).counts(len(counts)) == counts


@pytest.mark.parametrize("sentence", EXAMPLES.values(), ids=EXAMPLES)
def test_accepts_the_examples(sentence):
    structure = linear_structure(["Finding"])
    encoding = structure.encode(sentence.mentions, len(sentence)).encoding
    assert canonical_tags(3).accepts(structure.tags[label] for _, label in encoding)


@pytest.mark.parametrize(
    "tags",
    ["BD", "O BD O", "BD BD", "BD BD O BD", "I", "O I", "B ID", "B IH", "BH", "BH IH", "O BH O", "BH BD", "BD I"],
)
def test_refuses_what_no_mentions_become(tags):
    assert not canonical_tags(3).accepts(tags.split())


def test_three_bodies_need_three_parts():
    assert canonical_tags(3).accepts(["BD", "O", "BD", "O", "BD"])
    assert not canonical_tags(2).accepts(["BD", "O", "BD", "O", "BD"])


def test_a_head_helps_an_odd_body_out():
    assert canonical_tags(2).accepts(["BH", "O", "BD", "O", "BD", "O", "BD"])


@pytest.mark.parametrize("max_components", [2, 3])
def test_growth_is_the_root_of_a_cubic(max_components):
    roots = np.roots([1, -6, 4, -1])
    assert largest_eigenvalue(canonical_tags(max_components).matrix()) == pytest.approx(max(roots.real), abs=1e-9)


def test_unknown_tag_is_refused():
    with pytest.raises(StructureError, match=r"there is no tag 'B-Finding'; expected one of O, B, I, BD, ID, BH, IH"):
        canonical_tags(3).accepts(["B-Finding"])


def test_no_parts_are_refused():
    with pytest.raises(StructureError, match="max_components is 0; expected at least 1"):
        canonical_tags(0)

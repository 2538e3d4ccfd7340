"""What holds for any mentions and any tags: the automaton, the counts and the decoders agree with one another."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from hyperspan.ambiguity import canonical_tags, count_readings, round_trip
from hyperspan.ambiguity.tag_language import TAGS
from hyperspan.structures import linear_structure, structure

TYPES = ("Finding",)
parts_allowed = st.integers(1, 4)


@st.composite
def mention_sets(draw: st.DrawFn, max_parts: int) -> tuple[int, frozenset]:
    n_words = draw(st.integers(1, 14))
    mentions = draw(st.sets(strategies.mentions(n_words, TYPES, max_parts), max_size=8))
    return n_words, frozenset(mention for mention in mentions if len(mention.parts) <= max_parts)


@given(parts_allowed.flatmap(lambda parts: st.tuples(st.just(parts), mention_sets(parts))))
@settings(max_examples=300)
def test_what_mentions_are_encoded_as_is_canonical(case):
    max_components, (n_words, mentions) = case
    chosen = linear_structure(TYPES, max_components)
    tags = [chosen.tags[label] for _, label in chosen.encode(mentions, n_words).encoding]
    assert canonical_tags(max_components).accepts(tags)


@given(parts_allowed, st.lists(st.sampled_from(TAGS), min_size=1, max_size=8))
@settings(max_examples=300)
def test_tags_are_canonical_exactly_if_they_have_a_reading(max_components, tags):
    chosen = linear_structure(TYPES, max_components)
    number = count_readings(chosen, tuple((word, chosen.tags.index(tag)) for word, tag in enumerate(tags)))
    assert number is None or (number > 0) == canonical_tags(max_components).accepts(tags)


@given(st.lists(st.sampled_from([tag for tag in TAGS if tag[0] != "B"] + ["BD", "BH"] * 2), min_size=6, max_size=9))
@settings(max_examples=200)
def test_tags_full_of_heads_and_bodies_too(tags):
    chosen = linear_structure(TYPES, 2)
    number = count_readings(chosen, tuple((word, chosen.tags.index(tag)) for word, tag in enumerate(tags)))
    assert number is None or (number > 0) == canonical_tags(2).accepts(tags)


@given(mention_sets(3), st.sampled_from(["linear", "mention", "shared", "split"]))
def test_every_encoding_has_a_reading(case, name):
    n_words, mentions = case
    chosen = structure(name, TYPES)
    number = count_readings(chosen, chosen.encode(mentions, n_words).encoding)
    assert number is None or number >= 1


@given(mention_sets(3), st.sampled_from(["shared", "split"]))
def test_one_reading_is_the_gold_one(case, name):
    n_words, mentions = case
    chosen = structure(name, TYPES)
    encoding = chosen.encode(mentions, n_words).encoding
    if count_readings(chosen, encoding) == 1:
        assert set(chosen.decode(encoding, "all").mentions) == mentions


@given(st.lists(strategies.sentences(), max_size=4))
@settings(max_examples=60)
def test_hypergraphs_lose_nothing_and_split_is_never_more_ambiguous(sentences):
    table = round_trip(sentences)
    for name in ("shared", "split"):
        assert table[name].errors["all"].recall_error == 0
        assert table[name].left_out == 0
    assert table["split"].errors["all"].predicted <= table["shared"].errors["all"].predicted
    assert table["split"].readings.total <= table["shared"].readings.total
    for of_structure in table.values():
        for errors in of_structure.errors.values():
            assert errors.gold == sum(len(sentence.mentions) for sentence in sentences)
            assert 0 <= errors.precision_error <= 1
            assert 0 <= errors.recall_error <= 1

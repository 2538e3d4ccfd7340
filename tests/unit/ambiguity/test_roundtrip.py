"""Gold mentions encoded and decoded again."""

from __future__ import annotations

import pytest

from examples import EXAMPLES, INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.ambiguity import Errors, Readings, round_trip, roundtrip
from hyperspan.errors import StructureError, UsageError


def test_the_examples_come_back_from_the_hypergraphs():
    table = round_trip(EXAMPLES.values())
    n_gold = sum(len(sentence.mentions) for sentence in EXAMPLES.values())
    for name in ("shared", "split"):
        assert table[name].errors["all"].recall_error == 0
        assert table[name].left_out == 0
        for errors in table[name].errors.values():
            assert errors.gold == n_gold


def test_tags_cannot_say_that_infarctions_alone_is_a_mention():
    errors = round_trip([INFARCTIONS])["linear"].errors["enough"]
    assert (errors.predicted, errors.right, errors.gold) == (2, 2, 3)
    assert (errors.precision_error, errors.recall_error) == (0, pytest.approx(1 / 3))


def test_all_readings_of_tags_are_many():
    tags = round_trip([LACERATION])["linear"].errors["all"]
    shared = round_trip([LACERATION])["shared"].errors["all"]
    split = round_trip([LACERATION])["split"].errors["all"]
    assert tags.precision_error > 0.5
    assert (shared.predicted, shared.right) == (6, 4)  # blood in stomach … lac, and stomach, beside the gold ones
    assert (split.predicted, split.right) == (4, 4)


def test_what_a_structure_leaves_out_is_lost():
    sentence = Sentence(["a", "b", "c"], [Mention("Finding", [(0, 1), (2, 3)]), Mention("Finding", [(1, 2)])])
    result = round_trip([sentence])["mention"]
    assert result.left_out == 1
    assert result.errors["all"].as_dict() == {
        "precision_error": 0,
        "recall_error": 0.5,
        "predicted": 1,
        "gold": 2,
        "truncated": 0,
    }


def test_overlaps_of_different_types_are_lost_to_tags():
    sentence = Sentence(["a", "b"], [Mention("Drug", [(0, 1)]), Mention("Finding", [(0, 2)])])
    table = round_trip([sentence])
    assert table["linear"].errors["all"].recall_error == 0.5
    assert table["shared"].errors["enough"].recall_error == 0


def test_sentences_without_mentions_count_for_nothing():
    table = round_trip([Sentence(["nothing", "here"])])
    for of_structure in table.values():
        assert of_structure.readings.sentences == 0
        assert of_structure.errors["all"].as_dict()["precision_error"] == 0
        assert of_structure.errors["all"].as_dict()["recall_error"] == 0


FOUR_BODIES = Sentence(list("abcdefg"), [Mention("X", [(0, 1), (2, 3)]), Mention("X", [(4, 5), (6, 7)])])


@pytest.mark.parametrize(("components", "n_read"), [(2, 6), ("same", 10), (4, 11), (None, 11)])
def test_components_that_tags_combine(components, n_read):
    table = round_trip([FOUR_BODIES], linear_components=components)
    assert table["linear"].errors["all"].predicted == n_read
    assert table["shared"].errors["all"].predicted == 2
    assert table["linear"].errors["enough"].predicted == 2


def test_reading_stops_at_a_limit(monkeypatch):
    monkeypatch.setattr(roundtrip, "MOST_READ", 4)
    errors = round_trip([FOUR_BODIES])["linear"].errors["all"]
    assert (errors.predicted, errors.truncated) == (4, 1)


def test_sets_behind_encodings():
    crossing = Sentence(list("abcde"), [Mention("X", [(0, 1), (3, 4)]), Mention("X", [(1, 2), (4, 5)])])
    plain = Sentence(["a"], [Mention("X", [(0, 1)])])
    readings = round_trip([plain, crossing])["shared"].readings
    assert readings.as_dict() == {
        "sentences": 2,
        "ambiguous": 1,
        "uncounted": 0,
        "mean": 4,
        "mean_log2": pytest.approx(1.4037, abs=1e-4),
        "max_log2": pytest.approx(2.8074, abs=1e-4),
    }
    assert readings.most_ambiguous() == [(7, crossing)]


def test_the_most_ambiguous_come_first_and_ties_in_order():
    readings = Readings()
    sentences = [Sentence([word]) for word in "abcde"]
    for sentence, number in zip(sentences, [2, 9, 1, 9, 5], strict=True):
        readings.add(sentence, number, n_worst=3)
    assert readings.most_ambiguous() == [(9, sentences[1]), (9, sentences[3]), (5, sentences[4])]


def test_a_mean_beyond_all_floats_is_not_given():
    readings = Readings()
    readings.add(Sentence(["a"]), 1 << 2000, n_worst=0)
    readings.add(Sentence(["b"]), None, n_worst=0)
    assert readings.as_dict() == {
        "sentences": 2,
        "ambiguous": 1,
        "uncounted": 1,
        "mean": None,
        "mean_log2": 2000,
        "max_log2": 2000,
    }


def test_errors_of_nothing_are_none():
    assert (Errors().precision_error, Errors().recall_error) == (0, 0)


@pytest.mark.parametrize("components", [0, "many"])
def test_wrong_numbers_of_components_are_refused(components):
    with pytest.raises(UsageError, match=f"linear_components is {components!r}; expected a number from 1 on, None or"):
        round_trip([], linear_components=components)


def test_too_many_parts_are_refused():
    with pytest.raises(StructureError, match="max_components is 6; expected a number from 1 to 5"):
        round_trip([], max_components=6)

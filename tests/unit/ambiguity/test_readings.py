"""How many sets of mentions are behind an encoding, compared with encoding them all."""

from __future__ import annotations

from collections import Counter

import pytest

from brute_force import all_mention_sets
from hyperspan import Mention
from hyperspan.ambiguity import count_readings, readings
from hyperspan.structures import structure


@pytest.mark.parametrize("name", ["linear", "mention", "shared", "split"])
@pytest.mark.parametrize(("n_words", "max_components"), [(1, 3), (2, 3), (3, 2), (4, 1), (4, 2)])
def test_equals_the_number_of_sets_with_this_encoding(name, n_words, max_components):
    chosen = structure(name, ["Finding"], max_components)
    sets = all_mention_sets(n_words, max_parts=chosen.max_components)
    expected = Counter(chosen.encode(mentions, n_words).encoding for mentions in sets)
    for encoding, number in expected.items():
        assert count_readings(chosen, encoding) == number


def test_types_multiply():
    chosen = structure("shared", ["Drug", "Finding"])
    crossing = [[(0, 1), (3, 4)], [(1, 2), (4, 5)]]
    mentions = [Mention(type, parts) for type in chosen.types for parts in crossing]
    assert count_readings(chosen, chosen.encode(mentions, 5).encoding) == 7 * 7


def test_types_of_tags_multiply():
    chosen = structure("linear", ["Drug", "Finding"])
    crossing = [[(0, 1), (3, 4)], [(1, 2), (4, 5)]]
    mentions = [Mention("Drug", parts) for parts in crossing] + [
        Mention("Finding", parts).shift(6) for parts in crossing
    ]
    assert count_readings(chosen, chosen.encode(mentions, 11).encoding) == 2 * 2


@pytest.mark.parametrize("name", ["linear", "shared"])
@pytest.mark.parametrize(("limit", "value"), [("MOST_MENTIONS", 3), ("MOST_STATES", 1)])
def test_too_many_are_not_counted(monkeypatch, name, limit, value):
    chosen = structure(name, ["Finding"])
    mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
    encoding = chosen.encode(mentions, 5).encoding
    assert count_readings(chosen, encoding) is not None
    monkeypatch.setattr(readings, limit, value)
    assert count_readings(chosen, encoding) is None


def test_tags_that_are_not_canonical_have_no_reading():
    chosen = structure("linear", ["Finding"])
    assert count_readings(chosen, ((0, chosen.tags.index("BD")),)) == 0

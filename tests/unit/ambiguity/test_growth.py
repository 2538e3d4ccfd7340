"""Orders of growth, their limits, and the way there."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from hyperspan.ambiguity import growth_log2, growth_table, relative_ambiguity
from hyperspan.ambiguity.growth import mention_set_totals
from hyperspan.ambiguity.plot import growth_svg
from hyperspan.errors import UsageError


@pytest.fixture(scope="module")
def table():
    return growth_table(3, 400)


def test_eigenvalues(table):
    rounded = {
        name: {parts: round(value, 4) for parts, value in values.items()}
        for name, values in table["eigenvalues"].items()
    }
    assert rounded == {
        "linear": {"1": 3.956, "2": 5.278, "3": 5.278},
        "mention": {"1": 5.2361},
        "shared": {"1": 5.2361, "2": 80.6141, "3": 1261.8623},
        "split": {"1": 5.2361, "2": 38.1025, "3": 278.9461},
    }


def test_growth(table):
    assert round(table["growth_log2"]["split"], 3) == 15.764
    assert 10 < table["growth_log2"]["shared"] < 11
    assert table["growth_log2"]["linear"] < math.log2(7)


def test_limits_and_their_published_bounds(table):
    limits = table["relative_ambiguity"]
    assert limits["linear"]["shared"] >= 10 / 3
    assert round(limits["linear"]["shared"], 4) == 4.2922
    assert limits["shared"]["split"] > 15 / 11
    assert round(limits["shared"]["split"], 4) == 1.5303


def test_opposite_limits_are_reciprocal():
    assert relative_ambiguity("split", "linear") * relative_ambiguity("linear", "split") == pytest.approx(1)


@pytest.mark.parametrize(("one", "other"), [("linear", "shared"), ("shared", "split"), ("linear", "split")])
def test_finite_values_approach_the_limit(table, one, other):
    distances = [
        abs(value - table["relative_ambiguity"][one][other])
        for value in table["finite"]["relative_ambiguity"][one][other]
    ]
    assert table["finite"]["words"] == [1, 2, 5, 10, 20, 50, 100, 200, 400]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.07


def test_log_ambiguity_diverges(table):
    for name, values in table["finite"]["log_ambiguity"].items():
        assert values == sorted(values)
        if name == "segments":
            assert set(values) == {1.0}
        else:
            assert values[-1] > 20 * values[-2]  # doubling n multiplies it by about 2^5
    assert set(table["finite"]["ambiguity_log2"]["segments"]) == {0.0}
    assert table["log_ambiguity_diverges"] is True


@pytest.mark.parametrize(("name", "encodings"), [("linear", 2415), ("shared", 537_178), ("split", 2_374_234)])
def test_the_plain_ratio_stands_beside_the_logarithms(table, name, encodings):
    """Up to five words, out of the published counts (of the chain, ours): 889,241, 3,998 and 905 sets an encoding."""
    sets = 2 + 2**3 + 2**7 + 2**15 + 2**31
    assert table["finite"]["words"][2] == 5
    assert table["finite"]["ambiguity_log2"][name][2] == pytest.approx(math.log2(sets / encodings))


def test_nothing_is_ambiguous_in_two_words(table):
    for values in table["finite"]["log_ambiguity"].values():
        assert values[:2] == [1, 1]


def test_sums_of_sets():
    assert mention_set_totals([1, 2, 3]) == pytest.approx([1, math.log2(2 + 8), math.log2(2 + 8 + 128)])


def test_growth_with_one_part_is_that_of_mention():
    assert growth_log2("shared", 1) == growth_log2("split", 1) == growth_log2("mention", 3)


def test_wrong_numbers_are_refused():
    with pytest.raises(UsageError, match="max_components is 6; expected a number from 1 to 5"):
        growth_table(6)
    with pytest.raises(UsageError, match="max_words is 0; expected at least 1"):
        growth_table(3, 0)


@pytest.mark.parametrize("max_words", [1, 2, 30])
def test_the_drawing_names_every_structure(max_words):
    drawing = ElementTree.fromstring(growth_svg(max_words))
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"linear", "mention", "shared", "split", "words"} <= set(texts)
    lines = list(drawing.iter("{http://www.w3.org/2000/svg}polyline"))
    assert [len(line.get("points").split()) for line in lines] == [max_words] * 4

"""The picture of growth: what it shows is what was counted."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from hyperspan.ambiguity import canonical_encodings
from hyperspan.ambiguity.plot import growth_svg
from hyperspan.errors import StructureError

SVG = "{http://www.w3.org/2000/svg}"


def drawn(max_words=12, max_components=3):
    return ElementTree.fromstring(growth_svg(max_words, max_components))


def texts(drawing):
    return {element.text: (float(element.get("x")), float(element.get("y"))) for element in drawing.iter(f"{SVG}text")}


def curves(drawing):
    """The points of each curve, by the structure whose name stands nearest to its end."""
    names = {name: place for name, place in texts(drawing).items() if name in ("linear", "mention", "shared", "split")}
    lines = [
        [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        for line in drawing.iter(f"{SVG}polyline")
    ]
    lines.sort(key=lambda line: line[-1][1])
    return dict(zip(sorted(names, key=lambda name: names[name][1]), lines, strict=True))


@pytest.mark.parametrize("max_components", [2, 3])
def test_heights_are_the_logarithms_of_the_counts(max_components):
    drawing = drawn(12, max_components)
    places = texts(drawing)
    bottom = places["0"][1] - 4
    top_value = max(math.log2(canonical_encodings("split", 12, max_components)[-1]), 1)
    found = curves(drawing)
    per_bit = (bottom - found["split"][-1][1]) / top_value
    for name, points in found.items():
        expected = [math.log2(number) for number in canonical_encodings(name, 12, max_components)]
        assert [(bottom - y) / per_bit for _, y in points] == pytest.approx(expected, abs=0.06 / per_bit)


def test_words_are_evenly_spaced():
    for points in curves(drawn()).values():
        steps = [right[0] - left[0] for left, right in pairwise(points)]
        assert steps == pytest.approx([steps[0]] * 11, abs=0.11)


def test_labels_do_not_stand_on_one_another():
    places = texts(drawn(30))
    heights = sorted(places[name][1] for name in ("linear", "mention", "shared", "split"))
    assert all(below - above >= 13.9 for above, below in pairwise(heights))


@pytest.mark.parametrize("max_words", [1, 2, 30, 200])
def test_everything_stands_inside_the_picture(max_words):
    drawing = drawn(max_words)
    _, _, width, height = map(float, drawing.get("viewBox").split())
    for points in curves(drawing).values():
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    assert all(0 <= x <= width and 0 <= y <= height for x, y in texts(drawing).values())


@pytest.mark.parametrize("max_words", [5, 12, 30, 200])
@pytest.mark.parametrize("axis", ["end", "middle"], ids=["bits", "words"])
def test_axes_have_a_few_round_numbers(max_words, axis):
    labels = [text.text for text in drawn(max_words).iter(f"{SVG}text") if text.get("text-anchor") == axis]
    ticks = [float(label) for label in labels if label.isdigit()]
    assert 2 <= len(ticks) <= 7
    steps = {right - left for left, right in pairwise(ticks)}
    assert len(steps) == 1
    assert str(steps.pop()).rstrip(".0") in ("1", "2", "5")


def test_structures_are_told_apart_without_colour():
    dashes = [line.get("stroke-dasharray") for line in drawn().iter(f"{SVG}polyline")]
    assert len(set(dashes)) == 4
    assert {line.get("stroke") for line in drawn().iter(f"{SVG}polyline")} == {"black"}


def test_the_title_says_how_many_parts():
    assert drawn(4, 2).find(f"{SVG}title").text == "Canonical encodings, mentions of at most 2 parts"


def test_too_many_parts_are_refused():
    with pytest.raises(StructureError, match="max_components is 9; expected a number from 1 to 8"):
        growth_svg(5, 9)

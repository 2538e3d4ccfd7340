"""Colours of types."""

from __future__ import annotations

import pytest

from hyperspan.render.colours import DARK, INK, LIGHT, PAPER, QUIET, TypeColours, as_colours


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("colour", "paper"),
    [(colour, PAPER[0]) for colour in (*LIGHT, INK[0], QUIET[0])] + [(c, PAPER[1]) for c in (*DARK, INK[1], QUIET[1])],
)
def test_every_colour_is_legible_as_small_text(colour: str, paper: str):
    assert _contrast(colour, paper) >= 4.5


def test_light_and_dark_have_the_same_number_of_different_colours():
    assert len(set(LIGHT)) == len(set(DARK)) == len(LIGHT) == len(DARK)


def test_a_type_has_its_colour_by_its_name():
    assert TypeColours(["Drug", "Finding"]).index("Finding") == TypeColours(["Finding", "Anatomy"]).index("Finding")
    assert {TypeColours().index(type) for type in ("Anatomy", "Drug", "Finding", "Procedure")} == {0, 1, 2, 3}


def test_types_that_want_the_same_colour_take_the_next_and_then_share():
    colours = TypeColours(f"T{number}" for number in range(len(LIGHT)))
    assert {colours.index(type) for type in colours.types} == set(range(len(LIGHT)))
    assert colours.index("one more") == TypeColours().index("one more")
    assert colours.types[-1] == "one more"


def test_without_types_those_present_are_taken_in_alphabetical_order():
    assert as_colours(None, ["b", "a", "b"]).types == ("a", "b")
    assert as_colours(["b"], ["a"]).types == ("b",)
    mine = TypeColours()
    assert as_colours(mine, ["a"]) is mine

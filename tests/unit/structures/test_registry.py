"""Structures by name."""

from __future__ import annotations

import pytest

from hyperspan.errors import StructureError
from hyperspan.structures import STRUCTURES, Hypergraph, Linear, Segments, structure


@pytest.mark.parametrize(
    ("name", "kind", "n_labels"),
    [
        ("linear", Linear, 7),
        ("mention", Hypergraph, 5),
        ("shared", Hypergraph, 25),
        ("split", Hypergraph, 33),
        ("segments", Segments, 102),
    ],
)
def test_structures_have_a_short_and_a_full_name(name: str, kind: type, n_labels: int) -> None:
    made = structure(name, ["Finding"])
    assert isinstance(made, kind)
    assert (made.name, made.types, made.n_labels) == (name, ("Finding",), n_labels)
    assert structure(f"hyperspan.{name.capitalize()}.v1", ["Finding"]) == made
    assert made.max_components == (1 if name == "mention" else 3)


def test_every_structure_can_be_made() -> None:
    assert {structure(name, ["Finding"]).name for name in STRUCTURES} == {
        "linear",
        "mention",
        "shared",
        "split",
        "segments",
    }


@pytest.mark.parametrize("max_components", range(1, 6))
def test_one_to_five_parts(max_components: int) -> None:
    for name in ("linear", "shared", "split", "segments"):
        assert structure(name, ["Finding"], max_components).max_components == max_components


@pytest.mark.parametrize("name", ["linear", "mention", "shared", "split", "segments"])
@pytest.mark.parametrize("max_components", [0, 6, -1])
def test_other_numbers_of_parts_are_refused(name: str, max_components: int) -> None:
    with pytest.raises(StructureError, match=f"^max_components is {max_components}; expected a number from 1 to 5$"):
        structure(name, ["Finding"], max_components)


def test_an_unknown_name_lists_the_known_and_suggests_the_nearest() -> None:
    with pytest.raises(
        StructureError,
        match=r"no structure 'sharde'; expected one of linear, .*, split, segments\. Did you mean 'shared'\?$",
    ):
        structure("sharde", ["Finding"])
    with pytest.raises(StructureError, match=r"there is no structure 'zebra'; expected one of .*, segments$"):
        structure("zebra", ["Finding"])


@pytest.mark.parametrize("name", ["linear", "mention", "shared", "split", "segments"])
def test_types_are_needed_and_each_once(name: str) -> None:
    with pytest.raises(StructureError, match=r"the types are \(\); expected at least one, and each once"):
        structure(name, [])
    with pytest.raises(StructureError, match=r"the types are \('A', 'A'\); expected at least one, and each once"):
        structure(name, ["A", "A"])
    with pytest.raises(StructureError, match="types are the text 'Finding'; expected a sequence of names"):
        structure(name, "Finding")

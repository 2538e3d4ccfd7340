"""Which nodes and edges one type has, and the paths of mentions through them."""

from __future__ import annotations

import pytest

from hyperspan import Mention
from hyperspan.structures.staircase import END, STAY, STEP, Staircase, T, links_of


def edge_names(staircase: Staircase) -> list[str]:
    return [staircase.label_name(label) for label in range(staircase.n_labels)]


def test_shared_edges_of_three_parts_are_the_papers() -> None:
    names = edge_names(Staircase(3))
    assert names[:2] == ["T→X", "T→B0"]
    assert names[2:9] == ["B0→X", "B0→O1", "B0→O1,X", "B0→B0", "B0→B0,X", "B0→B0,O1", "B0→B0,O1,X"]
    assert names[9:12] == ["O1→B1", "O1→O1", "O1→O1,B1"]
    assert names[-3:] == ["B2→X", "B2→B2", "B2→B2,X"]
    assert len(names) == 25


def test_exact_staircases_end_only_in_their_last_part() -> None:
    names = edge_names(Staircase(2, exact=True))
    assert names == [
        *("T→X", "T→B0"),
        *("B0→O1", "B0→B0", "B0→B0,O1"),
        *("O1→B1", "O1→O1", "O1→O1,B1"),
        *("B1→X", "B1→B1", "B1→B1,X"),
    ]
    assert sum(Staircase(n_parts, exact=True).n_labels for n_parts in (1, 2, 3)) == 33


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(3), Staircase(5), Staircase(3, exact=True)])
def test_labels_number_the_edges(staircase: Staircase) -> None:
    assert sorted(staircase.label_of.values()) == list(range(staircase.n_labels))
    assert all(((T, END), (T, STEP), *staircase.edges)[label] == edge for edge, label in staircase.label_of.items())
    assert len(set(edge_names(staircase))) == staircase.n_labels


def test_a_path_has_one_link_a_word() -> None:
    assert list(links_of([(1, 3), (5, 6)])) == [
        *((1, 0, STAY), (2, 0, STEP)),
        *((3, 1, STAY), (4, 1, STEP)),
        (5, 2, END),
    ]


def test_the_number_of_parts_decides_what_is_held() -> None:
    two_parts = Mention("Finding", [(0, 1), (2, 3)])
    assert [Staircase(n_parts).holds(two_parts) for n_parts in (1, 2, 3)] == [False, True, True]
    assert [Staircase(n_parts, exact=True).holds(two_parts) for n_parts in (1, 2, 3)] == [False, True, False]


def test_a_node_on_two_paths_has_one_edge_with_the_children_of_both() -> None:
    staircase = Staircase(2)
    edges = staircase.encode([Mention("Finding", [(0, 1)]), Mention("Finding", [(0, 2)])], 2)
    assert [(word, staircase.label_name(label)) for word, label in edges] == [
        *((0, "T→B0"), (0, "B0→B0,X")),
        *((1, "T→X"), (1, "B0→X")),
    ]


def test_the_prefix_tree_repeats_what_two_branches_share() -> None:
    staircase = Staircase(1)
    mentions = [Mention("Finding", [(0, 2)]), Mention("Finding", [(1, 2)])]
    names = [(word, staircase.label_name(label)) for word, label in staircase.unfold(mentions, 2)]
    assert names == [(0, "T→B0"), (0, "B0→B0"), (1, "T→B0"), (1, "B0→X"), (1, "B0→X")]
    assert len(staircase.encode(mentions, 2)) == 4


def test_a_path_becomes_its_mention_again() -> None:
    mention = Mention("Finding", [(1, 3), (5, 6)])
    path = [(word, node) for word, node, _ in links_of(mention.parts)]
    assert Staircase(3).mention("Finding", path) == mention

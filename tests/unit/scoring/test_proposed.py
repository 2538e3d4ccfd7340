"""Candidates in arrays are the same mentions in the same order, however they come, are cut and joined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hyperspan import Mention
from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.mentions import in_order
from hyperspan.scoring import Proposed

pytestmark = pytest.mark.kernel

TYPES = ("Drug", "Finding", "Anatomy")


def random_mentions(seed: int, n_sentences: int = 9) -> list[tuple[Mention, ...]]:
    draw, found = np.random.default_rng(seed), []
    for _ in range(n_sentences):
        here = set()
        for _ in range(int(draw.integers(0, 12))):
            n_parts = int(draw.integers(1, 4))
            borders = sorted(draw.choice(8, size=2 * n_parts, replace=False).tolist())
            parts = list(zip(borders[::2], borders[1::2], strict=True))
            here.add(Mention(str(draw.choice(TYPES)), parts, prob=float(draw.random())))
        found.append(in_order(here))
    return found


def told(mentions) -> list[list[tuple[Mention, float | None]]]:
    return [[(mention, mention.prob) for mention in here] for here in mentions]


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_any_order_become_mentions_in_order(seed: int) -> None:
    wanted = random_mentions(seed)
    proposed = Proposed.of(wanted, TYPES)
    assert told(proposed) == told(wanted)
    mixed = proposed.rows.chosen(np.random.default_rng(seed).permutation(proposed.n_rows))
    found = Proposed.found(mixed, TYPES, len(wanted))
    assert told(found) == told(wanted)
    assert found.first.tolist() == proposed.first.tolist()


def test_there_may_be_no_rows() -> None:
    found = Proposed.found(MentionRows.room(0, 3), TYPES, 2)
    assert found.first.tolist() == [0, 0, 0]
    assert told(found) == [[], []]


def test_very_many_rows_of_one_sentence_are_put_in_order() -> None:
    n_words, n_types = 20_000, 20  # type by type, as searches find them: moving rows one by one would take minutes
    rows = MentionRows.room(n_words * n_types, 1)
    rows.block[:], rows.n_parts[:] = np.repeat(np.arange(n_types), n_words), 1
    rows.parts[:, 0] = np.tile(np.stack([np.arange(n_words), np.arange(1, n_words + 1)], axis=1), (n_types, 1))
    found = Proposed.found(rows, [f"type {number:02}" for number in range(n_types)], 1)
    assert found.first.tolist() == [0, n_words * n_types]
    assert found.rows.parts[:, 0, 0].tolist() == np.repeat(np.arange(n_words), n_types).tolist()
    assert found.rows.block.tolist() == list(range(n_types)) * n_words


@pytest.mark.parametrize("place", [0, 4, 9])
def test_pieces_that_are_joined_are_the_whole(place: int) -> None:
    wanted = random_mentions(7)
    whole = Proposed.of(wanted, TYPES)
    pieces = [whole.piece(0, place), whole.piece(place, len(whole))]
    assert told(pieces[0]) == told(wanted[:place])
    assert told(pieces[1]) == told(wanted[place:])
    again = Proposed.joined(pieces)
    assert told(again) == told(wanted)
    assert [column.tolist() for column in again.rows] == [column.tolist() for column in whole.rows]


def test_sentences_without_candidates_are_left_out() -> None:
    wanted = random_mentions(3)
    wanted[0] = wanted[5] = ()
    chosen, found = Proposed.of(wanted, TYPES).where_any()
    assert chosen.tolist() == [place for place, here in enumerate(wanted) if here]
    assert told(found) == told(filter(None, wanted))


def test_some_with_other_probabilities() -> None:
    wanted = random_mentions(4)
    proposed = Proposed.of(wanted, TYPES)
    which = np.flatnonzero(proposed.rows.prob >= 0.5)
    found = proposed.mentions(which, proposed.rows.prob[which] / 2)
    assert told(found) == [
        [(mention, mention.prob / 2) for mention in here if (mention.prob or 0.0) >= 0.5] for here in wanted
    ]


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_the_most_probable_of_each_number_of_parts(most: int) -> None:
    wanted = random_mentions(5, 30)
    wanted = [tuple(replace(each, prob=round(each.prob or 0.0, 1)) for each in here) for here in wanted]  # with ties
    found, lost = Proposed.of(wanted, TYPES).most_probable(np.full(len(wanted), most))
    n_lost = 0
    for number, here in enumerate(wanted):
        falling = sorted(here, key=lambda mention: -(mention.prob or 0.0))
        kept = {mention for n in (1, 2, 3) for mention in [m for m in falling if len(m.parts) == n][:most]}
        assert told([found[number]]) == told([[mention for mention in here if mention in kept]])
        assert sorted(lost.prob[lost.sentence == number]) == sorted(m.prob or 0.0 for m in here if m not in kept)
        n_lost += len(here) - len(kept)
    assert (n_lost > 0) == (most < 100)
    assert found.n_rows + lost.n_rows == sum(map(len, wanted))
    assert [column.tolist() for column in Proposed.of([*found], TYPES).rows[:-1]] == [
        column.tolist() for column in found.rows[:-1]
    ]


def test_tables_with_room_for_other_numbers_of_parts_are_joined() -> None:
    one = Proposed.of([[Mention("Drug", [(0, 1)])]], TYPES).rows
    two = Proposed.of([[Mention("Drug", [(0, 1), (2, 4)])]], TYPES).rows
    rows = joined_rows([one, two])
    assert rows.parts.tolist() == [[[0, 1], [0, 0]], [[0, 1], [2, 4]]]


def test_a_type_that_there_is_not() -> None:
    with pytest.raises(KeyError, match="Device"):
        Proposed.of([[Mention("Device", [(0, 1)])]], TYPES)

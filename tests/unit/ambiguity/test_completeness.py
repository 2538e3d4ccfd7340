"""Is the chain complete under ``all``, as the paper says? Every set of mentions of a few words, one by one."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest

from brute_force import all_mentions
from examples import BLOOD
from hyperspan import Mention
from hyperspan.ambiguity import canonical_tags, possible_mentions, readings
from hyperspan.structures import Encoding, structure
from hyperspan.structures.linear_decoding import components

LINEAR = structure("linear", ("Finding",), 3)


def covered(mention: Mention, encoding: Encoding) -> list[tuple[str, int, int]]:
    """The components that a mention has words of: kind, words of it in the mention, words in all."""
    words = set(mention.words())
    return [
        (component.kind, len(words & here), len(here))
        for component in components(LINEAR, encoding)
        for here in [set(range(component.start, component.end))]
        if words & here
    ]


@pytest.mark.parametrize(("n_words", "n_losing"), [(1, 0), (2, 0), (3, 44), (4, 29_435)])
def test_sets_that_lose_a_mention(n_words: int, n_losing: int) -> None:
    every = all_mentions(n_words, "Finding", 3)
    read: dict[Encoding, frozenset[Mention]] = {}
    count = 0
    for chosen in chain.from_iterable(combinations(every, size) for size in range(len(every) + 1)):
        encoding = LINEAR.encode(chosen, n_words).encoding
        if encoding not in read:
            read[encoding] = frozenset(LINEAR.decode(encoding, "all").mentions)
        count += not read[encoding].issuperset(chosen)
    assert count == n_losing


@pytest.mark.parametrize(("n_words", "n_sets", "n_losing"), [(4, 2**15, 29_435), (5, 2**31, 2_146_678_202)])
def test_sets_that_lose_a_mention_by_tag_sequence(monkeypatch, n_words: int, n_sets: int, n_losing: int) -> None:
    """A set loses nothing if all its mentions are read: count the sets of any mentions, and those of mentions read."""
    total = whole = 0
    for tags in product(range(7), repeat=n_words):
        if not canonical_tags(3).accepts([LINEAR.tags[tag] for tag in tags]):
            continue
        encoding = tuple(enumerate(tags))
        total += readings.count_readings(LINEAR, encoding)
        read = {mention.parts for mention in LINEAR.decode(encoding, "all").mentions}
        kept = read & {mention.parts for mention in possible_mentions(LINEAR, encoding)}
        with monkeypatch.context() as patch:
            patch.setattr(readings, "_candidates", lambda *_, kept=kept: iter(kept))
            whole += readings.count_readings(LINEAR, encoding)
    assert (total, total - whole) == (n_sets, n_losing)


def test_what_is_lost_begins_or_ends_inside_a_head_or_has_more_components_than_parts_allowed() -> None:
    reasons = set()
    for tags in product(range(7), repeat=5):
        if not canonical_tags(3).accepts([LINEAR.tags[tag] for tag in tags]):
            continue
        encoding = tuple(enumerate(tags))
        for mention in possible_mentions(LINEAR, encoding) - set(LINEAR.decode(encoding, "all").mentions):
            pieces = covered(mention, encoding)
            cut = {kind for kind, n_inside, n_all in pieces if n_inside < n_all}
            assert cut == {"head"} or (not cut and len(pieces) > 3)
            reasons.add("cut" if cut else "many")
    assert reasons == {"cut", "many"}


def test_the_third_example_loses_one_of_six() -> None:
    encoding = LINEAR.encode(BLOOD.mentions, len(BLOOD)).encoding
    read = set(LINEAR.decode(encoding, "all").mentions)
    (lost,) = set(BLOOD.mentions) - read
    assert (len(read), BLOOD.text_of(lost)) == (25, "dark … material … vomit")
    assert [piece for piece in covered(lost, encoding) if piece[1] < piece[2]] == [("head", 1, 2)]
    possible = possible_mentions(LINEAR, encoding)
    assert (len(possible), possible >= set(BLOOD.mentions)) == (85, True)


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_nothing_is_lost_if_heads_may_be_cut(n_words: int) -> None:
    every = all_mentions(n_words, "Finding", 3)
    for chosen in chain.from_iterable(combinations(every, size) for size in range(min(4, len(every)) + 1)):
        assert possible_mentions(LINEAR, LINEAR.encode(chosen, n_words).encoding).issuperset(chosen)


def test_a_few_mentions_that_seem_possible_are_in_no_set() -> None:
    every = all_mentions(4, "Finding", 3)
    together: dict[Encoding, set[Mention]] = {}
    for chosen in chain.from_iterable(combinations(every, size) for size in range(len(every) + 1)):
        together.setdefault(LINEAR.encode(chosen, 4).encoding, set()).update(chosen)
    possible = {encoding: possible_mentions(LINEAR, encoding) for encoding in together}
    assert all(possible[encoding] >= mentions for encoding, mentions in together.items())
    n_possible = sum(map(len, possible.values()))
    assert (n_possible, n_possible - sum(map(len, together.values()))) == (1_596, 89)

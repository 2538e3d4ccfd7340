"""What holds for all sets of mentions, all structures and all tags."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brute_force import all_mentions
from hyperspan import Mention
from hyperspan.structures import Hypergraph, Linear, structure
from hyperspan.structures.cover import first_in_first_out
from hyperspan.structures.linear_decoding import components
from hyperspan.structures.paths import connected
from strategies import TYPES, mentions

N_WORDS = 8


@st.composite
def cases(
    draw: st.DrawFn, max_mentions: int = 6, types: tuple[str, ...] = TYPES
) -> tuple[Hypergraph, frozenset[Mention], int]:
    """A hypergraph structure, and mentions it can hold."""
    n_words = draw(st.integers(1, N_WORDS))
    name = draw(st.sampled_from(["mention", "shared", "split"]))
    made = structure(name, types, draw(st.integers(1, 4)))
    assert isinstance(made, Hypergraph)
    found = draw(st.frozensets(mentions(n_words, types, made.max_components), max_size=max_mentions))
    return made, found, n_words


@given(cases())
def test_all_has_every_mention_and_encodes_back(case) -> None:
    made, found, n_words = case
    encoded = made.encode(found, n_words)
    assert encoded.left_out == ()
    decoded = made.decode(encoded.encoding, "all", limit=100_000)
    assert not decoded.truncated
    assert found <= set(decoded.mentions)
    assert list(decoded.mentions) == sorted(set(decoded.mentions))
    assert made.encode(decoded.mentions, n_words).encoding == encoded.encoding


@given(cases(max_mentions=10))
def test_enough_is_among_all_and_encodes_back(case) -> None:
    made, found, n_words = case
    encoding = made.encode(found, n_words).encoding
    enough = made.decode(encoding, "enough").mentions
    assert list(enough) == sorted(set(enough))
    assert set(enough) <= set(made.decode(encoding, "all", limit=100_000).mentions)
    assert len(enough) <= len(found)
    assert made.encode(enough, n_words).encoding == encoding


def links(made: Hypergraph, mention: Mention) -> set[tuple[int, ...]]:
    block = made.block_of(mention)
    assert block is not None
    path = {(block.first_label, *link) for link in block.staircase.path(mention)}
    return path | {(block.first_label, mention.start, -1, 0)}


@st.composite
def tangles(draw: st.DrawFn) -> tuple[Hypergraph, frozenset[Mention], int]:
    """A few mentions so close together that several sets mean the same structure."""
    n_words = draw(st.integers(4, 7))
    made = structure(draw(st.sampled_from(["mention", "shared", "split"])), ("Finding",), draw(st.integers(2, 3)))
    assert isinstance(made, Hypergraph)
    choices = all_mentions(n_words, "Finding", made.max_components)
    return made, draw(st.frozensets(st.sampled_from(choices), min_size=2, max_size=5)), n_words


@settings(max_examples=600)
@given(tangles())
def test_enough_is_the_best_of_all_smallest_covers(case) -> None:
    made, found, n_words = case
    encoding = made.encode(found, n_words).encoding
    candidates = made.decode(encoding, "all").mentions
    assume(len(candidates) <= 14)
    links_of = {mention: links(made, mention) for mention in candidates}
    wanted = set().union(*links_of.values())
    for size in range(len(candidates) + 1):
        covers = [
            chosen
            for chosen in combinations(candidates, size)
            if set().union(*(links_of[mention] for mention in chosen)) == wanted
        ]
        if covers:
            break
    best = min(covers, key=lambda chosen: (sum(mention.n_words**2 for mention in chosen), naive_order(chosen)))
    decoded = made.decode(encoding, "enough")
    assert decoded.is_exact
    assert decoded.mentions == best


def naive_order(chosen: tuple[Mention, ...]) -> list[str]:
    """Every mention as letters: where it starts, then for each word e(nd), s(tay), z for the step to the next node."""
    letters = []
    for mention in chosen:
        words = set(mention.words())
        at = mention.start
        text = chr(at)
        while at < mention.end - 1:
            text += "s" if (at in words) == (at + 1 in words) else "z"
            at += 1
        letters.append(text + "e")
    return sorted(letters)


@given(cases(max_mentions=10, types=("Finding",)))
def test_first_in_first_out_is_a_cover_as_small_as_the_best(case) -> None:
    made, found, n_words = case
    encoding = made.encode(found, n_words).encoding
    covers = [
        parts
        for _, children, starts in made.edges_of(encoding)
        for piece in connected(children, starts)
        for parts in first_in_first_out(*piece)
    ]
    assert len(covers) == len(made.decode(encoding, "enough").mentions)
    assert made.encode([Mention("Finding", parts) for parts in covers], n_words).encoding == encoding


def naive_prefix_tree(made: Hypergraph, found: frozenset[Mention], n_words: int) -> Counter[tuple[int, str]]:
    """The edges of the prefix tree by name, written without any of the code under test."""
    tree: dict[tuple, set[str]] = {}
    started = set()
    for mention in found:
        words = set(mention.words())
        parts = f" ({len(mention.parts)})" if made.name == "split" else ""
        begins = mention.type + parts
        started.add((begins, mention.start))
        names = []
        for word in range(mention.start, mention.end):
            part = sum(end <= word for _, end in mention.parts)
            names.append(f"B{part}" if word in words else f"O{part}")
        for length in range(1, len(names) + 1):
            prefix = (begins, mention.start, *names[:length])
            tree.setdefault(prefix, set()).add(names[length] if length < len(names) else "X")
    edges: Counter[tuple[int, str]] = Counter()
    for block in made.blocks:
        begins = f"{block.type} ({block.staircase.n_parts})" if made.name == "split" else block.type
        for word in range(n_words):
            edges[word, f"{begins} T→{'B0' if (begins, word) in started else 'X'}"] += 1
    for (begins, start, *names), children in tree.items():
        order = sorted(children, key=lambda name: (name == "X", name != names[-1]))
        edges[start + len(names) - 1, f"{begins} {names[-1]}→{','.join(order)}"] += 1
    return edges


@given(cases())
def test_unfolding_gives_the_edges_of_the_prefix_tree(case) -> None:
    made, found, n_words = case
    unfolded = made.unfold(found, n_words).encoding
    assert list(unfolded) == sorted(unfolded)
    named = Counter((word, made.label_name(label)) for word, label in unfolded)
    assert named == naive_prefix_tree(made, found, n_words)
    assert set(made.encode(found, n_words).encoding) >= {edge for edge in unfolded if edge[1] in starts(made)}


def starts(made: Hypergraph) -> set[int]:
    return {block.first_label + local for block in made.blocks for local in (0, 1)}


@st.composite
def tag_sequences(draw: st.DrawFn) -> tuple[Linear, tuple[tuple[int, int], ...]]:
    """Any tags at all, also those that no set of mentions encodes to."""
    types = draw(st.sampled_from([("A",), ("A", "B"), ("A", "B", "C")]))
    made = Linear(types, draw(st.integers(1, 4)))
    labels = draw(st.lists(st.integers(0, made.n_labels - 1), max_size=10))
    return made, tuple(enumerate(labels))


@settings(max_examples=300)
@given(tag_sequences(), st.booleans())
def test_any_tags_can_be_read(case, any_number: bool) -> None:
    made, encoding = case
    decoded = made.decode(encoding, "all", limit=10_000, any_number=any_number)
    enough = made.decode(encoding, "enough")
    assert not decoded.truncated
    assert set(enough.mentions) <= set(decoded.mentions)
    for result in (decoded, enough):
        assert list(result.mentions) == sorted(set(result.mentions))
    cut = components(made, encoding)
    for mention in decoded.mentions:
        words = set(mention.words())
        touched = [component for component in cut if words & set(range(component.start, component.end))]
        assert {component.type for component in touched} == {mention.type}
        assert sum(component.end - component.start for component in touched) == mention.n_words
        if mention.is_discontiguous:
            assert all(component.kind != "contiguous" for component in touched)
            assert any_number or len(touched) <= made.max_components


@given(tag_sequences(), st.integers(1, 5))
def test_limits_are_kept_and_reported(case, limit: int) -> None:
    made, encoding = case
    for reading in ("all", "enough"):
        whole, cut = made.decode(encoding, reading, limit=10_000), made.decode(encoding, reading, limit=limit)
        assert len(cut.mentions) == min(limit, len(whole.mentions))
        assert set(cut.mentions) <= set(whole.mentions)
        assert cut.truncated == (len(whole.mentions) > limit)


@given(st.data(), st.integers(1, N_WORDS), st.integers(1, 3))
def test_tags_say_which_words_are_mentioned(data: st.DataObject, n_words: int, max_components: int) -> None:
    found = data.draw(st.frozensets(mentions(n_words, TYPES), max_size=5))
    made = Linear(TYPES, max_components)
    encoded = made.encode(found, n_words)
    kept = found.difference(encoded.left_out)
    types = [{mention.type for mention in kept if word in set(mention.words())} for word in range(n_words)]
    assert all(len(mention.parts) <= max_components for mention in kept)
    assert all(len(of_word) <= 1 for of_word in types)
    for (_, label), of_word in zip(encoded.encoding, types, strict=True):
        tag = made.meanings[label]
        assert of_word == (set() if tag is None else {tag.type})
    assert made.encode(kept, n_words) == type(encoded)(encoded.encoding)
    for mention in encoded.left_out:
        assert len(mention.parts) > max_components or any(
            mention.overlaps(other) and mention.type != other.type for other in kept
        )

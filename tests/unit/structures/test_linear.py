"""One tag a word."""

from __future__ import annotations

import random

import pytest

from brute_force import all_mentions
from examples import BLOOD, ETHANOL, INFARCTIONS, LACERATION, MOUTH
from hyperspan import Mention, Sentence
from hyperspan.errors import StructureError
from hyperspan.structures import Linear, shared_structure


def tagged(sentence: Sentence) -> str:
    linear = Linear(("Finding",))
    encoding = linear.encode(sentence.mentions, len(sentence)).encoding
    return " ".join(f"{sentence.tokens[word]}/{linear.label_name(label)}" for word, label in encoding if label)


def tags_of(*mentions: Mention, n_words: int, types: tuple[str, ...] = ("Finding",)) -> str:
    linear = Linear(types)
    return " ".join(linear.label_name(label) for _, label in linear.encode(mentions, n_words).encoding)


def finding(*parts: tuple[int, int]) -> Mention:
    return Mention("Finding", parts)


@pytest.mark.parametrize(
    ("sentence", "tags"),
    [
        (LACERATION, "hiatal/B hernia/I laceration/BD esophagus/BD blood/B in/I stomach/BH lac/BD"),
        (INFARCTIONS, "Infarctions/BH water/BD shed/ID embolic/BD"),
        (BLOOD, "blood/BH dark/BH black/BH material/IH vomit/BH bowel/BH movement/IH"),
        (MOUTH, "blood/BH in/I his/I mouth/I on/BD his/ID tongue/ID pupils/BD pinpoint/BD"),
        (ETHANOL, "Ethanol/BH Intoxication/I withdrawal/BD"),
    ],
)
def test_examples_have_the_papers_tags(sentence: Sentence, tags: str) -> None:
    assert tagged(sentence) == tags


def test_the_tags_cannot_say_that_a_head_is_a_mention_of_its_own() -> None:
    without = Sentence(INFARCTIONS.tokens, INFARCTIONS.mentions[1:])
    assert tagged(without) == tagged(INFARCTIONS)
    shared = shared_structure(("Finding",))
    assert shared.encode(without.mentions, 6) != shared.encode(INFARCTIONS.mentions, 6)


def test_a_word_of_two_mentions_is_head() -> None:
    assert tags_of(finding((0, 2)), finding((1, 3)), n_words=3) == "B BH I"


def test_a_head_goes_on_when_two_of_its_mentions_do() -> None:
    assert tags_of(finding((0, 2)), finding((0, 3)), n_words=3) == "BH IH I"


def test_a_head_begins_anew_when_only_one_of_its_mentions_goes_on() -> None:
    assert tags_of(finding((0, 1)), finding((0, 2)), finding((1, 2)), n_words=2) == "BH BH"


def test_a_body_begins_where_a_part_does() -> None:
    assert tags_of(finding((0, 2), (3, 5)), n_words=5) == "BD ID O BD ID"


def test_a_body_after_a_head_goes_on() -> None:
    assert tags_of(finding((0, 2), (3, 4)), finding((0, 1)), n_words=4) == "BH ID O BD"


def test_adjacent_mentions_begin_each() -> None:
    assert tags_of(finding((0, 1)), finding((1, 3)), n_words=3) == "B B I"


def test_several_types_have_tags_of_their_own() -> None:
    linear = Linear(("Finding", "Drug"))
    assert linear.tags[:3] == ("O", "B-Finding", "I-Finding")
    assert linear.tags[-1] == "IH-Drug"
    assert linear.n_labels == len(linear.tags) == 13
    assert tags_of(Mention("Drug", [(0, 1)]), finding((1, 2)), n_words=2, types=linear.types) == "B-Drug B-Finding"
    assert Linear(("Finding",)).tags == ("O", "B", "I", "BD", "ID", "BH", "IH")


def test_mentions_that_cover_the_same_words_are_not_compared_with_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    n_words, n_compared, is_equal = 60, 0, Mention.__eq__

    def counted(one: Mention, other: object) -> bool:
        nonlocal n_compared
        n_compared += 1
        return is_equal(one, other)

    nested = [finding((0, end)) for end in range(1, n_words + 1)]
    monkeypatch.setattr(Mention, "__eq__", counted)
    encoded = Linear(("Finding",)).encode(nested, n_words)
    assert {label for _, label in encoded.encoding[1:-1]} == {Linear(("Finding",)).tags.index("IH")}
    assert n_compared < n_words**2


def test_of_overlapping_types_the_longer_mention_is_kept() -> None:
    long, short = Mention("Drug", [(1, 4)]), finding((0, 2))
    encoded = Linear(("Drug", "Finding")).encode([short, long], 4)
    assert encoded.left_out == (short,)


def test_of_equally_long_ones_the_leftmost_is_kept() -> None:
    left, right = finding((0, 2)), Mention("Drug", [(1, 3)])
    assert Linear(("Drug", "Finding")).encode([left, right], 3).left_out == (right,)


def test_of_those_that_start_together_the_first_type_by_name_is_kept() -> None:
    drug, disorder = Mention("Drug", [(0, 2)]), Mention("Disorder", [(0, 1), (2, 3)])
    assert Linear(("Drug", "Disorder")).encode([drug, disorder], 3).left_out == (drug,)


def test_what_was_left_out_blocks_nothing() -> None:
    first, second, third = Mention("A", [(0, 4)]), Mention("B", [(3, 6)]), Mention("C", [(5, 7)])
    assert Linear(("A", "B", "C")).encode([first, second, third], 7).left_out == (second,)
    many_parts = Mention("A", [(0, 3), (4, 6), (7, 9)])
    encoded = Linear(("A", "B"), 2).encode([many_parts, second], 9)
    assert encoded.left_out == (many_parts,)
    assert encoded.encoding == Linear(("A", "B"), 2).encode([second], 9).encoding


def test_tags_lose_mentions_where_the_hypergraph_loses_none() -> None:
    dice = random.Random(7)
    linear, shared = Linear(("Finding",)), shared_structure(("Finding",))
    choices = all_mentions(7)
    lost = {"linear all": 0, "linear enough": 0, "shared all": 0}
    total = 0
    for _ in range(200):
        mentions = set(dice.sample(choices, 4))
        total += len(mentions)
        tags = linear.encode(mentions, 7).encoding
        lost["linear all"] += len(mentions.difference(linear.decode(tags, "all").mentions))
        lost["linear enough"] += len(mentions.difference(linear.decode(tags, "enough").mentions))
        lost["shared all"] += len(
            mentions.difference(shared.decode(shared.encode(mentions, 7).encoding, "all").mentions)
        )
    assert lost["shared all"] == 0
    assert 0 < lost["linear all"] < lost["linear enough"] < total


def test_what_cannot_be_encoded_is_refused() -> None:
    linear = Linear(("Finding",))
    with pytest.raises(StructureError, match="type 'Drug' is not in this structure, which knows 'Finding'"):
        linear.encode([Mention("Drug", [(0, 1)])], 3)
    with pytest.raises(StructureError, match="ends beyond the 3 words of the sentence"):
        linear.encode([finding((2, 4))], 3)
    with pytest.raises(StructureError, match="label 7 is not one of the 7 of 'linear'"):
        linear.label_name(7)
    with pytest.raises(StructureError, match="label 7 is not one of the 7 of 'linear'"):
        linear.decode(((0, 7),), "all")
    with pytest.raises(StructureError, match="tag 1 of the sentence is for word 2; expected one for each in order"):
        linear.decode(((0, 1), (2, 1)), "enough")

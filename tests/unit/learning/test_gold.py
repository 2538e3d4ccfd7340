"""Gold mentions as flat arrays."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from examples import EXAMPLES
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.mentions import Mention, Sentence
from hyperspan.structures import structure

SENTENCES = [Sentence([]), *EXAMPLES.values(), Sentence(["nothing"]), Sentence([])]
TYPES = sorted({mention.type for sentence in SENTENCES for mention in sentence.mentions})


@pytest.mark.parametrize(
    ("name", "over"),
    [("linear", "encodings"), *product(["mention", "shared", "split"], ["encodings", "mention-sets", "derivations"])],
)
def test_arrays_hold_the_encoding_of_each_sentence(name, over):
    held = structure(name, TYPES, 3)
    gold = encode_gold(distribution_class(held, over), held, SENTENCES)
    assert np.all(np.diff(gold.word) >= 0)
    for number, sentence in enumerate(SENTENCES):
        first, last = gold.first_word[number], gold.first_word[number + 1]
        assert last - first == len(sentence)
        inside = (gold.word >= first) & (gold.word < last)
        encoded = (held.unfold if over == "mention-sets" else held.encode)(sentence.mentions, len(sentence))
        edges = zip((gold.word[inside] - first).tolist(), gold.label[inside].tolist(), strict=True)
        assert sorted(edges) == sorted(encoded.encoding)


def test_an_edge_that_is_used_twice_stands_twice_where_sets_of_mentions_are_unfolded():
    sentence = Sentence(
        ["a", "b", "c", "d"], [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (3, 4)])]
    )
    held = structure("shared", ["Finding"], 2)
    unfolded, folded = (
        encode_gold(distribution_class(held, over), held, [sentence]) for over in ("mention-sets", "derivations")
    )
    assert len(unfolded.word) > len(folded.word)
    assert len(set(zip(folded.word.tolist(), folded.label.tolist(), strict=True))) == len(folded.word)


def test_what_a_structure_cannot_write_is_given_back_with_its_sentence():
    split = Mention("Finding", [(0, 1), (2, 3)])
    sentences = [Sentence(["a", "b", "c"]), Sentence(["a", "b", "c"], [split, Mention("Finding", [(1, 2)])])]
    held = structure("mention", ["Finding"])
    assert encode_gold(distribution_class(held), held, sentences).left_out == ((1, split),)

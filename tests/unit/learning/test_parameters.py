"""Which weights there are."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan.errors import LearningError
from hyperspan.features import Extractor, TemplateSet
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.inference.mention_sets import CHILD_PRIOR, GAP_PRIOR, START_PRIOR
from hyperspan.learning import choose_parameters
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.parameters import Parameters, check_parameters
from hyperspan.structures import structure
from hyperspan.structures.staircase import NO_START

SENTENCES = [
    Sentence(["no", "blood", "now"], [Mention("Finding", [(1, 2)])]),
    Sentence(["no", "fever", "now"]),
    Sentence(["blood", "now"], [Mention("Finding", [(0, 2)])]),
]
NEVER = 10_000


def chosen(name: str = "shared", *, frequent: int = NEVER, every_start: int = NEVER, over: str = "encodings"):
    """Return the structure, the words of the index and the pairs by word and name of label."""
    held = structure(name, ["Finding"], 2)
    seen_as = distribution_class(held, over)
    extractor = Extractor(TemplateSet.parse('[words]\nhere = "word[0]"'), threads=1)
    block = extractor.fit_transform(SENTENCES)
    names = extractor.names(SENTENCES)
    parameters = choose_parameters(
        held,
        block,
        encode_gold(seen_as, held, SENTENCES),
        len(names.names),
        frequent=frequent,
        every_start=every_start,
        base_score=seen_as.prior(held),
    )
    pairs = {
        (names[feature].removeprefix("word[0]="), held.label_name(int(parameters.pair_label[pair])))
        for feature in range(len(names.names))
        for pair in range(parameters.first_pair[feature], parameters.first_pair[feature + 1])
    }
    return held, parameters, pairs


SEEN = {
    ("blood", "Finding T→B0"),
    ("blood", "Finding B0→X"),
    ("blood", "Finding B0→B0"),
    ("now", "Finding B0→X"),
}


def test_pairs_seen_in_the_gold_have_weights():
    assert chosen()[2] == SEEN


def test_frequent_features_have_weights_for_every_label_that_occurs():
    labels = {label for _, label in SEEN}
    _, parameters, pairs = chosen(frequent=3)
    assert pairs == SEEN | {("now", label) for label in labels}
    assert len(parameters.dense_label) == len(labels)
    assert chosen(frequent=1)[2] == {(word, label) for word in ("no", "blood", "now", "fever") for label in labels}


def test_every_feature_can_speak_against_a_start():
    assert chosen(every_start=1)[2] == SEEN | {(word, "Finding T→B0") for word in ("no", "now", "fever")}
    assert chosen(every_start=2)[2] == SEEN | {(word, "Finding T→B0") for word in ("no", "now")}


def test_pairs_stand_once_in_rising_order():
    _, parameters, pairs = chosen(frequent=2, every_start=1)
    assert len(parameters.pair_label) == len(pairs)
    for begin, end in zip(parameters.first_pair[:-1], parameters.first_pair[1:], strict=True):
        assert np.all(np.diff(parameters.pair_label[begin:end]) > 0)


def test_no_start_has_no_weights_and_tags_all_have():
    held, parameters, _ = chosen(frequent=1)
    assert np.flatnonzero(held.weightless_labels).tolist() == [NO_START]
    assert NO_START not in parameters.pair_label
    tags = structure("linear", ["Finding"])
    assert not tags.weightless_labels.any()
    assert len(tags.start_labels) == 0
    split = structure("split", ["Drug", "Finding"], 3)
    assert split.weightless_labels.sum() == len(split.start_labels) == 6


def test_a_chain_has_transitions_besides():
    held, parameters, _ = chosen("linear")
    assert held.has_transitions
    assert parameters.n_transitions == held.n_labels**2
    assert parameters.n_weights == held.n_labels + held.n_labels**2 + len(parameters.pair_label)
    assert chosen("shared")[1].n_transitions == 0


def test_the_prior_makes_starts_gaps_and_several_children_rare():
    held, parameters, _ = chosen(over="mention-sets")
    by_name = {held.label_name(label): score for label, score in enumerate(parameters.base_score)}
    assert by_name["Finding T→X"] == 0.0
    assert by_name["Finding T→B0"] == START_PRIOR
    assert by_name["Finding B0→X"] == by_name["Finding B0→B0"] == by_name["Finding O1→B1"] == 0.0
    assert by_name["Finding B0→O1"] == GAP_PRIOR
    assert min(by_name.values()) == GAP_PRIOR + 2 * CHILD_PRIOR
    for name, over in (("shared", "encodings"), ("shared", "derivations"), ("linear", "encodings")):
        assert not chosen(name, over=over)[1].base_score.any()


@pytest.mark.parametrize(
    "change",
    [
        {"n_labels": 12},
        {"n_transitions": 1},
        {"first_pair": np.array([0, 3, 2, 4, 4])},
        {"first_pair": np.array([0, 1])},
        {"pair_label": np.array([99, 1, 2, 3], dtype=np.int32)},
        {"pair_label": np.array([-1, 1, 2, 3], dtype=np.int32)},
        {"dense_label": np.array([99], dtype=np.int32)},
        {"dense_label": np.array([1.0])},
        {"base_score": np.zeros(3)},
        {"base_score": np.full(14, np.nan)},
    ],
    ids=str,
)
def test_places_that_are_not_there_are_refused(change):
    held, parameters, _ = chosen()
    check_parameters(held, parameters, 4)
    with pytest.raises(LearningError, match="do not fit its structure and features"):
        check_parameters(held, Parameters(**{**parameters._asdict(), **change}), 4)

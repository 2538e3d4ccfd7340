"""A recognizer over segments does all that others do."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

from hyperspan import Mention, Recognizer, Sentence
from hyperspan.errors import LearningError, ModelError, StructureError, UsageError
from hyperspan.features import Lexicon, TemplateSet
from hyperspan.learning import segment_objective
from hyperspan.recognizer import Interrupted, linear_training, model
from hyperspan.recognizer.prediction import first_looks
from hyperspan.scoring import Proposal

PARTS = ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])
TRAIN = [
    Sentence(
        ["Infarctions", "either", "water", "shed", "or", "embolic"],
        [Mention("Finding", parts) for parts in PARTS],
        doc="a",
    ),
    Sentence(["no", "blood", "in", "stomach"], [Mention("Finding", [(1, 4)]), Mention("Site", [(3, 4)])], doc="b"),
    Sentence(["nothing", "to", "report", "today"], doc="c"),
    Sentence(["blood", "seen", "in", "the", "big", "stomach"], [Mention("Finding", [(0, 1), (5, 6)])], doc="d"),
] * 5


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer(structure="segments", n_threads=1).fit(TRAIN)


def test_it_learns_and_takes_its_lengths_from_the_data(recognizer):
    assert recognizer.score(TRAIN) == 1.0
    assert recognizer.structure_.sizes == {"longest_part": 3, "longest_gap": 4}
    assert recognizer.summary()["longest_gap"] == 4
    for decode in ("all", "enough"):
        found = [each.mentions for each in recognizer.find(TRAIN[:4], decode=decode)]
        assert found == [sentence.mentions for sentence in TRAIN[:4]]
    assert recognizer.predict([Sentence([])]) == [[]]


def test_a_model_file_gives_the_same_and_holds_the_lengths(recognizer, tmp_path):
    recognizer.save(tmp_path / "model")
    again = Recognizer.load(tmp_path / "model")
    assert again.structure_ == recognizer.structure_
    for one, other in zip(again.predict(TRAIN[:4]), recognizer.predict(TRAIN[:4]), strict=True):
        assert [(mention, mention.prob) for mention in one] == [(mention, mention.prob) for mention in other]
    assert again.strongest() == recognizer.strongest()
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_threads_make_no_difference(recognizer):
    np.testing.assert_array_equal(
        Recognizer(structure="segments", n_threads=3).fit(TRAIN).scorer_.weights, recognizer.scorer_.weights
    )


def test_training_goes_on_where_it_stopped(recognizer, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    again = Recognizer(structure="segments", n_threads=1)
    with pytest.raises(Interrupted):
        again.fit(TRAIN, checkpoint=checkpoint, on_iteration=lambda record: record.iteration == 3)
    again.fit(TRAIN, checkpoint=checkpoint, resume=True)
    np.testing.assert_array_equal(again.scorer_.weights, recognizer.scorer_.weights)


def test_penalty_and_threshold_are_tuned_on_development_data():
    tuned = Recognizer(structure="segments", l2="auto", max_iterations=20, n_threads=1).fit(TRAIN, dev=TRAIN[:4])
    assert tuned.l2_ in (2.0, 1.0, 0.5, 0.25, 0.125)
    assert tuned.dev_scores_["all"]["f1"] == 1.0


@pytest.mark.parametrize("structure", ["segments", "shared"])
def test_development_data_is_scored_in_batches_that_bound_memory(monkeypatch, structure):
    def learned():
        return Recognizer(structure=structure, max_iterations=6, n_threads=1).fit(TRAIN, dev=TRAIN, dev_every=2)

    whole, n_words, decode = learned(), [], linear_training.decode_batch
    monkeypatch.setattr(model, "MOST_SCORES", 10 * whole.structure_.n_labels)
    monkeypatch.setattr(
        linear_training,
        "decode_batch",
        lambda of, batch, *rest: n_words.append(len(batch.scores)) or decode(of, batch, *rest),
    )
    in_batches = learned()
    assert max(n_words) < 20
    assert sum(n_words) % sum(map(len, TRAIN)) == 0
    scores = [[record.get("dev_f1") for record in each.training_log_] for each in (whole, in_batches)]
    assert scores[0] == scores[1]
    assert any(scores[0])


def test_lengths_can_be_set_and_mentions_beyond_them_are_left_out():
    shorter = Recognizer(structure="segments", longest_gap=1, n_threads=1).fit(TRAIN)
    assert shorter.structure_.sizes == {"longest_part": 3, "longest_gap": 1}
    assert shorter.left_out_ == 10
    with pytest.raises(UsageError, match="longest_part is 0; expected a whole number from 1"):
        Recognizer(structure="segments", longest_part=0).fit(TRAIN)
    with pytest.raises(StructureError, match="longest_part is 1000000; expected 1 to 10,000 words"):
        Recognizer(structure="segments", longest_part=1_000_000).fit(TRAIN)
    with pytest.raises(LearningError, match=r"cannot encode any .* or a higher max_components or longest_part$"):
        Recognizer(structure="segments", longest_part=1).fit([TRAIN[1].with_mentions([Mention("Finding", [(1, 4)])])])


def test_lengths_are_for_segments_only():
    with pytest.raises(ValueError, match="the structure 'shared' has no longest_gap; only segments has"):
        Recognizer(longest_gap=3).fit(TRAIN)


def test_explain_says_which_scores_and_features_made_a_mention(recognizer):
    explanation = recognizer.explain(TRAIN[0], top=200)
    json.dumps(explanation.as_dict())
    mention = explanation.sentence.mentions[1]
    assert [recognizer.structure_.label_name(label) for _, label in explanation.edges_of(mention)] == [
        "Finding part 1, 1 word",
        "Finding gap after part 1, 1 word",
        "Finding part 2, 2 words",
        "Finding end after part 2",
    ]
    assert "scores: part 1, 1 word" in str(explanation)
    wholes = [reason for reason in explanation.reasons[mention] if "as a whole" in reason.in_words]
    assert wholes
    assert explanation._repr_svg_().startswith("<svg")


def test_what_moves_a_mention_is_the_slope_of_its_log_probability(recognizer):
    over = recognizer.distribution_over(TRAIN[:1])
    mention = TRAIN[0].mentions[1]
    moved, scores = over.moved(mention), over.batch.scores
    for word, label in np.argwhere(np.abs(moved) > 1e-3).tolist():
        probs = []
        for step in (1e-5, -1e-5):
            changed = scores.copy()
            changed[word, label] += step
            probs.append(
                type(over)(over.structure, type(over.batch).of_sentence(changed)).mention_probs([[mention]])[0][0]
            )
        assert moved[word, label] == pytest.approx((np.log(probs[0]) - np.log(probs[1])) / 2e-5, abs=1e-5)


def test_templates_lexicon_and_columns_of_ones_own(tmp_path):
    templates = TemplateSet.parse('[a]\nword = "word[0]"\nwhole = "category[span]"\npos = "pos[left] pos[span]"')
    lexicon = Lexicon.from_entries([("blood", "substance"), ("stomach", "organ")])
    sentences = [
        Sentence(sentence.tokens, sentence.mentions, columns={"pos": ["X"] * len(sentence)}) for sentence in TRAIN
    ]
    own = Recognizer(structure="segments", features=templates, lexicon=lexicon, n_threads=1).fit(sentences)
    assert own.scorer_.columns == ("pos",)
    own.save(tmp_path / "model")
    again = Recognizer.load(tmp_path / "model")
    assert again.predict(sentences[:4]) == own.predict(sentences[:4])
    assert any(entry["feature"].startswith("category[span]=") for found in own.strongest().values() for entry in found)


def test_a_gap_may_interrupt_an_entry_of_the_lexicon(tmp_path):
    lexicon = Lexicon.from_entries([("blood stomach", "bleeding"), ("blood in stomach", "bleeding")])
    templates = TemplateSet.parse('[a]\nbias = "bias"\nwhole = "category[whole]"\njoined = "category[joined]"')
    recognizer = Recognizer(structure="segments", features=templates, lexicon=lexicon, longest_gap=5, n_threads=1)
    recognizer.fit([TRAIN[1], *(TRAIN[3].with_mentions(TRAIN[3].mentions) for _ in range(5))])
    weights = {
        label: {entry["feature"]: entry["weight"] for entry in entries}
        for label, entries in recognizer.strongest().items()
    }
    assert weights["Finding part"]["category[whole]=bleeding"] > 0.1
    assert weights["Finding gap"]["category[joined]=bleeding"] > 0.1
    recognizer.save(tmp_path / "model")
    mention = Mention("Finding", [(0, 1), (5, 6)])
    again = Recognizer.load(tmp_path / "model")
    sentences = [Sentence(["blood", "found", "near", "a", "tiny", organ]) for organ in ("stomach", "liver")]
    ((known,), (unknown,)) = again.distribution_over(sentences).mention_probs([[mention], [mention]])
    assert known / (1.0 - known) > 1.1 * unknown / (1.0 - unknown)


@pytest.mark.parametrize("rescore", ["off", "on"])
def test_a_prediction_is_truncated_if_one_of_its_alternatives_is(monkeypatch, rescore):
    made = Recognizer(structure="segments", n_threads=1, max_iterations=5, rescore=rescore).fit(TRAIN)
    assert not next(made.find(TRAIN[:1], top=20)).truncated
    monkeypatch.setattr("hyperspan.inference.segments.MOST_TREE_NODES", 1)
    assert next(made.find(TRAIN[:1], top=20)).truncated
    assert not next(made.find(TRAIN[:1])).truncated


@pytest.mark.parametrize("rescore", ["off", "on"])
def test_very_long_sentences_are_gone_over_for_some_types_after_another(recognizer, monkeypatch, rescore):
    if rescore == "on":
        recognizer = Recognizer(structure="segments", n_threads=1, max_iterations=5, rescore="on").fit(TRAIN)
    sentences = [*TRAIN[:4], Sentence(TRAIN[0].tokens * 30)]
    for decode in ("probable", "enough", "all"):
        monkeypatch.setattr(model, "MOST_SCORES", 1 << 23)
        whole = list(recognizer.find(sentences, decode=decode))
        assert any(mention.type == "Site" for found in whole for mention in found.mentions)
        monkeypatch.setattr(model, "MOST_SCORES", 1)
        in_turn = list(recognizer.find(sentences, decode=decode))
        for one, other in zip(in_turn, whole, strict=True):
            assert (one.mentions, one.truncated) == (other.mentions, other.truncated)
            assert [mention.prob for mention in one.mentions] == pytest.approx(
                [mention.prob for mention in other.mentions]
            )


def test_candidates_of_some_types_after_another_are_the_most_probable_of_all(recognizer, monkeypatch):
    sentences = [Sentence(TRAIN[0].tokens * 30), *TRAIN[:4]]
    for most, threshold in ((100, 1.0), (3, 1.0), (3, 0.001)):
        found = []
        for most_scores in (1 << 23, 1):
            monkeypatch.setattr(model, "MOST_SCORES", most_scores)
            looks = list(first_looks(recognizer._learned(), Proposal((0.001,), most), sentences, threshold=threshold))
            here = [
                (mentions, [mention.prob for mention in mentions], decoded.truncated)
                for look in looks
                for mentions, decoded in zip(look.candidates, look.decoded, strict=True)
            ]
            found.append(here)
        for (one, probs, is_cut), (other, of_other, other_is_cut) in zip(*found, strict=True):
            assert (one, is_cut) == (other, other_is_cut)
            assert probs == pytest.approx(of_other)
        assert any(is_cut for _, _, is_cut in found[0]) == (threshold < 1.0)


@pytest.mark.parametrize("looks", ["one", "two"])
def test_memory_for_a_very_long_sentence_does_not_grow_with_the_types(monkeypatch, looks):
    types = [f"T{number}" for number in range(30)]
    train = [Sentence([type, "is", "here"], [Mention(type, [(0, 1), (2, 3)])]) for type in types]
    many = Recognizer(
        structure="segments", max_components=5, longest_part=6, longest_gap=6, max_iterations=2, n_threads=1
    ).fit(train)
    long = Sentence([f"T{number % 60}" for number in range(3_000)])
    monkeypatch.setattr(model, "MOST_SCORES", 200_000)

    def look() -> None:
        if looks == "one":
            list(many.find([long], threshold=0.9))
        else:
            list(first_looks(many._learned(), Proposal((0.9,)), [long]))

    look()  # compiled
    n_scores = len(long) * many.structure_.n_labels
    assert n_scores > 25 * model.MOST_SCORES
    tracemalloc.start()
    look()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (5 * model.MOST_SCORES + 300 * len(long))
    assert peak < 8 * n_scores / 2


def test_a_checkpoint_from_another_prior_is_not_resumed(tmp_path, monkeypatch):
    path, recognizer = tmp_path / "checkpoint", Recognizer(structure="segments", n_threads=1)
    with pytest.raises(Interrupted):
        recognizer.fit(TRAIN, checkpoint=path, on_iteration=lambda record: True)
    monkeypatch.setattr(segment_objective, "SIBLINGS", 0.5)
    with pytest.raises(
        ModelError, match="was made with other data or settings; resume with the same, or train without"
    ):
        recognizer.fit(TRAIN, checkpoint=path, resume=True)

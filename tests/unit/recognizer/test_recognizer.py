"""The recognizer: learning, finding, scoring, and scikit-learn's manners."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperspan.corpora import demo
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import (
    CorpusError,
    FeatureError,
    HyperspanError,
    LearningError,
    ModelError,
    StructureError,
    UsageError,
    WorkerError,
)
from hyperspan.evaluation import evaluate
from hyperspan.features import TemplateSet
from hyperspan.inference.registry import _tell_old_name
from hyperspan.learning import DEFAULT_THRESHOLD, L2_CHOICES
from hyperspan.mentions import Document, Mention, Sentence, Unit
from hyperspan.recognizer import LONGEST_SENTENCE, Model, Prediction, Recognizer
from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.recognizer.processes import in_processes
from hyperspan.scoring.linear import NAMED, LinearScorer
from hyperspan.structures import structure
from hyperspan.text import as_sentences, join_sentences

QUICK = {"max_components": 2, "max_iterations": 25, "n_threads": 1}
TINY = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])], doc="a"),
    Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])], doc="b"),
    Sentence(["blood", "and", "dark", "stool"], [Mention("Finding", [(0, 1), (3, 4)])], doc="c"),
    Sentence(["all", "is", "well"], doc="d"),
] * 4

CORPUS = demo.generate(14, unit="sentences")
TRAIN, DEV, TEST = (CORPUS.split(name).units for name in ("train", "dev", "test"))


@pytest.fixture(scope="module")
def trained() -> Recognizer:
    return Recognizer(**QUICK).fit(TRAIN, dev=DEV)


@pytest.fixture(scope="module")
def documents() -> Sequence[Document]:
    units = demo.generate(6, unit="documents").units
    assert all(isinstance(unit, Document) for unit in units)
    return units  # type: ignore[return-value]


def same(left: Sequence[Sequence[Mention]], right: Sequence[Sequence[Mention]]) -> bool:
    """Whether mentions and their probabilities are the same to the last bit."""
    return [[(mention, mention.prob) for mention in found] for found in left] == [
        [(mention, mention.prob) for mention in found] for found in right
    ]


# Learning


def test_fit_returns_itself_and_learns(trained: Recognizer):
    recognizer = Recognizer(**QUICK)
    assert recognizer.fit(TINY) is recognizer
    assert recognizer.types_ == ("Finding",)
    assert recognizer.structure_.name == "shared"
    assert recognizer.l2_ == Recognizer().l2
    assert recognizer.threshold_ == DEFAULT_THRESHOLD
    assert recognizer.dev_scores_ == {}
    assert recognizer.left_out_ == 0
    assert recognizer.n_features_ > 10
    assert recognizer.n_iter_ == len(recognizer.training_log_) > 3
    assert [record["iteration"] for record in recognizer.training_log_] == list(range(1, recognizer.n_iter_ + 1))
    assert "stopped" in recognizer.training_log_[-1]
    assert all("seconds" not in record for record in recognizer.training_log_)
    assert np.isfinite(recognizer.weights_).all()
    assert recognizer.predict(TINY[:4]) == [list(sentence.mentions) for sentence in TINY[:4]]


def test_learning_beats_chance_on_unseen_sentences(trained: Recognizer):
    assert trained.types_ == ("Anatomy", "Drug", "Finding", "Procedure")
    assert trained.score(TEST) > 0.35
    assert trained.score(TRAIN) > 0.9


@pytest.mark.parametrize("structure", ["mention", "shared", "split"])
@pytest.mark.parametrize("distribution", ["encodings", "mention-sets", "derivations"])
def test_every_structure_learns_under_every_distribution(structure, distribution):
    recognizer = Recognizer(**QUICK, structure=structure, distribution=distribution).fit(TINY)
    contiguous = [TINY[0], TINY[1], TINY[3]]
    sentences = contiguous if structure == "mention" else TINY[:4]
    for decode in ("probable", "enough", "all"):
        found = [list(unit.mentions) for unit in recognizer.annotate(sentences, decode=decode)]
        assert found == [list(sentence.mentions) for sentence in sentences]
    assert recognizer.left_out_ == (4 if structure == "mention" else 0)


def test_derivations_have_no_prior_and_an_old_name(caplog):
    _tell_old_name.cache_clear()
    new, old = (Recognizer(**QUICK, distribution=name).fit(TINY) for name in ("derivations", "published"))
    assert not new.scorer_.parameters.base_score.any()
    assert np.array_equal(new.weights_, old.weights_)
    assert old.get_params()["distribution"] == "published"  # as given
    assert old.summary()["distribution"] == "derivations"
    assert sum("is now called 'derivations'" in record.message for record in caplog.records) == 1
    assert Recognizer(**QUICK, distribution="mention-sets").fit(TINY).scorer_.parameters.base_score.any()


def test_a_search_from_zero_comes_to_the_same_place():
    common, zero = (
        Recognizer(**QUICK, tolerance=0.0, initial_weights=name).fit(TINY) for name in ("frequencies", "zero")
    )
    assert zero.training_log_[0]["objective"] != common.training_log_[0]["objective"]
    assert zero.training_log_[-1]["objective"] == pytest.approx(common.training_log_[-1]["objective"], rel=0.05)
    with pytest.raises(UsageError, match="initial_weights is 'one'; expected 'frequencies' or 'zero'"):
        Recognizer(initial_weights="one").fit(TINY)


def test_a_chain_learns_too():
    recognizer = Recognizer(**QUICK, structure="linear").fit(TINY)
    for decode in ("probable", "enough", "all"):
        found = [list(unit.mentions) for unit in recognizer.annotate(TINY[:2], decode=decode)]
        assert found == [list(sentence.mentions) for sentence in TINY[:2]]


def test_results_do_not_depend_on_threads(trained: Recognizer):
    again = Recognizer(**{**QUICK, "n_threads": 2}).fit(TRAIN, dev=DEV)
    assert again.weights_.tobytes() == trained.weights_.tobytes()
    assert again.threshold_ == trained.threshold_
    assert same(again.predict(TEST), trained.predict(TEST))


def test_mentions_can_be_given_apart(trained: Recognizer):
    bare = [sentence.with_mentions(()) for sentence in TINY]
    y = [sentence.mentions for sentence in TINY]
    assert same(Recognizer(**QUICK).fit(bare, y).predict(TINY), Recognizer(**QUICK).fit(TINY).predict(TINY))
    assert trained.score(TEST, [sentence.mentions for sentence in TEST]) == trained.score(TEST)
    with pytest.raises(LearningError, match="there are 16 sentences or documents, but mentions for 1"):
        Recognizer(**QUICK).fit(bare, y[:1])


def test_documents_are_learned_from(documents: Sequence[Document]):
    by_documents = Recognizer(**QUICK).fit(documents)
    by_sentences = Recognizer(**QUICK).fit(list(as_sentences(documents)))
    assert by_documents.weights_.tobytes() == by_sentences.weights_.tobytes()


def test_a_mention_that_fits_no_word_is_an_error_whose_advice_works():
    documents = [Document("note", "no fever", [Mention("Finding", [(3, 6)])])] * 2
    with pytest.raises(CorpusError) as raised:
        Recognizer(**QUICK).fit(documents)
    assert str(raised.value) == (
        "note: the 'Finding' mention [(3, 6)] 'fev' of document 'note' has a boundary inside a token; expected it at "
        "the token's edge, as in 'fever'. Correct it, or train on the sentences of "
        'hyperspan.text.as_sentences(documents, Diagnostics("skip")), which drops and counts such cases.'
    )
    diagnostics = Diagnostics("skip")
    sentences = list(as_sentences([*documents, *TINY], diagnostics))
    assert Recognizer(**QUICK).fit(sentences).types_ == Recognizer(**QUICK).fit(TINY).types_
    assert diagnostics.counts == {"inside-token": 2}


def test_any_iterable_will_do():
    once = Recognizer(**QUICK).fit(iter(TINY), dev=iter(TINY))
    assert same(once.predict(iter(TINY)), Recognizer(**QUICK).fit(TINY, dev=TINY).predict(TINY))


def test_the_threshold_is_tuned_on_development_data_unless_it_is_given(trained: Recognizer):
    assert trained.dev_scores_ == trained.evaluate(DEV).as_dict()
    default = [list(unit.mentions) for unit in trained.annotate(DEV, threshold=DEFAULT_THRESHOLD)]
    pairs = zip(DEV, default, strict=True)
    at_default = evaluate(DEV, [sentence.with_mentions(found) for sentence, found in pairs]).all.f1
    assert trained.dev_scores_["all"]["f1"] >= at_default
    fixed = Recognizer(**QUICK, threshold=0.77).fit(TINY, dev=TINY)
    assert fixed.threshold_ == 0.77
    assert fixed.dev_scores_["all"]["f1"] == 1.0


def test_types_that_only_development_data_has_count_as_missed():
    dev = [*TINY, Sentence(["some", "aspirin"], [Mention("Drug", [(1, 2)])])]
    recognizer = Recognizer(**QUICK).fit(TINY, dev=dev)
    assert recognizer.types_ == ("Finding",)
    assert recognizer.dev_scores_["by_type"]["Drug"]["fn"] == 1
    assert recognizer.dev_scores_["all"]["fn"] == 1
    assert Recognizer(**QUICK, l2="auto").fit(TINY, dev=dev).types_ == ("Finding",)
    assert 0.9 < recognizer.score(dev) < 1.0


def test_auto_tries_every_penalty_on_the_development_data():
    recognizer = Recognizer(**QUICK, l2="auto").fit(TINY, dev=TINY[:4])
    tried = [record for record in recognizer.training_log_ if "stopped" in record]
    assert [record["l2"] for record in tried] == list(L2_CHOICES)
    best = max(record["dev_f1"] for record in tried)
    assert recognizer.l2_ == next(record["l2"] for record in tried if record["dev_f1"] == best)
    assert recognizer.n_iter_ == sum(record["iteration"] for record in tried)


def test_auto_holds_documents_out_where_there_is_no_development_data():
    recognizer = Recognizer(**QUICK, l2="auto").fit(TINY)
    tried = [record["l2"] for record in recognizer.training_log_ if "stopped" in record]
    assert tried == [*L2_CHOICES, recognizer.l2_]
    assert recognizer.dev_scores_
    again = Recognizer(**QUICK, l2="auto").fit(TINY)
    assert again.weights_.tobytes() == recognizer.weights_.tobytes()
    nameless = [replace(sentence, doc="") for sentence in TINY]
    assert Recognizer(**QUICK, l2="auto").fit(nameless).l2_ in L2_CHOICES


def test_auto_needs_something_to_choose_by():
    one = [replace(sentence, doc="same") for sentence in TINY]
    with pytest.raises(LearningError, match=r"there are mentions in 1\. Give development data, or a number for l2"):
        Recognizer(**QUICK, l2="auto").fit(one)
    with pytest.raises(LearningError, match="needs development data with mentions, but its 1 sentences have none"):
        Recognizer(**QUICK, l2="auto").fit(TINY, dev=[Sentence(["nothing"])])
    with pytest.raises(LearningError, match="needs development data, or training data with mentions in several"):
        Recognizer(**QUICK, l2="auto").fit([TINY[0], TINY[3]])


def test_an_empty_development_corpus_is_none():
    recognizer = Recognizer(**QUICK).fit(TINY, dev=[])
    assert recognizer.threshold_ == DEFAULT_THRESHOLD
    assert recognizer.dev_scores_ == {}


def test_every_iteration_is_reported_and_can_be_the_last(tmp_path):
    records = []
    recognizer = Recognizer(**QUICK).fit(TINY, dev=TINY, on_iteration=records.append, dev_every=4)
    assert [record.as_dict(with_time=False) for record in records] == recognizer.training_log_
    assert [record.dev_f1 is not None for record in records] == [
        record.iteration % 4 == 0 or bool(record.stopped) for record in records
    ]
    with pytest.raises(Interrupted, match="training was stopped after iteration 5") as caught:
        recognizer.fit(TINY, on_iteration=lambda record: record.iteration == 5)
    assert caught.value.iteration == 5
    with pytest.raises(ModelError, match="has no weights yet"):
        recognizer.predict(TINY)


def test_what_the_structure_cannot_write_is_counted():
    assert Recognizer(**{**QUICK, "max_components": 1}).fit(TINY).left_out_ == 4


# What cannot be learned from


def test_there_must_be_mentions():
    for sentences in ([], [Sentence([])], [Sentence(["well"])] * 3):
        with pytest.raises(LearningError, match=f"no mention in the {len(sentences)} training sentences; expected"):
            Recognizer(**QUICK).fit(sentences)


def test_there_must_be_mentions_that_the_structure_can_write():
    with pytest.raises(LearningError, match="'mention' cannot encode any of the 4 training mentions; choose another"):
        Recognizer(**QUICK, structure="mention").fit([TINY[2]] * 4)


def test_a_corpus_of_one_word():
    recognizer = Recognizer(**QUICK).fit([Sentence(["fever"], [Mention("Finding", [(0, 1)])])])
    assert recognizer.predict([Sentence(["fever"])]) == [[Mention("Finding", [(0, 1)])]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"decode": "best"}, UsageError, "decode is 'best'; expected one of probable, enough, all"),
        ({"distribution": "paths"}, UsageError, "distribution is 'paths'; expected one of encodings, mention-sets"),
        ({"l2": -1}, UsageError, "l2 is -1; expected a number that is not negative, or 'auto'"),
        ({"l2": float("nan")}, UsageError, "l2 is nan; expected"),
        ({"l2": float("inf")}, UsageError, "l2 is inf; expected"),
        ({"l2": "much"}, UsageError, "l2 is 'much'; expected"),
        ({"threshold": 0.0}, UsageError, "threshold is 0.0; expected a number above 0 and up to 1"),
        ({"threshold": 1.5}, UsageError, "threshold is 1.5; expected"),
        ({"max_iterations": 0}, UsageError, "max_iterations is 0; expected a whole number from 1"),
        ({"max_iterations": 2.5}, UsageError, "max_iterations is 2.5; expected"),
        ({"frequent": 0}, UsageError, "frequent is 0; expected a whole number from 1"),
        ({"n_threads": 0}, UsageError, "n_threads is 0; expected a whole number from 1"),
        ({"seed": -1}, UsageError, "seed is -1; expected a whole number from 0"),
        ({"tolerance": -1e-3}, UsageError, "tolerance is -0.001; expected a number from 0 to below 1"),
        ({"structure": "linear", "distribution": "mention-sets"}, UsageError, "'linear' has no distribution"),
        ({"structure": "tree"}, StructureError, "tree"),
        ({"max_components": 9}, StructureError, "max_components is 9; expected a number from 1 to 5"),
        ({"features": "nowhere.toml"}, FeatureError, "nowhere.toml"),
        ({"annotator": "oracle"}, UsageError, "there is no annotator 'oracle'"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_fit(options, error, message):
    recognizer = Recognizer(**{**QUICK, **options})
    with pytest.raises(error, match=message):
        recognizer.fit(TINY)


def test_nothing_works_before_fit():
    recognizer = Recognizer()
    for use in (
        lambda: recognizer.predict([]),
        lambda: recognizer.predict(TINY),
        lambda: list(recognizer.find(TINY)),
        lambda: list(recognizer.annotate(TINY)),
        lambda: recognizer.score(TINY),
        lambda: recognizer.summary(),
        lambda: recognizer.strongest(TINY),
        lambda: recognizer.save("nowhere.model"),
    ):
        with pytest.raises(ModelError, match=r"no weights yet: call fit\(\.\.\.\) or Recognizer\.load\(path\) first"):
            use()


def test_a_sentence_without_end_is_refused_in_training_and_read_in_prediction():
    endless = Sentence(["blood", "in", "stomach", "."] * 12_500, [Mention("Finding", [(0, 3)])], doc="note")
    assert len(endless) > LONGEST_SENTENCE
    with pytest.raises(LearningError, match=r"'note': a sentence has 50,000 words; expected at most 20,000\. Split it"):
        Recognizer(**QUICK).fit([endless])
    with pytest.raises(LearningError, match=r"notes.jsonl:7: a sentence has 50,000 words"):
        Recognizer(**QUICK).fit(TINY, dev=[replace(endless, place="notes.jsonl:7")])
    recognizer = Recognizer(**QUICK).fit(TINY)
    calm = Sentence([*["all", "is", "well"] * 16_660, "no", "blood", "seen"])
    (found,) = recognizer.find([calm], threshold=0.5)
    assert found == Prediction((Mention("Finding", [(len(calm) - 2, len(calm) - 1)]),))
    (found,) = recognizer.find([endless])
    assert found.mentions
    assert all(0.0 <= (mention.prob or 0.0) <= 1.0 for mention in found.mentions)


def test_the_work_on_probabilities_is_bounded(monkeypatch):
    recognizer = Recognizer(**QUICK).fit(TINY)
    long = Sentence([*TINY[0].tokens, *TINY[1].tokens] * 20)
    (whole,) = recognizer.find([long], decode="all")
    assert len(whole.mentions) > 3
    assert not whole.truncated
    for most_steps, n_kept in ((0, 1), (10**9, len(whole.mentions))):
        monkeypatch.setattr("hyperspan.inference.outcomes.MOST_STEPS", most_steps)
        (found,) = recognizer.find([long], decode="all")
        assert found.mentions == whole.mentions[:n_kept]
        assert found.truncated == (n_kept < len(whole.mentions))


# Finding


@pytest.mark.parametrize("structure", ["shared", "linear"])
def test_probabilities_are_those_of_the_distribution(trained: Recognizer, structure: str):
    sentences = [sentence for sentence in TEST if sentence.mentions][:8]
    if structure == "linear":
        trained, sentences = Recognizer(**QUICK, structure="linear").fit(TINY), TINY[:4]
    for decode in ("probable", "enough", "all"):
        found = list(trained.find(sentences, decode=decode))
        assert any(here.mentions for here in found)
        over = trained.distribution_over(sentences)
        probs = over.mention_probs([here.mentions for here in found])
        for number, here in enumerate(found):
            assert list(here.mentions) == sorted(here.mentions)
            for mention, prob in zip(here.mentions, probs[number], strict=True):
                assert mention.prob is not None
                assert 0.0 <= mention.prob <= 1.0
                (alone,) = over.sentence(number).joint_probs([[mention]])
                assert mention.prob == pytest.approx(prob, abs=1e-9)
                assert mention.prob == pytest.approx(alone, abs=1e-9)


def test_probable_mentions_are_those_above_the_threshold(trained: Recognizer):
    for low, high in zip(trained.find(TEST, threshold=0.2), trained.find(TEST, threshold=0.6), strict=True):
        assert list(high.mentions) == [mention for mention in low.mentions if (mention.prob or 0.0) >= 0.6]
    tuned = [list(found.mentions) for found in trained.find(TEST)]
    assert same(tuned, [list(found.mentions) for found in trained.find(TEST, threshold=trained.threshold_)])
    assert same(tuned, trained.predict(TEST))


def test_enough_is_a_part_of_all(trained: Recognizer):
    for enough, everything in zip(trained.find(TEST, decode="enough"), trained.find(TEST, decode="all"), strict=True):
        assert set(enough.mentions) <= set(everything.mentions)


@pytest.mark.parametrize("options", [{}, {"distribution": "mention-sets"}, {"structure": "linear"}], ids=str)
def test_alternatives_come_best_first_with_their_probabilities(options):
    recognizer = Recognizer(**QUICK, **options).fit(TINY)
    for found, sentence in zip(recognizer.find(TINY[:4], top=5), TINY, strict=False):
        probs = [prob for prob, _ in found.alternatives]
        assert len(probs) == 5
        assert probs == sorted(probs, reverse=True)
        assert 0.0 < sum(probs) <= 1.0 + 1e-9
        if "structure" not in options:
            assert found.alternatives[0][1] == sentence.mentions
    assert next(iter(recognizer.find(TINY[:1]))).alternatives == ()


def test_scores_are_those_of_the_weights_a_model_has(trained: Recognizer):
    scorer, sentences = trained.scorer_, list(as_sentences(TEST))
    scores = scorer.scores(sentences).scores
    assert scorer.scores(sentences).scores.tolist() == scores.tolist() != []
    assert not replace(scorer, weights=np.zeros_like(scorer.weights)).scores(sentences).scores.any()
    assert scorer.scores(sentences).scores.tolist() == scores.tolist()


def test_empty_sentences_have_nothing_in_them(trained: Recognizer):
    assert trained.predict([Sentence([]), TEST[0], Sentence([])])[::2] == [[], []]
    assert trained.predict([]) == []
    (found,) = trained.find([Sentence([])], top=3)
    assert found == Prediction((), False, ((1.0, ()),))
    assert trained.predict([Document("empty", "")]) == [[]]


def test_mentions_that_were_there_are_replaced_and_all_else_stays(trained: Recognizer):
    wrong = replace(TEST[0], mentions=(Mention("Drug", [(0, 1)]),), attributes={"section": "x"})
    (annotated,) = trained.annotate([wrong])
    assert annotated.attributes == {"section": "x"}
    assert annotated.doc == wrong.doc
    (bare,) = trained.annotate([wrong.with_mentions(())])
    assert annotated.mentions == bare.mentions


def test_documents_come_back_with_characters(trained: Recognizer, documents: Sequence[Document]):
    annotated = list(trained.annotate(documents))
    assert [unit.doc for unit in annotated] == [unit.doc for unit in documents]
    sentences = list(as_sentences(documents))
    by_sentence = trained.predict(sentences)
    expected = [
        (sentence.doc, mention.type, sentence.text_of(mention).replace(" ", ""))
        for sentence, found in zip(sentences, by_sentence, strict=True)
        for mention in found
    ]
    found = [
        (unit.doc, mention.type, "".join(unit.text_of(mention).split()))  # type: ignore[union-attr]
        for unit in annotated
        for mention in unit.mentions
    ]
    assert found
    assert sorted(found) == sorted(expected)
    assert all(mention.prob is not None for unit in annotated for mention in unit.mentions)


def test_units_of_both_kinds_can_be_mixed(trained: Recognizer, documents: Sequence[Document]):
    mixed: list[Unit] = [TEST[0], documents[0], Sentence([]), documents[1], TEST[1]]
    together = trained.predict(mixed)
    assert same(together, [trained.predict([unit])[0] for unit in mixed])


def test_batches_change_nothing(trained: Recognizer, monkeypatch):
    whole = trained.predict(TEST)
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 7)
    assert same(trained.predict(TEST), whole)


def test_finding_reads_no_further_than_it_must(trained: Recognizer, monkeypatch):
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 7)
    read = []

    def stream():
        for number, sentence in enumerate(TEST):
            read.append(number)
            yield sentence

    next(iter(trained.annotate(stream())))
    assert len(read) < 5


def test_unknown_ways_to_decode_and_thresholds_are_refused(trained: Recognizer):
    with pytest.raises(UsageError, match="decode is 'best'; expected one of probable, enough, all"):
        list(trained.find(TEST, decode="best"))  # type: ignore[arg-type]
    for threshold in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(UsageError, match=r"threshold is .*; expected a number above 0 and up to 1"):
            list(trained.find(TEST, threshold=threshold))


def test_what_is_read_and_found_can_be_sent_to_another_process(trained: Recognizer, documents: Sequence[Document]):
    for unit in (TEST[0], Sentence(["bare"]), documents[0], *trained.annotate(TEST[:3])):
        assert pickle.loads(pickle.dumps(unit)) == unit
    found = next(iter(trained.find(TEST, top=2)))
    assert pickle.loads(pickle.dumps(found)) == found
    assert same(pickle.loads(pickle.dumps(trained)).predict(TEST[:3]), trained.predict(TEST[:3]))


# Scoring


def test_evaluating_is_predicting_and_comparing(trained: Recognizer, documents: Sequence[Document]):
    evaluation = trained.evaluate(TEST)
    assert evaluation.as_dict() == evaluate(TEST, list(trained.annotate(TEST))).as_dict()
    assert trained.score(TEST) == evaluation.all.f1
    assert trained.evaluate(documents).as_dict() == trained.evaluate(list(as_sentences(documents))).as_dict()


# Looking inside


def test_the_summary_says_what_the_model_is(trained: Recognizer):
    summary = trained.summary()
    assert summary["types"] == list(trained.types_)
    assert summary["weights"] == len(trained.weights_)
    assert summary["threshold"] == trained.threshold_
    assert summary["stopped"].startswith("stopped after 25 iterations")
    assert "pos" in summary["skipped_templates"]


def test_the_strongest_features_have_names_where_sentences_give_them():
    recognizer = Recognizer(**QUICK).fit(TINY)
    strongest = recognizer.strongest(TINY, top=3)
    assert all(len(features) <= 3 for features in strongest.values())
    start = strongest["Finding T→B0"]
    assert [abs(feature["weight"]) for feature in start] == sorted(
        (abs(feature["weight"]) for feature in start), reverse=True
    )
    assert any("blood" in feature["feature"] for feature in recognizer.strongest(TINY, top=20)["Finding T→B0"])


def test_the_strongest_features_have_names_of_their_own(tmp_path):
    recognizer = Recognizer(**QUICK).fit(TINY)
    named = recognizer.strongest(TINY, top=NAMED)
    assert recognizer.strongest(top=NAMED) == named
    assert any("blood" in feature["feature"] for feature in named["Finding T→B0"])
    recognizer.save(tmp_path / "named")
    assert Recognizer.load(tmp_path / "named").strongest(top=NAMED) == named
    recognizer.save(tmp_path / "hashed", with_names=False)
    assert b"blood" in (tmp_path / "named").read_bytes()
    assert b"blood" not in (tmp_path / "hashed").read_bytes()
    hashed = Recognizer.load(tmp_path / "hashed").strongest(top=NAMED)
    assert all(feature["feature"].startswith("#") for features in hashed.values() for feature in features)
    for label, features in named.items():
        assert [feature["weight"] for feature in hashed[label]] == [feature["weight"] for feature in features]
        assert all(len(feature["feature"]) > 2 and feature["feature"][0] != "#" for feature in features)


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Recognizer()) == "Recognizer()"
    assert repr(Recognizer(l2=2.0, structure="split")) == "Recognizer(structure='split', l2=2.0)"
    templates = TemplateSet.load("published")
    assert repr(Recognizer(features=templates)) == "Recognizer(features=<TemplateSet>)"


# scikit-learn's manners


def test_parameters_are_stored_as_given():
    names = [name for name in inspect.signature(Recognizer.__init__).parameters if name != "self"]
    recognizer = Recognizer(structure="nonsense", l2=-3)
    assert list(recognizer.get_params()) == names
    assert recognizer.get_params(deep=False)["structure"] == "nonsense"
    assert recognizer.set_params(structure="split", seed=4) is recognizer
    assert (recognizer.structure, recognizer.seed, recognizer.l2) == ("split", 4, -3)
    with pytest.raises(UsageError, match="a Recognizer has no parameter 'depth'; expected one of structure, "):
        recognizer.set_params(depth=3)
    with pytest.raises(TypeError):
        Recognizer("shared")  # type: ignore[misc]


def test_the_page_names_every_option_with_its_default():
    page = (Path(__file__).parents[3] / "docs" / "recognizer.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", page, re.MULTILINE))
    assert told == {name: repr(value) for name, value in Recognizer().get_params().items()}


def test_clone_and_grid_search():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.model_selection import GridSearchCV

    assert sklearn.clone(Recognizer(l2=2.0)).get_params() == Recognizer(l2=2.0).get_params()
    fitted = Recognizer(**QUICK).fit(TINY)
    assert not hasattr(sklearn.clone(fitted), "weights_")
    sklearn.utils.validation.check_is_fitted(fitted)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        sklearn.utils.validation.check_is_fitted(Recognizer())
    grid = GridSearchCV(Recognizer(**QUICK), {"l2": [0.1, np.float64(10.0)], "max_components": np.array([1, 2])}, cv=2)
    grid.fit(TINY)
    assert grid.best_params_ == {"l2": 0.1, "max_components": 2}
    assert grid.best_score_ == 1.0
    assert grid.predict(TINY[:1]) == [list(TINY[0].mentions)]
    with_y = GridSearchCV(Recognizer(**QUICK), {"l2": [0.1, 10.0]}, cv=2)
    with_y.fit([sentence.with_mentions(()) for sentence in TINY], [sentence.mentions for sentence in TINY])
    assert with_y.best_score_ == 1.0


def test_what_a_grid_search_chose_can_be_saved(tmp_path):
    recognizer = Recognizer(**{**QUICK, "max_components": np.int64(2)}, l2=np.float64(0.5)).fit(TINY)
    recognizer.save(tmp_path / "a.model")
    assert same(Recognizer.load(tmp_path / "a.model").predict(TINY), recognizer.predict(TINY))


def test_errors_have_one_root():
    with pytest.raises(HyperspanError):
        Recognizer().predict(TINY)
    with pytest.raises(ValueError):
        Recognizer(l2=-1).fit(TINY)


def test_several_processes_find_the_same(trained, monkeypatch):
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 50)
    documents = [join_sentences([sentence]) for sentence in TEST[:20]]
    for units in (TEST[:20], documents):
        alone = list(trained.annotate(units))
        shared = list(trained.annotate(iter(units), n_workers=2))
        assert shared == alone
        assert [[mention.prob for mention in unit.mentions] for unit in shared] == [
            [mention.prob for mention in unit.mentions] for unit in alone
        ]
        assert list(trained.find_in(units, top=2, n_workers=2)) == list(trained.find_in(units, top=2))
    with pytest.raises(UsageError, match="n_workers is 0; expected a whole number from 1"):
        next(iter(trained.annotate(TEST, n_workers=0)))


def die_in_a_worker(recognizer: Recognizer, units: list[Unit]) -> list[Unit]:
    """As if the system had killed the worker for its memory."""
    if multiprocessing.parent_process() is not None:
        os._exit(9)
    return units


def test_a_worker_that_is_killed_is_told_with_a_sentence(trained):
    with pytest.raises(WorkerError, match="a worker process was killed, perhaps because there"):
        list(in_processes(trained, die_in_a_worker, TEST * 20, 2))


@pytest.mark.parametrize(("n_types", "n_words"), [(1, 4_096), (15, 4_096), (1_000, 335)])
def test_batches_are_small_where_there_are_very_many_labels(n_types: int, n_words: int):
    written_as = structure("shared", [f"T{number}" for number in range(n_types)], 3)
    assert Model(written_as, "encodings", LinearScorer).batch_words == n_words  # type: ignore[arg-type]

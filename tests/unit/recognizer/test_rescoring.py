"""Training of a second look: who has seen what, the same whatever the threads, kept only if it helps."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forging import changes, forged, header_of
from hyperspan import Mention, Recognizer, Sentence
from hyperspan.errors import HyperspanError, LearningError, ModelError, UsageError
from hyperspan.features import FeatureIndex, Lexicon
from hyperspan.learning import DEFAULT_THRESHOLD, ThresholdCurve
from hyperspan.learning.logistic import fit_map
from hyperspan.recognizer import folds, rescoring
from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.recognizer.folds import Folds, folds_of, read_candidates, write_candidates
from hyperspan.recognizer.prediction import candidates_in
from hyperspan.recognizer.training import TRAINERS, TrainingOptions
from hyperspan.scoring import Proposed
from hyperspan.scoring.candidate_table import WordCodes, candidates_of, words_of
from hyperspan.scoring.linear_mentions import LinearMentionScorer
from hyperspan.scoring.string_counts import StringCounts

QUICK: dict[str, Any] = {"max_components": 2, "max_iterations": 6, "n_threads": 1, "rescore": "on"}
WORDS = ("pain", "fever", "rash", "cough", "aspirin", "nausea", "chills", "ulcer")


def sentences(n_documents: int = 12) -> list[Sentence]:
    """Findings after 'no', which is easy, and split ones, each document with a word of its own."""
    made = []
    for number in range(n_documents):
        word, other = WORDS[number % 8], WORDS[(3 * number + 1) % 8]
        own = f"unique{number}"
        made += [
            Sentence(["no", word, "or", other, "seen"], [Mention("Finding", [(1, 2)])], doc=f"d{number}"),
            Sentence([word, "and", own, "legs"], [Mention("Finding", [(0, 1), (3, 4)])], doc=f"d{number}"),
            Sentence(["took", word, own], [Mention("Drug", [(1, 2)])] if number % 2 else [], doc=f"d{number}"),
        ]
    return made


TRAIN = sentences()


@pytest.fixture(scope="module")
def trained() -> Recognizer:
    return Recognizer(**QUICK).fit(TRAIN, dev=sentences(6))


def test_folds_keep_documents_together_and_deal_out_those_with_mentions() -> None:
    empty = [Sentence(["nothing"], doc=f"e{number}") for number in range(7)]
    alone = [Sentence(["pain"], [Mention("Finding", [(0, 1)])]) for _ in range(3)]
    train = [*TRAIN, *empty, *alone]
    fold = folds_of(train, seed=0)
    by_document: dict[str, set[int]] = {}
    for sentence, number in zip(train[: -len(alone)], fold.tolist(), strict=False):
        by_document.setdefault(sentence.doc, set()).add(number)
    assert all(len(numbers) == 1 for numbers in by_document.values())
    with_mentions = dict.fromkeys(range(5), 0)
    for document in {sentence.doc for sentence in TRAIN}:
        with_mentions[min(by_document[document])] += 1
    for number in fold[-len(alone) :].tolist():
        with_mentions[number] += 1
    assert set(with_mentions.values()) == {3}
    assert not np.array_equal(fold, folds_of(train, seed=1))
    assert np.array_equal(fold, folds_of(train, seed=0))


def test_there_are_no_more_folds_than_documents_with_mentions() -> None:
    assert set(folds_of(TRAIN[:9], seed=0).tolist()) == {0, 1, 2}
    with pytest.raises(LearningError, match=r"a second look needs training data with mentions in several documents"):
        folds_of(TRAIN[:3], seed=0)


def test_models_of_folds_have_never_seen_a_word_of_their_own_documents() -> None:
    """Every document has a word that stands nowhere else: the model that looks at it does not know it."""
    settings = Recognizer(**QUICK)._settings()
    seen: list[tuple[set[str], Any]] = []

    def trainer(settings, train, dev, options):
        model, training = TRAINERS["linear"](settings, train, dev, options)
        seen.append(({token for sentence in train for token in sentence.tokens}, model))
        return model, training

    fold = folds_of(TRAIN, seed=0)
    made = Folds(settings, TRAIN, fold, rescoring.PROPOSAL, trainer, TrainingOptions()).candidates()
    assert len(seen) == 5
    for number, (words, model) in enumerate(seen):
        own = [sentence for sentence, each in zip(TRAIN, fold.tolist(), strict=True) if each == number]
        planted = {f"unique{sentence.doc[1:]}" for sentence in own}
        assert planted
        assert planted.isdisjoint(words)
        others = {f"unique{sentence.doc[1:]}" for sentence in TRAIN} - planted
        assert others <= words
        wanted = list(candidates_in(model, rescoring.PROPOSAL, own))
        found = [here for here, each in zip(made, fold.tolist(), strict=True) if each == number]
        assert [[(m, m.prob) for m in here] for here in found] == [[(m, m.prob) for m in here] for here in wanted]


@pytest.mark.parametrize("is_mixed", [False, True])
def test_counts_of_strings_leave_out_the_own_document(is_mixed: bool) -> None:
    """A string that only its own document has looks as new as it will to somebody else's."""
    order = np.random.default_rng(0).permutation(len(TRAIN)) if is_mixed else np.arange(len(TRAIN))
    train = [TRAIN[place] for place in order.tolist()]
    candidates = [tuple(replace(mention, prob=0.5) for mention in sentence.mentions) for sentence in train]
    seen = []
    original = rescoring.features_of

    def features_of(table):
        seen.append(table)
        return original(table)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rescoring, "features_of", features_of)
        model = Recognizer(**QUICK | {"rescore": "off"}).fit(train)._learned()
        rescoring.learn_mentions(model, train, candidates, folds_of(train, 0))
    (table,) = seen
    row = 0
    for sentence in train:
        for mention in sentence.mentions:
            string = [sentence.tokens[start:end] for start, end in mention.parts]
            annotated = [
                each.type
                for other in train
                for each in other.mentions
                if other.doc != sentence.doc and [other.tokens[start:end] for start, end in each.parts] == string
            ]
            assert table.counts[row, :2].tolist() == [annotated.count(mention.type), len(annotated)]
            if not annotated:  # even if its words stand elsewhere: a new document could not tell
                assert table.counts[row, 2] == 0
            row += 1
    assert row == table.candidates.n_rows


@pytest.mark.parametrize("is_mixed", [False, True])
def test_counts_are_those_of_training_without_the_document(is_mixed: bool) -> None:
    """One document annotates a word that stands in all others: only its own annotation makes the word known."""
    train = [replace(each, tokens=("took", "planted", each.tokens[2])) if len(each) == 3 else each for each in TRAIN]
    train[5] = train[5].with_mentions([Mention("Drug", [(1, 2)])])
    train = [each if each.doc == "d1" or len(each) > 3 else each.with_mentions([]) for each in train]
    if is_mixed:
        train = [train[place] for place in np.random.default_rng(0).permutation(len(train)).tolist()]
    candidates = [(Mention("Drug", [(1, 2)], prob=0.5),) if len(sentence) == 3 else () for sentence in train]
    types, documents = ("Drug", "Finding"), rescoring._documents_by_name(train)

    def counted(some: list[Sentence]) -> tuple[LinearMentionScorer, Any]:
        gold = Proposed.of([sentence.mentions for sentence in some], types)
        rows = candidates_of(some, gold, types)
        counts, own = StringCounts.of(words_of(some, WordCodes()), rows, rescoring._documents_by_name(some))
        return LinearMentionScorer(types, rescoring.PROPOSAL, counts, FeatureIndex(), np.zeros(0)), own

    scorer, own = counted(train)
    found = scorer.table(train, Proposed.of(candidates, types), own).counts
    wanted = []
    for sentence, here, document in zip(train, candidates, documents.tolist(), strict=True):
        others = [each for each, other in zip(train, documents.tolist(), strict=True) if other != document]
        if here:
            wanted += counted(others)[0].table([sentence], Proposed.of([here], types)).counts.tolist()
    assert found.tolist() == wanted
    assert sorted(wanted)[0] == [0, 0, 0]
    assert sorted(wanted)[1] == [1, 1, 12 - 1]


def test_the_same_whatever_the_threads(tmp_path: Path, trained: Recognizer) -> None:
    trained.save(tmp_path / "one")
    several = Recognizer(**QUICK | {"n_threads": 3}).fit(TRAIN, dev=sentences(6))
    several.save(tmp_path / "several")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "several").read_bytes()
    other = Recognizer(**QUICK | {"seed": 1}).fit(TRAIN, dev=sentences(6))
    assert other.rescorer_.weights.tolist() != trained.rescorer_.weights.tolist()


def test_a_model_file_keeps_the_second_look_and_none_of_its_words(tmp_path: Path, trained: Recognizer) -> None:
    path = tmp_path / "a.model"
    trained.save(path, with_names=False)
    read = Recognizer.load(path)
    assert read.summary() == trained.summary()
    assert [list(map(repr, here)) for here in read.predict(TRAIN)] == [
        list(map(repr, here)) for here in trained.predict(TRAIN)
    ]
    raw = path.read_bytes()
    for word in {token for sentence in TRAIN for token in sentence.tokens if len(token) > 3}:
        assert word.encode() not in raw


def test_a_lexicon_and_columns_come_along(tmp_path: Path) -> None:
    lexicon = Lexicon.from_entries([("pain", "sign"), ("rash", "sign"), ("aspirin", "drug")])
    train = [replace(each, columns={"pos": ["X"] * len(each), "lemma": each.tokens}) for each in TRAIN]
    made = Recognizer(**QUICK, lexicon=lexicon).fit(train)
    made.save(tmp_path / "a.model")
    read = Recognizer.load(tmp_path / "a.model")
    assert read.rescorer_.columns == ("lemma", "pos")
    assert [list(map(repr, here)) for here in read.predict(train)] == [
        list(map(repr, here)) for here in made.predict(train)
    ]
    assert read.predict(TRAIN)  # which have no columns
    said = {reason.in_words for each in train for of in made.explain(each, top=30).reasons.values() for reason in of}
    assert any("in the lexicon as ‘sign’" in text for text in said)


def test_prediction_does_not_depend_on_batches_or_workers(trained: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [list(map(repr, here)) for here in trained.predict(TRAIN)]
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 7)
    monkeypatch.setattr("hyperspan.recognizer.processes._BATCH_WORDS", 7)
    assert [list(map(repr, here)) for here in trained.predict(TRAIN)] == whole
    assert [list(map(repr, each.mentions)) for each in trained.annotate(TRAIN, n_workers=2)] == whole


def test_auto_keeps_what_helps_and_drops_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for difference, kept in ((0.01, True), (0.003, False), (-0.2, False)):
        monkeypatch.setattr(rescoring.Gain, "difference", property(lambda self, value=difference: value))
        monkeypatch.setattr(rescoring.Gain, "standard_error", property(lambda self: 0.005))
        made = Recognizer(**QUICK | {"rescore": "auto"}).fit(TRAIN)
        assert (made.rescorer_ is not None) == kept == made.summary()["rescoring"]["kept"]
        assert Recognizer(**QUICK).fit(TRAIN).rescorer_ is not None


def test_the_standard_error_is_that_of_a_bootstrap() -> None:
    draw, gold, first, second = np.random.default_rng(0), [], [], []
    for _ in range(300):
        mention = Mention("A", [(0, 1)])
        gold.append([mention] if draw.random() < 0.5 else [])
        first.append([replace(mention, prob=0.9)] if draw.random() < 0.5 else [])
        second.append([replace(each, prob=0.9) for each in gold[-1]] if draw.random() < 0.7 else first[-1])
    gain = rescoring.Gain(ThresholdCurve.of(gold, first), ThresholdCurve.of(gold, second))

    def f1(found, chosen) -> float:
        right = sum(bool(gold[n]) and bool(found[n]) for n in chosen)
        return 2 * right / (sum(map(bool, (found[n] for n in chosen))) + sum(map(bool, (gold[n] for n in chosen))))

    differences = []
    for _ in range(2_000):
        chosen = draw.integers(0, 300, size=300).tolist()
        differences.append(f1(second, chosen) - f1(first, chosen))
    assert gain.difference == pytest.approx(f1(second, range(300)) - f1(first, range(300)))
    assert gain.standard_error == pytest.approx(np.std(differences), rel=0.15)


def test_without_development_data_the_threshold_comes_from_unseen_candidates() -> None:
    made = Recognizer(**QUICK).fit(TRAIN)
    assert made.summary()["rescoring"]["measured_on"] == "train"
    assert made.summary()["threshold_curve"]
    assert Recognizer(**QUICK | {"threshold": 0.77}).fit(TRAIN).threshold_ == 0.77


def test_scores_of_the_first_look_are_not_said_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Recognizer(**QUICK | {"l2": "auto"}).fit(TRAIN)
    assert made.rescorer_ is not None
    assert made.dev_scores_ == {}
    assert "There was no development data, so nothing was measured." in made.card()
    monkeypatch.setattr(rescoring.Gain, "is_more_than_chance", property(lambda _gain: False))
    without = Recognizer(**QUICK | {"l2": "auto", "rescore": "auto"}).fit(TRAIN)
    assert without.rescorer_ is None
    assert without.dev_scores_["all"]["tp"]


def test_recall_of_candidates_is_told_by_number_of_parts(trained: Recognizer) -> None:
    recall = trained.summary()["rescoring"]["recall_by_parts"]
    assert recall["1"]["gold"] == 18
    assert recall["2"]["gold"] == 12
    assert all(each["recall"] == each["found"] / each["gold"] for each in recall.values())


@pytest.mark.parametrize("types", [("Drug", "Finding"), ("Finding",)])
def test_a_map_moves_the_log_odds_of_every_candidate(types: tuple[str, ...]) -> None:
    kept = [each.with_mentions([m for m in each.mentions if m.type in types]) for each in TRAIN]
    recognizer = Recognizer(**QUICK).fit(kept)
    model = recognizer._learned()
    scorer = model.rescorer
    assert isinstance(scorer, LinearMentionScorer)
    candidates = candidates_in(model, scorer.proposal, kept)
    before, after = (each.log_odds(kept, candidates) for each in (scorer, scorer.mapped(0.5, -0.25)))
    assert candidates.n_rows > 10
    assert after == pytest.approx(0.5 * before - 0.25, rel=1e-12, abs=1e-12)


def test_probabilities_are_calibrated_on_development_data(trained: Recognizer, tmp_path: Path) -> None:
    record = trained.summary()["rescoring"]
    assert record["slope"] != 1.0
    assert record["shift"] != 0.0
    trained.save(tmp_path / "model")
    assert Recognizer.load(tmp_path / "model").summary()["rescoring"] == record
    without = Recognizer(**QUICK).fit(TRAIN).summary()["rescoring"]
    assert (without["slope"], without["shift"]) == (1.0, 0.0)
    dev = sentences(6)
    model = trained._learned()
    scorer = model.rescorer
    assert isinstance(scorer, LinearMentionScorer)
    candidates = candidates_in(model, scorer.proposal, dev)
    is_right = [m in each.mentions for each, here in zip(dev, candidates, strict=True) for m in here]
    raw = (scorer.log_odds(dev, candidates) - record["shift"]) / record["slope"]
    assert fit_map(raw, np.array(is_right, dtype=float)) == pytest.approx((record["slope"], record["shift"]), abs=1e-3)


def test_reasons_of_both_looks_add_up(trained: Recognizer) -> None:
    (found,) = trained.find(TRAIN[:1])
    explanation = trained.explain(TRAIN[0], top=1_000)
    (mention,) = [each for each in found.mentions if each.parts == ((1, 2),) and each.type == "Finding"]
    (same,) = [each for each in explanation.sentence.mentions if each == mention]
    assert same.prob == mention.prob
    second = [reason for reason in explanation.reasons[same] if reason.look == 2]
    total = sum(reason.amount for reason in second)
    assert 1.0 / (1.0 + np.exp(-total)) == pytest.approx(mention.prob, rel=1e-9)
    assert any(reason.look == 1 for reason in explanation.reasons[same])
    assert {reason["look"] for each in explanation.as_dict()["mentions"] for reason in each["reasons"]} == {1, 2}
    text = str(explanation)
    assert "the mention as a whole, by its log odds:" in text
    assert "its words, by the log probability of the first look:" in text


def test_the_whole_document_is_seen_when_one_of_its_sentences_is_explained(trained: Recognizer) -> None:
    document = TRAIN[:3]
    in_document = trained.predict(document)
    for number, sentence in enumerate(document):
        explained = trained.explain(sentence, document=document)
        assert [repr(each) for each in explained.sentence.mentions] == [repr(each) for each in in_document[number]]


def test_a_mention_that_is_no_candidate_keeps_its_first_probability(trained: Recognizer) -> None:
    odd = Mention("Drug", [(0, 1), (4, 5)])
    ((prob,),) = trained.distribution_over(TRAIN[:1]).mention_probs([[odd]])
    explanation = trained.explain(TRAIN[0], mentions=[replace(odd, prob=prob)])
    assert prob < rescoring.PROPOSAL.lowest[1]
    assert explanation.sentence.mentions[0].prob == prob
    assert {reason.look for reason in explanation.reasons[odd]} == {1}


@pytest.mark.parametrize("l2", [1.0, "auto"])
@pytest.mark.parametrize("stops_at", [3, 9, 20, 34])
def test_training_that_was_stopped_goes_on_to_the_same_model(
    tmp_path: Path, trained: Recognizer, stops_at: int, l2: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = QUICK | {"l2": l2}
    whole = trained if l2 == 1.0 else Recognizer(**options).fit(TRAIN, dev=sentences(6))
    whole.save(tmp_path / "whole")
    seen: list[Any] = []

    def stop(record: Any) -> bool:
        seen.append(record)
        return len(seen) == stops_at

    path = tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        Recognizer(**options).fit(TRAIN, dev=sentences(6), on_iteration=stop, checkpoint=path)
    done = {each.name for each in tmp_path.glob("checkpoint.fold*.candidates")}
    trained_again = []

    def again(record: Any) -> None:
        trained_again.append(record.fold)

    made = Recognizer(**options).fit(TRAIN, dev=sentences(6), on_iteration=again, checkpoint=path, resume=True)
    assert not {f"checkpoint.fold{fold}.candidates" for fold in trained_again if fold} & done
    made.save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["resumed", "whole"]


@pytest.mark.parametrize("rescore", ["on", "auto"])
def test_training_that_is_stopped_in_a_fold_makes_no_model(tmp_path: Path, rescore: str) -> None:
    path = tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        Recognizer(**QUICK | {"rescore": rescore}).fit(TRAIN, on_iteration=lambda each: each.fold > 0, checkpoint=path)
    assert path.is_file(), "so that it can be resumed"


def test_a_full_disk_does_not_stop_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(path: Path, *_: object) -> None:
        raise ModelError(f"cannot write the checkpoint {path.name}: No space left on device")

    monkeypatch.setattr("hyperspan.recognizer.checkpoint.write_arrays", full)
    monkeypatch.setattr("hyperspan.recognizer.folds.write_arrays", full)
    recognizer = Recognizer(**QUICK).fit(TRAIN, checkpoint=tmp_path / "c")
    assert recognizer.rescorer_ is not None
    assert not list(tmp_path.iterdir())
    for name in ("c", *(f"c.fold{number}.candidates" for number in range(1, 6))):
        assert (
            f"cannot write the checkpoint {name}: No space left on device. Training continues without a checkpoint"
            in caplog.messages
        )


def test_folds_are_named_in_the_records(trained: Recognizer) -> None:
    seen: list[Any] = []
    Recognizer(**QUICK).fit(TRAIN, on_iteration=lambda record: seen.append((record.fold, record.n_folds)))
    assert {fold for fold, _ in seen} == {0, 1, 2, 3, 4, 5}
    assert {n_folds for fold, n_folds in seen if fold} == {5}


def test_candidates_of_other_data_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    candidates = [(Mention("A", [(0, 1), (2, 3)], prob=0.25),), (), (Mention("B", [(0, 2)], prob=0.5),)]
    some = [Sentence(["a", "b", "c"])] * 3
    write_candidates(path, "one", candidates)
    assert [[(m, m.prob) for m in here] for here in read_candidates(path, "one", some)] == [
        [(m, m.prob) for m in here] for here in candidates
    ]
    with pytest.raises(ModelError, match=r"c was made with other data or settings; resume with the same, or train .*"):
        read_candidates(path, "other", some)
    with pytest.raises(ModelError, match=r"c was not written by this program: the array 'first' is int64 of shape"):
        read_candidates(path, "one", some[:2])
    raw = path.read_bytes()
    for name, change in changes(raw):
        path.write_bytes(forged(raw, change))
        try:
            read_candidates(path, "one", some)
        except HyperspanError:
            continue
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {error!a}")


def test_every_field_of_a_second_look(tmp_path: Path, trained: Recognizer) -> None:
    trained.save(tmp_path / "a.model")
    raw = (tmp_path / "a.model").read_bytes()
    logging.disable()
    refused = harmless = 0
    try:
        for name, change in changes(raw):
            if "rescor" not in name:
                continue
            (tmp_path / "x").write_bytes(forged(raw, change))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    read = Recognizer.load(tmp_path / "x", n_threads=1)
                    read.summary()
                    read.predict(TRAIN[:3])
                    read.explain(TRAIN[0])
                harmless += 1
            except HyperspanError:
                refused += 1
            except Exception as error:
                pytest.fail(f"{name}: {type(error).__name__}: {error!a}")
    finally:
        logging.disable(logging.NOTSET)
    assert refused > harmless > 0


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("name",), "oracle", "there is no mention scorer 'oracle'; expected one of "),
        (("version",), 2, "its second look has version 2; this program reads version 1"),
        (("has_lexicon",), True, "its second look needs a lexicon that it does not have"),
        (("columns",), ["smell"], "its second look needs the columns ['smell']; expected some of ['lemma', 'pos']"),
    ],
)
def test_what_is_wrong_with_a_second_look_is_told(tmp_path: Path, trained: Recognizer, place, value, message) -> None:
    from forging import with_value

    trained.save(tmp_path / "a.model")
    raw = (tmp_path / "a.model").read_bytes()
    assert header_of(raw)["data"]["rescorer"]["name"] == "linear"
    (tmp_path / "x").write_bytes(forged(raw, with_value(("rescorer", *place), value)))
    with pytest.raises(ModelError) as caught:
        Recognizer.load(tmp_path / "x")
    assert message in str(caught.value)


def test_what_cannot_be_learned_is_told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"rescore is 'yes'; expected 'auto', 'on' or 'off'"):
        Recognizer(rescore="yes").fit(TRAIN)  # type: ignore[arg-type]
    with pytest.raises(LearningError, match=r"there are mentions in 1\. Give more documents, or rescore='off'"):
        Recognizer(**QUICK).fit(TRAIN[:2])
    with caplog.at_level(logging.WARNING):
        made = Recognizer(**QUICK | {"rescore": "auto"}).fit(TRAIN[:2])
    assert made.rescorer_ is None
    assert "no second look is taken" in caplog.text
    certain = [tuple(replace(mention, prob=0.9) for mention in sentence.mentions) for sentence in TRAIN]
    for candidates, message in (
        ([()] * len(TRAIN), "no mention of the 36 training sentences is found by a model that has not seen it, so a "),
        (certain, "every candidate in the 36 training sentences is right, so a second look has nothing to learn from"),
    ):
        monkeypatch.setattr(rescoring.Folds, "candidates", lambda self, found=candidates: found)
        with pytest.raises(LearningError, match=message):
            Recognizer(**QUICK).fit(TRAIN)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert Recognizer(**QUICK | {"rescore": "auto"}).fit(TRAIN).rescorer_ is None
        assert f"no second look is taken: {message}" in caplog.text


def without_mentions() -> list[Sentence]:
    return [sentence.with_mentions(()) for sentence in sentences(6)]


@pytest.mark.parametrize("rescore", ["on", "auto"])
def test_development_data_without_mentions_changes_nothing(rescore: str) -> None:
    """Training candidates then decide, as without development data."""
    options = QUICK | {"rescore": rescore}
    without, made = (Recognizer(**options).fit(TRAIN, dev=dev) for dev in (None, without_mentions()))
    assert made.summary()["rescoring"] == without.summary()["rescoring"]
    assert made.summary()["rescoring"]["measured_on"] == "train"
    assert made.threshold_ == without.threshold_
    assert (made.threshold_ != DEFAULT_THRESHOLD) == made.summary()["rescoring"]["kept"] == (rescore == "on")
    assert made.summary()["threshold_curve"] == without.summary()["threshold_curve"]
    found = made.predict(TRAIN)
    assert [list(map(repr, here)) for here in found] == [list(map(repr, here)) for here in without.predict(TRAIN)]


def test_nothing_is_learned_from_development_data_in_which_nothing_is_found() -> None:
    three_parts = Mention("Finding", [(0, 1), (2, 3), (4, 5)])  # more than the model can write
    dev = [Sentence(["no", "pain", "or", "rash", "seen"], [three_parts], doc=f"{number}") for number in range(9)]
    for rescore in ("on", "auto"):
        made = Recognizer(**QUICK | {"rescore": rescore}).fit(TRAIN, dev=dev)
        record = made.summary()["rescoring"]
        assert (record["slope"], record["shift"], record["measured_on"]) == (1.0, 0.0, "dev")
        assert record["kept"] == (rescore == "on")
        assert made.threshold_ == DEFAULT_THRESHOLD
        assert not made.summary()["threshold_curve"]


def test_one_sentence_is_too_little_to_decide_on() -> None:
    mention = Mention("A", [(0, 1)])
    better, worse = [[replace(mention, prob=0.9)]], [[replace(mention, prob=0.05)]]
    for n_times, is_enough in ((1, False), (2, True)):
        of_one = [ThresholdCurve.of([[mention]] * n_times, found * n_times) for found in (worse, better)]
        gain = rescoring.Gain(*of_one)
        assert gain.difference == 1.0 > gain.standard_error == 0.0
        assert gain.is_more_than_chance == is_enough


def test_skipped_templates_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Recognizer(**QUICK).fit(TRAIN)
    assert caplog.text.count("templates are skipped") == 1


def test_checkpoints_of_folds_are_removed_with_that_of_the_model(tmp_path: Path) -> None:
    for name in ("c", "c.fold1", "c.fold5.candidates", "c.other"):
        (tmp_path / name).touch()
    folds.remove_checkpoints(tmp_path / "c")
    assert [each.name for each in tmp_path.iterdir()] == ["c.other"]


@pytest.mark.parametrize("is_lost", [False, True])
def test_what_an_earlier_training_left_is_not_used(tmp_path: Path, is_lost: bool) -> None:
    """Not by a new training, nor if that is resumed, nor if the checkpoint of the model itself is lost."""
    path, other = tmp_path / "checkpoint", QUICK | {"features": "published"}
    seen: list[Any] = []

    def stop(record: Any) -> bool:
        seen.append(record)
        return len(seen) == 28

    with pytest.raises(Interrupted):
        Recognizer(**QUICK).fit(TRAIN, on_iteration=stop, checkpoint=path)
    assert list(tmp_path.glob("checkpoint.fold*.candidates"))
    if is_lost:
        path.unlink()
    else:
        with pytest.raises(Interrupted):
            Recognizer(**other).fit(TRAIN, on_iteration=lambda record: True, checkpoint=path)
    made, whole = Recognizer(**other).fit(TRAIN, checkpoint=path, resume=True), Recognizer(**other).fit(TRAIN)
    for name, each in (("made", made), ("whole", whole)):
        each.save(tmp_path / name)
    assert (tmp_path / "made").read_bytes() == (tmp_path / "whole").read_bytes()

"""Training, saving and predicting with an encoder."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")

from forging import forged
from hyperspan.annotation import candidates, uncertainties
from hyperspan.annotation.audit import _judged
from hyperspan.errors import HyperspanError, LearningError, ModelError, UsageError
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Interrupted, Recognizer

QUICK: dict[str, Any] = {
    "encoder_lr": 2e-3,
    "head_lr": 3e-3,
    "dropout": 0.1,
    "layers": 1,
    "batch_size": 8,
    "epochs": 2,
    "device": "cpu",
    "n_threads": 1,
}
"""Settings under which a network with random weights learns quickly."""


@pytest.fixture(scope="module")
def trained(encoder: str, some: list[Sentence]) -> Recognizer:
    return Recognizer(encoder=encoder, **QUICK | {"epochs": 8, "rescore": "on"}).fit(some, dev=some)


@pytest.fixture(scope="module")
def model(trained: Recognizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.model"
    trained.save(path)
    return path


def weights_of(recognizer: Recognizer) -> dict[str, np.ndarray]:
    arrays = {name: array for name, array in recognizer.scorer_.state()[1].items() if array.dtype == np.float32}
    if recognizer.rescorer_ is not None:
        data, of_second = recognizer.rescorer_.state()
        arrays |= {f"rescorer.{name}": array for name, array in of_second.items()} | {"mix": np.array(data["mix"])}
    return arrays


def same(first: Recognizer, second: Recognizer) -> bool:
    ours, theirs = weights_of(first), weights_of(second)
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("structure", ["shared", "linear", "segments"])
def test_a_tiny_encoder_learns_the_embedded_corpus(structure, encoder, sentences):
    train = [sentence for sentence in sentences if len({mention.type for mention in sentence.mentions}) == 1][:400]
    options = QUICK | {"structure": structure, "epochs": 10, "rescore": "off", "batch_size": 16}
    recognizer = Recognizer(encoder=encoder, **options).fit(train, dev=train[::2])
    assert recognizer.dev_scores_["all"]["f1"] > 0.9
    assert recognizer.evaluate(train).all.f1 > 0.9
    assert recognizer.n_iter_ == len(recognizer.training_log_)


def test_what_is_saved_predicts_the_same_elsewhere(trained, model, encoder, some, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moved = tmp_path / "moved"
    shutil.move(encoder, moved)  # the original is not needed
    try:
        again = Recognizer.load(model, n_threads=1)
        assert again.predict(some) == trained.predict(some)
        assert [[m.prob for m in here] for here in again.predict(some)] == [
            [m.prob for m in here] for here in trained.predict(some)
        ]
        assert again.encoder == "tiny", "where it stood is nobody's business"
        assert str(tmp_path) not in model.read_bytes().decode("latin-1")
        again.save(tmp_path / "again.model")
        assert (tmp_path / "again.model").read_bytes() == model.read_bytes()
    finally:
        shutil.move(moved, encoder)


def test_half_the_precision_is_half_the_file_and_changes_nothing_after(encoder, some, tmp_path):
    sizes = []
    for precision in ("float32", "float16"):
        recognizer = Recognizer(encoder=encoder, **QUICK, save_precision=precision, rescore="off").fit(some, dev=some)
        recognizer.save(tmp_path / precision)
        sizes.append((tmp_path / precision).stat().st_size)
        again = Recognizer.load(tmp_path / precision, n_threads=1)
        assert again.scorer_.describe()["precision"] == precision
        np.testing.assert_array_equal(again.scorer_.scores(some).scores, recognizer.scorer_.scores(some).scores)
    assert sizes[1] < 0.6 * sizes[0]


@pytest.mark.parametrize(("structure", "n_threads"), [("shared", 1), ("segments", 2)])
def test_training_is_the_same_for_the_same_seed(structure, n_threads, encoder, some):
    options = QUICK | {"encoder": encoder, "structure": structure, "n_threads": n_threads, "rescore": "on"}
    first, second, other = (Recognizer(**options, seed=seed).fit(some[:24], dev=some[24:36]) for seed in (1, 1, 2))
    assert same(first, second)
    assert not same(first, other)


@pytest.mark.parametrize("stop_at", [1, 4, 5, 7, 8, 9])
def test_stopped_and_resumed_training_ends_as_if_never_stopped(stop_at, encoder, some, tmp_path):
    train, dev, options = some[:24], some[24:40], QUICK | {"encoder": encoder, "epochs": 3, "rescore": "on"}
    whole = Recognizer(**options).fit(train, dev=dev)
    n_seen = 0

    def stop(record: Any) -> bool:
        nonlocal n_seen
        n_seen += 1
        return n_seen == stop_at

    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(Interrupted, match="training was stopped"):
        Recognizer(**options).fit(train, dev=dev, checkpoint=checkpoint, on_iteration=stop)
    resumed = Recognizer(**options).fit(train, dev=dev, checkpoint=checkpoint, resume=True)
    assert same(whole, resumed)
    assert whole.training_log_ == resumed.training_log_
    assert whole.predict(dev) == resumed.predict(dev)
    resumed.save(tmp_path / "model")
    assert not checkpoint.exists()


def test_a_checkpoint_of_other_data_is_refused(encoder, some, tmp_path):
    options, checkpoint = QUICK | {"encoder": encoder}, tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        Recognizer(**options).fit(some[:16], checkpoint=checkpoint, on_iteration=lambda _: True)
    with pytest.raises(ModelError, match="was made with other data or settings; resume with the same"):
        Recognizer(**options).fit(some[:15], checkpoint=checkpoint, resume=True)

    def spoil(header: Any, arrays: Any) -> None:
        name = next(name for name in arrays if name.startswith("mean."))
        arrays[name] = np.full_like(arrays[name], np.nan)

    checkpoint.write_bytes(forged(checkpoint.read_bytes(), spoil))
    with pytest.raises(ModelError, match=r"was not written by this program: .* not finite"):
        Recognizer(**options).fit(some[:16], checkpoint=checkpoint, resume=True)


def test_the_best_epoch_is_kept_and_patience_ends_training(encoder, some):
    options = QUICK | {"encoder": encoder, "epochs": 30, "patience": 2, "rescore": "off"}
    recognizer = Recognizer(**options).fit(some[:40], dev=some[40:])
    log = recognizer.training_log_
    assert len(log) < 30
    scores = [line["dev_f1"] for line in log]
    best = int(np.argmax(scores)) + 1
    assert log[-1]["stopped"] == f"no better for {len(log) - best} epochs; epoch {best} is the best"
    shorter = Recognizer(**options).fit(some[:40], dev=some[40:], on_iteration=lambda record: None)
    assert same(recognizer, shorter)


def test_a_frozen_encoder_stays_as_it_is(encoder, some):
    from hyperspan.neural.encoder import load_encoder

    recognizer = Recognizer(encoder=encoder, **QUICK, freeze=True, rescore="off").fit(some)
    before, after = load_encoder(encoder)[0].named_parameters(), weights_of(recognizer)
    assert all(np.array_equal(after[f"encoder.{name}"], tensor.detach().numpy()) for name, tensor in before)


def test_a_batch_of_one_is_a_batch_of_many(trained, some):
    together = trained.scorer_.scores(some)
    for number, sentence in enumerate(some[:10]):
        alone = trained.scorer_.scores([sentence])
        np.testing.assert_allclose(alone.scores, together.sentence(number).scores, atol=1e-4)


def test_every_word_of_every_sentence_has_scores(trained):
    strange = [Sentence(["\x07", "漢字", "\u200b"]), Sentence(["no"] * 700), Sentence(["a" * 300]), Sentence([])]
    batch = trained.scorer_.scores(strange)
    assert batch.scores.shape == (704, trained.structure_.n_labels)
    assert np.all(np.isfinite(batch.scores))
    assert len(trained.predict(strange)) == 4
    assert trained.scorer_.scores([]).scores.shape == (0, trained.structure_.n_labels)


def test_workers_find_what_one_process_finds(trained, some):
    alone = [unit.mentions for unit in trained.annotate(some)]
    assert [unit.mentions for unit in trained.annotate(some, n_workers=2)] == alone


@pytest.fixture(scope="module")
def reader(encoder: str, some: list[Sentence]) -> Recognizer:
    """A recognizer whose encoder reads the neighbours of a sentence."""
    return Recognizer(encoder=encoder, **QUICK | {"epochs": 4, "context": 20, "rescore": "off"}).fit(some, dev=some)


@pytest.fixture
def one_document(some: list[Sentence]) -> list[Sentence]:
    return [Sentence(sentence.tokens, doc="d") for sentence in some[:12]]


def test_documents_stay_together_for_an_encoder_that_reads_neighbours(reader, one_document, monkeypatch):
    whole = [[mention.prob for mention in unit.mentions] for unit in reader.annotate(one_document)]
    alone = [reader.predict([sentence])[0] for sentence in one_document]
    assert [[mention.prob for mention in here] for here in alone] != whole
    monkeypatch.setattr("hyperspan.recognizer.processes._BATCH_WORDS", 5)
    for n_workers in (1, 2):
        found = reader.annotate(one_document, n_workers=n_workers)
        assert [[mention.prob for mention in unit.mentions] for unit in found] == whole


def test_doubts_and_uncertainty_do_not_depend_on_where_batches_end(reader, one_document, monkeypatch):
    def found() -> tuple[list[float], list[float]]:
        gold = [sentence.with_mentions([Mention(reader.types_[0], [(0, 1)])]) for sentence in one_document]
        probs = [prob for _, _, probs, _ in _judged(reader, range(len(gold)), gold) for prob in probs.values()]
        return probs, [each.entropy for each in uncertainties(reader, candidates(one_document))]

    whole = found()
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 5)
    for pieces, once in zip(found(), whole, strict=True):
        np.testing.assert_allclose(pieces, once, rtol=1e-5)


def test_explain_reads_the_neighbours_that_prediction_reads(reader, one_document):
    found = list(reader.find(one_document, decode="probable", threshold=0.01))
    place = max(range(len(found)), key=lambda number: len(found[number].mentions))
    sentence, mentions = one_document[place], found[place].mentions
    explanation = reader.explain(sentence, document=one_document, threshold=0.01)
    assert explanation.sentence.mentions == mentions
    scores = reader.scorer_.scores(one_document).sentence(place).scores
    np.testing.assert_allclose(explanation.scores, scores, rtol=1e-4, atol=1e-5)
    assert np.abs(reader.explain(sentence).scores - scores).max() > 1e-3


def test_explain_names_the_words_that_moved_a_mention(trained, some):
    sentence = max(some, key=lambda each: len(each.mentions))
    explanation = trained.explain(sentence, mentions=sentence.mentions[:1], top=3)
    reasons = explanation.reasons[explanation.sentence.mentions[0]]
    assert 0 < len([reason for reason in reasons if reason.look == 1]) <= 3
    assert len([reason for reason in reasons if reason.look == 2]) <= 3
    assert any(reason.in_words == "what the encoder makes of it" for reason in reasons)
    assert all(np.isfinite(reason.amount) for reason in reasons)
    assert "what the encoder makes of it" in str(explanation)


def test_explain_is_not_disturbed_by_predictions_of_other_threads(trained, some, monkeypatch):
    sentence, pieces = max(some, key=lambda each: len(each.mentions)), trained.scorer_.pieces
    wanted, batch, here = trained.explain(sentence).as_dict(), pieces.batch, threading.get_ident()

    def batch_amid_others(windows):
        if threading.get_ident() == here:
            other = threading.Thread(target=trained.predict, args=(some[:2],))
            other.start()
            other.join()
        return batch(windows)

    monkeypatch.setattr(pieces, "batch", batch_amid_others)
    assert trained.explain(sentence).as_dict() == wanted


def test_gradient_times_input_is_what_a_change_of_input_does(trained):
    """Amounts are the slope of the moved score along the embedding of each word."""
    scorer = trained.scorer_
    sentence = Sentence(["no", "fever", "seen"])
    batch = scorer.scores([sentence])
    moved = np.zeros_like(batch.scores)
    moved[1, 1] = 1.0
    reasons = {reason.word: reason.amount for reason in scorer.explain(sentence, moved, 3)}
    step = 1e-3
    for word in range(3):
        sides = []
        for sign in (1.0, -1.0):
            (window,) = scorer.pieces.windows([sentence])[0]
            begin = window.first + sum(window.n_pieces[:word])
            places = slice(begin, begin + window.n_pieces[word])

            def stretch(module: Any, given: Any, made: Any, places=places, sign=sign) -> Any:
                made = made.clone()
                made[:, places] *= 1.0 + sign * step
                return made

            hook = scorer.network.encoder.get_input_embeddings().register_forward_hook(stretch)
            sides.append(scorer.scores([sentence]).scores[1, 1])
            hook.remove()
        assert reasons[word] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=2e-2)


def test_the_second_look_is_mixed_and_calibrated(trained, some):
    assert trained.rescorer_ is not None
    described = trained.rescorer_.describe()
    assert 0.0 <= described["mixing_weight"] <= 1.0
    summary = trained.summary()
    assert 0.0 <= summary["calibration_error"] <= 1.0
    assert summary["temperature"] > 0.0
    candidates = [here.mentions for here in trained.find(some, threshold=0.01)]
    assert all(0.0 <= (mention.prob or 0.0) <= 1.0 for here in candidates for mention in here)


def test_vectors_are_made_once_for_both_looks(trained, some, monkeypatch):
    n_read = 0
    original = type(trained.scorer_).vectors

    def counted(self: Any, sentences: Any) -> Any:
        nonlocal n_read
        n_read += len(sentences)
        return original(self, sentences)

    monkeypatch.setattr(type(trained.scorer_), "vectors", counted)
    trained.predict(some)
    assert n_read == len(some)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs is 0; expected a whole number from 1"),
        ({"encoder_lr": 0.0}, "encoder_lr is 0.0; expected a number above 0 and below 1"),
        ({"dropout": 1.0}, "dropout is 1.0; expected a number from 0 to below 1"),
        ({"context": -1}, "context is -1; expected a whole number of words from 0"),
        ({"device": "tpu"}, "device is 'tpu'; expected one of auto, cpu, cuda"),
        ({"precision": "float8"}, "precision is 'float8'; expected one of auto, float32, bfloat16"),
        ({"layers": 9}, "layers is 9, but the encoder has 2"),
        ({"encoder": "/nowhere/at/all"}, "the encoder '/nowhere/at/all' cannot be loaded"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message, encoder, some):
    with pytest.raises(UsageError, match=message):
        Recognizer(**{"encoder": encoder, **QUICK, **wrong}).fit(some[:4])


def test_a_gpu_that_is_not_there_is_said_to_be_missing(encoder, some):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UsageError, match="device is 'cuda', but torch sees no GPU here; choose 'cpu', or 'auto'"):
        Recognizer(encoder=encoder, **QUICK | {"device": "cuda"}).fit(some[:4])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_gpu_and_cpu_agree(trained, some):
    on_cpu = trained.scorer_.scores(some).scores
    try:
        on_gpu = trained.scorer_.to("cuda").scores(some).scores
    finally:
        trained.scorer_.to("cpu")
    np.testing.assert_allclose(on_gpu, on_cpu, atol=1e-2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_training_on_a_gpu_can_be_resumed(encoder, some, tmp_path):
    options, checkpoint = QUICK | {"encoder": encoder, "device": "cuda"}, tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        Recognizer(**options).fit(some[:24], checkpoint=checkpoint, on_iteration=lambda _: True)
    resumed = Recognizer(**options).fit(some[:24], checkpoint=checkpoint, resume=True)
    assert resumed.n_iter_ == 2
    assert all(np.all(np.isfinite(array)) for array in weights_of(resumed).values())


def forgeries() -> dict[str, Any]:
    def put(*path: Any, value: Any) -> Any:
        def change(header: Any, arrays: Any) -> None:
            place = header["data"]
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value

        return change

    def array(name: str, make: Any) -> Any:
        def change(header: Any, arrays: Any) -> None:
            arrays[name] = make(arrays[name])

        return change

    weight = "encoder.embeddings.word_embeddings.weight"
    return {
        "another size": put("encoder", "config", "hidden_size", value=10**6),
        "many layers": put("encoder", "config", "num_hidden_layers", value=10**9),
        "no such encoder": put("encoder", "config", "model_type", value="no-such-encoder"),
        "code of somebody": put("encoder", "config", "auto_map", value={"AutoModel": "evil--code.Model"}),
        "config is a text": put("encoder", "config", value="bert"),
        "hot": put("encoder", "temperature", value=float("nan")),
        "layers": put("encoder", "layers", value=400),
        "window": put("encoder", "longest", value=2**40),
        "unknown piece": put("encoder", "unknown", value=10**6),
        "a mix of texts": put("rescorer", "mix", value=["a", "b", "c"]),
        "a rescorer of features": put("rescorer", "name", value="no-such"),
        "no tokenizer": array("tokenizer", lambda old: old[:100].copy()),
        "a tokenizer of numbers": array("tokenizer", lambda old: old.astype(np.float32)),
        "not numbers": array(weight, lambda old: np.full_like(old, np.nan)),
        "few pieces": array(weight, lambda old: old[:10].copy()),
        "a missing array": lambda header, arrays: arrays.pop(weight),
    }


@pytest.mark.parametrize("name", forgeries())
def test_forged_files_are_refused_or_do_no_harm(name, model, some, tmp_path):
    path = tmp_path / "forged.model"
    path.write_bytes(forged(model.read_bytes(), forgeries()[name]))
    harmless = ("code of somebody",)
    if name in harmless:
        Recognizer.load(path, n_threads=1).predict(some[:3])
        return
    with pytest.raises(HyperspanError) as caught:
        Recognizer.load(path, n_threads=1).predict(some[:3])
    assert isinstance(caught.value, ModelError)


def test_without_torch_a_sentence_says_what_to_install(monkeypatch):
    import importlib
    import importlib.util

    import hyperspan.neural
    from hyperspan.errors import MissingExtraError

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, package=None: None if name == "torch" else found(name, package)
    )
    message = r"The scorer 'neural' needs the package 'torch'\. Install it with: .*pip install .*torch"
    with pytest.raises(MissingExtraError, match=message):
        importlib.reload(hyperspan.neural)


def test_the_scorer_is_found_by_its_entry_point():
    from importlib.metadata import entry_points

    (entry,) = entry_points(group="hyperspan.scorers", name="neural")
    assert entry.value == "hyperspan.neural"


def test_no_development_data_is_no_obstacle(encoder, some):
    recognizer = Recognizer(encoder=encoder, **QUICK).fit(some[:16])
    assert recognizer.rescorer_ is None
    assert recognizer.scorer_.temperature == 1.0
    assert recognizer.training_log_[-1]["stopped"] == "2 epochs"
    assert len(recognizer.predict(some[:4])) == 4


@pytest.mark.parametrize("rescore", ["on", "auto"])
def test_no_second_look_is_taken_with_a_head_that_was_not_trained(rescore, encoder, some, monkeypatch, caplog):
    """The first epoch trains none; its weights are kept if later epochs are worse."""
    monkeypatch.setattr("hyperspan.neural.training.Learner._dev_f1", lambda learner, n_epochs: 1.0 / n_epochs)
    recognizer = Recognizer(encoder=encoder, **QUICK, rescore=rescore).fit(some[:16], dev=some[16:24])
    assert recognizer.training_log_[-1]["stopped"] == "2 epochs; epoch 1 is the best"
    assert recognizer.rescorer_ is None
    assert "no second look is taken: epoch 1 is the best, and had not trained one" in caplog.text


@pytest.mark.parametrize("dev", [None, [Sentence(["nothing"])]], ids=["none", "no mention"])
def test_a_second_look_needs_development_data_with_mentions(encoder, some, dev):
    with pytest.raises(LearningError, match="with an encoder, a second look needs development data with mentions"):
        Recognizer(encoder=encoder, **QUICK, rescore="on").fit(some[:16], dev=dev)
    made = Recognizer(encoder=encoder, **QUICK, rescore="auto").fit(some[:16], dev=dev)
    assert made.rescorer_ is None


def test_development_data_may_have_other_types(encoder, some):
    words = some[0].tokens
    other = Sentence(words, [Mention("Never seen", [(0, 1)])])
    recognizer = Recognizer(encoder=encoder, epochs=1, layers=1, n_threads=1, device="cpu").fit(
        some, dev=[*some, other]
    )
    assert "Never seen" not in recognizer.types_
    assert recognizer.dev_scores_["all"]["fn"] >= 1


def test_mentions_that_are_not_there_can_be_asked_for(trained, some):
    sentence = Sentence(["no", "fever"])
    mention = Mention(trained.types_[0], [(0, 2)])
    assert trained.explain(sentence, mentions=[mention]).reasons

"""Model files: what is saved comes back, the same training gives the same bytes, and damage is told in a sentence."""

from __future__ import annotations

import errno
import os
import pickletools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from forging import forged, header_of
from hyperspan.errors import ModelError
from hyperspan.features import Clusters, Lexicon
from hyperspan.inference.registry import _tell_old_name
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.model_file import FORMAT_VERSION, read_arrays, write_arrays
from hyperspan.recognizer.serialization import write_model
from hyperspan.text import annotator

QUICK = {"max_components": 2, "max_iterations": 15}
SENTENCES = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])], doc="a"),
    Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])], doc="b"),
    Sentence(["blood", "and", "dark", "stool"], [Mention("Finding", [(0, 1), (3, 4)])], doc="c"),
    Sentence(["some", "aspirin", "was", "given"], [Mention("Drug", [(1, 2)])], doc="d"),
] * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model in it."""
    path = tmp_path_factory.mktemp("models")
    Recognizer(**QUICK).fit(SENTENCES, dev=SENTENCES).save(path / "a.model")
    return path


def with_probs(found: list[list[Mention]]) -> list[list[tuple[Mention, float | None]]]:
    return [[(mention, mention.prob) for mention in mentions] for mentions in found]


# Arrays and data


def test_arrays_and_data_come_back(tmp_path: Path):
    arrays = {
        "b": np.arange(6.0).reshape(2, 3),
        "a": np.array([], dtype=np.int32),
        "turned": np.arange(6).reshape(2, 3).T,
        "hashes": np.array([2**64 - 1], dtype=np.uint64),
    }
    data = {"names": ["é", "\ud800"], "number": 0.1, "nothing": None}
    write_arrays(tmp_path / "x", "model", data, arrays)
    read_data, read = read_arrays(tmp_path / "x", "model")
    assert read_data == data
    assert sorted(read) == sorted(arrays)
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


def test_the_order_of_what_is_written_does_not_matter(tmp_path: Path):
    one, two = np.arange(3), np.ones(2)
    write_arrays(tmp_path / "x", "model", {"a": 1, "b": 2}, {"one": one, "two": two})
    write_arrays(tmp_path / "y", "model", {"b": 2, "a": 1}, {"two": two, "one": one})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


# Models


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"structure": "linear", "features": "published"},
        {"structure": "split", "distribution": "mention-sets", "decode": "enough"},
        {"structure": "mention", "distribution": "derivations", "threshold": 0.4},
        {"l2": "auto"},
    ],
    ids=str,
)
def test_a_loaded_model_finds_the_same(tmp_path: Path, options: dict[str, Any]):
    recognizer = Recognizer(**QUICK, **options).fit(SENTENCES)
    recognizer.save(tmp_path / "m")
    loaded = Recognizer.load(tmp_path / "m")
    assert with_probs(loaded.predict(SENTENCES)) == with_probs(recognizer.predict(SENTENCES))
    assert loaded.summary() == recognizer.summary()
    assert loaded.get_params() == recognizer.get_params()
    assert repr(loaded) == repr(recognizer)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_an_old_model_of_the_distribution_published_predicts_as_before(tmp_path: Path, caplog):
    """Files of that name hold the prior they were trained with; nothing is trained again."""
    recognizer = Recognizer(**QUICK, distribution="mention-sets").fit(SENTENCES)
    settings = replace(recognizer._settings(), distribution="derivations")
    model = replace(recognizer._learned(), distribution="derivations")
    object.__setattr__(settings, "distribution", "published")
    write_model(tmp_path / "old", settings, model, recognizer._learning())
    _tell_old_name.cache_clear()
    old = [Recognizer.load(tmp_path / "old") for _ in range(2)][1]
    assert [record.message for record in caplog.records if "is now called" in record.message] == [
        "the distribution 'published' is now called 'derivations': that the paper summed over derivations is our "
        "guess, not its formula. It is trained without a prior now; a model that was trained with one keeps it"
    ]
    assert old.distribution == "derivations"
    assert old.scorer_.parameters.base_score.any()
    assert with_probs(old.predict(SENTENCES)) == with_probs(recognizer.predict(SENTENCES))


def test_the_same_training_gives_the_same_bytes_whatever_the_threads(folder: Path, tmp_path: Path):
    for n_threads in (1, 2, 3):
        Recognizer(**QUICK, n_threads=n_threads).fit(SENTENCES, dev=SENTENCES).save(tmp_path / "b.model")
        assert (tmp_path / "b.model").read_bytes() == (folder / "a.model").read_bytes()


def test_another_training_gives_other_bytes(folder: Path, tmp_path: Path):
    Recognizer(**QUICK, l2=0.4).fit(SENTENCES, dev=SENTENCES).save(tmp_path / "b.model")
    assert (tmp_path / "b.model").read_bytes() != (folder / "a.model").read_bytes()


def test_no_path_time_or_thread_is_in_it(tmp_path: Path):
    templates = tmp_path / "secret" / "mine.toml"
    templates.parent.mkdir()
    templates.write_text('[words]\nhere = "word[0]"\n', encoding="utf-8")
    sentences = [
        Sentence(sentence.tokens, sentence.mentions, place=str(tmp_path / "secret" / "x.jsonl"))
        for sentence in SENTENCES
    ]
    recognizer = Recognizer(**QUICK, features=templates, n_threads=1).fit(sentences)
    recognizer.save(tmp_path / "m")
    raw = (tmp_path / "m").read_bytes()
    for word in (b"secret", str(tmp_path).encode(), b"thread", b"seconds", b"date"):
        assert word not in raw[: 8 + int.from_bytes(raw[:8], "little")]
    assert Recognizer.load(tmp_path / "m").scorer_.extractor.templates.source == "mine.toml"


def test_clusters_and_lexicon_travel_inside(tmp_path: Path):
    paths = tmp_path / "paths"
    paths.write_text("0\tblood\t5\n0\tstool\t3\n10\taspirin\t2\n11\tno\t2\n", encoding="utf-8")
    lexicon = Lexicon.from_entries([("aspirin", "drug"), ("dark stool", "sign"), ("stomach", "place")])
    without = Recognizer(**QUICK).fit(SENTENCES)
    recognizer = Recognizer(**QUICK, clusters=Clusters.load(paths), lexicon=lexicon).fit(SENTENCES)
    assert recognizer.n_features_ > without.n_features_
    recognizer.save(tmp_path / "m")
    paths.unlink()
    loaded = Recognizer.load(tmp_path / "m")
    unseen = [Sentence(["dark", "stool", "and", "aspirin"]), Sentence(["no", "stomach"])]
    assert with_probs(loaded.predict(unseen)) == with_probs(recognizer.predict(unseen))
    assert loaded.clusters is not None
    assert loaded.lexicon is not None
    again = loaded.fit(SENTENCES)
    assert again.weights_.tobytes() == recognizer.weights_.tobytes()
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_what_auto_meant_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hyperspan.recognizer.recognizer.annotator_named", lambda name: annotator("none"))
    Recognizer(**QUICK, annotator="auto").fit(SENTENCES).save(tmp_path / "m")
    assert Recognizer.load(tmp_path / "m").annotator == "none"


def _as_before(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Make a file of one written before features shared rows and had names."""
    rows, first = arrays.pop("row_of_feature"), arrays["first_pair"]
    biases = len(arrays["weights"]) - len(arrays["pair_label"])
    spread = np.concatenate([np.arange(first[row], first[row + 1]) for row in rows])
    arrays["first_pair"] = np.concatenate([[0], np.cumsum(np.diff(first)[rows])])
    arrays["pair_label"] = arrays["pair_label"][spread]
    arrays["weights"] = np.concatenate([arrays["weights"][:biases], arrays["weights"][biases:][spread]])
    del header["data"]["feature_names"]


def test_files_from_before_rows_and_names_are_read(folder: Path, tmp_path: Path):
    (tmp_path / "old").write_bytes(forged((folder / "a.model").read_bytes(), _as_before))
    new, old = Recognizer.load(folder / "a.model"), Recognizer.load(tmp_path / "old")
    assert with_probs(old.predict(SENTENCES)) == with_probs(new.predict(SENTENCES))
    assert all(feature["feature"].startswith("#") for features in old.strongest().values() for feature in features)


def test_there_is_no_pickle_in_it(folder: Path):
    raw = (folder / "a.model").read_bytes()
    with pytest.raises(ValueError):
        list(pickletools.genops(raw))
    assert header_of(raw)["format_version"] == FORMAT_VERSION


# Damage


def refused(path: Path, kind: str = "model") -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(ModelError) as caught:
        read_arrays(path, kind) if kind != "model" else Recognizer.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_file_that_is_not_there(tmp_path: Path):
    assert "there is no model file" in refused(tmp_path / "nothing")
    assert "there is no model file" in refused(tmp_path)


@pytest.mark.parametrize("raw", [b"", b"{}", b"hello world, this is text\n" * 9, b"\xff" * 64, bytes(16)], ids=repr)
def test_a_file_of_something_else(tmp_path: Path, raw: bytes):
    (tmp_path / "x").write_bytes(raw)
    assert "is not a model file, or it is damaged" in refused(tmp_path / "x")


def test_somebody_elses_arrays(tmp_path: Path):
    (tmp_path / "x").write_bytes(save({"weights": np.zeros(3)}))
    assert "is not a model file, or it is damaged (KeyError); copy it again, or train again" in refused(tmp_path / "x")
    for text in ("[]", "3", '"model"', "null", "{}", "not json", "[" * 100_000):
        (tmp_path / "x").write_bytes(save({"weights": np.zeros(3)}, {"hyperspan": text}))
        refused(tmp_path / "x")


def test_a_truncated_file(folder: Path, tmp_path: Path):
    raw = (folder / "a.model").read_bytes()
    for length in (1, 7, 8, 100, len(raw) // 2, len(raw) - 1):
        (tmp_path / "x").write_bytes(raw[:length])
        assert "damaged" in refused(tmp_path / "x")


def test_a_file_with_a_tail(folder: Path, tmp_path: Path):
    (tmp_path / "x").write_bytes((folder / "a.model").read_bytes() + b"tail")
    refused(tmp_path / "x")


def test_an_altered_byte_anywhere_is_noticed_or_says_the_same(folder: Path, tmp_path: Path):
    raw = (folder / "a.model").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    rng = np.random.default_rng(0)
    places = [*range(12), *rng.integers(8, 8 + length, 120), *rng.integers(8 + length, len(raw), 60), len(raw) - 1]
    n_refused = 0
    for place in map(int, places):
        altered = bytearray(raw)
        altered[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "x").write_bytes(altered)
        try:
            data, arrays = read_arrays(tmp_path / "x", "model")
        except ModelError:
            n_refused += 1
        else:  # white space, say
            known, known_arrays = read_arrays(folder / "a.model", "model")
            assert data == known
            assert all(np.array_equal(array, known_arrays[name]) for name, array in arrays.items())
    assert n_refused > 0.95 * len(places)


def test_a_newer_version(folder: Path, tmp_path: Path):
    raw = forged(
        (folder / "a.model").read_bytes(), lambda header, arrays: header.update(format_version=FORMAT_VERSION + 1)
    )
    (tmp_path / "x").write_bytes(raw)
    assert "has format version 2; this program reads version 1. Install the version of hyperspan" in refused(
        tmp_path / "x"
    )


def test_another_kind(folder: Path, tmp_path: Path):
    write_arrays(tmp_path / "x", "checkpoint", {}, {})
    assert "holds 'checkpoint', not a model; name a model file" in refused(tmp_path / "x")
    assert "holds 'model', not a checkpoint" in refused(folder / "a.model", "checkpoint")


def _drop(name: str) -> Any:
    return lambda header, arrays: header["data"].pop(name)


def _set(name: str, value: Any) -> Any:
    return lambda header, arrays: header["data"].update({name: value})


def _setting(name: str, value: Any) -> Any:
    return lambda header, arrays: header["data"]["settings"].update({name: value})


def _array(name: str, value: Any) -> Any:
    return lambda header, arrays: arrays.update({name: value(arrays[name])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_array("weights", lambda weights: np.full_like(weights, np.nan)), "has weights that are not numbers"),
        (_array("weights", lambda weights: weights[:-1]), "does not have as many weights as its features need"),
        (_array("weights", lambda weights: weights.astype(np.float32)), "does not have as many weights"),
        (_array("pair_label", lambda label: label + 1_000), "the places of its weights do not fit"),
        (_array("pair_label", lambda label: -label - 1), "the places of its weights do not fit"),
        (_array("first_pair", lambda first: first[::-1].copy()), "the places of its weights do not fit"),
        (_array("first_pair", lambda first: first[:0]), "the places of its weights do not fit"),
        (_array("dense_label", lambda label: label + 1_000), "the places of its weights do not fit"),
        (_array("base_score", lambda base: base[:1]), "the places of its weights do not fit"),
        (_array("features.feature_hash", lambda hashes: np.ones_like(hashes)), "was not written by this program"),
        (_array("features.feature_hash", lambda hashes: hashes[:5]), "the places of its weights do not fit"),
        (_set("feature_names", {"100000": "word=x"}), "it names features that it does not have"),
        (_set("feature_names", {"many": "word=x"}), "was not written by this program"),
        (_set("feature_names", []), "was not written by this program"),
        (_set("annotator", 3), "was not written by this program"),
        (_drop("types"), "was not written by this program: Object missing required field 'types'"),
        (_drop("settings"), "missing required field 'settings'"),
        (lambda header, arrays: arrays.pop("weights"), "lacks 'weights'"),
        (lambda header, arrays: header.update(data=[]), "lacks its settings"),
        (_set("types", []), "was not written by this program"),
        (_set("types", 3), "was not written by this program"),
        (_set("features", {}), "was not written by this program"),
        (_set("features", []), "was not written by this program"),
        (_set("settings", []), "was not written by this program"),
        (_setting("structure", "tree"), "was not written by this program"),
        (_setting("max_components", 3), "do not fit"),
        (_setting("surprise", 1), "was not written by this program"),
        # Decoders are a registry, so the file's is looked up there and not in a fixed list.
        (_setting("decode", "best"), "decode is 'best'; expected one of probable, enough, all"),
    ],
    ids=lambda value: value if isinstance(value, str) else "change",
)
def test_what_a_forger_might_write_is_refused_with_a_sentence(folder: Path, tmp_path: Path, change: Any, message: str):
    (tmp_path / "x").write_bytes(forged((folder / "a.model").read_bytes(), change))
    assert message in refused(tmp_path / "x")


# A full disk


def test_a_full_disk_is_a_sentence_and_the_old_file_stays(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    recognizer = Recognizer.load(folder / "a.model")
    recognizer.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ModelError, match=r"cannot write the model .*: No space left on device\. What was there before"):
        recognizer.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]

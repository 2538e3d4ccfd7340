"""Whatever a forger writes into a model or a checkpoint is refused when it is read, or does no harm."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forging import arrays_of, changes, changes_of_arrays, forged, header_of, with_value
from hyperspan.errors import HyperspanError, ModelError, UsageError
from hyperspan.features import Clusters, Lexicon
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer, checkpoint
from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.text.annotators import check_named_by_file

QUICK: dict[str, Any] = {"max_components": 2, "max_iterations": 4, "n_threads": 1}
SENTENCES = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])], doc="a"),
    Sentence(["blood", "and", "dark", "stool"], [Mention("Finding", [(0, 1), (3, 4)])], doc="c"),
    Sentence(["some", "aspirin", "was", "given"], [Mention("Drug", [(1, 2)])], doc="d"),
]


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """Thousands of warnings tell nothing, and some hold what no terminal can show."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def model(path: Path, **options: Any) -> Path:
    Recognizer(**QUICK | options).fit(SENTENCES, dev=SENTENCES).save(path)
    return path


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    paths = tmp_path_factory.mktemp("clusters") / "paths"
    paths.write_text("0\tblood\t5\n10\tstool\t3\n11\taspirin\t2\n", encoding="utf-8")
    lexicon = Lexicon.from_entries([("aspirin", "drug"), ("dark stool", "sign"), ("stomach", "place")])
    return {"clusters": Clusters.load(paths), "lexicon": lexicon}


def use(path: Path) -> None:
    """Do all that a model is for."""
    recognizer = Recognizer.load(path, n_threads=1)
    assert recognizer.n_threads == 1
    recognizer.summary()
    recognizer.strongest(top=2)
    repr(recognizer)
    recognizer.predict(SENTENCES)
    recognizer.explain(SENTENCES[0])


@pytest.mark.parametrize(
    "options",
    [{}, {"structure": "linear"}, {"distribution": "mention-sets", "structure": "split"}, {"structure": "segments"}],
    ids=str,
)
def test_every_field_of_a_model(tmp_path: Path, options: dict[str, Any], resources: dict[str, Any]):
    raw = model(tmp_path / "a.model", **options, **({} if options else resources)).read_bytes()
    harmless = refused = 0
    # What the data may be does not depend on the structure.
    for name, change in changes_of_arrays(arrays_of(raw)) if options else changes(raw):
        (tmp_path / "x").write_bytes(forged(raw, change))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # extreme weights that are numbers all the same
                use(tmp_path / "x")
            harmless += 1
        except HyperspanError:
            refused += 1
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {str(error)!a}")
    assert refused > harmless


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Checkpoints: of a first search, and of a last one with a note beside it."""
    folder = tmp_path_factory.mktemp("checkpoints")
    made = {}
    for name, options in (("one", {}), ("auto", {"l2": "auto"})):
        path = folder / name
        seen: list[Any] = []

        def stop(record: Any, seen: list[Any] = seen) -> bool:
            seen.append(record)
            return len(seen) == 3

        with pytest.raises(Interrupted):
            Recognizer(**QUICK | options).fit(SENTENCES * 4, on_iteration=stop, checkpoint=path)
        made[name] = path.read_bytes()
    made["note"] = with_note(made["one"])
    return made


def with_note(raw: bytes) -> bytes:
    log = header_of(raw)["data"]["search"]["records"]
    return forged(raw, with_value(("note",), {"l2": 0.5, "threshold": 0.3, "dev_scores": {}, "log": log}))


@pytest.mark.parametrize("name", ["one", "auto", "note"])
def test_every_field_of_a_checkpoint(tmp_path: Path, saved: dict[str, bytes], name: str):
    raw = saved[name]
    options = QUICK | ({"l2": "auto"} if name == "auto" else {})
    harmless = refused = 0
    for change_name, change in changes(raw):
        (tmp_path / "c").write_bytes(forged(raw, change))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                checkpoint.read_note(tmp_path / "c")
                Recognizer(**options).fit(SENTENCES * 4, checkpoint=tmp_path / "c", resume=True)
            harmless += 1
        except HyperspanError:
            refused += 1
        except Exception as error:
            pytest.fail(f"{change_name}: {type(error).__name__}: {str(error)!a}")
    assert refused > harmless


def test_what_remembers_too_little_is_refused(tmp_path: Path, saved: dict[str, bytes]):
    """It was a segmentation fault."""

    def cut(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["remembered"] = arrays["remembered"][:, :1].copy()

    (tmp_path / "c").write_bytes(forged(saved["one"], cut))
    with pytest.raises(ModelError, match=r"c was not written by this program: the array 'remembered' is float32"):
        Recognizer(**QUICK).fit(SENTENCES * 4, checkpoint=tmp_path / "c", resume=True)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("threshold",), None, "Expected 'float', got 'null' - at '$.threshold'"),
        (("annotator",), 3, "Expected 'object', got 'int' - at '$.annotator'"),
        (("training_log",), [], "Expected 'array' of length >= 1 - at '$.training_log'"),
        (("dev_scores",), "x", "Expected 'object', got 'str' - at '$.dev_scores'"),
        (("settings", "n_threads"), 64, "settings: Object contains unknown field 'n_threads'"),
        (
            ("settings", "annotator"),
            "spacy:/tmp/evil",
            "it names the annotator 'spacy:/tmp/evil', which is not an installed package; a file may not choose",
        ),
    ],
)
def test_what_was_found_is_told(tmp_path: Path, place: tuple[str, ...], value: Any, message: str):
    raw = model(tmp_path / "a.model").read_bytes()
    (tmp_path / "x").write_bytes(forged(raw, with_value(place, value)))
    with pytest.raises(ModelError) as caught:
        Recognizer.load(tmp_path / "x")
    assert f"{tmp_path / 'x'} was not written by this program: {message}" in str(caught.value)


@pytest.mark.parametrize("name", ["spacy:.", "spacy:..", "spacy:/", "hanta+spacy:folder", "spacy:", "spacy: ", "a:b"])
def test_files_do_not_choose_folders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="which is not an installed package"):
        check_named_by_file(name)


def test_files_may_name_packages():
    check_named_by_file("none")
    check_named_by_file("spacy+simplemma")
    check_named_by_file("spacy:numpy")  # is no spaCy model, but is installed: nobody is let in

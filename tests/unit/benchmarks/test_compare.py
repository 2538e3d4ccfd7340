"""Two checkouts side by side: turns, medians, ratios, and results that must be the same."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from benchmarks import compare as comparing
from benchmarks.commands import Usage, empty_cache, first_starts, run_python
from benchmarks.compare import SCRIPTS, Answer, Checkout, Measure, Pair, compare, pairs_of, show
from benchmarks.data import Data
from benchmarks.harness import Disagreement, Figure
from benchmarks.measured import iteration, loading, memory, prediction, training, version
from benchmarks.setting import Setting
from hyperspan import Recognizer, corpora

NEW = Checkout(Path("new"), sys.executable, {"commit": "b"})
OLD = Checkout(Path("old"), sys.executable, {"commit": "a"})

MEASURED = sorted(path for path in SCRIPTS.glob("*.py") if path.stem != "__init__")


@pytest.fixture
def told(monkeypatch):
    """Let checkouts answer what a test says, and return who was asked, in turn."""
    asked: list[str] = []
    values = {"new": iter([3.0, 1.0, 2.0]), "old": iter([4.0, 5.0, 6.0])}

    def ask(checkout: Checkout) -> Answer:
        asked.append(checkout.path.name)
        return Answer({"": {"seconds": next(values[checkout.path.name])}}, {"objective": 1.0})

    monkeypatch.setattr(comparing, "MEASURES", {"work": Measure(lambda _: {"linear": ask}, (3, 3))})
    monkeypatch.setattr(Checkout, "at", lambda _: NEW)
    monkeypatch.setattr(comparing.Files, "prepare", lambda _: None)
    return asked


def test_checkouts_take_turns_and_the_first_one_changes(told, capsys):
    comparison = compare(Setting(quick=True), OLD)
    assert told == ["old", "new", "new", "old", "old", "new"]
    (pair,) = comparison.pairs
    assert (pair.new, pair.old) == (Figure(2.0, 1.0, 3.0), Figure(5.0, 4.0, 6.0))
    assert comparison.agrees
    show(comparison)
    assert capsys.readouterr().out == "work: seconds\n  linear  new 2 (1 to 3); old 5 (4 to 6); ratio 0.400\n"


def test_the_document_says_what_figures_depend_on(told):
    document = json.loads(json.dumps(compare(Setting(quick=True, threads=3), OLD).as_dict()))
    assert document["checkouts"] == {"new": {"commit": "b"}, "old": {"commit": "a"}}
    assert document["env"]["threads"] == 3
    (row,) = document["rows"]
    assert row["ratio"] == 0.4
    assert row["worse"] is False
    assert row["old_spread"] == [4.0, 6.0]


def test_results_that_differ_are_told(monkeypatch, told, capsys):
    answers = {
        "new": Answer({"": {}}, {"hash": "x", "sum": 1.0}),
        "old": Answer({"": {}}, {"hash": "y", "sum": 1.0}),
    }
    measure = Measure(lambda _: {"shared": lambda checkout: answers[checkout.path.name]}, (1, 1))
    monkeypatch.setattr(comparing, "MEASURES", {"work": measure})
    comparison = compare(Setting(quick=True), OLD)
    assert not comparison.agrees
    show(comparison)
    assert capsys.readouterr().out == "different results: work, shared: the hash is x here and y there\n"


@pytest.mark.parametrize(
    ("unit", "new", "is_worse"),
    [
        ("seconds", 1.04, False),
        ("seconds", 1.06, True),
        ("tokens a second", 0.94, True),
        ("tokens a second", 1.5, False),
    ],
)
def test_what_is_worse_depends_on_the_unit(unit, new, is_worse):
    pair = Pair(measure="m", name="n", unit=unit, new=Figure(new, new, new), old=Figure(1.0, 1.0, 1.0))
    assert pair.is_worse is is_worse


def test_states_and_units_are_rows_of_their_own():
    answer = Answer({"cold cache": {"seconds": 9.0, "CPU seconds": 12.0}, "warm cache": {"seconds": 1.0}})
    pairs = list(pairs_of("start", "first train", [answer], [answer]))
    assert [(pair.name, pair.unit) for pair in pairs] == [
        ("first train, cold cache", "seconds"),
        ("first train, cold cache", "CPU seconds"),
        ("first train, warm cache", "seconds"),
    ]
    assert all(pair.ratio == 1.0 for pair in pairs)


def test_every_measurement_has_its_rounds_and_its_script():
    assert list(comparing.MEASURES) == ["iteration", "prediction", "loading", "memory", "start"]
    scripts = {path.stem for path in MEASURED}
    assert scripts == {"iteration", "prediction", "loading", "memory", "training", "version"}


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_scripts_use_only_what_every_version_has(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
            assert names <= {*sys.stdlib_module_names, "hyperspan"}
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            first = (node.module or "").split(".")[0]
            assert first in sys.stdlib_module_names or (
                node.module == "hyperspan" and names <= {"Recognizer", "corpora"}
            )


@pytest.fixture(scope="module")
def request_of(tmp_path_factory):
    """What scripts are asked: a tiny corpus, texts and a model."""
    folder = tmp_path_factory.mktemp("compare")
    data = Data("demo", most_tokens=300)
    corpora.write(data.sentences, folder / "train.jsonl")
    corpora.write(data.texts(200), folder / "texts.jsonl")
    request = {
        "corpus": str(folder / "train.jsonl"),
        "texts": str(folder / "texts.jsonl"),
        "model": str(folder / "model"),
        "n_tokens": 200,
        "short": 2,
        "long": 4,
        "passes": 2,
        "threads": 1,
        "structure": "linear",
        "decode": "enough",
    }
    assert training.main(request) == {"values": {}, "results": {}}
    return request


def test_the_time_of_an_iteration_comes_with_the_objective(request_of, monkeypatch):
    trained = Recognizer(structure="linear", tolerance=0.0, max_iterations=2, n_threads=1).fit(
        corpora.stream(request_of["corpus"])
    )
    seconds = {3: (90.0, 90.0), 2: (10.0, 15.0), 4: (16.0, 31.0)}
    fit = iteration.fit
    monkeypatch.setattr(iteration, "fit", lambda *given: (*seconds[given[1]], fit(*given)[2]))
    assert iteration.main(request_of) == {
        "values": {"seconds": 3.0, "CPU seconds": 8.0},
        "results": {"objective": trained.training_log_[-1]["objective"]},
    }


def test_prediction_comes_with_what_was_found(request_of):
    answer = prediction.main(request_of)
    assert all(value > 0.0 for value in answer["values"].values())
    found = list(Recognizer.load(request_of["model"]).annotate(corpora.stream(request_of["texts"]), decode="enough"))
    assert answer["results"]["number of mentions"] == sum(len(text.mentions) for text in found)
    assert prediction.main(request_of)["results"] == answer["results"]


def test_loading_and_memory_are_measured(request_of):
    assert loading.main(request_of)["values"]["milliseconds"] > 0.0
    assert memory.main(request_of)["values"]["megabytes"] >= 0.0
    assert Path(version.main()["path"]).name == "__init__.py"


def test_a_process_that_fails_is_told_with_what_it_said():
    with pytest.raises(Disagreement, match=r"(?s)ended with exit code 1: .*no such thing"):
        run_python("-c", "raise SystemExit('no such thing')")


def test_time_of_the_processor_is_that_of_the_process():
    _, usage = run_python("-c", "sum(range(3_000_000))")
    assert usage.cpu > 0.0
    assert usage.wall > 0.0


def test_a_cold_start_has_an_empty_cache_and_the_warm_one_what_it_left(monkeypatch):
    seen = []

    def run(*arguments, environment, **_):
        folder = Path(environment["NUMBA_CACHE_DIR"])
        seen.append((arguments, sorted(path.name for path in folder.iterdir())))
        (folder / "compiled").touch()
        return Usage(1.0, 2.0)

    monkeypatch.setattr("benchmarks.commands.run_hyperspan", run)
    found = first_starts({"predict": ["predict", "m"], "train": ["train", "c"]})
    assert seen == [
        (("predict", "m"), []),
        (("predict", "m"), ["compiled"]),
        (("train", "c"), []),
        (("train", "c"), ["compiled"]),
    ]
    assert found["train"] == {"cold": Usage(1.0, 2.0), "warm": Usage(1.0, 2.0)}
    with empty_cache() as environment:
        folder = Path(environment["NUMBA_CACHE_DIR"])
    assert not folder.exists()

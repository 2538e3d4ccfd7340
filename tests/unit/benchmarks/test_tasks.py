"""The tasks: their rows at the smallest sizes, with peers and without, and what happens when results differ."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import benchmarks.tasks
from benchmarks import harness, process
from benchmarks.commands import Usage
from benchmarks.data import as_one_type
from benchmarks.harness import NOT_INSTALLED, Disagreement, Figure, in_turns
from benchmarks.problem import SEEN_ONLY, problem
from benchmarks.setting import Setting
from benchmarks.tasks import TASKS, brown, features, limit, prediction, rescoring, run, spark, startup, sweeps
from benchmarks.tasks.lexicon import categories_reference, made_up
from benchmarks.tasks.training import time_to
from hyperspan import Sentence, corpora
from hyperspan.errors import UsageError, install_command

TINY = 300


@pytest.fixture
def tiny(monkeypatch) -> Setting:
    monkeypatch.setattr("benchmarks.setting.QUICK_TOKENS", TINY)
    return Setting(quick=True, threads=1)


@pytest.fixture
def no_peers(monkeypatch) -> None:
    def not_there(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(harness, "import_module", not_there)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_a_module_that_says_what_it_measures(name):
    module = import_module(f"benchmarks.tasks.{name}")
    assert module.__doc__
    assert callable(module.run)


def test_every_module_with_a_run_is_a_task():
    folder = Path(benchmarks.tasks.__file__).parent
    with_run = {path.stem for path in folder.glob("*.py") if "\ndef run(setting: Setting) ->" in path.read_text()}
    assert with_run == set(TASKS)


def test_a_task_that_does_not_exist(tiny):
    with pytest.raises(UsageError, match=r"there is no task 'iterations'; did you mean 'iteration'\? Expected one of"):
        list(run(tiny, ["iterations"]))


def test_results_that_differ_give_a_row_that_says_so(tiny, monkeypatch):
    def differ(_: object) -> None:
        raise Disagreement("the sum: ours is 1, the peer's 2; nothing was timed")

    monkeypatch.setattr(sweeps, "check_references", differ)
    (row,) = run(tiny, ["sweeps"])
    assert not row.agrees
    assert row.our_figure is None
    assert row.note == "the sum: ours is 1, the peer's 2; nothing was timed"


def test_an_iteration_without_peers_stands_alone(tiny, no_peers):
    rows = list(run(tiny, ["iteration"]))
    assert [row.ours for row in rows] == [
        "linear, 1 threads",
        "linear, 1 thread",
        "linear, 1 thread, processor time",
        "linear, K=3, 1 threads",
        "shared, K=3, 1 threads",
        "split, K=3, 1 threads",
        "shared, K=3, 1 thread, processor time",
    ]
    for row in rows:
        assert row.note == NOT_INSTALLED == f"not installed: {install_command('bench')}"
        assert row.our_figure is not None
        assert row.peer_figure is None
        assert row.holds is None
    assert [str(row.aim) for row in rows if row.aim] == ["ratio at least 5", "ratio at least 3"]


def test_training_and_sweeps_without_peers_stand_alone(tiny, no_peers):
    (row,) = run(tiny, ["training"])
    assert (row.note, row.ratio) == (NOT_INSTALLED, None)
    rows = list(run(tiny, ["sweeps"]))
    assert [row.ours for row in rows if not row.peer] == [
        f"{name}: {quantity}"
        for name in sweeps.STRUCTURES
        for quantity in sweeps.QUANTITIES
        if name != "linear" or quantity == "probable"
    ]
    compared = [row for row in rows if row.peer]
    assert [row.ours for row in compared] == [
        f"linear: {quantity}" for quantity in sweeps.QUANTITIES[:3] for _ in range(2)
    ]
    assert all((row.note, row.ratio) == (NOT_INSTALLED, None) for row in compared)


def test_training_beside_crfsuite(tiny):
    pytest.importorskip("pycrfsuite", reason="CRFsuite is not installed (the extra 'bench' brings it)")
    (row,) = run(tiny, ["training"])
    assert row.ratio is not None
    assert row.note.startswith("to the objective ")


def test_an_iteration_beside_crfsuite(tiny):
    pytest.importorskip("pycrfsuite", reason="CRFsuite is not installed (the extra 'bench' brings it)")
    rows = list(run(tiny, ["iteration"]))
    assert all(row.ratio is not None for row in rows)
    assert "same objective at the same weights" in rows[0].note


def test_the_time_to_an_objective():
    assert time_to([(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], 2.5) == (2.0, 2)


def test_the_same_mentions_as_sklearn_crfsuite(tiny):
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed (the extra 'bench' brings it)")
    train = as_one_type(tiny.data.sentences)
    rival = prediction.Rival(train, 5)
    chain = rival.as_ours(train, 1)
    texts = tiny.data.texts(200)
    assert prediction.check_same_mentions(chain, rival, texts) <= prediction.TOLERATED
    other = prediction.fitted("linear", train[:5], 1, 1)
    with pytest.raises(Disagreement, match=r"other mentions than sklearn-crfsuite's in \d+\.\d+% of sentences"):
        prediction.check_same_mentions(other, rival, texts)


def test_prediction_without_peers_stands_alone(tiny, no_peers, monkeypatch):
    monkeypatch.setattr(Setting, "pick", lambda _, quick, full: min(quick, 200))
    rows = list(run(tiny, ["prediction"]))
    ways = ["linear, enough", "linear, probable", "shared, enough", "shared, probable"]
    assert [row.ours for row in rows] == [*ways, *ways[2:]]
    assert [row.note for row in rows[:4]] == [NOT_INSTALLED] * 4
    assert all(row.ratio is None for row in rows[:4])
    assert all(row.peer.startswith("our chain") and row.ratio for row in rows[4:])


def test_features_that_differ_are_found_out():
    extractor = features.Extractor("default")
    sentences = [Sentence(("no", "fever"))]
    features.check_features(extractor, sentences)
    extractor.describe = lambda _: [["word[0]=no"]]  # type: ignore[method-assign]
    with pytest.raises(Disagreement, match="the compiled features are not those that the strings name"):
        features.check_features(extractor, sentences)


def test_features_leave_no_template_idle(tiny):
    rows = list(run(tiny, ["features"]))
    assert len(rows) == 4
    assert all(row.more_is_better and row.ratio for row in rows)
    sentences = [features.with_stand_ins(sentence) for sentence in tiny.data.sentences]
    extractor = features.Extractor("published", *features.resources_for(sentences)).fit(sentences)
    assert not extractor.skipped


def test_bandwidth_and_bytes(tiny):
    figures = limit.measure_bandwidth(1000, 2, 1)
    assert set(figures) == {"read", "triad"}
    assert all(figure.least > 0.0 for figure in figures.values())
    out = np.zeros(3)
    limit.triad_kernel(np.ones(3), np.full(3, 2.0), 3.0, out)
    assert out.tolist() == [7.0] * 3
    assert limit.sum_kernel(np.arange(5.0)) == 10.0
    made = problem(as_one_type(tiny.data.sentences), "linear", frequent=SEEN_ONLY, threads=1)
    assert limit.bytes_of_iteration(made) > 8 * len(made.features.feature) + 120 * made.n_weights


def test_the_dictionary_finds_what_the_lexicon_finds(tiny):
    rows = list(run(tiny, ["lexicon"]))
    assert [row.ours for row in rows] == ["build", "save", "load", "match", "memory, arrays", "file"]
    assert rows[3].peer == "Python dictionary"
    entries, sentences = made_up(50, 200)
    assert len(entries) == 50
    assert any(any(categories_reference(dict(entries), tokens)) for tokens in sentences)


def test_brown_without_its_peer(tiny, monkeypatch):
    monkeypatch.setattr(brown, "find_spec", lambda _: None)
    rows = list(run(tiny, ["brown"]))
    assert [row.peer for row in rows] == ["brown-clustering, alpha 1", "brown-clustering, alpha 0.0001"]
    assert all(row.note.endswith("not installed: pip install brown-clustering") for row in rows)


def test_memory_of_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(process.logging, "disable", lambda _: None)
    request = {"data": "demo", "tokens": TINY, "seed": 0, "threads": 1, "iterations": 2}
    seen = process.answer({**request, "what": "train", "structure": "linear"})
    assert 0 < seen["begin"] <= seen["read"] <= seen["peak"]
    assert seen["n_tokens"] >= TINY
    assert seen["n_occurrences"] > 20 * TINY
    with pytest.raises(Disagreement, match=r"(?s)ended with exit code 1: .*KeyError: 'nothing'"):
        process.ask({**request, "what": "nothing"})


@pytest.mark.parametrize(("peer", "module"), [(sweeps.CRFSUITE, "pycrfsuite"), (sweeps.TORCH_STRUCT, "torch_struct")])
def test_peers_have_our_partition_functions_and_best_sequences(tiny, peer, module):
    pytest.importorskip(module, reason=f"{module} is not installed (the extra 'bench' brings it)")
    made, batches = sweeps.scored("linear", 3, as_one_type(tiny.data.sentences), 3)
    found, shared = sweeps.peers_of(made, batches)
    assert set(found[peer]) == {"log_partition", "marginals", "best"}
    assert all(batch.transitions.any() for batch in shared)


def test_scores_of_sweeps_are_those_of_a_model_in_even_sentences(tiny, monkeypatch):
    monkeypatch.setattr(sweeps, "BATCH_WORDS", 100)
    made, batches = sweeps.scored("shared", 2, as_one_type(tiny.data.sentences), 3)
    assert len(batches) > 1
    assert {length for batch in batches for length in batch.lengths.tolist()} == {sweeps.LENGTH}
    assert all(batch.scores.shape[1] == made.n_labels and np.ptp(batch.scores) > 0.1 for batch in batches)


def test_first_starts_have_rows_for_a_cold_and_a_warm_cache(tiny):
    rounds = [
        {name: {"cold": Usage(cold, 2 * cold), "warm": Usage(1.0, 1.5)} for name in startup.NAMES}
        for cold in (10.0, 30.0, 20.0)
    ]
    rows = list(startup.first_rows(tiny.rower("startup", "seconds"), rounds))
    assert [(row.ours, row.our_figure) for row in rows[:5]] == [
        ("first predict, one sentence, cold cache", Figure(20.0, 10.0, 30.0)),
        ("first predict, one sentence, cold cache, CPU seconds", Figure(40.0, 20.0, 60.0)),
        ("first predict, one sentence, warm cache", Figure(1.0, 1.0, 1.0)),
        ("first predict, one sentence, warm cache, CPU seconds", Figure(1.5, 1.5, 1.5)),
        ("first predict, one sentence, compiling", Figure(19.0, 9.0, 29.0)),
    ]
    assert [str(row.aim) for row in rows if row.aim] == ["ours at most 15", "ours at most 25"]


def test_startup_runs_commands_on_a_model_and_a_small_corpus(tiny, monkeypatch):
    def starts(commands):
        assert list(commands) == list(startup.NAMES)
        assert Path(commands["predict"][1]).is_file()
        assert any(sentence.mentions for sentence in corpora.stream(commands["train"][1]))
        return {name: {"cold": Usage(9.0, 9.0), "warm": Usage(1.0, 1.0)} for name in commands}

    monkeypatch.setattr(startup, "first_starts", starts)
    monkeypatch.setattr(startup, "run_python", lambda *_: ("", Usage(0.5, 0.25)))
    monkeypatch.setattr(startup, "run_hyperspan", lambda *_, **__: Usage(0.5, 0.25))
    rows = list(run(tiny, ["startup"]))
    assert [row.our_figure.median for row in rows[:5]] == [0.5, 0.5, 0.5, 0.5, 0.25]
    assert [row.ours for row in rows if "compiling" in row.ours] == [
        "first predict, one sentence, compiling",
        "first train, a small corpus, compiling",
    ]
    assert len(rows) == 15


def test_an_evaluation_that_is_timed_is_run(tiny):
    made = problem(as_one_type(tiny.data.sentences), "shared", 1, threads=1)
    objective = made.objective(1)
    assert isinstance(in_turns({"": lambda: objective(made.zeros())}, 1)[""], Figure)


def test_spark_beside_workers_and_no_note_lost(tiny):
    if absent := spark._absent():
        pytest.skip(absent)
    rows = list(run(tiny, ["spark"]))
    assert [(row.ours, row.peer) for row in rows] == [
        ("one process, processor time", ""),
        ("local[1]", "--workers 1"),
        ("local[2]", "--workers 2"),
        ("local[2], one sentence a note", ""),
    ]
    assert all(row.agrees for row in rows)
    assert rows[-1].note == "1,000 notes, 4 of them bad: every one came back, the bad ones as errors"


def test_without_spark_workers_stand_alone(tiny, monkeypatch):
    monkeypatch.setattr(spark, "_absent", lambda: "there is no Java")
    alone, *rows = run(tiny, ["spark"])
    assert alone.ours == "one process, processor time"
    assert [(row.ours, row.peer, row.note) for row in rows] == [
        ("--workers 1", "", "there is no Java"),
        ("--workers 2", "", "there is no Java"),
    ]


def test_a_second_look_is_timed_beside_none(tiny, monkeypatch):
    monkeypatch.setattr(rescoring, "STRUCTURES", ("linear",))
    from_text, from_sentences = run(tiny, ["rescoring"])
    assert (from_text.ours, from_text.peer) == ("linear, second look, from text", "without")
    assert from_sentences.ours == "linear, second look, from sentences"
    assert "times as long" in from_text.note
    assert str(from_text.aim) == "ratio at least 0.87"


def test_texts_are_documents_or_ten_sentences_together():
    alone = [Sentence(["a", "."], doc=str(number)) for number in range(23)]
    assert [document.text.count("\n") + 1 for document in rescoring.texts_of(alone)] == [10, 10, 3]
    together = [Sentence(["a"], doc=str(number // 4)) for number in range(8)]
    assert [document.text for document in rescoring.texts_of(together)] == ["a\na\na\na"] * 2
    train, held_out = rescoring.cut(alone, seed=0)
    assert (len(train), len(held_out)) == (20, 3)
    assert not {each.doc for each in train} & {each.doc for each in held_out}

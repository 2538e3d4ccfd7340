"""What the experiments run on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from hyperspan.evaluation import evaluate
from hyperspan.experiments import Data, Dataset, Run, Settings, Source, experiment_named, load
from hyperspan.experiments.data import evenly, thinned

APART = Mention("Finding", [(0, 1), (2, 3)])
WHOLE = Mention("Drug", [(1, 2)])


def sentence(*mentions: Mention, doc: str = "a") -> Sentence:
    return Sentence(["pain", "in", "arm"], mentions, doc=doc)


def test_the_embedded_corpus_has_all_splits():
    data = load(Source(data="demo"), Settings())
    (dataset,) = data.datasets
    assert dataset.name == "demo"
    assert {name: len(units) for name, units in dataset.splits.items()} == {"train": 5743, "dev": 1307, "test": 1436}
    assert data.as_dict()["given"] == {"data": "demo", "on_error": "skip"}
    assert data.as_dict()["datasets"][0]["train"] == {
        "sentences": 5743,
        "discontiguous_sentences": 311,
        "mentions": 4441,
        "lost": 0,
    }


def test_gold_that_words_cannot_express_is_kept_as_gold_that_is_never_found(tmp_path):
    """A mention that ends inside a word, one in two sentences, and one outside the text: recall is not 1."""
    text = "Old fevers. Pain in arm."
    parts = ([(0, 3)], [(4, 9)], [(4, 10), (12, 16)])
    documents = [Document("a", text, [Mention("Finding", part) for part in parts])]
    for split in ("train", "dev", "test"):
        corpora.write(documents, tmp_path / split, format="brat")
        file = tmp_path / split / "a.ann"
        file.write_text(file.read_text(encoding="utf-8") + "T9\tDrug 20 99\tarm\n", encoding="utf-8")
    data = load(Source(data=str(tmp_path)), Settings())
    (dataset,) = data.datasets
    assert dataset.summary()["test"] == {"sentences": 2, "discontiguous_sentences": 1, "mentions": 1, "lost": 3}
    sentences = dataset.split("test")
    found = evaluate(sentences, sentences)  # all that a model could find
    assert (found.all.recall, found.discontiguous_mentions.fn, found.n_lost) == (0.25, 1, 3)
    assert found.by_type["Drug"].fn == 1
    (only,) = load(Source(data=str(tmp_path)), Settings(types=("Finding",))).datasets
    assert only.summary()["test"]["lost"] == 2
    assert data.digest() != Data((dataset.changed(lambda some: [replace(one, lost=()) for one in some]),)).digest()


def test_the_discontiguous_subset_has_the_sentence_in_which_skipped_gold_begins(tmp_path):
    text = "No fever. Arms and legs weak. Well."
    for split in ("train", "dev", "test"):
        corpora.write([Document("a", text, [Mention("Finding", [(3, 8)])])], tmp_path / split, format="brat")
        file = tmp_path / split / "a.ann"
        file.write_text(file.read_text(encoding="utf-8") + "T9\tFinding 10 14;24 99\tx\n", encoding="utf-8")
    (dataset,) = load(Source(data=str(tmp_path)), Settings()).datasets
    for split in ("train", "dev", "test"):
        (kept,) = dataset.split(split, discontiguous=True)
        assert (kept.tokens[0], kept.mentions, len(kept.lost)) == ("Arms", (), 1)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Source(), "no data is given; expected one of: --data demo"),
        (Source(data="demo", train=Path("a")), "data is given in several ways"),
        (Source(dev=Path("a"), semeval2014=Path("b")), "data is given in several ways"),
        (Source(data="demo", mrsty=Path("a")), "--mrsty is for --semeval2014 and --shareclef2013"),
    ],
)
def test_options_that_do_not_go_together(source, message):
    with pytest.raises(UsageError, match=message):
        load(source, Settings())


def test_files_for_each_split(tmp_path):
    units = list(demo.stream(2, unit="sentences"))
    corpora.write(units, tmp_path / "mine.jsonl")
    data = load(Source(train=tmp_path / "mine.jsonl", dev=tmp_path / "mine.jsonl"), Settings())
    assert len(data.largest.split("train")) == len(data.largest.split("dev")) == len(units)
    with pytest.raises(UsageError, match=r"the split 'test' of 'given' is needed, but there is train, dev; .* --test"):
        data.largest.split("test")


def test_a_folder_of_splits_and_one_without(tmp_path):
    splits = {name: demo.stream(2, split=name, unit="sentences") for name in demo.SPLITS}
    corpora.write_splits(splits, tmp_path / "cut", format="jsonl")
    assert list(load(Source(data=str(tmp_path / "cut")), Settings()).largest.splits) == ["train", "dev", "test"]
    corpora.write(demo.stream(2, unit="sentences"), tmp_path / "whole.jsonl")
    with pytest.raises(UsageError, match=r"whole\.jsonl has no splits; .* hyperspan convert CORPUS FOLDER --split"):
        load(Source(data=str(tmp_path / "whole.jsonl")), Settings())


def test_some_types_only():
    data = load(Source(data="demo"), Settings(types=("Drug", "Finding")))
    assert data.largest.types == ("Drug", "Finding")
    with pytest.raises(UsageError, match=r"--types names 'Dragon', but 'demo' has no mention of it; .* Anatomy, Drug"):
        load(Source(data="demo"), Settings(types=("Dragon",)))


def test_quick_data_is_small_and_has_both_kinds():
    data = load(Source(data="demo"), Settings.of(quick=True))
    for name in demo.SPLITS:
        assert len(data.largest.split(name)) == 150
        assert len(data.largest.split(name, discontiguous=True)) == 60


def test_thinning_keeps_what_is_little():
    few = [sentence(APART), sentence(), sentence(WHOLE)]
    assert thinned(few) == few


def test_evenly_is_spread_over_all():
    assert evenly([1, 2], 5) == [1, 2]
    assert evenly(range(100), 3) == [0, 33, 66]


def test_without_a_discontiguous_mention_there_is_nothing_to_learn():
    dataset = Dataset("plain", {"train": (sentence(WHOLE),)})
    with pytest.raises(UsageError, match="has no sentence with a discontiguous mention"):
        dataset.split("train", discontiguous=True)


def test_the_digest_sees_every_change():
    def digest(*sentences: Sentence, name: str = "train") -> str:
        return Data((Dataset("d", {name: sentences}),)).digest()

    changed = [
        digest(sentence(APART)),
        digest(sentence(WHOLE)),
        digest(sentence(Mention("Drug", [(0, 1), (2, 3)]))),
        digest(sentence(APART), sentence()),
        digest(sentence(APART), name="dev"),
        digest(Sentence(["pain", "in", "leg"], [APART])),
    ]
    assert len(set(changed)) == len(changed)
    assert digest(sentence(APART)) == changed[0]


def test_defects_are_counted(tmp_path):
    path = tmp_path / "train.jsonl"
    good = '{"doc": "a", "tokens": ["no", "fever"], "mentions": [{"type": "F", "spans": [[1, 2]]}]}\n'
    bad = '{"doc": "a", "tokens": ["no", "fever"], "mentions": [{"type": "F", "spans": [[1, 9]]}]}\n'
    path.write_text(good + bad)
    data = load(Source(train=path), Settings())
    assert sum(data.skipped.values()) == 1
    assert len(data.largest.split("train")) == 2


def test_widened_mentions_are_not_skipped(tmp_path):
    corpora.write([Document("a", "no feverish chill", [Mention("F", [(3, 8)])])], tmp_path / "train", format="brat")
    skipped, widened = (
        load(Source(train=tmp_path / "train", on_error=on_error), Settings()) for on_error in ("skip", "widen")
    )
    assert (skipped.skipped, skipped.widened) == ({"inside-token": 1}, 0)
    assert (widened.skipped, widened.widened) == ({}, 1)
    assert widened.as_dict()["widened"] == 1
    result = experiment_named("data-stats").run(Run(widened, Settings()))
    assert "Widened to whole words: 1 mention." in result.notes


def test_an_annotator_brings_columns():
    pytest.importorskip("HanTa")
    data = load(Source(data="demo"), Settings.of(quick=True, annotator="hanta"))
    assert set(data.largest.split("train")[0].columns) >= {"pos", "lemma"}

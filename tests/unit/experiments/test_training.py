"""Training, and reading what is found in every way at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.evaluation import evaluate
from hyperspan.experiments import Run, cells
from hyperspan.experiments.cells import Cell, cell_scores, models_of
from hyperspan.experiments.training import find, find_enough
from hyperspan.features import TemplateSet
from hyperspan.inference import DECODERS, ScoreBatch, distribution
from hyperspan.structures import structure
from hyperspan.text import normal_form


@pytest.fixture(scope="module")
def recognizer(demo_data, quick):
    return Run(demo_data, quick).options.train(demo_data.largest.split("train"))


def test_the_set_up_of_the_paper(demo_data, quick):
    options = Run(demo_data, replace(quick, as_published=True, features="published")).options
    assert options.train(demo_data.largest.split("train")).initial_weights == "zero"
    assert set(options.templates) < set(TemplateSet.load("published"))  # no annotator, no lexicon
    assert "clusters" in options.templates.groups
    every = [sentence for split in demo_data.largest.splits.values() for sentence in split]
    assert len(options.clusters) == len({normal_form(word) for sentence in every for word in sentence.tokens})
    assert Run(demo_data, quick).options.train(every[:9]).initial_weights == "frequencies"


def test_what_is_found_is_what_the_recognizer_finds(recognizer, demo_data):
    dev = demo_data.largest.split("dev")
    found = find(recognizer, dev, lowest=0.05)
    for decoder in ("enough", "all", "probable"):
        ours = found.read(decoder, 0.2)
        theirs = [set(one.mentions) for one in recognizer.find(dev, decode=decoder, threshold=0.2)]
        assert [set(mentions) for mentions in ours] == theirs
    assert find_enough(recognizer, dev).all == found.evaluate("enough", 0.2).all
    assert any(found.candidates)


def test_the_threshold_is_about_the_best(recognizer, demo_data):
    dev = demo_data.largest.split("dev")
    found = find(recognizer, dev)
    chosen = found.evaluate("probable", found.best_threshold()).all.f1
    best = max(found.evaluate("probable", threshold).all.f1 for threshold in (0.1, 0.2, 0.3, 0.5, 0.9))
    assert chosen >= best - 0.03, "within a standard error of the best"


@pytest.mark.parametrize("name", ["shared", "split"])
def test_the_formula_is_read_as_the_hypergraph_of_the_best_derivation(name):
    written = structure(name, ["Finding"], 2)
    found = set()
    for seed in range(20):
        scores = np.random.default_rng(seed).normal(-0.5, 1.5, (5, written.n_labels))
        batch = ScoreBatch.of_sentence(scores)
        over = distribution(written, batch, "derivations")
        enough, every = (DECODERS[name](over, 0.3)[0].mentions for name in ("enough", "all"))
        edges = over.best()[0].edges
        assert enough == written.decode(edges, "enough").mentions
        assert every == written.decode(edges, "all").mentions
        # The best derivation is the tree of all paths through its hypergraph.
        (tree,) = distribution(written, batch, "mention-sets").best()
        assert edges == tuple(sorted(set(tree.edges)))
        assert set(every) == set(tree.mentions or ())
        assert written.encode(enough, 5).encoding == edges
        found.add(len(every) - len(enough))
    assert len(found) > 1, "no case where the two differ"


def test_sets_of_mentions_are_read_in_one_way():
    written = structure("shared", ["Finding"], 2)
    batch = ScoreBatch.of_sentence(np.random.default_rng(1).normal(-0.5, 1.5, (5, written.n_labels)))
    over = distribution(written, batch, "mention-sets")
    enough, every = (DECODERS[name](over, 0.3)[0].mentions for name in ("enough", "all"))
    assert enough == every == over.best()[0].mentions


def test_the_chain_has_no_formula_of_its_own():
    assert models_of("linear") == ("encodings",)
    assert models_of("shared") == models_of("split") == ("derivations", "encodings")


def test_a_cell_takes_the_penalty_that_is_best_on_dev(demo_run, demo_data):
    made = cell_scores(demo_run, Cell(demo_data.largest, "Train-Disc", "shared", "encodings", (1.0, 0.25)))
    assert set(made["dev_f1"]) == {"1", "0.25"}
    assert made["dev_f1"][f"{made['l2']:g}"] == max(made["dev_f1"].values())
    gold = sum(len(sentence.mentions) for sentence in demo_data.largest.split("test", discontiguous=True))
    for scores in made["scores"].values():
        assert scores["tp"] + scores["fn"] == gold
    assert sum(score["tp"] + score["fn"] for score in made["by_type"].values()) == gold
    assert made["iterations"] == 20


def test_cells_know_what_they_train_on(demo_run, demo_data, monkeypatch):
    seen = []
    real = type(demo_run.options).train

    def train(self, sentences, **options):
        seen.append((len(sentences), options["structure"], options["over"], options["l2"]))
        return real(self, sentences, **options)

    monkeypatch.setattr(type(demo_run.options), "train", train)
    dataset = demo_data.largest
    cell_scores(demo_run, Cell(dataset, "Train-Disc", "split", "derivations", (0.5,)))
    cell_scores(demo_run, Cell(dataset, "Train-Orig", "linear", "encodings", (0.5,)))
    assert seen == [(24, "split", "derivations", 0.5), (60, "linear", "encodings", 0.5)]


def test_scores_in_percent():
    gold = [Sentence(["a", "b", "c"], [Mention("F", [(0, 1)]), Mention("F", [(1, 2)])])]
    score = evaluate(gold, [gold[0].with_mentions([Mention("F", [(0, 1)])])]).all
    made = cells.score_dict(score)
    assert made == {"precision": 100.0, "recall": 50.0, "f1": 66.667, "tp": 1, "fp": 0, "fn": 1}

"""Every experiment, on a small part of the embedded corpus."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from hyperspan import Mention, Sentence
from hyperspan.ambiguity import round_trip
from hyperspan.errors import MissingExtraError, UsageError
from hyperspan.experiments import (
    EXPERIMENTS,
    Data,
    Dataset,
    NotPossible,
    Run,
    Settings,
    Source,
    ambiguity,
    data_stats,
    distribution,
    experiment_named,
    features,
    load,
    main,
    multi_type,
    page_of,
    regularisation,
    type_scaling,
    write_document,
)
from hyperspan.experiments.plotting import svg_of
from hyperspan.experiments.result import with_differences
from hyperspan.experiments.training import Found

APART = Mention("Finding", [(0, 1), (2, 3)])
WHOLE = Mention("Drug", [(1, 3)])


@pytest.fixture(scope="module")
def documents(demo_data, quick, tmp_path_factory):
    """The documents of all experiments, made in one run."""
    together = Run(demo_data, quick, folder=tmp_path_factory.mktemp("results"))
    return {name: together.result_of(one, f"hyperspan experiment run {name}")[0] for name, one in EXPERIMENTS.items()}


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_the_document_has_its_shape(documents, name):
    document = documents[name]
    assert list(document) == [
        "experiment",
        "title",
        "table",
        "command",
        "data",
        "settings",
        "columns",
        "rows",
        "published",
        "conclusions",
        "notes",
        "details",
        "environment",
        "fingerprint",
    ]
    assert json.loads(json.dumps(document)) == document
    columns = [column["name"] for column in document["columns"]]
    assert document["rows"]
    for row in document["rows"]:
        assert set(columns) <= set(row)
    for conclusion in document["conclusions"]:
        assert conclusion["holds"] in (True, False, None)
        assert conclusion["evidence"]
    assert document["conclusions"]
    assert bool(document["published"]) is (document["table"] != "ours")
    assert document["notes"][-1].startswith("Made with --quick") is bool(document["data"])  # counts need no data
    assert page_of(document).startswith(f"# {name}: ")


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.plot])
def test_plots_are_the_same_for_the_same_data(documents, name):
    svg = svg_of(experiment_named(name).plot, documents[name])
    assert svg == svg_of(experiment_named(name).plot, documents[name])
    assert ElementTree.fromstring(svg).tag.endswith("svg")


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.plot])
def test_legends_fit_into_their_plots(documents, name):
    figure = experiment_named(name).plot(documents[name])
    figure.draw_without_rendering()
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_without_matplotlib_all_but_the_plot_is_written(documents, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"A plot needs the package 'matplotlib'\. .*pip install 'matplotlib"):
        write_document(documents["main"], experiment_named("main"), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.json", "main.md"]
    assert json.loads((tmp_path / "main.json").read_text()) == documents["main"]


def test_data_stats_counts_every_split_twice(documents, demo_data):
    rows = documents["data-stats"]["rows"]
    assert [(row["split"], row["subset"]) for row in rows] == [
        (split, subset) for split in ("Train", "Dev", "Test") for subset in ("all", "discontiguous")
    ]
    train = demo_data.largest.split("train", discontiguous=True)
    assert rows[1]["sentences"] == len(train)
    assert rows[1]["parts_2"] == sum(len(m.parts) == 2 for sentence in train for m in sentence.mentions)
    assert not any(name.startswith("paper_") for name in rows[0])


def test_data_stats_of_the_clinical_data_stands_beside_the_published(clinical):
    source = Source(semeval2014=clinical["semeval"], mrsty=clinical["mrsty"])
    rows = data_stats.run(Run(load(source, Settings()), Settings())).rows
    at = {(row["split"], row["subset"]): row for row in rows}
    for subset in ("all", "discontiguous"):
        for value in data_stats.VALUES:
            assert at["Tr80", subset][value] + at["Tr20", subset][value] == at["Train", subset][value]
    assert at["Test", "discontiguous"]["paper_mentions"] == 1210
    assert at["Test", "all"]["paper_mentions"] is None
    assert any(row["different_types"] for row in rows)


def test_overlaps_of_types_that_are_not_known_are_not_compared(clinical):
    result = data_stats.run(Run(load(Source(shareclef2013=clinical["shareclef"]), Settings()), Settings()))
    assert {row["different_types"] for row in result.rows} == {None}
    assert result.notes[-1] == "Overlaps of different types need --mrsty MRSTY.RRF, which tells the types."


def test_what_data_stats_concludes():
    sentences = (Sentence(["a", "b", "c", "d"], [APART, WHOLE]),)
    rows = [{"split": "Train", "subset": subset, **data_stats.counts(sentences)} for subset in ("all", "discontiguous")]
    pairs = list(data_stats.different_types(sentences))
    assert pairs == [True]
    few, half, parts, overlaps = data_stats.conclusions(rows, {True: 1, False: 0})
    assert [one.holds for one in (few, half, parts, overlaps)] == [False, True, True, True]
    assert "50.00 % of 2" in few.evidence
    assert next(iter(reversed(list(data_stats.conclusions(rows, {True: 0, False: 0}))))).holds is None


def test_ambiguity_is_the_round_trip_of_train_and_dev(documents, demo_data):
    sentences = [*demo_data.largest.split("train"), *demo_data.largest.split("dev")]
    table = round_trip(sentences)
    at = {(row["subset"], row["structure"], row["decoder"]): row for row in documents["ambiguity"]["rows"]}
    assert len(at) == 14
    every = at["all", "linear", "all, any number of parts"]
    assert (
        every["predicted"]
        == table["linear"].errors["all_any_number"].predicted
        > at["all", "linear", "all"]["predicted"]
    )
    assert every["paper_precision_error"] == at["all", "linear", "all"]["paper_precision_error"] == 23.81
    for structure in ("linear", "shared", "split"):
        for decoder in ("all", "enough"):
            errors = table[structure].errors[decoder]
            row = at["all", structure, decoder]
            assert row["precision_error"] == pytest.approx(100 * errors.precision_error, abs=0.001)
            assert (row["predicted"], row["gold"]) == (errors.predicted, errors.gold)


def test_ambiguity_of_small_is_of_the_documents_of_the_paper(clinical):
    """Train and dev of LARGE are all documents of SMALL; its own train and dev would be only train of LARGE."""
    results = []
    for source in (Source(shareclef2013=clinical["shareclef"]), Source(semeval2014=clinical["semeval"])):
        results.append(ambiguity.run(Run(load(source, Settings()), Settings())))
    assert results[0].rows == results[1].rows
    assert results[0].notes[0].startswith("On train and dev and test of SMALL: the documents of train and dev of LARGE")
    assert results[1].notes[0].startswith("On train and dev of LARGE. ")


def test_without_errors_ambiguity_cannot_tell():
    dataset = Dataset("d", {"train": (Sentence(["a", "b", "c"], [APART]),), "dev": (Sentence(["a"], []),)})
    result = ambiguity.run(Run(Data((dataset,)), Settings()))
    assert {one.holds for one in result.conclusions} == {None, True}
    assert all(row["precision_error"] == 0.0 for row in result.rows)


def test_main_has_a_row_for_every_model_and_decoder(documents):
    rows = documents["main"]["rows"]
    assert len(rows) == 2 * 6 * 3
    row = next(row for row in rows if (row["training"], row["structure"]) == ("Train-Orig", "split"))
    assert (row["model"], row["decoder"], row["paper_f1"]) == ("derivations", "enough", 59.2)
    assert not any(column["name"].startswith("difference") for column in documents["main"]["columns"])
    assert len(documents["main"]["details"]["cells"]) == 12


def invented_scores(run, cell):
    scores = {"precision": 50.0, "recall": 50.0, "f1": 50.0, "discontiguous_mentions": {"f1": 40.0}}
    decoders = ("enough", "all", "probable")
    return {"l2": 1.0, "dev_f1": {"1": 51.0}, "scores": dict.fromkeys(decoders, scores)}


def test_main_compares_with_its_own_setting_on_the_data_of_the_paper(demo_data, quick, monkeypatch):
    monkeypatch.setattr(main, "cell_scores", invented_scores)
    small, large = (replace(demo_data.largest, name=name, paper=name) for name in ("SMALL", "LARGE"))
    result = with_differences(main.run(Run(Data((small, large)), quick)))
    rows = {(row["data"], row["training"], row["structure"], row["decoder"]): row for row in result.rows}
    row = rows["SMALL", "Train-Disc", "linear", "enough"]
    assert row["paper_f1"] == 47.8
    assert [row[f"difference_{value}"] for value in main.VALUES] == pytest.approx([-9.7, 10.2, 2.2])
    assert rows["LARGE", "Train-Disc", "linear", "enough"]["paper_f1"] == 47.0
    assert rows["LARGE", "Train-Disc", "linear", "probable"]["difference_f1"] is None


def test_what_main_concludes():
    def rows(f1_of):
        return [
            {
                "data": "d",
                "training": training,
                "structure": structure,
                "model": model,
                "decoder": decoder,
                "precision": f1_of(structure, training, decoder),
                "recall": f1_of(structure, training, decoder),
                "f1": f1_of(structure, training, decoder),
            }
            for training in ("Train-Disc", "Train-Orig")
            for structure in ("linear", "shared", "split")
            for model in (("encodings",) if structure == "linear" else ("derivations", "encodings"))
            for decoder in ("enough", "all", "probable")
        ]

    better = list(main.conclusions(rows(lambda structure, training, decoder: 50.0 + (structure != "linear"))))
    verdicts = {one.claim: one.holds for one in better}
    assert verdicts["The hypergraphs have a higher F1 than the chain (over encodings)"] is True
    assert verdicts["All models are better when trained on all sentences"] is False
    assert (
        "d linear (encodings): 50.0 > 50.0"
        in {one.claim: one.evidence for one in better}["All models are better when trained on all sentences"]
    )
    worse = list(main.conclusions(rows(lambda structure, training, decoder: 50.0 - (decoder == "all") * 2)))
    verdicts = {one.claim: one.holds for one in worse}
    assert verdicts["For the hypergraphs it hardly matters which decoder is used (over encodings)"] is False
    assert verdicts["'all' costs the chain precision"] is True
    nothing = {one.claim: one for one in main.conclusions(rows(lambda structure, training, decoder: 0.0))}
    assert nothing["For the hypergraphs it hardly matters which decoder is used (over encodings)"].holds is None


def test_regularisation_takes_what_main_chose(documents):
    cells = {
        (cell["training"], cell["structure"], cell["model"]): cell for cell in documents["main"]["details"]["cells"]
    }
    rows = documents["regularisation"]["rows"]
    assert len(rows) == 10
    for row in rows:
        cell = cells[row["training"], row["structure"], row["model"]]
        assert row["l2"] == cell["l2"]
        assert row["f1_0.25"] == cell["dev_f1"]["0.25"]


def test_regularisation_of_one_penalty_cannot_tell(demo_data, quick, monkeypatch):
    monkeypatch.setattr(regularisation, "cell_scores", invented_scores)
    together = Run(demo_data, replace(quick, penalties=(1.0,)))
    assert regularisation.run(together).conclusions[0].holds is None


def test_multi_type_splits_the_scores_of_main_by_type(documents):
    rows = documents["multi-type"]["rows"]
    total = {(row["structure"], row["model"]): row for row in rows if row["type"] == "Total"}
    for row in documents["main"]["rows"]:
        if (row["training"], row["decoder"]) == ("Train-Orig", "enough"):
            assert total[row["structure"], row["model"]]["f1"] == row["f1"]
    of_shared = [row for row in rows if (row["structure"], row["model"]) == ("shared", "encodings")]
    assert sum(row["gold"] for row in of_shared if row["type"] != "Total") == total["shared", "encodings"]["gold"]
    assert total["linear", "encodings"]["paper_f1"] == 49.3


def test_multi_type_with_semantic_types_takes_the_penalty_of_main(clinical, monkeypatch):
    settings = Settings.of(quick=True, max_iterations=1, penalties=(1.0, 0.5))
    data = load(Source(semeval2014=clinical["semeval"], mrsty=clinical["mrsty"]), settings)
    asked = []

    def scores(run, cell):
        asked.append((cell.dataset.name, cell.training, cell.structure, cell.model, cell.penalties))
        of_types = {type: {"precision": 1.0, "recall": 1.0, "f1": 1.0, "tp": 1, "fn": 2} for type in cell.dataset.types}
        every = {"precision": 2.0, "recall": 2.0, "f1": 2.0 if len(of_types) > 1 else 3.0, "tp": 3, "fn": 6}
        return {"l2": 0.5, "scores": {"enough": every}, "by_type": of_types}

    monkeypatch.setattr(multi_type, "cell_scores", scores)
    result = multi_type.run(Run(data, settings))
    assert asked[:2] == [
        ("LARGE", "Train-Orig", "linear", "encodings", (1.0, 0.5)),
        ("LARGE with types", "Train-Orig", "linear", "encodings", (0.5,)),
    ]
    assert [row["type"] for row in result.rows[:4]] == ["A", "B", "N", "Total"]
    assert [row["paper_f1"] for row in result.rows[:4]] == [64.4, 40.5, 47.0, 49.3]
    assert result.conclusions[0].holds is True
    small = load(Source(shareclef2013=clinical["shareclef"], mrsty=clinical["mrsty"]), settings)
    result = multi_type.run(Run(small, settings))
    assert {row["paper_f1"] for row in result.rows} == {None}
    assert result.notes[-1] == "The published numbers are for LARGE, so none are shown; give --semeval2014 for it."


def test_multi_type_needs_several_types(clinical):
    for source, advice in (
        (Source(semeval2014=clinical["semeval"]), "give --mrsty MRSTY.RRF"),
        (Source(data="demo"), "give a corpus with several"),
    ):
        types = ("Finding",) if source.data else ()
        data = load(source, Settings.of(quick=True, types=types))
        with pytest.raises(NotPossible, match=advice):
            multi_type.run(Run(data, Settings()))


def test_random_types_depend_on_the_seed(demo_data):
    sentences = demo_data.largest.split("train")

    def types(n_types, seed):
        typed = type_scaling.with_random_types(sentences, n_types, seed)
        return [mention.type for sentence in typed for mention in sentence.mentions]

    assert types(8, 1) == types(8, 1) != types(8, 2)
    assert set(types(4, 0)) == {"T00", "T01", "T02", "T03"}
    assert set(types(1, 0)) == {"T00"}


def test_two_mentions_of_the_same_words_become_one_if_they_get_the_same_type():
    sentence = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)]), Mention("Symptom", [(1, 2)])])
    assert [len(typed.mentions) for typed in type_scaling.with_random_types([sentence], 1, 0)] == [1]


def test_type_scaling_is_relative_to_one_type(documents):
    rows = documents["type-scaling"]["rows"]
    assert [row["types"] for row in rows] == [1, 2, 4, 8, 16]
    assert (rows[0]["linear"], rows[0]["shared"]) == (1.0, 1.0)
    for row in rows:
        assert row["linear"] == pytest.approx(row["linear_ms"] / rows[0]["linear_ms"], rel=0.05)


def test_what_type_scaling_concludes():
    rows = [{"types": n_types, "linear": float(n_types), "shared": float(2 * n_types)} for n_types in (1, 4, 16)]
    assert [one.holds for one in type_scaling.conclusions(rows)] == [False, False, False]
    rows[-1]["linear"] = 40.0
    assert [one.holds for one in type_scaling.conclusions(rows)] == [True, False, False]
    rows[-1]["segments"] = 17.0
    assert [one.holds for one in type_scaling.conclusions(rows)] == [True, False, False, True]


def test_distribution_has_three(documents):
    rows = documents["distribution"]["rows"]
    assert [row["distribution"] for row in rows] == ["encodings", "mention-sets", "derivations"]
    assert all(row["above_one"] == 0 for row in rows[:2])
    for bins in documents["distribution"]["details"]["reliability"].values():
        assert all(0.05 <= kept["prob"] <= 1.0 and 0.0 <= kept["right"] <= 1.0 for kept in bins)


def test_reliability_counts_what_is_right():
    sentence = Sentence(["a", "b", "c"], [APART])
    candidates = (replace(APART, prob=0.85), replace(WHOLE, prob=0.81), replace(WHOLE, type="X", prob=1.0))
    found = Found((sentence,), [()], [()], [candidates])
    calibration = distribution.reliability_of(found)
    assert distribution.bins_of(calibration) == [
        {"mentions": 2, "prob": 0.83, "right": 0.5},
        {"mentions": 1, "prob": 1.0, "right": 0.0},
    ]
    assert calibration.error == pytest.approx((2 * 0.33 + 1.0) / 3)


def test_a_likelihood_above_one_is_seen():
    """Two mentions that share a node with two parents: the formula scores its edges once, but sums them twice."""
    words = ["a", "b", "c", "d", "e"]
    crossing = [Mention("F", [(0, 1), (3, 4)]), Mention("F", [(1, 2), (4, 5)])]
    sentences = [Sentence(words, crossing)] * 30
    data = Data((Dataset("d", {"train": tuple(sentences)}),))
    options = Run(data, Settings(max_iterations=60)).options
    counts = {
        over: distribution.above_one(options.train(sentences, over=over, l2=1e-4), sentences[:3])
        for over in ("encodings", "mention-sets", "derivations")
    }
    assert counts == {"encodings": 0, "mention-sets": 0, "derivations": 3}


def test_features_leaves_out_one_group_after_another(documents):
    every = documents["features"]["rows"]
    segments = [row for row in every if row["structure"] == "segments"]
    assert [row["without"] for row in segments] == ["nothing", "whole", "outermost", "beside"]
    rows = [row for row in every if row["structure"] == "shared"]
    assert rows[0]["without"] == "nothing"
    assert {"word", "pairs", "section", "note"} <= {row["without"] for row in rows}
    assert "clusters" not in {row["without"] for row in rows}, "its resource is not there"
    assert all(row["features"] < rows[0]["features"] for row in rows[1:])
    assert rows[1]["change"] == pytest.approx(rows[1]["f1"] - rows[0]["f1"], abs=0.001)
    assert features.EXPERIMENT.table == "ours"


def test_a_part_is_made_once_and_kept(demo_data, quick, tmp_path):
    made = []

    def make():
        made.append(1)
        return {"number": len(made)}

    first = Run(demo_data, quick, folder=tmp_path)
    assert first.part("a", make)["number"] == first.part("a", make)["number"] == 1
    assert Run(demo_data, quick, folder=tmp_path).part("a", make)["number"] == 1
    assert Run(demo_data, replace(quick, seed=1), folder=tmp_path).part("a", make)["number"] == 2
    assert Run(Data(), quick, folder=tmp_path).part("a", make)["number"] == 3
    assert Run(demo_data, quick, folder=tmp_path, again=True).part("a", make)["number"] == 4
    for file in (tmp_path / "parts").iterdir():
        file.write_text("{ damaged")
    assert Run(demo_data, quick, folder=tmp_path).part("a", make)["number"] == 5


def test_a_result_is_taken_only_for_the_same_data_and_settings(demo_data, quick, tmp_path):
    counts = experiment_named("canonical-counts")
    document, was_there = Run(demo_data, quick, folder=tmp_path).result_of(counts, "first")
    assert not was_there
    write_document(document, counts, tmp_path)
    kept, was_there = Run(demo_data, quick, folder=tmp_path).result_of(counts, "second")
    assert was_there
    assert kept["command"] == "first"
    assert not Run(demo_data, quick, folder=tmp_path, again=True).result_of(counts, "")[1]
    assert not Run(demo_data, replace(quick, max_iterations=3), folder=tmp_path).result_of(counts, "")[1]


def test_a_split_that_is_needed_is_asked_for_before_anything_is_done(demo_data, quick):
    dataset = Dataset("half", {"train": demo_data.largest.split("train")})
    with pytest.raises(UsageError, match="the split 'dev' of 'half' is needed, but there is train"):
        Run(Data((dataset,)), quick).result_of(experiment_named("main"), "")

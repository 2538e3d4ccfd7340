"""``hyperspan evaluate``, from files to exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples import EXAMPLES, LACERATION
from hyperspan import Mention, Recognizer, Sentence, corpora
from hyperspan.cli import main
from hyperspan.corpora import demo
from hyperspan.corpora.jsonl import record_of
from hyperspan.mentions import Unit

NAMED = [Sentence(sentence.tokens, sentence.mentions, doc=name) for name, sentence in EXAMPLES.items()]


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command; return exit code, results and what is said to the person."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hyperspan", "evaluate", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def write(path: Path, units: list[Unit]) -> Path:
    corpora.write(units, path, format="jsonl")
    return path


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", NAMED)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """Every other mention, and in the second sentence one of the wrong type."""
    units = [sentence.with_mentions(sentence.mentions[::2]) for sentence in NAMED]
    first, *others = units[1].mentions
    units[1] = units[1].with_mentions([Mention("Drug", first.parts, prob=0.9), *others])
    return write(tmp_path / "half.jsonl", units)


def test_gold_that_makes_no_sense_is_skipped_but_missed(run, tmp_path: Path):
    mentions = [{"type": "Finding", "spans": [[1, 2]]}, {"type": "Finding", "spans": [[2, 1], [4, 9]]}]
    gold = write_records(tmp_path / "g.jsonl", [{"doc": "a", "tokens": ["no", "fever"], "mentions": mentions}])
    found = write_records(tmp_path / "p.jsonl", [{"doc": "a", "tokens": ["no", "fever"], "mentions": mentions[:1]}])
    code, out, err = run(gold, found, "--on-error", "skip", "--json")
    assert code == 0
    assert "skipped in reading, and counted as missed: 1 gold mention\n" in err
    table = json.loads(out)
    assert (table["lost"], table["all"]["recall"], table["discontiguous_mentions"]["fn"]) == (1, 0.5, 1)


@pytest.mark.parametrize(("offsets", "missed"), [("10 14;24 99", 1), ("0 2;24 99", 0), ("90 99;100 101", 0)])
def test_gold_that_is_skipped_counts_in_the_sentence_where_it_begins(run, tmp_path: Path, offsets: str, missed: int):
    """The second of three sentences has a discontiguous mention; a skipped one makes its own sentence one too."""
    for name in ("gold", "found"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("No fever. Arms and legs weak. Well.")
        lines = "T1\tFinding 3 8\tfever\nT2\tFinding 10 14;24 28\tArms weak\n"
        skipped = f"T3\tFinding {offsets}\tx\n" if name == "gold" else ""
        (tmp_path / name / "a.ann").write_text(lines + skipped)
    code, out, _ = run(tmp_path / "gold", tmp_path / "found", "--on-error", "skip", "--json")
    table = json.loads(out)
    of_sentences = table["discontiguous_sentences"]
    assert (code, table["lost"], table["all"]["tp"], table["all"]["fn"]) == (0, 1, 2, 1)
    assert (of_sentences["tp"], of_sentences["fn"]) == ((1, 1) if missed else (2, 1))
    assert table["discontiguous_mentions"]["fn"] == 1


def test_json_is_one_document_with_every_score(run, gold, half):
    code, out, err = run(gold, half, "--json")
    table = json.loads(out)
    assert (code, err) == (0, "")
    assert table["sentences"] == len(NAMED)
    assert (table["all"]["tp"], table["all"]["fp"], table["all"]["fn"]) == (9, 1, 9)
    assert table["all"]["precision"] == 0.9
    assert table["by_type"]["Drug"]["fp"] == 1
    assert "significance" not in table


def test_gold_against_itself(run, gold):
    _, out, _ = run(gold, gold, "--json")
    table = json.loads(out)
    assert table["all"]["f1"] == table["words"]["f1"] == table["by_parts"]["3"]["f1"] == 1.0


def test_the_table_has_counts_beside_ratios(run, gold, half):
    code, out, _ = run(gold, half)
    rows = {tuple(line.split()[:2]): line.split() for line in out.splitlines() if line.strip()}
    assert code == 0
    assert out.splitlines()[0].split() == ["precision", "recall", "F1", "right", "spurious", "missed"]
    assert rows["all", "mentions"][2:] == ["0.900", "0.500", "0.643", "9", "1", "9"]
    assert rows["Drug", "0.000"][1:] == ["0.000", "0.000", "0.000", "0", "1", "0"]
    assert rows["4+", "-"][1:] == ["-", "-", "-", "0", "0", "0"]
    assert max(map(len, out.splitlines())) <= 80


def test_type_names_are_shown_as_they_are(run, tmp_path):
    hostile = [Sentence(["a"], [Mention("[bold]x[/bold]\x1b[31m", [(0, 1)])], doc="d")]
    path = write(tmp_path / "gold.jsonl", hostile)
    _, out, _ = run(path, path)
    assert "[bold]x[/bold]\\x1b[31m" in out


def test_order_and_duplicates_do_not_matter(run, gold, tmp_path):
    records = [record_of(sentence) for sentence in reversed(NAMED)]
    for record in records:
        record["mentions"] = [*reversed(record["mentions"]), *record["mentions"]]
    predicted = write_records(tmp_path / "predicted.jsonl", records)
    code, out, err = run(gold, predicted, "--json")
    assert code == 0
    assert json.loads(out)["all"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "tp": 18, "fp": 0, "fn": 0}
    assert f"18 mentions were given more than once in {predicted}, and counted once" in err


def test_sentences_without_names(run, tmp_path):
    records = [{"tokens": sentence.tokens, "mentions": record_of(sentence)["mentions"]} for sentence in NAMED]
    gold = write_records(tmp_path / "gold.jsonl", records)
    predicted = write_records(tmp_path / "predicted.jsonl", records)
    assert json.loads(run(gold, predicted, "--json")[1])["all"]["f1"] == 1.0


def test_min_f1(run, gold, half):
    assert run(gold, half, "--min-f1", "0.64")[0] == 0
    code, out, err = run(gold, half, "--min-f1", "0.65", "--json")
    assert code == 1
    assert json.loads(out)["all"]["tp"] == 9
    assert err == "F1 is 0.6429, below the 0.65 of --min-f1\n"
    assert run(gold, gold, "--min-f1", "1")[0] == 0


@pytest.mark.parametrize("value", ["63", "-0.1", "nan"])
def test_min_f1_is_a_share(run, gold, half, value):
    code, out, err = run(gold, half, "--min-f1", value)
    assert (code, out) == (2, "")
    assert err == f"error: --min-f1 is {value}; expected a number from 0 to 1, such as 0.63 for 63 %\n"


def test_errors_are_listed(run, gold, half, tmp_path):
    listed = tmp_path / "new" / "errors.jsonl"
    code, _, err = run(gold, half, "--errors", listed)
    assert code == 0
    records = [json.loads(line) for line in listed.read_text(encoding="utf-8").splitlines()]
    assert [record["doc"] for record in records] == list(EXAMPLES)
    infarctions = records[1]["errors"]
    assert [(error["error"], error["kind"], error["text"]) for error in infarctions] == [
        ("false negative", "wrong type", "Infarctions"),
        ("false negative", "wrong type and boundary", "Infarctions … water shed"),
        ("false positive", "wrong type", "Infarctions"),
    ]
    assert infarctions[0]["partner"] == {"type": "Drug", "spans": [[0, 1]], "text": "Infarctions", "prob": 0.9}
    assert err == (f"wrote 10 errors in 5 sentences to {listed}: 7 missed, 2 wrong type, 1 wrong type and boundary\n")


def test_an_error_list_appears_whole_or_not_at_all(run, gold, tmp_path):
    listed = tmp_path / "errors.jsonl"
    listed.write_text("before", encoding="utf-8")
    predicted = write(tmp_path / "short.jsonl", [sentence.with_mentions([]) for sentence in NAMED[:2]])
    assert run(gold, predicted, "--errors", listed)[0] == 2
    assert listed.read_text(encoding="utf-8") == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"errors.jsonl", "gold.jsonl", "short.jsonl"}


def test_errors_never_overwrite_what_is_read(run, gold, half):
    code, _, err = run(gold, half, "--errors", half.parent / "." / "half.jsonl")
    assert code == 2
    assert "is an input and would be overwritten; choose another name" in err
    assert len(half.read_text(encoding="utf-8").splitlines()) == 5


def test_compare(run, gold, half):
    code, out, _ = run(gold, gold, "--compare", half, "--json", "--resamples", 500, "--seed", 3)
    found = json.loads(out)["significance"]
    assert code == 0
    assert list(found) == [
        "all",
        "discontiguous_sentences",
        "discontiguous_mentions",
        "resamples",
        "confidence",
        "seed",
    ]
    assert (found["resamples"], found["confidence"], found["seed"]) == (500, 0.95, 3)
    assert found["all"]["difference"] == pytest.approx(1 - 9 / 14)
    assert found["all"]["interval"][0] > 0
    assert run(gold, gold, "--compare", half, "--json", "--resamples", 500, "--seed", 3)[1] == out


def test_compare_with_itself_as_text(run, gold, half):
    _, out, _ = run(gold, half, "--compare", half, "--resamples", 100)
    rows = [line.split() for line in out.splitlines()]
    assert ["difference", "+0.000", "+0.000", "+0.000"] in rows
    assert ["p,", "paired", "bootstrap", "1.0000", "1.0000", "1.0000"] in rows
    assert ["p,", "randomisation", "1.0000", "1.0000", "1.0000"] in rows


def test_compare_where_documents_stand_in_another_order(run, gold, half, tmp_path):
    lines = half.read_text(encoding="utf-8").splitlines(keepends=True)
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(reversed(lines)), encoding="utf-8")
    found = json.loads(run(gold, half, "--compare", turned, "--json", "--resamples", 100)[1])["significance"]
    assert found["all"]["p_randomisation"] == 1.0
    assert found["all"]["interval"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (NAMED[:-1], "sentence 5 of gold has no partner: document 'ethanol' ("),
        (
            [*NAMED, Sentence(["more"], doc="more")],
            "the prediction has a sentence that gold lacks: document 'more' (",
        ),
        ([*NAMED[:4], Sentence(["Ethanol", "withdrawal"], doc="ethanol")], "token 1 is 'Intoxication' in gold, but"),
    ],
    ids=["too few", "too many", "other tokens"],
)
def test_a_mismatch_ends_with_2(run, gold, tmp_path, predicted, message):
    code, out, err = run(gold, write(tmp_path / "predicted.jsonl", predicted), "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert "predicted.jsonl" in err or "gold.jsonl" in err


def test_a_missing_file_ends_with_2(run, gold):
    code, _, err = run(gold, "nowhere.jsonl")
    assert code == 2
    assert "nowhere.jsonl: there is no such file or folder" in err


def test_defects_stop_or_are_skipped(run, tmp_path, gold):
    records = [record_of(sentence) for sentence in NAMED]
    records[0]["mentions"] = [*records[0]["mentions"], {"type": "Finding", "spans": [[5, 3]]}]
    predicted = write_records(tmp_path / "predicted.jsonl", records)
    code, _, err = run(gold, predicted)
    assert code == 2
    assert "predicted.jsonl:1: part '5 3' ends before it starts" in err
    code, out, err = run(gold, predicted, "--on-error", "skip", "--json")
    assert code == 0
    assert json.loads(out)["all"]["f1"] == 1.0
    assert "skipped with 1 problem: 1 reversed-part" in err


TEXT = "Infarctions either water shed or embolic"


def write_brat(folder: Path, lines: str) -> Path:
    folder.mkdir()
    (folder / "note.txt").write_text(TEXT, encoding="utf-8")
    (folder / "note.ann").write_text(lines, encoding="utf-8")
    return folder


def test_texts_in_brat(run, tmp_path):
    gold = write_brat(
        tmp_path / "gold", "T1\tFinding 0 11\tInfarctions\nT2\tFinding 0 11;19 29\tInfarctions water shed\n"
    )
    predicted = write_brat(
        tmp_path / "predicted", "T1\tFinding 0 11;19 28\tInfarctions water she\nT2\tFinding 0 11\tInfarctions\n"
    )
    code, out, _ = run(gold, predicted, "--json")
    table = json.loads(out)
    assert code == 0
    assert (table["all"]["tp"], table["all"]["fp"], table["all"]["fn"]) == (1, 1, 1)
    assert table["relaxed"]["f1"] == table["words"]["f1"] == 1.0
    assert table["by_gap"]["1"]["fn"] == 1


def test_formats_may_differ(run, tmp_path):
    gold = write_records(
        tmp_path / "gold.data",
        [{"doc": "note", "text": TEXT, "mentions": [{"type": "Finding", "spans": [[0, 11], [33, 40]]}]}],
    )
    predicted = write_brat(tmp_path / "predicted", "T1\tFinding 0 11;33 40\tInfarctions embolic\n")
    code, out, _ = run(gold, predicted, "--from", "jsonl", "--predicted-from", "brat", "--json")
    assert code == 0
    assert json.loads(out)["discontiguous_mentions"]["tp"] == 1
    code, _, err = run(gold, predicted, "--from", "jsonl")
    assert code == 2
    assert "jsonl" in err


def test_texts_against_tokens(run, tmp_path, gold):
    predicted = write_records(tmp_path / "texts.jsonl", [{"doc": "laceration", "text": " ".join(LACERATION.tokens)}])
    code, _, err = run(gold, predicted)
    assert code == 2
    assert "gold has tokens, but the prediction has text with character offsets. 'hyperspan convert' brings" in err


def test_a_real_corpus_with_every_seventh_mention_dropped(run, shared_data, tmp_path):
    path = shared_data / "chia" / "test.jsonl"
    units = list(corpora.stream(path))
    total = dropped = lost = 0
    kept_units = []
    for unit in units:
        kept = []
        for mention in unit.mentions:
            total += 1
            if total % 7 == 0:
                dropped += 1
                lost += mention.is_discontiguous
            else:
                kept.append(mention)
        kept_units.append(unit.with_mentions(kept))
    predicted = write(tmp_path / "predicted.jsonl", kept_units)
    code, out, _ = run(path, predicted, "--compare", path, "--json", "--errors", tmp_path / "errors.jsonl")
    table = json.loads(out)
    assert code == 0
    assert total == 4238
    assert table["all"] == {
        "precision": 1.0,
        "recall": (total - dropped) / total,
        "f1": 2 * (total - dropped) / (2 * total - dropped),
        "tp": total - dropped,
        "fp": 0,
        "fn": dropped,
    }
    assert table["discontiguous_mentions"]["fn"] == lost
    assert table["discontiguous_mentions"]["tp"] + lost == 190
    assert table["significance"]["all"]["sentences"] == 1288
    assert table["significance"]["discontiguous_sentences"]["sentences"] == 141
    assert table["significance"]["all"]["p_bootstrap"] < 0.001
    for breakdown in ("by_type", "by_parts", "by_gap", "by_overlap"):
        for count in ("tp", "fp", "fn"):
            assert sum(score[count] for score in table[breakdown].values()) == table["all"][count]
    listed = [json.loads(line) for line in (tmp_path / "errors.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = [error["kind"] for record in listed for error in record["errors"]]
    assert kinds == ["missed"] * dropped


def test_a_sentence_of_a_document_is_a_sentence(run, tmp_path: Path):
    """The scores of documents are those that a recognizer gives itself, which reads sentences."""
    documents = list(demo.generate(12, unit="documents"))
    recognizer = Recognizer(max_iterations=10, max_components=2).fit(documents[:8])
    gold = write(tmp_path / "gold.jsonl", documents[8:])
    found = write(tmp_path / "found.jsonl", list(recognizer.annotate(documents[8:])))
    code, out, _ = run(gold, found, "--json")
    assert code == 0
    theirs, ours = json.loads(out), recognizer.evaluate(documents[8:]).as_dict()
    for name in ("all", "discontiguous_sentences", "discontiguous_mentions", "by_parts", "by_type"):
        assert theirs[name] == ours[name], name
    assert 0 < ours["discontiguous_sentences"]["tp"] < ours["all"]["tp"]


@pytest.fixture
def with_probs(tmp_path: Path) -> Path:
    """Every gold mention with probability 0.8, and a wrong one with 0.3 in each sentence."""
    units = [
        sentence.with_mentions(
            [
                *(Mention(each.type, each.parts, prob=0.8) for each in sentence.mentions),
                Mention("Drug", [(0, 1)], prob=0.3),
            ]
        )
        for sentence in NAMED
    ]
    return write(tmp_path / "probs.jsonl", units)


def test_calibration_is_printed_and_in_the_json(run, gold: Path, with_probs: Path):
    n_right, n_wrong = sum(len(sentence.mentions) for sentence in NAMED), len(NAMED)
    wanted = (0.2 * n_right + 0.3 * n_wrong) / (n_right + n_wrong)
    code, out, _ = run(gold, with_probs, "--calibration", "--json")
    found = json.loads(out)["calibration"]
    assert code == 0
    assert found["error"] == pytest.approx(wanted)
    assert [each["mentions"] for each in found["bins"]] == [0, 0, 0, n_wrong, 0, 0, 0, 0, n_right, 0]
    code, out, _ = run(gold, with_probs, "--calibration")
    assert code == 0
    assert f"calibration error {wanted:.4f} over {n_right + n_wrong} predicted mentions" in out
    (line,) = [line for line in out.splitlines() if line.startswith("  0.8 to 0.9")]
    assert "0.800  1.000" in line
    assert line.count("█") == 49  # fifty, of which the sign for the mean probability hides one
    assert "calibration" not in json.loads(run(gold, with_probs, "--json")[1])


def test_calibration_needs_probabilities(run, gold: Path, half: Path):
    code, _, err = run(gold, gold, "--calibration")
    assert code == 2
    assert "no predicted mention has a probability, which --calibration needs" in err
    code, _, err = run(gold, half, "--calibration")
    assert code == 0
    assert "predicted mentions have no probability, and are left out of the diagram" in err


def test_the_diagram_is_drawn(run, gold: Path, with_probs: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    assert run(gold, with_probs, "--calibration", "--plot", tmp_path / "a.svg")[0] == 0
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    code, _, err = run(gold, with_probs, "--calibration", "--plot", tmp_path / "a.txt")
    assert code == 2
    assert "expected a name that ends with .png, .svg or .pdf" in err
    code, _, err = run(gold, with_probs, "--plot", tmp_path / "a.svg")
    assert code == 2
    assert "--plot draws the diagram of --calibration; give both" in err

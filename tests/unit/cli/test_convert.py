"""``hyperspan convert``: every format into every other, whole or not at all."""

from __future__ import annotations

import json
import os
from itertools import product
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan import corpora
from hyperspan.cli import app
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, UsageError
from hyperspan.mentions import Document, Mention, Sentence

NAMES = {
    "bigbio": "notes.json",
    "bioc": "notes.xml",
    "brat": "notes",
    "cupt": "notes.cupt",
    "inline": "notes.inline",
    "jsonl": "notes.jsonl",
    "knowtator": "notes",
    "semeval": "notes",
}

TEXTS = {
    "note-1": "The patient had blood in his mouth and on his tongue.\nNo fever.\n",
    "note-2": "Infarctions either water shed or embolic.\n",
}
WORDS = {
    ("Finding", "blood … on his tongue"),
    ("Finding", "blood in his mouth"),
    ("Finding", "fever"),
    ("Finding", "Infarctions"),
    ("Finding", "Infarctions … water shed"),
    ("Site", "mouth"),
}


def _documents() -> list[Document]:
    cui = {"cui": "C0015967"}
    return [
        Document(
            "note-1",
            TEXTS["note-1"],
            [
                Mention("Finding", [(16, 34)], attributes=cui),
                Mention("Finding", [(16, 21), (39, 52)], attributes=cui),
                Mention("Site", [(29, 34)], attributes=cui),
                Mention("Finding", [(57, 62)], attributes=cui),
            ],
        ),
        Document(
            "note-2",
            TEXTS["note-2"],
            [Mention("Finding", [(0, 11)], attributes=cui), Mention("Finding", [(0, 11), (19, 29)], attributes=cui)],
        ),
    ]


def _sentences() -> list[Sentence]:
    return [
        Sentence(
            ["The", "patient", "had", "blood", "in", "his", "mouth", "and", "on", "his", "tongue", "."],
            [Mention("Finding", [(3, 7)]), Mention("Finding", [(3, 4), (8, 11)]), Mention("Site", [(6, 7)])],
            "note-1",
        ),
        Sentence(["No", "fever", "."], [Mention("Finding", [(1, 2)])], "note-1"),
        Sentence(
            ["Infarctions", "either", "water", "shed", "or", "embolic", "."],
            [Mention("Finding", [(0, 1)]), Mention("Finding", [(0, 1), (2, 4)])],
            "note-2",
        ),
    ]


def run(*arguments: object):
    return CliRunner().invoke(app, ["convert", *map(str, arguments)], catch_exceptions=False)


def put(folder: Path, format: str) -> Path:
    units = _sentences() if Sentence in corpora.format_named(format).units else _documents()
    path = folder / "in" / NAMES[format]
    corpora.write(units, path, format=format, diagnostics=Diagnostics("skip"))
    return path


def words_in(path: Path, format: str) -> set[tuple[str, str]]:
    return {
        (mention.type, unit.text_of(mention)) for unit in corpora.read(path, format=format) for mention in unit.mentions
    }


@pytest.mark.parametrize(("source", "target"), list(product(NAMES, NAMES)))
def test_every_format_becomes_every_other(source, target, tmp_path):
    path, output = put(tmp_path, source), tmp_path / "out" / NAMES[target]
    result = run(path, output, "--from", source, "--to", target, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["format"], report["mentions"], report["skipped"]) == (target, 6, {})
    assert words_in(output, target) == WORDS


@pytest.mark.parametrize(
    ("source", "target", "kinds"),
    [
        ("brat", "jsonl", set()),
        ("brat", "inline", {"doc-not-held", "mention-attributes-not-held", "offsets-not-held"}),
        ("brat", "cupt", {"mention-attributes-not-held", "offsets-not-held"}),
        ("jsonl", "semeval", {"no-cui"}),
        ("jsonl", "inline", {"doc-not-held"}),
    ],
)
def test_what_a_format_cannot_hold_is_said(source, target, kinds, tmp_path):
    result = run(put(tmp_path, source), tmp_path / "out" / NAMES[target], "--to", target, "--json")
    assert {note["kind"] for note in json.loads(result.stdout)["notes"]} == kinds


def test_notes_reach_the_person(tmp_path):
    result = run(put(tmp_path, "jsonl"), tmp_path / "out.inline")
    assert "note: the format 'inline' holds no document names (document 'note-1') (3 times)" in result.stderr
    assert f"wrote 3 sentences with 6 mentions to {tmp_path}/out.inline (inline)" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.ann", "T1\tF 0 2\tno\nT2\tF 3 8\tfever\nR1\tOf Arg1:T1 Arg2:T2\n", "relations"),
        ("a.ann", "T1\tF 0 2\tno\n#1\tAnnotatorNotes T1\tlook here\n*\tSame T1 T1\n", "equivalences"),
        ("a.ann", "T1\tF 0 2\tno\n#1\tAnnotatorNotes T1\tlook here\n*\tSame T1 T1\n", "notes"),
        ("a.ann", "T1\tF 0 2\tno\nX1\tnobody knows\n", "line 'X1\\tnobody knows'"),
        ("a.jsonl", '{"tokens": ["no"], "doc": "a", "speaker": "x", "mentions": []}\n', "key 'speaker'"),
        (
            "a.cupt",
            "# global.columns = ID FORM HEAD PARSEME:MWE\n# text = no\n1\tno\t0\t*\n\n",
            "comments or column HEAD",
        ),
        (
            "a.xml",
            "<collection><document><id>a</id><passage><infon key='kind'>title</infon><offset>0</offset><text>no</text>"
            "</passage><relation id='R1'></relation></document></collection>",
            "relations or infons of passages",
        ),
    ],
)
def test_what_only_its_own_format_can_write_is_said(name, content, what, tmp_path):
    (tmp_path / name).write_text(content)
    (tmp_path / "a.txt").write_text("no fever")
    result = run(tmp_path / name, tmp_path / "out.inline")
    assert f"note: the format 'inline' holds no {what} (document 'a" in result.stderr


def test_into_the_same_format_nothing_is_lost(tmp_path):
    content = "T1\tF 0 2\tno\nT2\tF 3 8\tfever\nR1\tOf Arg1:T1 Arg2:T2\t\n"
    (tmp_path / "a.ann").write_text(content)
    (tmp_path / "a.txt").write_text("no fever")
    result = run(tmp_path / "a.ann", tmp_path / "out")
    assert "note:" not in result.stderr
    assert (tmp_path / "out" / "a.ann").read_text() == content


def test_only_sentences_with_a_discontiguous_mention(tmp_path):
    result = run(put(tmp_path, "jsonl"), tmp_path / "out.jsonl", "--discontiguous-only", "--json")
    assert json.loads(result.stdout)["units"] == 2
    assert all(sentence.is_discontiguous for sentence in corpora.read(tmp_path / "out.jsonl"))


def _many(folder: Path, n_documents: int = 20) -> Path:
    path = folder / "many.jsonl"
    sentences = [Sentence(["no", "fever"], [Mention("F", [(1, 2)])], f"d{i // 2}") for i in range(2 * n_documents)]
    corpora.write(sentences, path)
    return path


def test_splits_keep_documents_whole_and_depend_on_the_seed(tmp_path):
    path = _many(tmp_path)
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        assert run(path, tmp_path / name, "--to", "jsonl", "--split", "80,10,10", "--seed", seed).exit_code == 0
    corpus = corpora.read(tmp_path / "one")
    documents = {name: {unit.doc for unit in corpus.split(name)} for name in corpus.splits}
    assert {name: len(docs) for name, docs in documents.items()} == {"train": 16, "dev": 2, "test": 2}
    assert len(set().union(*documents.values())) == 20
    assert len(corpus) == 40
    assert _files(tmp_path / "one") == _files(tmp_path / "again") != _files(tmp_path / "other")


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "annotation.conf"
    }


@pytest.mark.parametrize("target", ["brat", "bioc", "semeval"])
def test_splits_in_any_format(target, tmp_path):
    result = run(_many(tmp_path), tmp_path / "out", "--to", target, "--split", "50,25,25", "--json")
    assert json.loads(result.stdout)["splits"] == {"train": 10, "dev": 5, "test": 5}
    corpus = corpora.read(tmp_path / "out", format=target)
    assert {name: len(corpus.split(name)) for name in corpus.splits} == {"train": 10, "dev": 5, "test": 5}


def test_a_share_of_nothing_writes_no_file(tmp_path):
    run(_many(tmp_path), tmp_path / "out", "--to", "jsonl", "--split", "80,0,20")
    assert sorted(os.listdir(tmp_path / "out")) == ["test.jsonl", "train.jsonl"]


@pytest.mark.parametrize("target", ["jsonl", "brat"])
def test_splits_of_the_corpus_are_kept_in_a_folder(target, tmp_path):
    for name in ("train", "test"):
        corpora.write([Sentence(["no"], doc=name)], tmp_path / "in" / f"{name}.jsonl")
    assert run(tmp_path / "in", tmp_path / "out", "--to", target).exit_code == 0
    assert corpora.read(tmp_path / "out").splits == ("test", "train")
    result = run(tmp_path / "in", tmp_path / "out.jsonl")
    assert "note: train, dev and test are written together" in result.stderr


def test_an_output_without_suffix_can_be_read_again(tmp_path):
    run(put(tmp_path, "jsonl"), tmp_path / "out", "--to", "jsonl")
    assert os.listdir(tmp_path / "out") == ["all.jsonl"]


def test_names_made_up_for_lines_are_good_names_everywhere(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["no"]}\n{"tokens": ["fever"]}\n')
    assert run(tmp_path / "a.jsonl", tmp_path / "out").exit_code == 0
    assert sorted(os.listdir(tmp_path / "out")) == [
        *("a-00001.ann", "a-00001.txt", "a-00002.ann", "a-00002.txt"),
        "annotation.conf",
    ]


@pytest.mark.parametrize(("target", "output"), [("jsonl", "out.jsonl"), ("brat", "out"), ("bioc", "out.xml")])
def test_an_error_in_the_middle_leaves_nothing_behind(target, output, tmp_path):
    lines = [json.dumps({"doc": f"d{i}", "tokens": ["no"]}) for i in range(50)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"doc": "broken", "tokens"']))
    with pytest.raises(CorpusError, match=r"a\.jsonl:51: the line is not JSON"):
        run(tmp_path / "a.jsonl", tmp_path / output, "--to", target)
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize("options", [(), ("--split", "50,25,25")])
def test_an_error_in_the_middle_keeps_what_was_there(options, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    (tmp_path / "a.jsonl").write_text('{"tokens": ["no"]}\n{"tokens": []')
    with pytest.raises(CorpusError, match=r"a\.jsonl:2"):
        run(tmp_path / "a.jsonl", tmp_path / "out", "--to", "jsonl", "--overwrite", *options)
    assert _files(tmp_path / "out") == {"mine.txt": b"precious"}
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "out"]


def test_a_folder_is_replaced_only_when_told(tmp_path):
    path = put(tmp_path, "jsonl")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="is not empty; choose another, or replace it with --overwrite"):
        run(path, tmp_path / "out", "--to", "jsonl")
    assert run(path, tmp_path / "out", "--to", "jsonl", "--overwrite").exit_code == 0
    assert os.listdir(tmp_path / "out") == ["all.jsonl"]


def test_skipped_mentions_are_counted_and_widened_ones_kept(tmp_path):
    document = Document("a", "no feverish chill", [Mention("F", [(3, 8)])])
    corpora.write([document], tmp_path / "in")
    with pytest.raises(CorpusError, match=r"in/a\.ann:1: the 'F' mention .* has a boundary inside a token"):
        run(tmp_path / "in", tmp_path / "out.inline")
    result = run(tmp_path / "in", tmp_path / "out.inline", "--on-error", "skip", "--json")
    report = json.loads(result.stdout)
    assert (report["skipped"], report["widened"]) == ({"inside-token": 1}, 0)
    assert corpora.read(tmp_path / "out.inline").n_mentions == 0
    result = run(tmp_path / "in", tmp_path / "out.inline", "--on-error", "widen", "--json")
    report = json.loads(result.stdout)
    assert (report["skipped"], report["widened"], report["mentions"]) == ({}, 1, 1)
    assert "warning: widened 1 mention to whole words\n" in result.stderr
    (sentence,) = corpora.read(tmp_path / "out.inline")
    assert sentence.text_of(sentence.mentions[0]) == "feverish"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("out.odd",), "'out.odd' does not say which format to write"),
        (("out.jsonl", "--split", "80,10,10"), "--split writes a folder, but 'out.jsonl' is the name of a file"),
        (("out", "--split", "80,10"), "the split '80,10' is not three shares that add up to 100"),
        (("out.jsonl", "--to", "xlsx"), "there is no corpus format 'xlsx'; expected one of bigbio"),
        (("in/notes.jsonl",), "in/notes.jsonl is an input and would be overwritten; choose another name"),
        (("in", "--to", "brat", "--overwrite"), "in holds the input in/notes.jsonl, which would be overwritten"),
    ],
)
def test_wrong_usage_says_what_to_do(arguments, message, tmp_path, monkeypatch):
    put(tmp_path, "jsonl")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as caught:
        run("in/notes.jsonl", *arguments)
    assert message in str(caught.value)
    assert os.listdir(tmp_path) == ["in"]


def test_nothing_to_convert_or_split_is_said(tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    assert f"note: there is nothing in {tmp_path}/a.jsonl" in run(tmp_path / "a.jsonl", tmp_path / "b.jsonl").stderr
    with pytest.raises(UsageError, match="there is no document to split into train, dev and test"):
        run(tmp_path / "a.jsonl", tmp_path / "out", "--to", "jsonl", "--split", "80,10,10")


@pytest.mark.parametrize("target", ["brat", "knowtator", "semeval"])
def test_documents_in_folders_come_back_all(target, tmp_path):
    cui = {"cui": "C0015967"}
    units = [Document(name, "No fever.", [Mention("Finding", [(3, 8)], attributes=cui)]) for name in ("e", "s/d")]
    corpora.write(units, tmp_path / "notes.jsonl")
    done = CliRunner().invoke(app, ["convert", str(tmp_path / "notes.jsonl"), str(tmp_path / "out"), "--to", target])
    assert done.exit_code == 0, done.output
    assert "wrote 2 documents with 2 mentions" in done.output
    assert [unit.doc for unit in corpora.read(tmp_path / "out")] == ["e", "s/d"]


def test_an_output_that_cannot_be_replaced_is_written_to(tmp_path):
    corpora.write(_documents(), tmp_path / "notes.jsonl")
    device = os.stat("/dev/null").st_rdev
    (tmp_path / "link.jsonl").symlink_to("/dev/null")
    for output in ("/dev/null", str(tmp_path / "link.jsonl")):
        done = CliRunner().invoke(app, ["convert", str(tmp_path / "notes.jsonl"), output, "--to", "jsonl"])
        assert done.exit_code == 0, done.output
    assert os.stat("/dev/null").st_rdev == device
    assert (tmp_path / "link.jsonl").is_symlink()


def test_stdout_can_be_named(tmp_path):
    import subprocess
    import sys

    corpora.write(_documents(), tmp_path / "notes.jsonl")
    options = ["convert", str(tmp_path / "notes.jsonl"), "/dev/stdout", "--to", "jsonl"]
    command = [sys.executable, "-m", "hyperspan", *options]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert done.stdout == (tmp_path / "notes.jsonl").read_bytes()


@pytest.mark.parametrize("corpus", ["/dev/zero", "pipe"])
def test_a_corpus_without_end_is_refused_at_once(corpus, tmp_path):
    if corpus == "pipe":
        corpus = str(tmp_path / "pipe")
        os.mkfifo(corpus)
    with pytest.raises(CorpusError, match="which cannot be read twice; expected a file or folder"):
        corpora.read(corpus, format="jsonl")

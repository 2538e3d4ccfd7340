"""The settings of the paper, on invented reports in the shape of the clinical releases."""

from __future__ import annotations

import re

import pytest

from hyperspan.errors import CorpusError, UsageError
from hyperspan.experiments import Settings, Source, load
from hyperspan.experiments.clinical import read_semantic_roots, split_of_folders
from hyperspan.experiments.data import cui_of
from releases import write_releases, write_shareclef2013


def docs(sentences) -> set[str]:
    return {sentence.doc.rsplit("/", 1)[-1] for sentence in sentences}


@pytest.fixture(scope="module")
def both(clinical):
    source = Source(semeval2014=clinical["semeval"], shareclef2013=clinical["shareclef"], mrsty=clinical["mrsty"])
    return load(source, Settings())


def test_large_has_the_splits_of_the_release(both):
    small, large = both.datasets
    assert (small.paper, large.paper) == ("SMALL", "LARGE")
    assert both.largest is large
    assert [len(docs(large.split(name))) for name in ("train", "dev", "test")] == [24, 24, 24]
    assert large.types == ("Disease_Disorder",)
    note_types = {sentence.attributes["note_type"] for sentence in large.split("train")}
    assert note_types == {"discharge", "echo", "radiology", "ecg"}


def test_small_is_cut_by_document_and_tested_on_the_development_documents(both):
    small, large = both.datasets
    train, dev = docs(small.split("train")), docs(small.split("dev"))
    assert not train & dev
    assert train | dev == docs(large.split("train"))
    assert (len(train), len(dev)) == (19, 5)
    assert docs(small.split("test")) == docs(large.split("dev"))


def test_another_seed_cuts_elsewhere(clinical):
    source = Source(shareclef2013=clinical["shareclef"])
    cuts = [docs(load(source, Settings(seed=seed)).largest.split("dev")) for seed in (0, 0, 1)]
    assert cuts[0] == cuts[1] != cuts[2]


def test_small_can_be_made_of_the_later_release(clinical, both):
    small, _ = load(Source(semeval2014=clinical["semeval"]), Settings()).datasets
    assert docs(small.split("dev")) == docs(both.datasets[0].split("dev"))
    assert sorted(s.tokens for s in small.split("test")) == sorted(s.tokens for s in both.datasets[0].split("test"))


def test_the_earlier_release_alone_gives_small(clinical):
    (small,) = load(Source(shareclef2013=clinical["shareclef"]), Settings()).datasets
    assert small.name == "SMALL"


def test_types_are_the_roots_of_the_codes(both, clinical):
    roots = dict(line.split("|")[:3:2] for line in clinical["mrsty"].read_text().splitlines())
    typed = both.typed[-1]
    assert (typed.paper, typed.types) == ("LARGE", ("A", "B", "N"))
    for plain, with_type in zip(both.largest.split("train"), typed.split("train"), strict=True):
        assert plain.tokens == with_type.tokens
        assert [m.parts for m in plain.mentions] == [m.parts for m in with_type.mentions]
        for mention in with_type.mentions:
            assert mention.type == roots.get(cui_of(mention), "N")[0]


def test_a_release_without_a_split(clinical):
    with pytest.raises(
        UsageError, match=r"shareclef has nothing for the split 'dev'; expected a folder with dev in its name"
    ):
        load(Source(semeval2014=clinical["shareclef"]), Settings())


@pytest.mark.parametrize("suffix", [".txt", ".pipe.txt"])
def test_the_release_of_2013_as_it_is_laid_out(tmp_path, suffix):
    splits = write_shareclef2013(tmp_path / "release", pipe_suffix=suffix)
    (small,) = load(Source(shareclef2013=tmp_path / "release"), Settings()).datasets
    assert docs(small.split("train")) | docs(small.split("dev")) == {document.doc for document in splits["train"]}
    assert docs(small.split("test")) == {document.doc for document in splits["test"]}
    for name, among in (("test", ["test"]), ("train", ["train", "dev"])):
        found = sum(len(sentence.mentions) + len(sentence.lost) for split in among for sentence in small.split(split))
        assert found == sum(len(document.mentions) for document in splits[name])
    note_types = {sentence.attributes["note_type"] for sentence in small.split("test")}
    assert note_types == {"discharge", "echo", "radiology", "ecg"}
    assert any("cui" in mention.attributes for sentence in small.split("train") for mention in sentence.mentions)


def test_what_a_release_lacks_is_told(tmp_path):
    root = tmp_path / "release"
    write_shareclef2013(root)
    corpus, elsewhere = root / "Task1TestSetCorpus100", tmp_path / "elsewhere"
    corpus.rename(elsewhere)
    message = (
        r"nothing for the split 'test'; there are annotations of 20 reports in Task1Gold_SN2012/Gold_SN2012, but not "
        r"their texts, which would tell the split; expected 00040-000040-\w+\.txt in a folder such as "
        r"Task1TestSetCorpus/ALLREPORTS or"
    )
    with pytest.raises(UsageError, match=message):
        load(Source(shareclef2013=root), Settings())
    elsewhere.rename(corpus)
    reports = root / "Task1TrainSetCorpus199"
    reports.rename(elsewhere)
    message = (
        r"nothing for the split 'train'; there are annotations of 40 reports in "
        r"Task1TrainSetGOLD199knowtatorehost/ALLSAVED, but not their texts; expected 00000-000000-\w+\.txt in a folder "
        r"such as Task1TrainSetCorpus/ALLREPORTS"
    )
    with pytest.raises(UsageError, match=message):
        load(Source(shareclef2013=root), Settings())
    elsewhere.rename(reports)
    for gold, split, n_reports in (
        ("Task1Gold_SN2012", "test", 20),
        ("Task1TrainSetGOLD199knowtatorehost", "train", 40),
    ):
        (root / gold).rename(elsewhere)
        message = (
            rf"nothing for the split '{split}'; there are {n_reports} reports in .*/ALLREPORTS, but no annotations of"
        )
        with pytest.raises(UsageError, match=message):
            load(Source(shareclef2013=root), Settings())
        elsewhere.rename(root / gold)
    with pytest.raises(UsageError, match=r"has no annotations; text files seen: 20 in ALLREPORTS\. Expected pipe"):
        load(Source(shareclef2013=corpus), Settings())
    with pytest.raises(CorpusError, match="there is no such file or folder"):
        load(Source(shareclef2013=tmp_path / "nowhere"), Settings())
    with pytest.raises(UsageError, match="is a file; expected the folder of a release"):
        load(Source(shareclef2013=next(corpus.rglob("*.txt"))), Settings())


def test_annotations_whose_split_nothing_tells(tmp_path):
    """A part of the release, folders without the names of the release, and archives that are not unpacked."""
    root = tmp_path / "release"
    write_shareclef2013(root)
    message = r"annotations of 20 reports in Gold_SN2012, but not their texts, which would tell the split; expected"
    with pytest.raises(UsageError, match=message):
        load(Source(shareclef2013=root / "Task1Gold_SN2012"), Settings())
    (root / "Task1TestSetCorpus100" / "ALLREPORTS").rename(root / "ALLREPORTS 2")
    message = (
        r"nothing for the split 'test'; there are annotations of 20 reports in Task1Gold_SN2012/Gold_SN2012, and "
        r"their texts are in ALLREPORTS 2, but no folder above either has test in its name; expected folders such as"
    )
    with pytest.raises(UsageError, match=message):
        load(Source(shareclef2013=root), Settings())
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "Task1TestSetCorpus100.zip").touch()
    with pytest.raises(UsageError, match=r"but there are archives to unpack, such as Task1TestSetCorpus100\.zip"):
        load(Source(shareclef2013=packed), Settings())


def test_the_later_release_is_not_taken_for_the_earlier(clinical):
    """Its test documents are not those of SMALL."""
    message = r"annotations for the split 'dev', but the release of ShARe/CLEF 2013 has only train and test; the first"
    with pytest.raises(UsageError, match=message):
        load(Source(shareclef2013=clinical["semeval"]), Settings())


def test_a_report_is_in_one_split_only(tmp_path):
    """The test documents of 2013 are the development documents of 2014, so one folder must not hold both releases."""
    write_releases(tmp_path)
    message = r"has 24 reports in dev and in test, such as '00100-000100-\w+': .*devel.* and .*Task1TestSetGOLD"
    with pytest.raises(UsageError, match=message):
        load(Source(semeval2014=tmp_path), Settings())


def test_abbreviations_are_no_disorders(tmp_path):
    """Task 2 of the release of 2013 annotates abbreviations: in files of its own, or beside the disorders."""
    root = tmp_path / "release"
    splits = write_shareclef2013(root)
    expected = load(Source(shareclef2013=root), Settings())
    pipe = root / "Task1Gold_SN2012" / "Gold_SN2012"
    for path in sorted(pipe.iterdir())[:3]:
        lines = path.read_text(encoding="utf-8")
        path.write_text(f"{lines}{path.stem}.text||Acronym_Abbreviation||C1||0||2\n", encoding="utf-8")
    of_task_2 = root / "Task2TrainSetGOLD200pipe" / "GOLD"
    of_task_2.mkdir(parents=True)
    for document in splits["train"]:
        line = f"{document.doc}.txt||Acronym_Abbreviation||C1||0||2\n"
        (of_task_2 / f"{document.doc}.pipe.txt").write_text(line, encoding="utf-8")
    data = load(Source(shareclef2013=root), Settings())
    assert data.largest.splits == expected.largest.splits
    assert data.largest.types == ("Disease_Disorder",)
    assert data.skipped == {**expected.skipped, "no-disorder": 3, "other-task": len(splits["train"])}
    assert "has the type 'Acronym_Abbreviation'; only disorders are read" in data.examples["no-disorder"].message
    assert "in a folder of Task 2" in data.examples["other-task"].message


def test_of_two_annotations_of_a_report_the_later_is_read(tmp_path):
    """The release has the gold annotations of two years; nothing is left out silently."""
    root = tmp_path / "release"
    write_shareclef2013(root)
    expected = load(Source(shareclef2013=root), Settings())
    earlier = root / "Task1Gold_SN2011" / "Gold_SN2011"
    earlier.mkdir(parents=True)
    for path in sorted((root / "Task1Gold_SN2012" / "Gold_SN2012").iterdir())[:3]:
        (earlier / path.name).write_text(f"{path.stem}.txt||Disease_Disorder||C1||0||2\n", encoding="utf-8")
    data = load(Source(shareclef2013=root), Settings())
    assert data.largest.splits == expected.largest.splits
    assert data.skipped["second-annotations"] == 3
    assert "Gold_SN2011" in str(data.examples["second-annotations"].path)


def test_hidden_files_are_no_reports(tmp_path):
    """Archives that were packed on a Mac have a hidden file beside each real one."""
    root = tmp_path / "release"
    write_shareclef2013(root)
    expected = load(Source(shareclef2013=root), Settings())
    for folder in ("Task1TestSetCorpus100/ALLREPORTS", "Task1Gold_SN2012/Gold_SN2012"):
        hidden = root / "__MACOSX" / folder
        hidden.mkdir(parents=True)
        for path in (root / folder).iterdir():
            (hidden / f"._{path.name}").write_bytes(b"\x00\x05\x16\x07 Mac OS X")
    data = load(Source(shareclef2013=root), Settings())
    assert (data.largest.splits, data.skipped) == (expected.largest.splits, expected.skipped)


@pytest.mark.parametrize(
    ("removed", "kind", "message"),
    [
        (
            "Task1TestSetCorpus100/ALLREPORTS",
            "no-split",
            r"or above a report '00040-000040-\w+\.txt', has train, dev or",
        ),
        ("Task1Gold_SN2012/Gold_SN2012", "no-annotations", "the test report has no annotations, so it is not read"),
        ("Task1TrainSetCorpus199/ALLREPORTS", "no-text", "there is no text '00000-000000-"),
        (
            "Task1TrainSetGOLD199knowtatorehost/ALLSAVED",
            "no-annotations",
            "the train report has no annotations, so it is not read",
        ),
    ],
)
def test_reports_and_annotations_without_the_other_are_counted(tmp_path, removed, kind, message):
    """Nothing of a release is left out silently."""
    root = tmp_path / "release"
    splits = write_shareclef2013(root)
    for path in sorted((root / removed).iterdir())[:3]:
        path.unlink()
    data = load(Source(shareclef2013=root), Settings())
    assert data.skipped[kind] == 3
    assert re.search(message, data.examples[kind].message)
    assert sum(len(docs(sentences)) for sentences in data.largest.splits.values()) == sum(map(len, splits.values())) - 3


@pytest.mark.parametrize(
    ("folders", "split"),
    [(["data", "devel"], "dev"), (["test", "train"], "train"), (["Task1TestSetCorpus"], "test"), (["notes"], "")],
)
def test_the_innermost_folder_names_the_split(folders, split):
    assert split_of_folders(folders) == split


def test_the_first_line_of_a_concept_counts(tmp_path):
    path = tmp_path / "MRSTY.RRF"
    path.write_text("C1|T047|B2.2.1|Disease|AT1||\nC1|T020|A1.2.2|Abnormality|AT2||\nC2|T020|A1|x||\nC3|T1|B1|x||\n")
    assert read_semantic_roots(path, ["C1", "C2", "C9"]) == {"C1": "B", "C2": "A"}


def test_a_table_that_is_none(tmp_path):
    path = tmp_path / "MRCONSO.RRF"
    path.write_text("C1|T047|B2|Disease||\nC1|ENG|P|L1|PF\n")
    with pytest.raises(CorpusError, match=r"MRCONSO\.RRF:2: the line is 'C1\|ENG\|P\|L1\|PF'; expected 'CUI\|TUI\|STN"):
        read_semantic_roots(path, ["C1"])
    with pytest.raises(CorpusError, match="there is no such file; expected the UMLS table"):
        read_semantic_roots(tmp_path / "none", ["C1"])
    with pytest.raises(CorpusError, match="this is a folder; expected the UMLS table"):
        read_semantic_roots(tmp_path, ["C1"])


@pytest.mark.parametrize("text", ["", "C8|T047|B2|Disease||\n"])
def test_a_table_without_any_code_of_the_corpus(tmp_path, text):
    """All mentions would have the type N, as if their concepts had no semantic type."""
    path = tmp_path / "MRSTY.RRF"
    path.write_text(text)
    message = "the table has none of the 2 concept codes of the corpus, such as 'C1'; expected the UMLS table MRSTY"
    with pytest.raises(CorpusError, match=message):
        read_semantic_roots(path, ["C2", "C1", "", "CUI-less"])
    assert read_semantic_roots(path, ["", "CUI-less"]) == {}

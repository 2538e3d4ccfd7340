"""What a path holds is found out from names and first bytes; splits from names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan import corpora
from hyperspan.corpora import reading
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, FormatError, MentionError
from hyperspan.mentions import Document, Mention, Sentence

LINE = b'{"doc": "a", "tokens": ["no", "fever"], "mentions": []}\n'


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(LINE if name.endswith(".jsonl") else b"")


def names_of(items: list[Item]) -> list[str]:
    return [item.path.name for item in items]


def test_every_format_is_there_under_its_name():
    for name in corpora.formats():
        format = corpora.format_named(name)
        assert (format.name, isinstance(format, Format)) == (name, True)
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in format.suffixes)
        assert format.units


def test_an_unknown_format_is_refused():
    with pytest.raises(FormatError, match="there is no corpus format 'conll'; expected one of bigbio, bioc, brat"):
        corpora.format_named("conll")


def test_a_file_is_recognised(tmp_path):
    put(tmp_path, "a.jsonl")
    format, items = corpora.find_items(tmp_path / "a.jsonl")
    assert format.name == "jsonl"
    assert items == [Item(tmp_path / "a.jsonl", tmp_path)]
    assert items[0].doc == "a"


def test_what_is_not_recognised_is_refused(tmp_path):
    put(tmp_path, "a.odd")
    with pytest.raises(FormatError, match=r"a\.odd: the format is not recognised; expected one of .*--from"):
        corpora.find_items(tmp_path / "a.odd")
    with pytest.raises(FormatError, match="no file in this folder is of a known format"):
        corpora.find_items(tmp_path)
    put(tmp_path, "a.jsonl")
    message = r"no file in this folder is of the format 'semeval', whose files end in \.pipe, .*\. Name another with"
    with pytest.raises(FormatError, match=message):
        corpora.find_items(tmp_path, "semeval")
    with pytest.raises(FormatError, match=r"nowhere: there is no such file or folder"):
        corpora.find_items(tmp_path / "nowhere")


def test_a_named_format_is_taken_at_its_word_for_one_file(tmp_path):
    (tmp_path / "a.odd").write_bytes(LINE)
    assert [unit.doc for unit in corpora.stream(tmp_path / "a.odd", format="jsonl")] == ["a"]


def test_files_at_the_top_decide(tmp_path):
    put(tmp_path, "b.jsonl", "a.jsonl", "readme.md", ".hidden.jsonl", "deep/c.ann")
    _, items = corpora.find_items(tmp_path)
    assert names_of(items) == ["a.jsonl", "b.jsonl"]


def test_sub_folders_are_read_where_the_top_has_nothing(tmp_path):
    put(tmp_path, "readme.md", "one/a.jsonl", "two/deep/b.jsonl", ".git/c.jsonl")
    (tmp_path / "link").symlink_to(tmp_path)
    _, items = corpora.find_items(tmp_path)
    assert [item.doc for item in items] == ["one/a", "two/deep/b"]


def test_files_for_every_document_are_read_from_sub_folders_too(tmp_path):
    put(tmp_path, "a.ann", "a.txt", "ward/b.ann", "ward/b.txt", "ward/deep/c.ann", "ward/deep/c.txt", "ward/d.jsonl")
    assert [unit.doc for unit in corpora.read(tmp_path)] == ["a", "ward/b", "ward/deep/c"]


def test_one_file_for_everything_is_not_found_in_two_places(tmp_path):
    put(tmp_path, "train.jsonl", "old/train.jsonl")
    message = (
        r"jsonl files are both at the top and in sub-folders, such as 'old/train.jsonl'; it is not clear whether all "
        r"are meant\. Name one file or folder"
    )
    with pytest.raises(FormatError, match=message):
        corpora.read(tmp_path)
    put(tmp_path / "alone", "train.jsonl", "old/a.ann")
    assert len(corpora.read(tmp_path / "alone")) == 1


@pytest.mark.parametrize("format", [None, *corpora.formats()])
def test_what_is_no_file_is_refused_at_once(tmp_path, format):
    import os

    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "link.jsonl").symlink_to("/dev/zero")
    with pytest.raises(FormatError, match=r"a\.jsonl: this is a pipe, which cannot be read twice; expected a file or"):
        corpora.read(tmp_path / "a.jsonl", format=format)
    with pytest.raises(FormatError, match=r"link\.jsonl: this is a character device, which"):
        corpora.read(tmp_path / "link.jsonl", format=format)


def test_several_formats_side_by_side_are_refused(tmp_path):
    put(tmp_path, "a.jsonl", "b.jsonl", "c.ann")
    with pytest.raises(FormatError, match=r"files of several formats: 1 brat and 2 jsonl\. Choose with --from"):
        corpora.find_items(tmp_path)
    assert names_of(corpora.find_items(tmp_path, "brat")[1]) == ["c.ann"]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"),
        ("training.jsonl", "train"),
        ("my-dev.jsonl", "dev"),
        ("TEST.v2.jsonl", "test"),
        ("test_notes.jsonl", "test"),
        ("contest.jsonl", ""),
        ("all.jsonl", ""),
        ("train/a.jsonl", "train"),
        ("corpus/Test/a.jsonl", "test"),
        ("train/dev.jsonl", "dev"),
    ],
)
def test_splits_are_in_the_names(tmp_path, name, split):
    put(tmp_path, name)
    (unit,) = corpora.read(tmp_path)
    assert unit.split == split


def test_a_folder_above_the_one_that_was_named_is_no_split(tmp_path):
    put(tmp_path / "train", "a.jsonl")
    assert corpora.read(tmp_path / "train").splits == ()


def test_read_gathers_diagnostics(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LINE + b"{\n" + LINE)
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: the line is not JSON"):
        corpora.read(tmp_path)
    corpus = corpora.read(tmp_path, on_error="skip")
    assert len(corpus) == 2
    assert corpus.diagnostics is not None
    assert corpus.diagnostics.counts == {"not-json": 1}


def test_a_file_that_cannot_be_opened_is_named(tmp_path, monkeypatch):
    put(tmp_path, "a.jsonl")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(reading, "head_of", refuse)
    with pytest.raises(FormatError, match=r"a\.jsonl: cannot be read: Permission denied"):
        corpora.read(tmp_path)


def test_a_file_that_vanishes_is_reported(tmp_path):
    put(tmp_path, "a.jsonl", "b.jsonl")
    diagnostics = Diagnostics("skip")
    units = corpora.stream(tmp_path, diagnostics=diagnostics)
    assert next(units).doc == "a"
    (tmp_path / "b.jsonl").unlink()
    assert list(units) == []
    assert diagnostics.counts == {"unreadable": 1}
    assert "cannot be read: No such file or directory" in diagnostics.items[0].message


def test_what_slips_through_a_format_still_gets_a_place(tmp_path, monkeypatch):
    def broken(item: Item, diagnostics: Diagnostics):
        yield Sentence(["a"])
        raise MentionError("this cannot be")

    put(tmp_path, "a.jsonl")
    format = Format("broken", "", (".jsonl",), (Sentence,), lambda path, head: True, broken)
    monkeypatch.setattr(reading, "format_named", lambda name: format)
    with pytest.raises(CorpusError, match=r"a\.jsonl: this cannot be"):
        corpora.read(tmp_path / "a.jsonl", format="broken")
    assert len(corpora.read(tmp_path / "a.jsonl", format="broken", on_error="skip")) == 1


# -- the checks that formats share -----------------------------------------------------------------------------------


def test_a_checked_mention_takes_spans_in_any_order():
    mention = checked_mention("X", [(4, 5), (0, 1), (1, 3)], Diagnostics(), length=5, prob=0.5, attributes={"a": 1})
    assert mention is not None
    assert (mention.parts, mention.prob, mention.attributes) == (((0, 3), (4, 5)), 0.5, {"a": 1})


@pytest.mark.parametrize(
    ("type", "spans", "kind", "message"),
    [
        ("X", [], "no-parts", "the mention has no parts"),
        ("X", [(2, 2)], "empty-part", "part '2 2' is empty"),
        ("X", [(3, 2)], "reversed-part", "part '3 2' ends before it starts"),
        ("X", [(-1, 2)], "outside", "part '-1 2' starts before the beginning"),
        ("X", [(0, 6)], "outside", "part '0 6' ends beyond the end, which is at 5"),
        ("X", [(0, 2), (1, 3)], "overlapping-parts", "part '1 3' overlaps another part of the same mention"),
        ("", [(0, 2)], "no-type", "the mention has no type"),
    ],
)
def test_a_defective_mention_is_reported(type, spans, kind, message):
    with pytest.raises(CorpusError, match=rf"a\.ann:3: {message}"):
        checked_mention(type, spans, Diagnostics(), length=5, path=Path("a.ann"), line=3)
    diagnostics = Diagnostics("skip")
    assert checked_mention(type, spans, diagnostics, length=5) is None
    assert diagnostics.counts == {kind: 1}


def test_mentions_that_come_again_are_reported():
    mention, other = Mention("X", [(0, 1)]), Mention("Y", [(0, 1)])
    diagnostics = Diagnostics("skip")
    assert unique_mentions([(mention, 1), (other, 2), (mention, 3)], diagnostics) == [mention, other]
    assert str(diagnostics.items[0]) == "<input>:3: the 'X' mention [(0, 1)] was given before, on line 1 [duplicate]"
    with pytest.raises(CorpusError, match=r"a\.ann: the 'X' mention \[\(0, 1\)\] was given before\. "):
        unique_mentions([(mention, None), (mention, None)], Diagnostics(), path=Path("a.ann"))


def test_units_of_the_wrong_kind_are_refused_with_advice():
    require(Sentence(["a"]), Sentence, "cupt")
    with pytest.raises(
        CorpusError, match=r"the format 'cupt' holds tokens, but document 'd' has character offsets; .*convert"
    ):
        require(Document("d", "a"), Sentence, "cupt")

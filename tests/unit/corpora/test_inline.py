"""Inline mentions: tokens on one line, their mentions on the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, FormatError

SAMPLE = b"""Muscle pain and stiffness in both legs .
0,1 ADR|0,0,3,6 ADR

Slept well .


Aspirin for pain
0,0 Drug|2,2 Reason

"""


def _sample(tmp_path: Path, content: bytes, name: str = "notes.inline") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_inclusive_indices_become_half_open(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path, SAMPLE))
    first, second, third = corpus.units
    assert first.tokens == ("Muscle", "pain", "and", "stiffness", "in", "both", "legs", ".")
    assert first.mentions == (Mention("ADR", [(0, 1), (3, 7)]), Mention("ADR", [(0, 2)]))
    assert first.text_of(first.mentions[0]) == "Muscle … stiffness in both legs"
    assert second.mentions == ()
    assert third.mentions == (Mention("Drug", [(0, 1)]), Mention("Reason", [(2, 3)]))
    assert [unit.doc for unit in corpus] == ["notes-00001", "notes-00002", "notes-00003"]
    assert third.place.endswith("notes.inline:7")


def test_writing_gives_the_same_bytes(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path, SAMPLE))
    corpora.write(corpus, tmp_path / "out.inline")
    # Mentions are in order, so those of the first sentence change places.
    assert (tmp_path / "out.inline").read_bytes() == SAMPLE.replace(b"0,1 ADR|0,0,3,6 ADR", b"0,0,3,6 ADR|0,1 ADR")


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\n\n\n\n"])
@pytest.mark.parametrize("mentions", [b"", b"1,1 Finding"])
def test_the_file_may_end_anywhere_after_the_tokens(tmp_path: Path, end: bytes, mentions: bytes) -> None:
    (sentence,) = corpora.read(_sample(tmp_path, b"no fever\n" + mentions + end)).units
    assert sentence.tokens == ("no", "fever")
    assert len(sentence.mentions) == bool(mentions)


def test_windows_line_ends(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path, SAMPLE.replace(b"\n", b"\r\n")))
    assert len(corpus) == 3
    assert corpus.n_mentions == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no fever\n1,2 Finding\n\n", "notes.inline:2: part '1 3' ends beyond the end, which is at 2"),
        (b"no fever\n1,0 Finding\n\n", "notes.inline:2: part '1 1' is empty"),
        (b"no fever\n1 Finding\n\n", "notes.inline:2: mention '1 Finding' is not like '0,2 ADR'"),
        (b"no fever\n0,1,1 Finding\n\n", "notes.inline:2: mention '0,1,1 Finding' is not like '0,2 ADR'"),
        (b"no fever\n1,1\n\n", "notes.inline:2: mention '1,1' is not like '0,2 ADR'"),
        (b"no fever\n0,0 A|\n\n", "notes.inline:2: mention '' is not like '0,2 ADR'"),
        (b"no fever\n0,0 A|0,0 A\n\n", "notes.inline:2: the 'A' mention [(0, 1)] was given before"),
        (b"no fever\n0,1,1,1 A\n\n", "notes.inline:2: part '1 2' overlaps another part of the same mention"),
        (b"no fever\n0,0 A\nno pain\n", "notes.inline:1: line 3 is 'no pain'; expected a line of tokens"),
        ("no fever\n٠,٠ A\n\n".encode(), "is not like '0,2 ADR'"),
        (b"no fever\n0,0 A\xff\n\n", "notes.inline:2: byte 0xff"),
    ],
)
def test_defects_are_named_with_their_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = _sample(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total >= 1


def test_reading_goes_on_after_the_next_blank_line(tmp_path: Path) -> None:
    path = _sample(tmp_path, b"one\ntwo\nthree\nfour\n\nno fever\n1,1 Finding\n\n")
    corpus = corpora.read(path, on_error="skip")
    assert [unit.tokens for unit in corpus] == [("no", "fever")]
    assert corpus.diagnostics.counts == {"malformed": 1}


def test_a_line_that_cannot_be_decoded_does_not_shift_the_others(tmp_path: Path) -> None:
    path = _sample(tmp_path, b"bad one\n0,0 \xff\n\nno fever\n1,1 Finding\n\n")
    corpus = corpora.read(path, on_error="skip")
    assert [unit.tokens for unit in corpus] == [("no", "fever")]
    assert corpus.diagnostics.counts == {"encoding": 1, "malformed": 1}


def test_a_text_file_is_recognised_by_its_content(tmp_path: Path) -> None:
    assert corpora.recognise(_sample(tmp_path, SAMPLE, "train.txt")).name == "inline"
    assert corpora.read(tmp_path / "train.txt").splits == ("train",)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"The patient has no fever.\n",
        b"The patient has no fever.\n\nNo cough.\n\n",
        b"Title\nSecond line\n\nNext paragraph\n",
        b"no fever\n1,2 Finding\n\n",
        b"no fever\n1,1 Finding\nno blank line\n",
        b"\nno fever\n1,1 Finding\n\n",
        b"\xff\xfe\x00\x01",
    ],
)
def test_plain_texts_are_not_taken_for_inline(tmp_path: Path, content: bytes) -> None:
    path = _sample(tmp_path, content, "report.txt")
    assert corpora.recognise(path) is None
    with pytest.raises(FormatError, match="the format is not recognised"):
        corpora.read(path)


@pytest.mark.parametrize("beside", ["a.ann", "a.pipe", "a.pipe.txt", "a.txt.knowtator.xml", "a.knowtator.xml", "a.a1"])
def test_a_text_beside_its_annotations_is_never_inline(tmp_path: Path, beside: str) -> None:
    path = _sample(tmp_path, SAMPLE, "a.txt")
    assert corpora.recognise(path).name == "inline"
    (tmp_path / beside).touch()
    assert corpora.recognise(path) is None


def test_a_long_text_is_judged_by_its_whole_sentences(tmp_path: Path) -> None:
    assert corpora.recognise(_sample(tmp_path, SAMPLE * 100, "a.txt")).name == "inline"
    assert corpora.recognise(_sample(tmp_path, SAMPLE + b"a report\n" * 1000, "b.txt")) is None


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(["New York"]), "token 'New York' has white space, which the format cannot hold"),
        (Sentence(["a\u2028b"]), "has white space"),
        (Sentence([], doc="n7"), "a sentence of document 'n7' has no tokens"),
        (Sentence(["\ufeffno"]), "would put a byte order mark at the beginning of the file"),
        (Sentence(["no"], [Mention("A|B", [(0, 1)])]), "type 'A|B' has '|', a line break or blanks at its edge"),
        (Sentence(["no"], [Mention(" A", [(0, 1)])]), "type ' A' has '|', a line break or blanks at its edge"),
    ],
)
def test_what_cannot_be_held_is_reported(tmp_path: Path, sentence: Sentence, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        corpora.write([sentence], tmp_path / "out.inline")
    assert message in str(caught.value)
    assert not (tmp_path / "out.inline").exists()
    diagnostics = Diagnostics("skip")
    corpora.write([sentence, Sentence(["kept"])], tmp_path / "out.inline", diagnostics=diagnostics)
    assert diagnostics.counts == {"not-held": 1}
    assert corpora.read(tmp_path / "out.inline").units[-1].tokens == ("kept",)


def test_lost_names_and_columns_are_noted_but_do_not_stop_writing(tmp_path: Path) -> None:
    diagnostics = Diagnostics("error")
    sentences = [Sentence([word], doc="n7", columns={"pos": ["X"]}) for word in ("one", "two")]
    corpora.write(sentences, tmp_path / "out.inline", diagnostics=diagnostics)
    assert diagnostics.note_counts == {"doc-not-held": 2, "columns-not-held": 2}


def test_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the format 'inline' holds tokens, but document 'n7' has character offsets"):
        corpora.write([Document("n7", "no fever")], tmp_path / "out.inline")


def test_damaged_files(tmp_path: Path) -> None:
    assert_reader_survives("inline", {"a.inline": SAMPLE}, "a.inline", tmp_path, 150)

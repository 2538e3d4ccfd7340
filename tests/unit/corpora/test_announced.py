"""Whatever a format does not give back as it was is said by its writer: nothing is lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Unit

DOCUMENTS = {
    "brat": "out",
    "knowtator": "out",
    "semeval": "out",
    "bioc": "a.xml",
    "jsonl": "a.jsonl",
    "bigbio": "c.json",
}
SENTENCES = {"inline": "a.inline", "cupt": "a.cupt", "jsonl": "b.jsonl"}
FLAVOURS = [*DOCUMENTS.items(), ("bioc", "a.json"), ("bioc", "b.jsonl")]

VALUES: list[Any] = [
    *("", "x", "x y", " x", "a|b", "a\nb", "a\tb", "UMLS:C1", "CUI-less", "é"),
    *(True, False, None, 3, 0.5),
    *([], ["a"], ["a", "b"], ["b", "a"], ["a", "a"], ["a", True], ["a", 3], ["a b", "c"], {"k": "v"}, [["a"]]),
]
NAMES = ("cui", "normalisations", "associatedCode", "negated", "two words", "", "prob", "type", "ü")


def plain(value: Any) -> Any:
    """Tuples and lists are the same to us."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return {name: plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value


def everything(units: list[Unit]) -> list[Any]:
    def of(mention: Mention) -> Any:
        return mention.type, mention.parts, mention.prob, sorted(plain(dict(mention.attributes)).items(), key=repr)

    return sorted((unit.doc, [of(mention) for mention in unit.mentions]) for unit in units)


def is_silent(units: list[Unit], format: str, path: Path) -> bool:
    """Whether something is lost, and nothing is said."""
    diagnostics = Diagnostics("skip")
    corpora.write(units, path, format=format, diagnostics=diagnostics, overwrite=True)
    said = bool(diagnostics.total or diagnostics.notes)
    return not said and everything(corpora.read(path, format=format, on_error="skip").units) != everything(units)


@pytest.mark.parametrize(("format", "name"), FLAVOURS)
def test_attributes_of_mentions_are_held_or_announced(tmp_path: Path, format: str, name: str) -> None:
    silent = []
    for attribute in NAMES:
        for value in VALUES:
            # Beside a mention that is held well: what holds for one must not be taken for the other.
            mentions = [
                Mention("A", [(0, 2)], attributes={"cui": "C1", attribute: "x"}),
                Mention("A", [(3, 8)], attributes={"cui": "C2", attribute: value}),
            ]
            if is_silent([Document("d", "no fever", mentions)], format, tmp_path / name):
                silent.append((attribute, value))
    assert not silent


@pytest.mark.parametrize(("format", "name"), SENTENCES.items())
def test_attributes_and_columns_of_sentences_are_held_or_announced(tmp_path: Path, format: str, name: str) -> None:
    silent = []
    for attribute in NAMES:
        for value in VALUES:
            unit = Sentence(["no", "fever"], [Mention("A", [(1, 2)], attributes={attribute: value})], "a-00001")
            if is_silent([unit], format, tmp_path / name):
                silent.append((attribute, value))
    assert not silent


LONE = "\ud800"


@pytest.mark.parametrize(("format", "name"), [*FLAVOURS, *SENTENCES.items()])
@pytest.mark.parametrize("where", ["doc", "text", "type", "attribute", "value"])
def test_half_characters_are_refused_by_name(tmp_path: Path, format: str, name: str, where: str) -> None:
    marks = dict.fromkeys(("doc", "text", "type", "attribute", "value"), "x") | {where: f"x{LONE}"}
    attributes = {marks["attribute"]: marks["value"]}
    if (format, name) in SENTENCES.items():
        mentions = [Mention(marks["type"], [(0, 1)], attributes=attributes)]
        unit: Unit = Sentence([marks["text"]], mentions, marks["doc"])
    else:
        mentions = [Mention(marks["type"], [(0, 1)], attributes=attributes)]
        unit = Document(marks["doc"], marks["text"], mentions)
    diagnostics = Diagnostics("skip")
    corpora.write([unit], tmp_path / name, format=format, diagnostics=diagnostics)
    assert [str(found) for found in diagnostics.items] == [
        f"<input>: document {marks['doc']!r} has half a character, '\\ud800', which UTF-8 cannot hold [not-held]"
    ]
    assert everything(corpora.read(tmp_path / name, format=format).units if (tmp_path / name).is_file() else []) == []

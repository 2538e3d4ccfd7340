"""BioC XML, JSON and JSON lines."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import bioc
import pytest
from bioc import biocjson

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection>
  <source>invented</source><date>2015-01-05</date><key>invented.key</key>
  <infon key="licence">none</infon>
  <document>
    <id>17</id>
    <infon key="journal">Letters</infon>
    <passage>
      <infon key="section">title</infon>
      <offset>0</offset>
      <text>Cough &amp; f\u00e9ver</text>
      <annotation id="T1">
        <infon key="type">Finding</infon><infon key="identifier">D001</infon>
        <location offset="0" length="5"/><text>Cough</text>
      </annotation>
    </passage>
    <passage>
      <offset>15</offset>
      <sentence>
        <offset>15</offset><text>Left atrium is dilated.</text>
        <annotation id="T2">
          <infon key="type">Finding</infon>
          <location offset="30" length="7"/><location offset="15" length="11"/><text>Left atrium dilated</text>
        </annotation>
      </sentence>
      <sentence><offset>40</offset><text>No effusion.</text></sentence>
      <relation id="R1"><infon key="type">same</infon><node refid="T1" role="a"/><node refid="T2" role="b"/></relation>
      <relation id="R2"><infon key="type">about</infon><node refid="R1" role="a"/></relation>
    </passage>
  </document>
  <document>
    <id>18</id>
    <passage><offset>0</offset><text>Well.</text></passage>
  </document>
</collection>
"""
TEXT = "Cough & f\xe9ver\n Left atrium is dilated.  No effusion."


def _sample(tmp_path: Path, content: str | bytes = XML, name: str = "a.xml") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _as_json(tmp_path: Path, suffix: str) -> Path:
    """The sample in another flavour, as the library itself writes it."""
    collection = bioc.loads(XML.replace('<!DOCTYPE collection SYSTEM "BioC.dtd">', ""))
    path = tmp_path / f"a{suffix}"
    if suffix == ".json":
        path.write_text(biocjson.dumps(collection), encoding="utf-8")
    else:
        lines = (json.dumps(biocjson.toJSON(document)) for document in collection.documents)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _flavour(tmp_path: Path, suffix: str) -> Path:
    return _sample(tmp_path) if suffix == ".xml" else _as_json(tmp_path, suffix)


@pytest.fixture(params=[".xml", ".json", ".jsonl"])
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_passages_and_sentences_become_one_text(tmp_path: Path, suffix: str) -> None:
    path = _flavour(tmp_path, suffix)
    assert corpora.recognise(path).name == "bioc"
    first, second = corpora.read(path).units
    assert (first.doc, second.doc) == ("17", "18")
    assert first.text == TEXT
    assert first.attributes == {"journal": "Letters"}
    cough, atrium = first.mentions
    assert cough.attributes == {"identifier": "D001"}
    assert first.text_of(atrium) == "Left atrium … dilated"
    assert atrium == Mention("Finding", [(15, 26), (30, 37)])
    assert second.mentions == ()


def test_an_untouched_collection_keeps_everything(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    corpora.write(corpora.read(_flavour(tmp_path, suffix)), out, format="bioc")
    expected = bioc.loads(XML.replace('<!DOCTYPE collection SYSTEM "BioC.dtd">', ""))
    if suffix == ".jsonl":
        with biocjson.iterreader(str(out)) as reader:
            documents = list(reader)
    else:
        content = out.read_bytes().decode()
        collection = (
            biocjson.loads(content) if suffix == ".json" else bioc.loads(content.replace("encoding='UTF-8'", ""))
        )
        assert (collection.source, collection.date, collection.key) == ("invented", "2015-01-05", "invented.key")
        assert collection.infons == {"licence": "none"}
        documents = collection.documents
    assert list(map(biocjson.toJSON, documents)) == list(map(biocjson.toJSON, expected.documents))


@pytest.mark.parametrize("target", [".xml", ".json", ".jsonl"])
def test_flavours_convert_into_one_another(tmp_path: Path, suffix: str, target: str) -> None:
    corpus = corpora.read(_flavour(tmp_path, suffix))
    corpora.write(corpus, tmp_path / f"out{target}", format="bioc")
    again = corpora.read(tmp_path / f"out{target}")
    assert again == corpus
    assert [dict(mention.attributes) for unit in again for mention in unit.mentions] == [{"identifier": "D001"}, {}]


def test_changed_mentions_go_to_their_passages(tmp_path: Path, suffix: str) -> None:
    first, second = corpora.read(_flavour(tmp_path, suffix)).units
    new = [
        Mention("Sign", [(8, 13)], 0.25, {"note": "<&>"}),
        Mention("Sign", [(43, 51)]),
        Mention("Sign", [(0, 5), (43, 51)]),
    ]
    diagnostics = Diagnostics("error")
    changed = [first.with_mentions([first.mentions[1], *new]), second]
    corpora.write(changed, tmp_path / f"out{suffix}", format="bioc", diagnostics=diagnostics)
    assert diagnostics.note_counts == {"relation-dropped": 2}
    assert diagnostics.notes["relation-dropped"].message == "relation 'R1' lost one of its mentions"
    again = corpora.read(tmp_path / f"out{suffix}")
    assert again.units == tuple(changed)
    by_text = {again.units[0].text_of(mention): mention for mention in again.units[0].mentions}
    assert by_text["f\xe9ver"].prob == 0.25
    assert by_text["f\xe9ver"].attributes == {"note": "<&>"}
    corpora.write(again, tmp_path / "out.json", format="bioc")
    record = json.loads((tmp_path / "out.json").read_text())["documents"][0]
    assert [len(passage.get("annotations", [])) for passage in record["passages"]] == [1, 1]
    assert [entry["id"] for entry in record["annotations"]] == ["M1"]


def test_other_attributes_are_a_change(tmp_path: Path, suffix: str) -> None:
    first, _ = corpora.read(_flavour(tmp_path, suffix)).units
    cough, atrium = first.mentions
    changed = first.with_mentions([replace(cough, attributes={"identifier": "D9"}), atrium])
    corpora.write([replace(changed, doc="new", attributes={})], tmp_path / f"out{suffix}", format="bioc")
    (again,) = corpora.read(tmp_path / f"out{suffix}").units
    assert (again.doc, again.attributes) == ("new", {})
    assert again.mentions[0].attributes == {"identifier": "D9"}


def test_documents_from_elsewhere(tmp_path: Path, suffix: str) -> None:
    document = Document(
        "n7", "no\r\nfever ", [Mention("F", [(0, 2), (4, 9)], 0.5, {"cui": "C1"})], {"note_type": "echo"}
    )
    corpora.write([document], tmp_path / f"out{suffix}", format="bioc")
    (again,) = corpora.read(tmp_path / f"out{suffix}").units
    assert again == document
    assert again.mentions[0].attributes == {"cui": "C1"}
    assert again.mentions[0].prob == 0.5


def test_an_empty_corpus(tmp_path: Path, suffix: str) -> None:
    corpora.write([], tmp_path / f"out{suffix}", format="bioc")
    assert len(corpora.read(tmp_path / f"out{suffix}", format="bioc")) == 0


@pytest.mark.parametrize(
    "wrap", [lambda whole: [whole], lambda whole: {"PubTator3": whole["documents"]}, lambda whole: whole["documents"]]
)
def test_other_shapes_of_json(tmp_path: Path, wrap: object) -> None:
    whole = json.loads(_as_json(tmp_path, ".json").read_text())
    path = _sample(tmp_path, json.dumps(wrap(whole)), "b.json")  # type: ignore[operator]
    assert [unit.doc for unit in corpora.read(path)] == ["17", "18"]


def test_numbers_as_identifiers_and_infons(tmp_path: Path) -> None:
    record = {
        "id": 7,
        "infons": {"year": 2015},
        "pmid": 7,
        "passages": [{"offset": 0, "text": "fever", "annotations": None, "infons": None}],
        "relations": [{"id": 1, "nodes": []}],
    }
    path = _sample(tmp_path, json.dumps({"documents": [record]}), "a.json")
    (document,) = corpora.read(path).units
    assert (document.doc, document.attributes) == ("7", {"year": 2015})
    corpora.write([document], tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["documents"][0] == {"bioctype": "BioCDocument", **record}
    diagnostics = Diagnostics("error")
    corpora.write([document], tmp_path / "out.xml", diagnostics=diagnostics)
    assert diagnostics.note_counts == {"infon-as-text": 1, "field-not-held": 1}
    (again,) = corpora.read(tmp_path / "out.xml").units
    assert (again.doc, again.attributes) == ("7", {"year": "2015"})


def _changed(old: str, new: str) -> str:
    assert old in XML
    return XML.replace(old, new)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_changed("</collection>", ""), "a.xml:37: the file is not XML: no element found"),
        (
            _changed("<offset>15</offset>\n      <s", "<offset>x</offset><s"),
            "a.xml:6: document 1: 'offset' of a passage is 'x'",
        ),
        (
            _changed("<offset>40</offset>", "<offset>30</offset>"),
            "a.xml:6: document 1: a passage or sentence begins at 30, before",
        ),
        (
            _changed("<offset>40</offset>", "<offset>9000000</offset>"),
            "begins at 9000000, 8,999,962 characters after the one before it; the gaps in a document",
        ),
        (_changed("<offset>40</offset>", ""), "'offset' of a sentence is None; expected a number from 0"),
        (_changed('length="5"', 'length="500"'), "a.xml:13: part '0 500' ends beyond the end, which is at 52"),
        (_changed('length="5"', 'length="0"'), "part '0 0' is empty"),
        (
            _changed('length="5"', 'length="-5"'),
            "annotation 'T1': 'length' of a location is '-5'; expected a number from 0",
        ),
        (_changed('length="5"', 'length="4"'), "annotation 'T1': 0 to 4 is 'Coug', but its text is 'Cough'"),
        (_changed('<location offset="0" length="5"/>', ""), "the mention has no parts"),
        (
            _changed('<infon key="type">Finding</infon><infon', "<infon"),
            "annotation 'T1': the infon 'type' is ''; expected",
        ),
        (_changed("BioC.dtd", "BioC.dtd\" [<!ENTITY e 'x'>] \""), "a.xml:2: the file"),
        (
            _changed('SYSTEM "BioC.dtd"', '[<!ENTITY e "x">]'),
            "a.xml:2: the file has a document type (<!DOCTYPE 'collection'>)",
        ),
        (_changed("Cough &amp;", "Cough &nbsp;"), "a.xml:12: the entity 'nbsp' is not defined in the file"),
        (_changed('encoding="UTF-8"', 'encoding="Big5"'), "a.xml:1: the encoding is 'Big5'; expected UTF-8"),
        (XML.encode("latin-1"), "a.xml:12: the file is not XML: not well-formed (invalid token)"),
        ("<html><collection/></html>", "a.xml:1: the root element is <html>; expected <collection>"),
        (_changed("<text>Well.</text>", "<a>" * 40 + "</a>" * 40), "a.xml:34: elements are nested more than 32 deep"),
    ],
)
def test_defects_in_xml_are_named_with_their_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = _sample(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total == 1


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_declared_encodings_do_not_shift_offsets(tmp_path: Path, encoding: str) -> None:
    path = _sample(tmp_path, _changed("UTF-8", encoding).encode(encoding))
    first, _ = corpora.read(path, format="bioc").units
    assert first.text == TEXT
    assert [first.text_of(mention) for mention in first.mentions] == ["Cough", "Left atrium … dilated"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "document 1: the document is []; expected an object"),
        ({"id": "7"}, "document 1: 'passages' is missing; expected a BioC document"),
        ({"id": "7", "passages": {}}, "'passages' of a document is {}; expected a list"),
        ({"id": ["7"], "passages": []}, "'id' of a document is ['7']; expected a text"),
        ({"id": "7", "infons": [1], "passages": []}, "'infons' of a document is [1]; expected an object"),
        ({"id": "7", "passages": [{"offset": 0, "text": 3}]}, "'text' of a passage is 3; expected a text"),
        ({"id": "7", "passages": [{"offset": "0", "text": "x"}]}, "'offset' of a passage is '0'; expected a number"),
        ({"id": "7", "passages": [{"offset": True, "text": "x"}]}, "'offset' of a passage is True; expected a number"),
        ({"id": "7", "passages": [{"offset": 0, "annotations": [3]}]}, "the annotation is 3; expected an object"),
        ({"id": "7", "passages": [], "infons": {"a": json.loads("[" * 30 + "]" * 30)}}, "nested more than 20 deep"),
    ],
)
def test_defects_in_json_are_named(tmp_path: Path, document: object, message: str) -> None:
    path = _sample(tmp_path, json.dumps({"source": "", "documents": [document]}), "a.json")
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total == 1


def test_what_is_not_json(tmp_path: Path) -> None:
    path = _sample(tmp_path, '{"documents": [\n}', "a.json")
    with pytest.raises(CorpusError, match=r"a\.json:2: the file is not JSON"):
        corpora.read(path)
    lines = _sample(tmp_path, _as_json(tmp_path, ".jsonl").read_text() + "{\n", "b.jsonl")
    with pytest.raises(CorpusError, match=r"b\.jsonl:3: the line is not JSON"):
        corpora.read(lines)
    assert len(corpora.read(lines, on_error="skip")) == 2


def test_our_own_jsonl_is_not_taken_for_bioc(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    corpora.write([Document("n7", '"bioctype": "BioCDocument"')], path)
    assert corpora.recognise(path).name == "jsonl"


def test_xml_is_read_document_by_document(tmp_path: Path) -> None:
    path = _sample(tmp_path, XML.replace("</collection>", "<document><id>19</id><passage>"))
    stream = corpora.stream(path)
    assert next(stream).doc == "17"
    assert next(stream).doc == "18"
    with pytest.raises(CorpusError, match="the file is not XML"):
        next(stream)


def test_characters_that_xml_cannot_hold_are_reported(tmp_path: Path) -> None:
    documents = [Document("n7", "page\x0cbreak"), Document("n8", "kept")]
    with pytest.raises(CorpusError, match=r"document 'n7' has the character '\\x0c', which XML cannot hold"):
        corpora.write(documents, tmp_path / "out.xml")
    assert list(tmp_path.iterdir()) == []
    diagnostics = Diagnostics("skip")
    corpora.write(documents, tmp_path / "out.xml", diagnostics=diagnostics)
    assert diagnostics.counts == {"not-held": 1}
    assert [unit.doc for unit in corpora.read(tmp_path / "out.xml")] == ["n8"]
    corpora.write(documents, tmp_path / "out.json")
    assert corpora.read(tmp_path / "out.json").units == tuple(documents)


def test_values_that_json_cannot_hold_are_reported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="document 'n7' cannot be written as JSON"):
        corpora.write([Document("n7", "", attributes={"x": {1, 2}})], tmp_path / "out.json")


def test_sentences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the format 'bioc' holds texts with character offsets"):
        corpora.write([Sentence(["no"])], tmp_path / "out.xml")


def test_damaged_files(tmp_path: Path, suffix: str) -> None:
    content = _flavour(tmp_path, suffix).read_bytes()
    folder = tmp_path / "damaged"
    assert_reader_survives("bioc", {f"a{suffix}": content}, f"a{suffix}", folder, 100)


def _far_apart(n_passages: int, gap: int, n_documents: int = 1) -> dict[str, object]:
    passages = [{"offset": number * gap, "text": "a"} for number in range(n_passages)]
    return {"documents": [{"id": str(number), "passages": passages} for number in range(n_documents)]}


def test_gaps_are_bounded_for_the_document(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_far_apart(1000, 1_000_000)))  # 36 KB: a gigabyte, if it were filled
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="the gaps in a document may have 1,000,000 in all"):
            corpora.read(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_gaps_are_bounded_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_far_apart(2, 900_000, n_documents=100)))
    corpus = corpora.read(path, on_error="skip")
    assert 1 <= len(corpus) <= 3
    assert sum(len(unit.text) for unit in corpus) <= 1_000_000 + 17 * path.stat().st_size  # type: ignore[union-attr]
    with pytest.raises(CorpusError, match=r"the gaps in all documents of a file of this size may have [0-9,]+ in all"):
        corpora.read(path)


def test_carriage_returns_and_markup_survive_xml(tmp_path: Path) -> None:
    text = "a\r\nb\r<c>&\t]]>"
    document = Document("n&<7>", text, [Mention("A\n\"'&<", [(0, 1)], attributes={'k\t"': "v\r\n<"})])
    corpora.write([document], tmp_path / "a.xml")
    (again,) = corpora.read(tmp_path / "a.xml").units
    assert isinstance(again, Document)
    assert (again.doc, again.text, again.mentions) == (document.doc, text, document.mentions)
    assert again.mentions[0].attributes == document.mentions[0].attributes
    with open(tmp_path / "a.xml", encoding="utf-8") as file:
        theirs = bioc.load(file).documents[0]
    assert (theirs.id, theirs.passages[0].text) == (document.doc, text)

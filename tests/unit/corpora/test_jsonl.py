"""JSON lines: sentences and documents, with every defect named and nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.corpora.jsonl import record_of
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError
from strategies import documents, sentences

SENTENCE = {
    "doc": "a",
    "tokens": ["no", "high", "fever"],
    "pos": ["DET", "ADJ", "NOUN"],
    "columns": {"lemma": ["no", "high", "fever"]},
    "offsets": [[0, 2], [3, 7], [8, 13]],
    "mentions": [
        {"type": "Finding", "spans": [[0, 1], [2, 3]], "prob": 0.5, "attributes": {"cui": "C1"}, "id": "m1"},
        {"type": "Finding", "spans": [[1, 3]]},
    ],
    "attributes": {"section": "history"},
    "annotator": {"name": "x"},
}
DOCUMENT = {
    "doc": "b",
    "text": "no\r\nhigh fever",
    "mentions": [{"type": "Finding", "spans": [[0, 2], [9, 14]]}],
    "pos": "kept",
}


def put(folder, *records: object):
    path = folder / "a.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_reads_a_sentence(tmp_path):
    (sentence,) = corpora.read(put(tmp_path, SENTENCE))
    assert sentence == Sentence(
        ["no", "high", "fever"],
        [Mention("Finding", [(0, 1), (2, 3)]), Mention("Finding", [(1, 3)])],
        "a",
        {"section": "history"},
        {"pos": ("DET", "ADJ", "NOUN"), "lemma": ("no", "high", "fever")},
        ((0, 2), (3, 7), (8, 13)),
    )
    assert (sentence.mentions[0].prob, sentence.mentions[0].attributes) == (0.5, {"cui": "C1"})
    assert sentence.place == f"{tmp_path / 'a.jsonl'}:1"


def test_reads_a_document(tmp_path):
    (document,) = corpora.read(put(tmp_path, DOCUMENT))
    assert document == Document("b", "no\r\nhigh fever", [Mention("Finding", [(0, 2), (9, 14)])])


def test_what_is_read_is_written_back_with_keys_that_are_not_ours(tmp_path):
    corpus = corpora.read(put(tmp_path, SENTENCE, DOCUMENT))
    corpora.write(corpus, tmp_path / "out.jsonl")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [SENTENCE, DOCUMENT]


def test_the_keys_of_a_mention_go_with_it(tmp_path):
    (sentence,) = corpora.read(put(tmp_path, SENTENCE))
    records = record_of(sentence.with_mentions([sentence.mentions[1], Mention("Finding", [(0, 1)])]))["mentions"]
    assert all("id" not in record for record in records)


def test_only_tokens_or_text_are_needed(tmp_path):
    units = corpora.read(put(tmp_path, {"tokens": ["fever"]}, {"text": "", "tokens": None, "pos": None})).units
    assert units == (Sentence(["fever"], doc="a-00001"), Document("a-00002", ""))


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf\r\n{"tokens": ["fever"]}\r\n  \n')
    assert corpora.read(tmp_path).units == (Sentence(["fever"], doc="a-00002"),)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "the line holds []; expected an object with 'tokens' or 'text'"),
        ({"doc": "a"}, "the object has neither 'tokens' nor 'text'; expected one of them"),
        ({"text": None}, "the object has neither 'tokens' nor 'text'"),
        ({"tokens": [], "text": ""}, "the object has both 'tokens' and 'text'"),
        ({"tokens": "fever"}, "'tokens' is 'fever'; expected a JSON list"),
        ({"tokens": ["a", ""]}, "token 1 is ''; expected a text that is not empty"),
        ({"text": 7}, "'text' is 7; expected text"),
        ({"text": "a", "doc": 7}, "'doc' is 7; expected text"),
        ({"text": "a", "attributes": [1]}, "'attributes' is [1]; expected a JSON dict"),
        ({"text": "a", "mentions": {}}, "'mentions' is {}; expected a JSON list"),
        ({"tokens": ["a"], "pos": "N"}, "column 'pos' is 'N'; expected a list of texts"),
        ({"tokens": ["a"], "columns": {"pos": 7}}, "column 'pos' is 7; expected a list of texts"),
        ({"tokens": ["a"], "columns": {"pos": [7]}}, "column 'pos' is [7]; expected a list of texts"),
        ({"tokens": ["a"], "pos": ["N", "V"]}, "column 'pos' has 2 values, but there are 1 tokens"),
        ({"tokens": ["a"], "offsets": [[0]]}, "span [0] is not a pair of integers"),
        ({"tokens": ["a"], "offsets": []}, "there are 0 offsets, but 1 tokens"),
    ],
)
def test_a_malformed_line_is_named_and_dropped(tmp_path, record, message):
    path = put(tmp_path, SENTENCE, record)
    with pytest.raises(CorpusError) as raised:
        corpora.read(path)
    assert f"{path}:2: {message}" in str(raised.value)
    corpus = corpora.read(path, on_error="skip")
    assert len(corpus) == 1
    assert corpus.diagnostics.counts == {"malformed": 1}


@pytest.mark.parametrize(
    ("mention", "kind", "message"),
    [
        (7, "malformed", "mention 7 is not an object with a 'type' and 'spans'"),
        ({"spans": [[0, 1]]}, "malformed", "is not an object with a 'type'"),
        ({"type": "X", "spans": 7}, "malformed", "'spans' is 7; expected a JSON list"),
        ({"type": "X", "spans": [[0, 1.5]]}, "malformed", "span [0, 1.5] is not a pair of integers"),
        ({"type": "X", "spans": [[0, True]]}, "malformed", "span [0, True] is not a pair of integers"),
        ({"type": "X", "spans": [[0, 10**30]]}, "malformed", "is not a pair of integers"),
        ({"type": "X", "spans": [[0, 1]], "prob": 1.5}, "malformed", "'prob' is 1.5; expected a number from 0 to 1"),
        ({"type": "X", "spans": [[0, 1]], "prob": True}, "malformed", "'prob' is True"),
        ({"type": "X", "spans": [[0, 1]], "attributes": 7}, "malformed", "'attributes' is 7; expected a JSON dict"),
        ({"type": "X"}, "no-parts", "the mention has no parts"),
        ({"type": "", "spans": [[0, 1]]}, "no-type", "the mention has no type"),
        ({"type": "X", "spans": [[0, 4]]}, "outside", "part '0 4' ends beyond the end, which is at 3"),
        ({"type": "Finding", "spans": [[2, 3], [1, 2]]}, "duplicate", "was given before"),
    ],
)
def test_a_defective_mention_is_named_and_dropped(tmp_path, mention, kind, message):
    path = put(tmp_path, {**SENTENCE, "mentions": [mention, *SENTENCE["mentions"]]})
    with pytest.raises(CorpusError) as raised:
        corpora.read(path)
    assert str(raised.value).startswith(f"{path}:1: ")
    assert message in str(raised.value)
    corpus = corpora.read(path, on_error="skip")
    assert [len(unit.mentions) for unit in corpus] == [2]
    assert corpus.diagnostics.counts == {kind: 1}


@pytest.mark.parametrize("line", ["{", "nonsense", '{"text": "\\ud800"}', "NaN", "[" * 10_000, '{"a": 1} {"b": 2}'])
def test_a_line_that_is_not_json_is_named(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(SENTENCE)}\n{line}\n")
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: the line is not JSON"):
        list(corpora.stream(path, format="jsonl"))


def test_what_json_cannot_hold_is_refused(tmp_path):
    for unit in (Document("a", "\ud800"), Sentence(["a"], attributes={"x": object()}), Sentence(["a"], doc="\ud800")):
        with pytest.raises(CorpusError, match=r"document .* (cannot be written as JSON: |has half a character)"):
            corpora.write([unit], tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_sources_of_other_formats_are_left_out():
    assert record_of(Document("a", "no", source={"doc": "other", "x": 1})) == {"doc": "a", "text": "no", "mentions": []}


@given(
    st.lists(sentences() | documents(), max_size=4), st.floats(0, 1), st.dictionaries(st.text("ab"), st.integers(0, 9))
)
def test_writing_then_reading_is_the_identity(tmp_path_factory, units, prob, attributes):
    units = [
        replace(
            unit,
            mentions=tuple(replace(mention, prob=prob, attributes=attributes) for mention in unit.mentions),
            attributes=attributes,
        )
        for unit in units
    ]
    path = tmp_path_factory.mktemp("jsonl") / "out.jsonl"
    corpora.write(units, path)
    again = list(corpora.stream(path, format="jsonl"))
    assert again == units
    for unit in again:
        assert all((mention.prob, mention.attributes) == (prob, attributes) for mention in unit.mentions)


def test_the_reader_survives_damage(tmp_path):
    data = "".join(f"{json.dumps(record)}\n" for record in (SENTENCE, DOCUMENT)).encode()
    assert_reader_survives("jsonl", {"a.jsonl": data}, "a.jsonl", tmp_path, n_mutations=1000)


def test_lines_are_streamed(tmp_path):
    path = put(tmp_path, SENTENCE, DOCUMENT)
    units = corpora.stream(path, format="jsonl", diagnostics=Diagnostics())
    assert next(units).doc == "a"


def test_the_phrase_and_the_group_stand_beside_the_type(tmp_path):
    line = (
        '{"doc":"a","tokens":["left"],"mentions":[{"type":"A","spans":[[0,1]],"expanded":"left kidneys","group":1}]}\n'
    )
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    (sentence,) = corpora.stream(tmp_path / "a.jsonl")
    assert dict(sentence.mentions[0].attributes) == {"expanded": "left kidneys", "group": 1}
    corpora.write([sentence], tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == line


def test_keys_of_the_same_name_with_other_values_are_kept_as_they_are(tmp_path):
    line = '{"doc":"a","tokens":["left"],"mentions":[{"type":"A","spans":[[0,1]],"expanded":["x"],"group":"g"}]}\n'
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    (sentence,) = corpora.stream(tmp_path / "a.jsonl")
    assert not sentence.mentions[0].attributes
    corpora.write([sentence], tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == line

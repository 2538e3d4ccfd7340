"""A mention knows the line where it was read."""

from __future__ import annotations

import pytest

from hyperspan import corpora
from hyperspan.mentions import Document, Mention

FEVER = Mention("F", [(3, 8)])

FILES = {
    "brat": ("a.ann", "#comment\nT1\tF 0 2\tno\nT2\tF 3 8\tfever\n", 3),
    "semeval": ("a.pipe", "a.txt||F||C1||0||2\na.txt||F||C1||3||8\n", 2),
    "knowtator": (
        "a.txt.knowtator.xml",
        '<annotations textSource="a.txt">\n\n<annotation><mention id="i"/><span start="3" end="8"/></annotation>\n'
        '<classMention id="i"><mentionClass id="F"/></classMention></annotations>',
        3,
    ),
    "bioc": (
        "a.xml",
        "<collection><document><id>a</id><passage><offset>0</offset><text>no fever</text>\n"
        '<annotation id="1"><infon key="type">F</infon><location offset="3" length="5"/></annotation>\n'
        "</passage></document></collection>",
        2,
    ),
    "bigbio": (
        "a.jsonl",
        '\n{"document_id": "a", "passages": [{"text": ["no fever"], "offsets": [[0, 8]]}], '
        '"entities": [{"id": "1", "type": "F", "offsets": [[3, 8]], "text": ["fever"]}]}\n',
        2,
    ),
    "jsonl": ("a.jsonl", '\n{"text": "no fever", "mentions": [{"type": "F", "spans": [[3, 8]]}]}\n', 2),
}


@pytest.mark.parametrize("format", FILES)
def test_the_line_of_a_mention(format, tmp_path):
    name, content, line = FILES[format]
    (tmp_path / name).write_text(content)
    (tmp_path / "a.txt").write_text("no fever")
    (document,) = corpora.read(tmp_path / name)
    assert FEVER in document.mentions
    assert document.place_of(FEVER) == (str(tmp_path / name), line)


def test_where_nothing_is_known_there_is_the_name():
    document = Document("note", "no fever")
    assert document.place_of(FEVER) == ("note", None)
    assert Document("note", "no fever", place="dir/notes.xml").place_of(FEVER) == ("dir/notes.xml", None)

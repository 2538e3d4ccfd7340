"""``hyperspan check`` finds every seeded defect, with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan.cli import app
from hyperspan.cli.check import check_corpus
from hyperspan.diagnostics import Diagnostics

TEXT = "No fever. Blood in his mouth and on his tongue.\nPupils were pinpoint.\n"

BRAT = """\
T1\tFinding 3 8\tfever
T2\tFinding 10 15;33 46\tBlood on his tongue
T3\tFinding 8 3\tfever
T4\tFinding 3 3\t
T5\tFinding 3 8\tfever
T6\tFinding 3 400\tfever
T7\tFinding 4 8\tever
T8\tFinding 3 8;10 15\tfever Blood
T9\tFinding 3 8\tcough
T10 Finding 3 8 fever
T1\tFinding 48 54\tPupils
R1\tCauses Arg1:T1 Arg2:T99
A1\tNegated
T11\tFinding 16 21;18 24\tin hin his m
T12\tFinding x y\tfever
T13\tFinding 29 54\tand on his tongue.
T14\tFinding 9 10\t
"""

BRAT_DEFECTS = [
    (3, "reversed-part"),
    (4, "empty-part"),
    (5, "duplicate"),
    (6, "outside"),
    (7, "inside-token"),
    (8, "crosses-sentence"),
    (9, "text-mismatch"),
    (10, "malformed"),
    (11, "duplicate-id"),
    (12, "unknown-reference"),
    (13, "malformed"),
    (14, "overlapping-parts"),
    (15, "malformed"),
    (16, "cut-text"),
    (16, "crosses-sentence"),
    (17, "no-token"),
]

JSONL = r"""{"doc": "a", "tokens": ["no", "fever"], "mentions": [{"type": "Finding", "spans": [[1, 2]]}]}
{"doc": "b", "tokens": ["no", "fever"
{"doc": "c", "tokens": ["no"], "text": "no"}
{"doc": "d"}
[1, 2]
{"doc": "e", "tokens": ["no", ""]}
{"doc": "f", "tokens": "no fever"}
{"doc": "g", "tokens": ["no"], "mentions": [{"type": "Finding", "spans": [[1, 0]]}]}
{"doc": "h", "tokens": ["no"], "mentions": [{"type": "Finding", "spans": [[0, 0]]}]}
{"doc": "i", "tokens": ["no"], "mentions": [{"type": "Finding", "spans": [[0, 2]]}]}
{"doc": "j", "tokens": ["no"], "mentions": [{"type": "Finding", "spans": []}]}
{"doc": "k", "tokens": ["no"], "mentions": [{"type": "", "spans": [[0, 1]]}]}
{"doc": "l", "tokens": ["no"], "mentions": [{"spans": [[0, 1]]}]}
{"doc": "m", "tokens": ["no"], "mentions": [{"type": "F", "spans": [[0, 1]]}, {"type": "F", "spans": [[0, 1]]}]}
{"doc": "n", "tokens": ["no"], "pos": ["DT", "NN"]}
{"doc": "o", "text": "no fever", "mentions": [{"type": "Finding", "spans": [[4, 8]]}]}
{"doc": "o", "text": "no fever", "mentions": []}
{"doc": "p", "tokens": ["no"], "mentions": [{"type": "F", "spans": [[0, 1]], "prob": 7}]}
{"doc": "q", "tokens": ["no"], "mentions": [{"type": "F", "spans": [["0", 1]]}]}
"""

JSONL_DEFECTS = [
    (2, "not-json"),
    (3, "malformed"),
    (4, "malformed"),
    (5, "malformed"),
    (6, "malformed"),
    (7, "malformed"),
    (8, "reversed-part"),
    (9, "empty-part"),
    (10, "outside"),
    (11, "no-parts"),
    (12, "no-type"),
    (13, "malformed"),
    (14, "duplicate"),
    (15, "malformed"),
    (16, "inside-token"),
    (17, "duplicate-document"),
    (18, "malformed"),
    (19, "malformed"),
]

CUPT = """\
# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE
# sent_id = good
1\tHe\the\tPRON\t_\t_\t_\t_\t_\t_\t*
2\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\t1:VPC.full
3\tup\tup\tADP\t_\t_\t_\t_\t_\t_\t1

# sent_id = no-type
1\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\t1

# sent_id = columns
1\tgave\tgive

# sent_id = ids
1\tHe\the\tPRON\t_\t_\t_\t_\t_\t_\t*
3\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\t*

# sent_id = code
1\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\tVID

# sent_id = two-types
1\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\t1:VID
2\tup\tup\tADP\t_\t_\t_\t_\t_\t_\t1:IAV

# sent_id = duplicate
1\tgave\tgive\tVERB\t_\t_\t_\t_\t_\t_\t1:VID;2:VID
"""

CUPT_DEFECTS = [
    (8, "no-type"),
    (11, "malformed"),
    (15, "malformed"),
    (18, "malformed"),
    (22, "malformed"),
    (25, "duplicate"),
]

PIPE = """\
note.txt||Finding||C0015967||3||8
note.txt||Finding||C0015967||8||3
note.txt||Finding||C0015967||3||3
note.txt||Finding||C0015967||3||8
note.txt||Finding||C0015967||3||800
note.txt||Finding||C0015967||3
note.txt||Finding||C0015967||4||8
note.txt||Finding||C0015967||3||8||10||15
a line of something else
absent.txt||Finding||C0015967||3||8
../note.txt||Finding||C0015967||3||8
note.txt||||C0015967||10||15
"""

PIPE_DEFECTS = [
    (2, "reversed-part"),
    (3, "empty-part"),
    (4, "duplicate"),
    (5, "outside"),
    (6, "malformed"),
    (7, "inside-token"),
    (8, "crosses-sentence"),
    (9, "malformed"),
    (10, "no-text"),
    (11, "hostile-name"),
    (12, "no-type"),
]


def _annotation(number: int, spans: str, text: str = "", type: str = "Finding") -> str:
    return (
        f'<annotation><mention id="i{number}"/>{spans}<spannedText>{text}</spannedText></annotation>'
        f'<classMention id="i{number}"><mentionClass id="{type}">x</mentionClass></classMention>'
    )


KNOWTATOR = "\n".join(
    [
        '<annotations textSource="note.txt">',
        _annotation(1, '<span start="3" end="8"/>', "fever"),
        _annotation(2, '<span start="8" end="3"/>'),
        _annotation(3, '<span start="3" end="3"/>'),
        _annotation(4, '<span start="3" end="8"/>', "fever"),
        _annotation(5, '<span start="3" end="800"/>'),
        _annotation(6, '<span start="three" end="8"/>'),
        _annotation(7, '<span start="4" end="8"/>', "ever"),
        _annotation(8, '<span start="3" end="8"/><span start="10" end="15"/>', "fever ... Blood"),
        _annotation(9, '<span start="10" end="15"/>', "cough"),
        _annotation(10, '<span start="10" end="15"/>', "Blood", type=""),
        _annotation(11, ""),
        "</annotations>",
    ]
)

KNOWTATOR_DEFECTS = [
    (3, "reversed-part"),
    (4, "empty-part"),
    (5, "duplicate"),
    (6, "outside"),
    (7, "malformed"),
    (8, "inside-token"),
    (9, "crosses-sentence"),
    (10, "other-text"),
    (11, "no-type"),
    (12, "no-parts"),
]


def _bioc(number: int, *locations: tuple[int, int], text: str = "", type: str = "Finding") -> str:
    places = "".join(f'<location offset="{offset}" length="{length}"/>' for offset, length in locations)
    return f'<annotation id="T{number}"><infon key="type">{type}</infon>{places}<text>{text}</text></annotation>'


BIOC = "\n".join(
    [
        "<collection><source/><date/><key/>",
        f"<document><id>a</id><passage><offset>0</offset><text>{TEXT}</text>",
        "",
        _bioc(1, (3, 5), text="fever"),
        _bioc(2, (3, 0)),
        _bioc(3, (3, 5), text="fever"),
        _bioc(4, (3, 800)),
        _bioc(5, (3, -5)),
        _bioc(6, (4, 4), text="ever"),
        _bioc(7, (3, 5), (10, 5)),
        _bioc(8, (10, 5), text="cough"),
        _bioc(9, (10, 5), text="Blood", type=""),
        _bioc(10),
        "</passage></document>",
        "<document><id>a</id><passage><offset>0</offset><text>Again.</text></passage></document>",
        "<document><id>b</id><passage><offset>x</offset><text>Again.</text></passage></document>",
        "</collection>",
    ]
)

BIOC_DEFECTS = [
    (7, "empty-part"),
    (8, "duplicate"),
    (9, "outside"),
    (10, "malformed"),
    (11, "inside-token"),
    (12, "crosses-sentence"),
    (13, "other-text"),
    (14, "malformed"),
    (15, "no-parts"),
    (17, "duplicate-document"),
    (18, "malformed"),
]

INLINE = """\
no fever
1,1 Finding

no fever
1,0 Finding

no fever
1,2 Finding

no fever
one Finding

no fever
0,1 Finding|0,1 Finding

no fever
0,1 Finding
and no blank line

no fever
0,1,1,1 Finding
"""

INLINE_DEFECTS = [
    (5, "empty-part"),
    (8, "outside"),
    (11, "malformed"),
    (14, "duplicate"),
    (16, "malformed"),
    (21, "overlapping-parts"),
]


def _bigbio(*entities: dict[str, object], text: str = TEXT, end: int = len(TEXT)) -> str:
    passage = {"id": "p", "type": "note", "text": [text], "offsets": [[0, end]]}
    return json.dumps({"document_id": f"d{entities}"[:40], "passages": [passage], "entities": [*entities]})


BIGBIO = "\n".join(
    [
        _bigbio({"id": "1", "type": "Finding", "offsets": [[3, 8]], "text": ["fever"]}),
        _bigbio({"id": "2", "type": "Finding", "offsets": [[3, 3]]}),
        _bigbio({"id": "3", "type": "Finding", "offsets": [[3, 800]]}),
        _bigbio({"id": "4", "type": "Finding", "offsets": [[3, 8]], "text": ["cough"]}),
        _bigbio({"id": "5", "type": "Finding", "offsets": "x"}),
        _bigbio({"id": "6", "type": "Finding", "offsets": [[4, 8]]}),
        _bigbio({"id": "7"}, end=3),
        "{nonsense",
    ]
)

BIGBIO_DEFECTS = [
    (2, "empty-part"),
    (3, "outside"),
    (4, "text-mismatch"),
    (5, "malformed"),
    (6, "inside-token"),
    (7, "malformed"),
    (8, "not-json"),
]

SEEDED = {
    "bigbio": ({"rows.jsonl": BIGBIO}, "rows.jsonl", BIGBIO_DEFECTS),
    "brat": ({"note.ann": BRAT, "note.txt": TEXT}, "note.ann", BRAT_DEFECTS),
    "jsonl": ({"notes.jsonl": JSONL}, "notes.jsonl", JSONL_DEFECTS),
    "cupt": ({"train.cupt": CUPT}, "train.cupt", CUPT_DEFECTS),
    "semeval": ({"all.pipe": PIPE, "note.txt": TEXT}, "all.pipe", PIPE_DEFECTS),
    "knowtator": ({"note.txt.knowtator.xml": KNOWTATOR, "note.txt": TEXT}, "note.txt.knowtator.xml", KNOWTATOR_DEFECTS),
    "bioc": ({"notes.xml": BIOC}, "notes.xml", BIOC_DEFECTS),
    "inline": ({"notes.inline": INLINE}, "notes.inline", INLINE_DEFECTS),
}

CLEAN = {
    "bigbio": {"rows.jsonl": BIGBIO.split("\n", 1)[0] + "\n"},
    "brat": {"note.ann": "T1\tFinding 10 15;33 46\tBlood on his tongue\n", "note.txt": TEXT},
    "jsonl": {"notes.jsonl": JSONL.split("\n", 1)[0] + "\n"},
    "cupt": {"train.cupt": CUPT.split("\n\n", 1)[0] + "\n\n"},
    "semeval": {"note.pipe": PIPE.split("\n", 1)[0] + "\n", "note.txt": TEXT},
    "knowtator": {
        "note.txt.knowtator.xml": "\n".join([*KNOWTATOR.split("\n")[:2], "</annotations>"]),
        "note.txt": TEXT,
    },
    "bioc": {"notes.xml": "\n".join([*BIOC.split("\n")[:6], "</passage></document></collection>"])},
    "inline": {"notes.inline": "no fever\n1,1 Finding\n\n"},
}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode())
    return folder


def run(*arguments: object):
    return CliRunner().invoke(app, ["check", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.parametrize("format", SEEDED)
def test_every_seeded_defect_is_found_with_file_and_line(format, tmp_path):
    files, name, defects = SEEDED[format]
    result = run(put(tmp_path, files), "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    seen = sorted((finding["line"], finding["kind"]) for finding in report["findings"])
    assert seen == sorted(defects)
    assert {finding["path"] for finding in report["findings"]} == {str(tmp_path / name)}
    assert report["total"] == len(defects) == sum(report["counts"].values())


@pytest.mark.parametrize("format", CLEAN)
def test_a_clean_corpus_exits_with_0(format, tmp_path):
    result = run(put(tmp_path, CLEAN[format]))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 mention: no problems" in result.stderr


def test_the_text_names_place_what_and_kind(tmp_path):
    result = run(put(tmp_path, {"note.ann": BRAT, "note.txt": TEXT}))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert len(lines) == len(BRAT_DEFECTS)
    assert lines[0].startswith(f"{tmp_path}/note.ann:3: part '8 3' ends before it starts")
    assert lines[0].endswith("[reversed-part]")
    assert "16 problems: " in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "kind", "line"),
    [
        ("a.jsonl", b"", "empty", None),
        ("a.jsonl", b"\n\n", "empty", None),
        ("a.cupt", b"# only a comment\n", "empty", None),
        ("a.xml", b"<collection></collection>", "empty", None),
        ("a.jsonl", b'{"tokens": ["a"]}\n{"tokens": ["\xff"]}\n', "encoding", 2),
        ("a.ann", b"T1\tFinding 0 2\tno\n", "missing-text", None),
        ("a.xml", b"<collection>\n<document>\n", "malformed", 3),
        ("a.xml", b'<!DOCTYPE a [<!ENTITY e "x">]>\n<collection>&e;</collection>', "malformed", 1),
    ],
)
def test_files_that_are_empty_or_broken(name, content, kind, line, tmp_path):
    (tmp_path / name).write_bytes(content)
    result = run(tmp_path, "--json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["path"], finding["line"], finding["kind"]) == (str(tmp_path / name), line, kind)


def test_sentences_of_one_document_in_two_places_are_noted(tmp_path):
    lines = [json.dumps({"doc": doc, "tokens": ["no"]}) for doc in ("a", "a", "b", "a")]
    (tmp_path / "train.jsonl").write_text("\n".join(lines))
    (tmp_path / "test.jsonl").write_text(lines[2])
    result = run(tmp_path, "--json")
    assert result.exit_code == 0
    notes = {note["kind"]: note["message"] for note in json.loads(result.stdout)["notes"]}
    assert notes == {
        "in-several-splits": "document 'b' has sentences in test and in train",
        "scattered-document": "document 'a' has sentences that do not follow one another",
    }


def test_a_path_that_is_not_there_is_wrong_usage():
    with pytest.raises(ValueError, match=r"nowhere: there is no such file or folder"):
        run("nowhere")


def test_more_findings_than_are_kept_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("hyperspan.diagnostics.KEPT_DIAGNOSTICS", 2)
    (tmp_path / "a.jsonl").write_text("{}\n" * 5)
    result = run(tmp_path)
    assert result.stdout.splitlines()[2:] == ["… and 3 more"]


def test_control_characters_are_made_visible(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": "\\u001b[2J"}\n')
    result = run(tmp_path)
    assert "\x1b" not in result.stdout
    assert "x1b[2J" in result.stdout


def test_units_come_one_at_a_time(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a"]}\n{"tokens": 1}\n')
    diagnostics = Diagnostics("skip")
    units = check_corpus(tmp_path, diagnostics)
    assert next(units).tokens == ("a",)
    assert diagnostics.total == 0
    assert list(units) == []
    assert diagnostics.total == 1


@pytest.mark.parametrize("key", ["entities", "spans", "labels"])
def test_keys_of_other_programs_are_named(tmp_path, key):
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps({"text": "No fever.", key: [{"start": 3, "end": 8, "label": "Finding"}]}) + "\n")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 1
    assert f"other.jsonl:1: the object has no mentions, but the key '{key}', which is not read;" in result.stdout
    assert 'expected mentions as "mentions": [{"type": "T", "spans": [[0, 1]]}] [unknown-key]' in result.stdout
    assert "1 problem: 1 unknown-key" in result.stderr


def test_keys_of_others_beside_mentions_are_nothing_to_speak_of(tmp_path):
    path = tmp_path / "own.jsonl"
    line = {"text": "No fever.", "mentions": [{"type": "Finding", "spans": [[3, 8]]}], "spans": [], "author": "me"}
    path.write_text(json.dumps(line) + "\n")
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0

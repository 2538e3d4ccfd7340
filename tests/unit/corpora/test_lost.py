"""Whatever mention a reader skips is gold all the same, and is known with its place where the file says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperspan import corpora
from hyperspan.diagnostics import Diagnostics, LostMention
from hyperspan.text import as_sentences

TEXT = "No fever. Arms and legs weak."  # "weak" is at 24 to 28, in the second sentence


def brat(*lines: str) -> dict[str, str]:
    return {"a.txt": TEXT, "a.ann": "".join(f"{line}\n" for line in lines)}


def pipe(*lines: str) -> dict[str, str]:
    return {"a.text": TEXT, "a.pipe": "".join(f"a.text||{line}\n" for line in lines)}


def knowtator(spans: str, written: str = "") -> dict[str, str]:
    return {
        "a.txt": TEXT,
        "a.txt.knowtator.xml": f'<annotations textSource="a.txt"><annotation><mention id="1"/>{spans}'
        f"<spannedText>{written}</spannedText></annotation>"
        '<classMention id="1"><mentionClass id="F">x</mentionClass></classMention></annotations>',
    }


def bioc(*locations: object, text: str = "", type: object = "F") -> dict[str, str]:
    annotation = {"id": "1", "infons": {"type": type}, "locations": locations, "text": text}
    passage = {"offset": 0, "text": TEXT, "annotations": [annotation]}
    return {"a.json": json.dumps({"documents": [{"id": "a", "passages": [passage]}]})}


def bigbio(offsets: object, *texts: str, type: object = "F") -> dict[str, str]:
    entity = {"id": "1", "type": type, "text": texts, "offsets": offsets, "normalized": []}
    passage = {"id": "p", "type": "", "text": [TEXT], "offsets": [[0, len(TEXT)]]}
    row = {"id": "0", "document_id": "a", "passages": [passage], "entities": [entity]}
    return {"a.json": json.dumps([{**row, "events": [], "coreferences": [], "relations": []}])}


def jsonl(mention: object, **unit: object) -> dict[str, str]:
    return {"a.jsonl": json.dumps({"doc": "a", **(unit or {"text": TEXT}), "mentions": [mention]}) + "\n"}


WORDS = {"tokens": ["Arms", "and", "legs"]}

SKIPPED = {
    "brat, beyond the end": (brat("T1\tF 10 14;24 99\tArms weak"), LostMention("F", 2, 10)),
    "brat, not there at all": (brat("T1\tF 90 99\tArms weak"), LostMention("F", 1)),
    "brat, another text": (brat("T1\tF 24 28\tpale"), LostMention("F", 1, 24)),
    "brat, an id again": (
        brat("R1\tr Arg1:T1 Arg2:T1", "T1\tF 3 8\tfever", "T1\tF 24 28\tweak"),
        LostMention("F", 1, 24),
    ),
    "brat, no offsets": (brat("T1\tF x 28\tweak"), LostMention("F", 1)),
    "semeval, reversed": (pipe("F||C1||28||24"), LostMention("F", 1, 24)),
    "semeval, an offset too few": (pipe("F||C1||10||14||24"), LostMention("F", 1)),
    "knowtator, another text": (knowtator('<span start="24" end="28"/>', "pale"), LostMention("F", 1, 24)),
    "knowtator, no number": (knowtator('<span start="24" end="x"/><span start="1" end="2"/>'), LostMention("F", 2)),
    "bioc, another text": (bioc({"offset": 24, "length": 4}, text="pale"), LostMention("F", 1, 24)),
    "bioc, no number": (bioc({"offset": "x", "length": 4}), LostMention("F", 1)),
    "bioc, no type": (bioc({"offset": 24, "length": 4}, type=7), LostMention("", 1)),
    "bigbio, another text": (bigbio([[10, 14], [24, 28]], "Arms", "pale"), LostMention("F", 2, 10)),
    "bigbio, no type": (bigbio([[24, 28]], "weak", type=None), LostMention("", 1)),
    "jsonl, empty": (jsonl({"type": "F", "spans": [[24, 24]]}), LostMention("F", 1, 24)),
    "jsonl, no pair": (jsonl({"type": "F", "spans": [[24]]}), LostMention("F", 1)),
    "jsonl, words": (jsonl({"type": "F", "spans": [[2, 9]]}, **WORDS), LostMention("F", 1, 2)),
    "jsonl, no mention": (jsonl("weak", **WORDS), LostMention("", 1)),
    "inline, beyond the end": ({"a.inline": "Arms and legs\n0,0,2,7 F\n\n"}, LostMention("F", 2, 0)),
    "inline, no offsets": ({"a.inline": "Arms and legs\nx F\n\n"}, LostMention("F", 1)),
    "cupt, no category": (
        {"a.cupt": "1\tgave" + "\t_" * 8 + "\t1\n2\tit" + "\t_" * 8 + "\t1\n3\tup" + "\t_" * 8 + "\t*\n\n"},
        LostMention("", 1, 0),
    ),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("files", "lost"), SKIPPED.values(), ids=SKIPPED)
def test_a_mention_that_is_skipped_is_kept_as_lost(tmp_path: Path, files, lost: LostMention):
    (unit,) = corpora.read(write(tmp_path, files), on_error="skip")
    assert unit.lost == (lost,)


@pytest.mark.parametrize(
    ("files", "of_sentences"),
    [
        (brat("T1\tF 10 14;24 99\tArms weak"), [(), (LostMention("F", 2, 0),)]),
        (brat("T1\tF 24 28\tpale"), [(), (LostMention("F", 1, 3),)]),
        (
            brat("T1\tF 9 14;15 15\t Arms"),
            [(), (LostMention("F", 2, 0),)],
        ),  # it begins with the blank before a sentence
        (brat("T1\tF 4 4\tx", "T2\tF 28 99\tx"), [(LostMention("F", 1, 1),), (LostMention("F", 1, 4),)]),
        (brat("T1\tF 90 99;100 101\tx"), [(LostMention("F", 2),), ()]),
    ],
)
def test_it_belongs_to_the_sentence_of_its_first_word(tmp_path: Path, files, of_sentences):
    units = corpora.read(write(tmp_path, files), on_error="skip")
    assert [sentence.lost for sentence in as_sentences(units, Diagnostics("skip"))] == of_sentences

"""Invented reports in the shape of the clinical releases: SemEval-2014 Task 7 and ShARe/CLEF 2013."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hyperspan import Document, corpora
from hyperspan.corpora import demo

DISORDER = "Disease_Disorder"


def disorders(documents: Iterable[Document]) -> Iterable[Document]:
    """Documents with their findings only, under the one type of the clinical releases; one in four without a code."""
    for document in documents:
        mentions = [
            replace(
                mention,
                type=DISORDER,
                attributes=mention.attributes if number % 4 else {"cui": "CUI-less"},
            )
            for number, mention in enumerate(m for m in document.mentions if m.type == "Finding")
        ]
        yield document.with_mentions(mentions)


def write_releases(root: Path) -> dict[str, Path]:
    """Write both releases and a table of semantic types for their codes; return where they are."""
    reports = {split: list(disorders(demo.stream(24, split=split))) for split in demo.SPLITS}
    for split, folder in (("train", "train"), ("dev", "devel"), ("test", "test")):
        corpora.write(reports[split], root / "semeval" / "data" / folder, format="semeval")
    for split, folder in (("train", "Task1TrainSetGOLD"), ("dev", "Task1TestSetGOLD")):
        corpora.write(reports[split], root / "shareclef" / folder, format="semeval")
    codes = sorted(
        {str(m.attributes["cui"]) for units in reports.values() for unit in units for m in unit.mentions} - {"CUI-less"}
    )
    lines = [f"{code}|T047|{'AB'[place % 2]}2.2.1|Invented|AT0||\n" for place, code in enumerate(codes) if place % 5]
    (root / "MRSTY.RRF").write_text("".join(lines), encoding="utf-8")
    return {"semeval": root / "semeval", "shareclef": root / "shareclef", "mrsty": root / "MRSTY.RRF"}

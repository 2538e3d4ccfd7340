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


NOTES = {
    "discharge": "DISCHARGE_SUMMARY",
    "echo": "ECHO_REPORT",
    "radiology": "RADIOLOGY_REPORT",
    "ecg": "ECG_REPORT",
}


def named_as_there(documents: Iterable[Document], first: int = 0) -> list[Document]:
    """Documents under names such as 00007-000007-ECHO_REPORT, numbered from the first."""
    return [
        replace(document, doc=f"{number:05}-{number:06}-{NOTES[document.attributes['note_type']]}", attributes={})
        for number, document in enumerate(documents, first)
    ]


def write_shareclef2013(root: Path, *, pipe_suffix: str = ".txt") -> dict[str, list[Document]]:
    """Write 60 documents of four note types as the release of 2013 is laid out; return them by split.

    Reports and annotations are two folders apart, training data is in Knowtator XML, and test data in pipe files that
    are called as the reports are.
    """
    documents = named_as_there(disorders(demo.stream(60)))
    splits = {"train": documents[:40], "test": documents[40:]}
    for split, count in (("train", 199), ("test", 100)):
        folder = root / f"Task1{split.title()}SetCorpus{count}" / "ALLREPORTS"
        folder.mkdir(parents=True)
        for document in splits[split]:
            (folder / f"{document.doc}.txt").write_text(document.text, encoding="utf-8", newline="")
    made = root.parent / f"{root.name}-made"
    corpora.write(splits["train"], made / "xml", format="knowtator")
    corpora.write(splits["test"], made / "pipe", format="semeval")
    xml = root / "Task1TrainSetGOLD199knowtatorehost" / "ALLSAVED"
    pipe = root / "Task1Gold_SN2012" / "Gold_SN2012"
    xml.mkdir(parents=True)
    pipe.mkdir(parents=True)
    for path in (made / "xml").glob("*.knowtator.xml"):
        path.rename(xml / path.name)
    for path in (made / "pipe").glob("*.pipe"):
        path.rename(pipe / f"{path.stem}{pipe_suffix}")
    return splits


def write_releases(root: Path) -> dict[str, Path]:
    """Write both releases and a table of semantic types for their codes; return where they are.

    That of 2014 has 72 reports, in folders by split and note type; that of 2013 has pipe files beside its reports.
    """
    reports = {
        split: named_as_there(disorders(demo.stream(24, split=split)), 100 * place)
        for place, split in enumerate(demo.SPLITS)
    }
    for split, folder in (("train", "train"), ("dev", "devel"), ("test", "test")):
        for note_type, ending in NOTES.items():
            kept = [report for report in reports[split] if report.doc.endswith(ending)]
            corpora.write(kept, root / "semeval" / "data" / folder / note_type, format="semeval")
    for split, folder in (("train", "Task1TrainSetGOLD"), ("dev", "Task1TestSetGOLD")):
        corpora.write(reports[split], root / "shareclef" / folder, format="semeval")
    codes = sorted(
        {str(m.attributes["cui"]) for units in reports.values() for unit in units for m in unit.mentions} - {"CUI-less"}
    )
    lines = [f"{code}|T047|{'AB'[place % 2]}2.2.1|Invented|AT0||\n" for place, code in enumerate(codes) if place % 5]
    (root / "MRSTY.RRF").write_text("".join(lines), encoding="utf-8")
    return {"semeval": root / "semeval", "shareclef": root / "shareclef", "mrsty": root / "MRSTY.RRF"}

"""Generate reports: sentences in sections, lists and wrapped paragraphs, with exact offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from hyperspan.corpora.demo.constructions import CONSTRUCTIONS
from hyperspan.corpora.demo.filling import Filled, fill, without_mentions
from hyperspan.corpora.demo.grammar import Pool, Template, parse_block
from hyperspan.corpora.demo.vocabulary import PATIENTS, lists
from hyperspan.mentions import Document, Sentence, to_characters

Layout: TypeAlias = Literal["prose", "lines", "list"]

KINDS = ("plain", "split", "empty")
_CHUNK = re.compile(r"(?:\[\*\*.*?\*\*\]|\S)+")


class Section(NamedTuple):
    """How to write one section of a report.

    ``shares`` is the percentage of plain, split and empty sentences; ``chance`` is the share of reports that have the
    section; ``least`` and ``most`` bound its number of sentences.
    """

    name: str
    headings: tuple[str, ...]
    layout: Layout
    least: int
    most: int
    shares: tuple[int, int, int]
    chance: float = 1.0


_HEADER = Section("header", ("",), "lines", 1, 1, (0, 0, 100))

NOTES: dict[str, tuple[Section, ...]] = {
    "discharge": (
        _HEADER,
        Section("admission", ("",), "lines", 1, 3, (0, 0, 100)),
        Section("complaint", ("Chief Complaint:", "CC:", "CHIEF COMPLAINT:", "C/C:"), "lines", 1, 1, (85, 15, 0), 0.8),
        Section(
            "history",
            (
                "HISTORY OF PRESENT ILLNESS:",
                "Hx of present illness:",
                "HPI:",
                "History of Present Illness:",
                "HISTORY:",
            ),
            "prose",
            3,
            7,
            (44, 10, 46),
        ),
        Section("past", ("PMH:", "Past Medical History:", "PAST MEDICAL HX:", "PMHx:"), "list", 2, 5, (84, 7, 9), 0.9),
        Section("kin", ("Family History:", "FH:", "FAMILY HISTORY:", "Fam Hx:"), "prose", 1, 2, (12, 0, 88), 0.6),
        Section("social", ("Social History:", "SH:", "SOCIAL HX:"), "prose", 1, 3, (18, 5, 77), 0.5),
        Section(
            "allergies", ("Allergies:", "ALLERGIES:", "Allergies / Adverse Reactions:"), "lines", 1, 1, (60, 0, 40), 0.6
        ),
        Section("exam", ("PHYSICAL EXAM:", "Physical Exam:", "PE:", "Exam on admission:"), "lines", 3, 6, (50, 13, 37)),
        Section(
            "results", ("Pertinent Results:", "LABS:", "PERTINENT RESULTS:", "Data -"), "lines", 1, 4, (30, 7, 63), 0.7
        ),
        Section(
            "course",
            ("HOSPITAL COURSE:", "Brief Hospital Course:", "Course in hospital:", "HOSPITAL COURSE BY PROBLEM:"),
            "prose",
            3,
            7,
            (45, 9, 46),
        ),
        Section(
            "done",
            ("Major Surgical or Invasive Procedure:", "PROCEDURES:", "Procedures:"),
            "list",
            1,
            2,
            (66, 12, 22),
            0.4,
        ),
        Section(
            "medications",
            ("Discharge Medications:", "DISCHARGE MEDICATIONS:", "Meds on d/c:", "MEDS:"),
            "list",
            2,
            6,
            (90, 3, 7),
            0.85,
        ),
        Section(
            "condition",
            ("Discharge Condition:", "CONDITION:", "Condition at discharge:"),
            "lines",
            1,
            1,
            (35, 0, 65),
            0.6,
        ),
        Section(
            "instructions",
            ("Discharge Instructions:", "DISCHARGE INSTRUCTIONS:", "Instructions for you:"),
            "prose",
            2,
            5,
            (38, 10, 52),
            0.75,
        ),
        Section(
            "followup", ("Followup Instructions:", "FOLLOW UP:", "F/U:", "Follow-up:"), "lines", 1, 2, (35, 5, 60), 0.6
        ),
    ),
    "echo": (
        _HEADER,
        Section("indication", ("INDICATION:", "Indication:", "Reason for study:"), "lines", 1, 1, (72, 8, 20)),
        Section("measurements", ("MEASUREMENTS:", "Measurements", "2D MEASUREMENTS:"), "lines", 2, 4, (0, 0, 100), 0.7),
        Section("heart", ("FINDINGS:", "Findings:", "TEST INFORMATION / FINDINGS:"), "lines", 5, 9, (60, 11, 29)),
        Section("impression", ("Conclusions:", "CONCLUSION:", "IMPRESSION:"), "list", 1, 3, (66, 6, 28), 0.8),
    ),
    "radiology": (
        _HEADER,
        Section("technique", ("EXAMINATION:", "Technique:", "TECHNIQUE:", "Exam:"), "prose", 1, 2, (55, 10, 35)),
        Section(
            "indication",
            ("CLINICAL INFORMATION:", "Indication:", "HISTORY:", "Clinical hx:"),
            "lines",
            1,
            1,
            (72, 8, 20),
        ),
        Section("comparison", ("COMPARISON:", "Comparison:", "COMPARISONS:"), "lines", 1, 1, (40, 0, 60), 0.7),
        Section("findings", ("FINDINGS:", "Findings:", "REPORT:"), "prose", 4, 8, (58, 11, 31)),
        Section("impression", ("IMPRESSION:", "Impression:", "Conclusion -"), "list", 1, 3, (66, 8, 26)),
    ),
    "ecg": (
        _HEADER,
        Section("indication", ("Indication:", "REASON:"), "lines", 1, 1, (80, 0, 20), 0.4),
        Section("tracing", ("ECG:", "Interpretation:", "EKG", "TRACING:"), "prose", 4, 7, (60, 9, 31)),
    ),
}
"""The sections of each kind of report, in order."""

_NOTE_TYPES = ("discharge",) * 9 + ("radiology",) * 5 + ("echo",) * 4 + ("ecg",) * 2


class Placed(NamedTuple):
    """A sentence, where it starts in the report's text, and its section."""

    filled: Filled
    start: int
    section: str


class Report(NamedTuple):
    """A report before it becomes a document or sentences."""

    doc: str
    note_type: str
    split: str
    text: str
    sentences: tuple[Placed, ...]

    def as_document(self) -> Document:
        """Return the report as one text with character offsets."""
        mentions = [
            to_characters(mention, placed.filled.offsets).shift(placed.start)
            for placed in self.sentences
            for mention in placed.filled.mentions
        ]
        return Document(self.doc, self.text, tuple(mentions), {"note_type": self.note_type}, self.split)

    def as_sentences(self) -> list[Sentence]:
        """Return the report's sentences with token offsets."""
        return [
            Sentence(
                tuple(filled.tokens),
                tuple(filled.mentions),
                self.doc,
                {"note_type": self.note_type, "section": section},
                offsets=tuple((begin + start, end + start) for begin, end in filled.offsets),
                split=self.split,
            )
            for filled, start, section in self.sentences
        ]


def write_report(seed: int, split: str, number: int) -> Report:
    """Generate one report, which depends only on the three arguments."""
    rng = Random(f"hyperspan demo {seed} {split} {number}")
    note_type = _pick(_NOTE_TYPES, rng)
    page = _Page(rng, split)
    for section in NOTES[note_type]:
        if rng.random() < section.chance:
            page.add(section)
    return Report(f"{split}-{number:05d}", note_type, split, "".join(page.pieces), tuple(page.sentences))


@cache
def pools(split: str) -> dict[str, dict[str, Pool]]:
    """Return the constructions that a split may use, by section and kind."""
    known = lists(split)
    return {
        section: {
            kind: parse_block(block, where=f"{section}/{kind}", split=split, lists=known)
            for kind, block in blocks.items()
        }
        for section, blocks in CONSTRUCTIONS.items()
    }


class _Page:
    """The growing text of one report. Line width, bullets and so on are chosen once per report."""

    def __init__(self, rng: Random, split: str) -> None:
        self.rng = rng
        self.pools = pools(split)
        self.lists = lists(split, int(rng.random() * len(PATIENTS)))
        self.pieces: list[str] = []
        self.sentences: list[Placed] = []
        self.length = 0
        self.width = 60 + int(rng.random() * 21)
        self.bullet = _pick(("- ", "* ", "{}. ", "{}) ", ""), rng)
        self.heading = rng.random()
        self.beside = rng.random() < 0.35

    def add(self, section: Section) -> None:
        heading = section.headings[int(self.heading * len(section.headings))]
        if heading:
            self.write("\n")
            self.place(without_mentions(heading), section.name)
            self.write(" " if self.beside and section.layout != "list" and section.most == 1 else "\n")
        taken: list[Template] = []
        drawn = [self.draw(section, taken) for _ in range(self.between(section.least, section.most))]
        if section.layout == "prose":
            self.paragraph(drawn, section.name)
            return
        for position, filled in enumerate(drawn, start=1):
            bullet = self.bullet.format(position) if section.layout == "list" else ""
            self.place(filled.after(bullet) if bullet else filled, section.name)
            self.write("\n")

    def draw(self, section: Section, taken: list[Template]) -> Filled:
        """Generate a sentence, if possible from a construction not yet used in the section."""
        pools = self.pools[section.name]
        plain, split, _ = section.shares
        at = self.rng.random() * 100
        pool = pools["plain" if at < plain else "split" if at < plain + split else "empty"]
        if not taken:
            pool = pools.get("first", pool)
        for _ in range(4):
            template = pool.draw(self.rng)
            if not any(template is other for other in taken):
                break
        taken.append(template)
        return fill(template, self.rng, self.lists, capital=section.layout == "prose")

    def paragraph(self, drawn: Sequence[Filled], section: str) -> None:
        """Place sentences one after another, wrapping lines that would grow too long."""
        text = " ".join(filled.text for filled in drawn)
        breaks = []
        line, previous = 0, 0
        for chunk in _CHUNK.finditer(text):
            if chunk.end() - line > self.width and previous > line:
                breaks.append(previous)
                line = chunk.start()
            previous = chunk.end()
        wrapped = list(text)
        for position in breaks:
            wrapped[position] = "\n"
        start = self.length
        for filled in drawn:
            self.sentences.append(Placed(filled, start, section))
            start += len(filled.text) + 1
        self.write("".join(wrapped))
        self.write("\n")

    def place(self, filled: Filled, section: str) -> None:
        self.sentences.append(Placed(filled, self.length, section))
        self.write(filled.text)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def between(self, least: int, most: int) -> int:
        return least + int(self.rng.random() * (most - least + 1))


def _pick(options: Sequence[str], rng: Random) -> str:
    return options[int(rng.random() * len(options))]

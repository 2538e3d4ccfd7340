"""Write rows of the table NOTE_NLP of the OMOP common data model (version 5.4) as CSV; reading is not supported.

One row per mention. ``offset`` is where it begins in the note, in characters; ``lexical_variant`` is its text, with
``…`` for gaps. ``term_modifiers`` has what the table has no column for: the type, all parts, the probability and
attributes. ``note_id`` is the document's name, which should be the id of the note in NOTE. Concepts are 0, for none.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from hyperspan.corpora.format import Format, Item, require
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import FormatError
from hyperspan.mentions import Document, Mention, Unit

COLUMNS = (
    "note_nlp_id",
    "note_id",
    "section_concept_id",
    "snippet",
    "offset",
    "lexical_variant",
    "note_nlp_concept_id",
    "note_nlp_source_concept_id",
    "nlp_system",
    "nlp_date",
    "nlp_datetime",
    "term_exists",
    "term_temporal",
    "term_modifiers",
)
"""The columns, in the order of the specification."""

_LONGEST = 250
"""The maximum number of characters in a snippet and of a lexical variant."""

_LONGEST_MODIFIERS = 2_000
_AROUND = 60
_SYSTEM = "hyperspan"


def _write(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    now = datetime.now(UTC)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    number = 0
    for unit in units:
        require(unit, Document, "omop")
        assert isinstance(unit, Document)
        if not unit.doc.isdecimal():
            diagnostics.note("note-id", f"note_id is an integer in OMOP, but the document is called {quoted(unit.doc)}")
        for mention in unit.mentions:
            number += 1
            rows.writerow(_row(number, unit, mention, now, diagnostics))
    text.detach()  # the file is the caller's to close


def _row(
    number: int, document: Document, mention: Mention, now: datetime, diagnostics: Diagnostics
) -> tuple[object, ...]:
    variant, modifiers = _line(document.text_of(mention)), modifiers_of(mention)
    written = ("lexical_variant", variant, _LONGEST), ("term_modifiers", modifiers, _LONGEST_MODIFIERS)
    for what, value, longest in written:
        if len(value) > longest:
            diagnostics.note("cut", f"{what} is cut to {longest:,} characters (document {quoted(document.doc)})")
    around = document.text[max(0, mention.start - _AROUND) : mention.end + _AROUND]
    return (
        number,
        document.doc,
        0,
        _line(around)[:_LONGEST],
        mention.start,
        variant[:_LONGEST],
        0,
        0,
        _SYSTEM,
        now.date().isoformat(),
        now.replace(tzinfo=None).isoformat(sep=" ", timespec="seconds"),
        "",
        "",
        modifiers[:_LONGEST_MODIFIERS],
    )


def modifiers_of(mention: Mention) -> str:
    """Return what OMOP has no column for, as ``name=value`` pairs separated by semicolons.

    Examples
    --------
    >>> modifiers_of(Mention("Finding", [(0, 5), (23, 36)], prob=0.81, attributes={"cui": "C9000001"}))
    'type=Finding; parts=0-5,23-36; prob=0.81; cui=C9000001'
    """
    known: dict[str, object] = {
        "type": mention.type,
        "parts": ",".join(f"{start}-{end}" for start, end in mention.parts),
    }
    if mention.prob is not None:
        known["prob"] = f"{mention.prob:.6g}"
    known |= mention.attributes
    return "; ".join(f"{name}={_line(str(value))}" for name, value in known.items())


def _line(text: str) -> str:
    return " ".join(text.split())


def _recognise(path: Path, head: bytes) -> bool:
    return False


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    raise FormatError("rows of NOTE_NLP are written, not read: they do not hold the notes", path=str(item.path))


FORMAT = Format(
    name="omop",
    summary="Rows of OMOP's table NOTE_NLP, as CSV; written, not read",
    suffixes=(".csv",),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_file=_write,
)

"""The interface of a corpus format, and checks that all formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hyperspan.diagnostics import Diagnostic, Diagnostics, LostMention, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import NOTHING, Document, Mention, Sentence, Span, Unit


@dataclass(frozen=True, slots=True)
class Item:
    """One file to read (with its sidecar files, such as the text beside an ``.ann``) and its document name."""

    path: Path
    root: Path
    """The folder that the user named, or the file's own folder. Document names are relative to it."""
    split: str = ""
    texts_only: bool = False
    """Whether annotations are not read, so that they cannot cause problems."""

    @property
    def doc(self) -> str:
        """The document name derived from the file name."""
        return self.path.relative_to(self.root).with_suffix("").as_posix()


@dataclass(frozen=True, slots=True)
class Format:
    """How to recognise, read and write one format.

    ``recognise`` gets a path and the first bytes of the file. ``stream`` yields the units of one item. A format with
    one file for everything has ``write_file``, which gets an open binary file; a format with files for every document
    has ``write_folder``, which gets an empty folder to fill. The caller makes both atomic. If the suffix of the output
    selects a variant, ``write_by_suffix`` has the variants that ``write_file`` does not write. ``oddities`` yields
    remarks about a unit that are not reason enough to reject it; ``further`` names what a unit has besides its mentions
    that no other format can write; ``holds_links`` lists the kinds of links it can hold, from
    `hyperspan.corpora.links.KINDS`. ``units`` lists the kinds of units it can hold, its native kind first.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    units: tuple[type[Sentence] | type[Document], ...]
    recognise: Callable[[Path, bytes], bool]
    stream: Callable[[Item, Diagnostics], Iterator[Unit]]
    write_file: Callable[[Iterable[Unit], IO[bytes], Diagnostics], None] | None = None
    write_folder: Callable[[Iterable[Unit], Path, Diagnostics], None] | None = None
    oddities: Callable[[Unit], Iterator[Diagnostic]] | None = None
    further: Callable[[Unit], str] | None = None
    holds_links: tuple[str, ...] = ()
    write_by_suffix: Mapping[str, Callable[[Iterable[Unit], IO[bytes], Diagnostics], None]] = field(
        default_factory=dict
    )


def checked_mention(
    type: str,
    spans: Iterable[Span],
    diagnostics: Diagnostics,
    *,
    length: int,
    path: Path | None = None,
    line: int | None = None,
    prob: float | None = None,
    attributes: Mapping[str, Any] = NOTHING,
) -> Mention | None:
    """Make a mention from spans read from a file, or report what is wrong with them.

    Spans may come in any order and may touch: these are just other ways to write the same set of words. Empty, reversed
    or negative spans, spans beyond ``length``, and spans that overlap one another are problems; the result is None if
    the mention is to be skipped.
    """
    ordered = sorted(spans)
    defect = _defect(ordered, length)
    if not defect and not type:
        defect = "no-type", "the mention has no type; expected a name"
    if defect:
        lost = LostMention.at(type, ordered, length)
        diagnostics.report(*defect, path=None if path is None else str(path), line=line, lost=lost)
        return None
    return Mention.of(type, ordered, prob=prob, attributes=attributes)


def _defect(ordered: list[Span], length: int) -> tuple[str, str] | None:
    if not ordered:
        return "no-parts", "the mention has no parts; expected at least one pair of offsets"
    reached = 0
    for start, end in ordered:
        part = f"part '{start} {end}'"
        if end == start:
            return "empty-part", f"{part} is empty; offsets are half-open and increasing"
        if end < start:
            return "reversed-part", f"{part} ends before it starts; offsets are half-open and increasing"
        if start < 0:
            return "outside", f"{part} starts before the beginning"
        if end > length:
            return "outside", f"{part} ends beyond the end, which is at {length}"
        if start < reached:
            return "overlapping-parts", f"{part} overlaps another part of the same mention"
        reached = end
    return None


def unique_mentions(
    mentions: Iterable[tuple[Mention, int | None]], diagnostics: Diagnostics, *, path: Path | None = None
) -> list[Mention]:
    """Return mentions without duplicates (same type, same parts), which are reported with their line."""
    kept: dict[Mention, int | None] = {}
    for mention, line in mentions:
        if mention in kept:
            first = kept[mention]
            diagnostics.report(
                "duplicate",
                f"the {quoted(mention.type)} mention {quoted(list(mention.parts))} was given before"
                + (f", on line {first}" if first is not None and first != line else ""),
                path=None if path is None else str(path),
                line=line,
            )
        else:
            kept[mention] = line
    return list(kept)


def require(unit: Unit, kind: type[Sentence] | type[Document], format: str) -> None:
    """Raise an error that says what to do if a format cannot hold a unit."""
    if not isinstance(unit, kind):
        have, want = (
            ("character offsets", "tokens")
            if isinstance(unit, Document)
            else ("tokens", "texts with character offsets")
        )
        raise CorpusError(
            f"the format {format!r} holds {want}, but document {quoted(unit.doc)} has {have}; "
            "'hyperspan convert' brings one into the other"
        )

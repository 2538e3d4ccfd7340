"""``hyperspan check``: list every problem of a corpus, with its location."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from hyperspan import corpora
from hyperspan.cli.console import (
    CorpusArgument,
    FromOption,
    JsonOption,
    notes_of,
    print_json,
    printable,
    progress,
    say,
    stdout,
)
from hyperspan.diagnostics import Diagnostics, counted, quoted
from hyperspan.errors import location
from hyperspan.mentions import Document, Unit


def check(corpus: CorpusArgument, format: FromOption = None, json: JsonOption = False) -> None:
    """List every problem of a corpus with file and line; exit code 1 if there is one.

    Besides violations of the format, these are mentions that begin or end inside a token or cross sentences, duplicate
    documents, and empty files.

    Example: hyperspan check notes/
    """
    diagnostics = Diagnostics("skip")
    units = mentions = 0
    for unit in progress(check_corpus(corpus, diagnostics, format=format), "Checking"):
        units += 1
        mentions += len(unit.mentions)
    if json:
        print_json(
            {
                "units": units,
                "mentions": mentions,
                "findings": [diagnostic.as_dict() for diagnostic in diagnostics.items],
                "counts": dict(sorted(diagnostics.counts.items())),
                "total": diagnostics.total,
                "notes": notes_of(diagnostics),
            }
        )
    else:
        _print_diagnostics(diagnostics)
        say.notes(diagnostics)
        read = f"{units:,} {'sentence or document' if units == 1 else 'sentences or documents'}"
        say.info(f"{read} with {counted(mentions, 'mention')}: {diagnostics.summary()}")
    raise typer.Exit(1 if diagnostics.total else 0)


def check_corpus(path: str | Path, diagnostics: Diagnostics, *, format: str | None = None) -> Iterator[Unit]:
    """Yield the units of a corpus, and report every problem.

    Parameters
    ----------
    path : path
        A file or folder.
    diagnostics : Diagnostics
        Collects the problems; its ``on_error`` should not be ``"error"``.
    format : str, optional
        One of `hyperspan.corpora.formats`; recognised automatically if not given.
    """
    from hyperspan.text import split_document

    found, items = corpora.find_items(path, format)
    documents = _Documents(diagnostics)
    for item in items:
        before = diagnostics.total
        is_empty = True
        for unit in corpora.stream_item(item, found, diagnostics):
            is_empty = False
            documents.add(unit)
            for oddity in found.oddities(unit) if found.oddities is not None else ():
                diagnostics.report(oddity.kind, oddity.message, path=oddity.path, line=oddity.line)
            if isinstance(unit, Document):
                split_document(unit, diagnostics)
            yield unit
        if is_empty and diagnostics.total == before:
            diagnostics.report(
                "empty", "there is nothing in the file; expected sentences or documents", path=str(item.path)
            )


class _Documents:
    """Records which documents have occurred."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._splits: dict[str, str] = {}
        self._last: str | None = None

    def add(self, unit: Unit) -> None:
        """Report a text whose name occurred before; note a document whose sentences are not consecutive."""
        before = self._splits.get(unit.doc)
        if before is None:
            self._splits[unit.doc] = unit.split
        else:
            path, line = _place(unit)
            name = f"document {quoted(unit.doc)}"
            if isinstance(unit, Document):
                self._diagnostics.report("duplicate-document", f"{name} was there before", path=path, line=line)
            elif before != unit.split:
                message = f"{name} has sentences in {before or 'no split'} and in {unit.split or 'no split'}"
                self._diagnostics.note("in-several-splits", message, path=path, line=line)
            elif unit.doc != self._last:
                message = f"{name} has sentences that do not follow one another"
                self._diagnostics.note("scattered-document", message, path=path, line=line)
        self._last = unit.doc


def _place(unit: Unit) -> tuple[str | None, int | None]:
    path, colon, number = unit.place.rpartition(":")
    if colon and number.isascii() and number.isdigit() and len(number) < 19:
        return path, int(number)
    return unit.place or None, None


def _print_diagnostics(diagnostics: Diagnostics) -> None:
    from rich.text import Text

    console = stdout()
    for diagnostic in diagnostics.items:
        where = printable(location(diagnostic.path, diagnostic.line))
        line = Text.assemble((where, "bold"), ": ", printable(diagnostic.message), (f" [{diagnostic.kind}]", "yellow"))
        console.print(line, soft_wrap=True)
    if diagnostics.total > len(diagnostics.items):
        console.print(f"… and {diagnostics.total - len(diagnostics.items):,} more")

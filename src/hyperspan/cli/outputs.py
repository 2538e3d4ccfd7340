"""The outputs of ``predict``: every format of ``convert``, and drawings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hyperspan.corpora.format import Format
from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.errors import UsageError
from hyperspan.files import is_stream
from hyperspan.mentions import Document, Mention, Sentence, Unit, to_characters

if TYPE_CHECKING:
    from hyperspan.recognizer import Prediction
    from hyperspan.text import Expander

DRAWINGS = {".txt": "text", ".html": "html", ".htm": "html", ".svg": "svg"}
"""The formats of drawings, by suffix."""

HOLD_PHRASES = ("jsonl", "brat")
"""The formats that can hold the phrase that a mention stands for."""

Result = tuple[Unit, list[Sentence], "list[Prediction]"]


def output_formats() -> tuple[str, ...]:
    """Return the names of all formats, then those of drawings."""
    from hyperspan.corpora.writing import written_formats

    return (*written_formats(), *dict.fromkeys(DRAWINGS.values()))


def output_format(output: Path, wanted: str | None) -> str:
    """Return the format to write: the wanted one, or that of the suffix; JSON lines on stdout."""
    from hyperspan.corpora.writing import format_of_output, writable

    if wanted is None:
        if str(output) == "-" or is_stream(output):
            return "jsonl"
        return DRAWINGS.get(output.suffix.lower()) or format_of_output(output, "--format", DRAWINGS)
    if wanted not in output_formats():
        raise UsageError(f"--format is {wanted!r}; expected one of {', '.join(output_formats())}")
    if wanted not in DRAWINGS.values():
        writable(wanted)
    return wanted


def refuse_inputs(inputs: Iterable[Path | None], *outputs: Path | None, overwrite: bool = False) -> None:
    """Raise an error for an output that is an input, or, with --overwrite, a folder with an input in it."""
    known = [path for path in inputs if path is not None and str(path) != "-" and path.exists()]
    for output in outputs:
        if output is None or is_stream(output) or not output.exists():
            continue
        for path in known:
            if path.samefile(output):
                raise UsageError(f"{output} is an input and would be overwritten; choose another name")
            if overwrite and output.resolve() in path.resolve().parents:
                raise UsageError(f"{output} holds the input {path}, which would be overwritten; choose another name")


def fitted(units: Iterable[Unit], format: Format, diagnostics: Diagnostics) -> Iterable[Unit]:
    """Return units in the form that a format can hold: as sentences, as documents, or as they are."""
    from hyperspan.text import as_documents, as_sentences

    if format.units == (Sentence,):
        return as_sentences(units, diagnostics)
    return as_documents(units, diagnostics) if format.units == (Document,) else units


class Written:
    """Yields results in the form to be written, and counts them.

    Parameters
    ----------
    results : iterable of (unit, its sentences, what was found in each)
    keep_gold : bool
        Keep the mentions that a unit already has, in addition to those that were found.
    diagnostics : Diagnostics
        Collects what a format cannot hold.
    expander : Expander, optional
        Adds the phrase that each mention stands for.
    """

    def __init__(
        self,
        results: Iterable[Result],
        *,
        keep_gold: bool,
        diagnostics: Diagnostics,
        expander: Expander | None = None,
    ) -> None:
        self.results = results
        self.keep_gold = keep_gold
        self.diagnostics = diagnostics
        self.expander = expander
        self.counts: Counter[str] = Counter()

    def units(self) -> Iterator[Unit]:
        """Yield units with their mentions, and further data of a sentence as keys of JSON lines."""
        from hyperspan.corpora.jsonl import Source
        from hyperspan.corpora.links import links_of

        for unit, sentences, found in self.results:
            extra: dict[str, Any] = {}
            if any(here.truncated for here in found):
                extra["truncated"] = True
            if any(here.alternatives for here in found):
                listed = [_alternatives(unit, each, here) for each, here in zip(sentences, found, strict=True)]
                extra["alternatives"] = listed[0] if isinstance(unit, Sentence) else listed
            made = self._with_found(unit, sentences, found)
            if extra:
                known = unit.source if isinstance(unit.source, Source) else Source({}, {}, links_of(unit))
                made = replace(made, source=replace(known, extra={**known.extra, **extra}))
            yield made

    def documents(self) -> Iterator[Document]:
        """Yield documents; sentences of one document are joined."""
        from hyperspan.text import as_documents

        return as_documents(self.units(), self.diagnostics)

    def sentences(self) -> Iterator[Sentence]:
        """Yield sentences with their mentions."""
        from hyperspan.text import as_sentences

        for unit, sentences, found in self.results:
            if self.keep_gold:
                yield from as_sentences([self._with_found(unit, sentences, found)], self.diagnostics)
                continue
            self._count(unit, sentences, sum(len(here.mentions) for here in found))
            for sentence, here in zip(sentences, found, strict=True):
                yield sentence.with_mentions(here.mentions)

    def _with_found(self, unit: Unit, sentences: list[Sentence], found: list[Prediction]) -> Unit:
        from hyperspan.recognizer import with_found

        made = with_found(unit, sentences, found)
        self._count(unit, sentences, len(made.mentions))
        if self.keep_gold and unit.mentions:
            both = {mention: mention for mention in made.mentions}
            for mention in unit.mentions:
                both[mention] = replace(mention, prob=both[mention].prob) if mention in both else mention
            made = made.with_mentions(both.values())
        return made if self.expander is None else self.expander.expand(made)

    def _count(self, unit: Unit, sentences: list[Sentence], n_mentions: int) -> None:
        self.counts["documents"] += isinstance(unit, Document)
        self.counts["sentences"] += len(sentences)
        self.counts["mentions"] += n_mentions

    def summary(self) -> str:
        """Return a one-line summary of what was found."""
        documents = f" of {counted(self.counts['documents'], 'document')}" if self.counts["documents"] else ""
        mentions, sentences = (counted(self.counts[f"{what}s"], what) for what in ("mention", "sentence"))
        return f"found {mentions} in {sentences}{documents}"


def _alternatives(unit: Unit, sentence: Sentence, found: Prediction) -> list[dict[str, Any]]:
    def placed(mention: Mention) -> Mention:
        return mention if isinstance(unit, Sentence) else to_characters(mention, sentence.offsets or ())

    return [
        {
            "prob": prob,
            "mentions": [{"type": mention.type, "spans": placed(mention).parts} for mention in mentions],
        }
        for prob, mentions in found.alternatives
    ]


def write_output(
    written: Written, output: Path, format: str, *, types: tuple[str, ...] = (), overwrite: bool = False
) -> None:
    """Write the results to a file or folder, or to stdout."""
    from hyperspan import corpora
    from hyperspan.corpora.writing import writable, write_to

    if draw := _DRAWERS.get(format):
        with _opened(output) as file:
            draw(written.sentences(), file, types)
        return
    held = writable(format).units
    units: Iterable[Unit] = written.units()
    if len(held) == 1:
        units = written.sentences() if Sentence in held else written.documents()
    if str(output) == "-":
        write_to(units, sys.stdout.buffer, format=format, diagnostics=written.diagnostics)
        sys.stdout.buffer.flush()
    else:
        corpora.write(units, output, format=format, overwrite=overwrite, diagnostics=written.diagnostics)


@contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    from hyperspan.files import writing

    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with writing(output) as file:
            yield file


def _draw_text(sentences: Iterable[Sentence], file: IO[bytes], types: tuple[str, ...]) -> None:
    from hyperspan.render import draw_text

    is_terminal = file is sys.stdout.buffer and sys.stdout.isatty()
    if is_terminal:
        from hyperspan.cli.console import stdout

        console = stdout()
    for sentence in sentences:
        drawing = draw_text(sentence, types=types)
        if is_terminal:
            console.print(drawing, end="\n\n")
        else:
            file.write(f"{drawing.plain}\n\n".encode("utf-8", "replace"))


def _draw_html(sentences: Iterable[Sentence], file: IO[bytes], types: tuple[str, ...]) -> None:
    from hyperspan.render.html import html_pieces

    for piece in html_pieces(sentences, types=types):
        file.write(piece.encode("utf-8", "replace"))


def _draw_svg(sentences: Iterable[Sentence], file: IO[bytes], types: tuple[str, ...]) -> None:
    from hyperspan.render import TypeColours, sentence_picture, svg_document

    colours = TypeColours(types)
    picture = svg_document([sentence_picture(sentence, types=colours) for sentence in sentences])
    file.write(picture.encode("utf-8", "backslashreplace"))


_DRAWERS: dict[str, Callable[[Iterable[Sentence], IO[bytes], tuple[str, ...]], None]] = {
    "text": _draw_text,
    "html": _draw_html,
    "svg": _draw_svg,
}

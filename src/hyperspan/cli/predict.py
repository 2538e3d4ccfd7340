"""``hyperspan predict``: find mentions in texts."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.choices import DecodeOption
from hyperspan.cli.console import (
    ExpandOption,
    FromOption,
    OnErrorChoice,
    OnErrorOption,
    SingularOption,
    expander,
    progress,
    say,
    tell_of_compiling,
)
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError
from hyperspan.mentions import Document, Mention, Sentence, Unit, to_characters

if TYPE_CHECKING:
    from hyperspan.recognizer import Prediction, Recognizer
    from hyperspan.text import Expander


_CHUNK = 1024 * 1024


class OutputChoice(StrEnum):
    """What to write."""

    JSONL = "jsonl"
    BRAT = "brat"
    TEXT = "text"
    HTML = "html"


def predict(
    model: Annotated[Path, typer.Argument(help="A model by 'hyperspan train'.", show_default=False)],
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="A corpus, a plain text file, or - for text or JSON lines on stdin.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write; - is stdout.")] = Path("-"),
    to: Annotated[OutputChoice, typer.Option("--format", help="What to write.")] = OutputChoice.JSONL,
    decode: DecodeOption = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0.0, max=1.0, help="As probable as a mention must be; as tuned in training."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Also give so many of the best structures.")] = 0,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="How many processes share the work, this one among them.")
    ] = 1,
    expand: ExpandOption = False,
    singular: SingularOption = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a folder that is not empty (--format brat).")
    ] = False,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
) -> None:
    """Find mentions in a corpus or in plain text, sentence by sentence.

    Example: echo "Blood in his mouth and on his tongue." | hyperspan predict notes.model - --format text
    """
    from hyperspan.recognizer import Recognizer

    expanding = expander(expand, singular)
    if expand and to in (OutputChoice.TEXT, OutputChoice.HTML):
        raise UsageError(f"--expand has no place in --format {to.value}; jsonl and brat have one")
    tell_of_compiling()
    diagnostics = Diagnostics(on_error.value)
    recognizer = Recognizer.load(model)
    how: dict[str, Any] = {"decode": decode, "threshold": threshold, "top": top}
    units = _inputs(corpus, format, diagnostics)
    recognizer.check_annotator()
    results: Iterable[Result] = progress(recognizer.find_in(units, n_workers=workers, **how), "Finding mentions")
    if expanding is not None:
        results = _expanded(results, expanding)
    if to is OutputChoice.BRAT:
        _write_brat(results, output, diagnostics, overwrite=overwrite)
    else:
        with _opened(output) as file:
            _WRITERS[to](results, file, recognizer)
    say.diagnostics(diagnostics)


Result = tuple[Unit, list[Sentence], "list[Prediction]"]


def _expanded(results: Iterable[Result], expanding: Expander) -> Iterator[Result]:
    """Yield results whose mentions carry what they stand for."""
    from hyperspan.recognizer import with_found

    for unit, sentences, found in results:
        known = expanding.attributes_of(with_found(unit, sentences, found))
        yield (
            unit,
            sentences,
            [
                replace(
                    here,
                    mentions=tuple(replace(m, attributes=known[_placed(m, unit, sentence)]) for m in here.mentions),
                )
                for sentence, here in zip(sentences, found, strict=True)
            ],
        )


def _placed(mention: Mention, unit: Unit, sentence: Sentence) -> Mention:
    """Return a mention of a sentence as it stands in its unit: in characters, if that is a document."""
    return mention if isinstance(unit, Sentence) else to_characters(mention, sentence.offsets or ())


def _inputs(path: Path, format: str | None, diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield what is to be read: documents of plain text, or whatever a corpus holds."""
    from hyperspan import corpora
    from hyperspan.corpora.files import read_text

    if str(path) == "-":
        yield from _standard_input(sys.stdin.buffer, format, diagnostics)
        return
    if path.suffix == ".txt" and path.is_file() and format is None and corpora.recognise(path) is None:
        text = read_text(path, diagnostics)
        if text is not None:
            yield Document(path.stem, text)
        return
    yield from corpora.stream(path, format=format, diagnostics=diagnostics)


def _standard_input(file: IO[bytes], format: str | None, diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the units of JSON lines as they come, if they are asked for or begin with one; else one text."""
    from hyperspan.corpora.files import LARGEST_DOCUMENT, LONGEST_LINE, decode, numbered_lines
    from hyperspan.corpora.format import Item
    from hyperspan.corpora.jsonl import is_object, is_record, stream_records

    if format not in (None, "jsonl"):
        raise UsageError(
            f"stdin is read as plain text or as JSON lines, not as {format!r}; name a file, or leave --from out"
        )
    begin: deque[bytes] = deque()
    while (line := file.readline(LONGEST_LINE + 1)) and not line.strip():
        begin.append(line)
    begin.append(line)
    if format == "jsonl" or is_record(line) or is_object(line):

        def read_line(limit: int) -> bytes:
            return begin.popleft() if begin else file.readline(limit)

        item = Item(Path("stdin"), Path())
        yield from stream_records(numbered_lines(read_line, item.path, diagnostics), item, diagnostics)
        return
    begin.append(file.read(_CHUNK))
    while begin[-1] and sum(map(len, begin)) <= LARGEST_DOCUMENT:
        begin.append(file.read(_CHUNK))
    if begin[-1]:
        raise UsageError(f"stdin has more than {LARGEST_DOCUMENT:,} bytes of text; send JSON lines, or name a file")
    text = decode(b"".join(begin), diagnostics, path=Path("<stdin>"))
    if text is not None:
        yield Document("stdin", text)


@contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    from hyperspan.files import writing

    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with writing(output) as file:
            yield file


def _write_jsonl(results: Iterable[Result], file: IO[bytes], recognizer: Recognizer) -> None:
    import orjson

    from hyperspan.corpora.jsonl import record_of
    from hyperspan.recognizer import with_found

    for unit, sentences, found in results:
        record = record_of(_without_gold(with_found(unit, sentences, found)))
        if any(here.truncated for here in found):
            record["truncated"] = True
        if any(here.alternatives for here in found):
            record["alternatives"] = [
                _alternatives(unit, sentence, here) for sentence, here in zip(sentences, found, strict=True)
            ]
            if isinstance(unit, Sentence):
                record["alternatives"] = record["alternatives"][0]
        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _without_gold(unit: Unit) -> Unit:
    """Forget what the file that was read says beside its mentions: none of that was found."""
    from hyperspan.corpora.jsonl import Source

    return replace(unit, source=replace(unit.source, of_mentions={})) if isinstance(unit.source, Source) else unit


def _alternatives(unit: Unit, sentence: Sentence, found: Prediction) -> list[dict[str, Any]]:
    return [
        {
            "prob": prob,
            "mentions": [
                {"type": mention.type, "spans": _placed(mention, unit, sentence).parts} for mention in mentions
            ],
        }
        for prob, mentions in found.alternatives
    ]


def _write_text(results: Iterable[Result], file: IO[bytes], recognizer: Recognizer) -> None:
    from hyperspan.render import draw_text

    is_terminal = file is sys.stdout.buffer and sys.stdout.isatty()
    if is_terminal:
        from hyperspan.cli.console import stdout

        console = stdout()
    for _, sentences, found in results:
        for sentence, here in zip(sentences, found, strict=True):
            drawing = draw_text(sentence.with_mentions(here.mentions), types=recognizer.types_)
            if is_terminal:
                console.print(drawing, end="\n\n")
            else:
                file.write(f"{drawing.plain}\n\n".encode("utf-8", "replace"))


def _write_html(results: Iterable[Result], file: IO[bytes], recognizer: Recognizer) -> None:
    from hyperspan.render.html import html_pieces

    drawn = (
        sentence.with_mentions(here.mentions)
        for _, sentences, found in results
        for sentence, here in zip(sentences, found, strict=True)
    )
    for piece in html_pieces(drawn, types=recognizer.types_):
        file.write(piece.encode("utf-8", "replace"))


_WRITERS = {OutputChoice.JSONL: _write_jsonl, OutputChoice.TEXT: _write_text, OutputChoice.HTML: _write_html}


def _write_brat(results: Iterable[Result], output: Path, diagnostics: Diagnostics, *, overwrite: bool) -> None:
    from hyperspan import corpora
    from hyperspan.recognizer import with_found
    from hyperspan.text import as_documents

    if str(output) == "-":
        raise UsageError("brat writes a folder with two files a document; name it with -o FOLDER")

    def predicted() -> Iterator[Unit]:
        for unit, sentences, found in results:
            yield replace(with_found(unit, sentences, found), source=None)

    corpora.write(as_documents(predicted()), output, format="brat", overwrite=overwrite, diagnostics=diagnostics)

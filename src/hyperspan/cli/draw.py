"""``hyperspan draw``: draw mentions, or the hypergraph that encodes them, as SVG, HTML or text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.choices import structure_option
from hyperspan.cli.console import FromOption, OnErrorChoice, OnErrorOption, printable, say, stdout
from hyperspan.cli.outputs import DRAWINGS, refuse_inputs
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError
from hyperspan.files import is_stream

if TYPE_CHECKING:
    from hyperspan.mentions import Sentence
    from hyperspan.render import TypeColours

MOST_IN_SVG = 100
"""The default limit on the sentences of an SVG, which is built in memory."""


class DrawFormat(StrEnum):
    """The format of a drawing."""

    SVG = "svg"
    HTML = "html"
    TEXT = "text"


def draw(
    corpus: Annotated[
        Path | None, typer.Argument(help="A file or folder in any supported format.", show_default=False)
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Draw this plain text, without mentions, instead of a corpus.")
    ] = None,
    to: Annotated[
        DrawFormat | None,
        typer.Option("--format", help="The format; derived from the suffix of -o if not given, and svg on stdout."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; - is stdout.")] = Path("-"),
    sentence: Annotated[
        int | None, typer.Option("--sentence", min=1, help="Only this sentence, numbered from 1.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, help=f"The maximum number of sentences to draw; {MOST_IN_SVG} for SVG if not given."
        ),
    ] = None,
    hypergraph: Annotated[
        bool, typer.Option("--hypergraph", help="Draw the encoding of the mentions instead of the mentions.")
    ] = False,
    structure: Annotated[str, structure_option("The structure for --hypergraph.")] = "shared",
    max_components: Annotated[
        int, typer.Option("--max-components", min=1, max=5, help="The most parts of a mention with --hypergraph.")
    ] = 3,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
) -> None:
    """Draw the mentions of a corpus below its words, or the hypergraph of a sentence.

    Example: hyperspan draw notes/ --sentence 3 --hypergraph -o sentence.svg
    """
    if not hypergraph and (structure != "shared" or max_components != 3):
        raise UsageError("--structure and --max-components only apply to --hypergraph; give it too")
    to = to or format_of(output)
    refuse_inputs([corpus], output)
    diagnostics = Diagnostics(on_error.value)
    chosen = Chosen(
        sentences(corpus, text, format, diagnostics), sentence, limit or (MOST_IN_SVG if to == "svg" else None)
    )
    encode = partial(hypergraph_of, structure=structure, max_components=max_components) if hypergraph else None
    if to is DrawFormat.SVG:
        pieces: Iterable[str] = svg_pieces(chosen, encode)
    elif to is DrawFormat.HTML:
        pieces = page_pieces(chosen, encode, title="Hypergraphs" if hypergraph else "Mentions")
    elif output == Path("-"):
        print_text(chosen, encode)
        pieces = ()
    else:
        pieces = text_pieces(chosen, encode)
    with _writing(output) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "backslashreplace"))
    say.diagnostics(diagnostics)
    if not chosen.n_drawn:
        say.info("there is no sentence to draw")
    if chosen.has_more and limit is None:
        say.info(f"drew the first {chosen.n_drawn} sentences; there are more (--limit, --sentence or --format html)")
    if output != Path("-"):
        many = "" if chosen.n_drawn == 1 else "s"
        say.info(f"wrote {chosen.n_drawn:,} sentence{many} to {printable(str(output))}")


def format_of(output: Path) -> DrawFormat:
    """Return the format that the suffix of an output implies; SVG on stdout, or without a suffix."""
    if output == Path("-") or is_stream(output) or not output.suffix:
        return DrawFormat.SVG
    try:
        return DrawFormat(DRAWINGS[output.suffix.lower()])
    except KeyError:
        raise UsageError(
            f"{output.name!r} does not say which format to write; use {', '.join(sorted(DRAWINGS))}, "
            "or name it with --format"
        ) from None


def sentences(
    corpus: Path | None, text: str | None, format: str | None = None, diagnostics: Diagnostics | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus or of a text."""
    from hyperspan import corpora
    from hyperspan.mentions import Document
    from hyperspan.text import as_sentences

    if (corpus is None) == (text is None):
        given = "neither was" if corpus is None else "both were"
        raise UsageError(f"draw needs a corpus or --text, but {given} given; expected one of them")
    diagnostics = diagnostics or Diagnostics()
    if text is not None:
        return as_sentences([Document("", text)], diagnostics)
    assert corpus is not None
    return as_sentences(corpora.stream(corpus, format=format, diagnostics=diagnostics), diagnostics)


class Chosen:
    """Yields one sentence or the first ones, and records whether there were more."""

    def __init__(self, sentences: Iterator[Sentence], number: int | None, limit: int | None) -> None:
        self._sentences = sentences
        self._number = number
        self._limit = limit
        self.n_drawn = 0
        self.has_more = False

    def __iter__(self) -> Iterator[Sentence]:
        if self._number is not None:
            passed = sum(1 for _ in islice(self._sentences, self._number - 1))
            found = next(self._sentences, None)
            if found is None:
                raise UsageError(f"--sentence is {self._number}, but there are only {passed} sentences")
            self.n_drawn = 1
            yield found
            return
        for sentence in islice(self._sentences, self._limit):
            self.n_drawn += 1
            yield sentence
        self.has_more = self._limit is not None and next(self._sentences, None) is not None


def hypergraph_of(sentence: Sentence, *, structure: str, max_components: int) -> dict[str, Any]:
    """Return the hypergraph that encodes the mentions of a sentence, as plain data."""
    from hyperspan.render import hypergraph_data
    from hyperspan.structures import sizes_for
    from hyperspan.structures import structure as structure_named

    types = sorted({mention.type for mention in sentence.mentions}) or ["mention"]
    made = structure_named(structure, types, max_components, sizes_for(structure, sentence.mentions, 1.0))
    encoded = made.encode(sentence.mentions, len(sentence))
    for mention in encoded.left_out:
        words = printable(sentence.text_of(mention))
        say.info(f"left out, {structure!r} cannot encode it: {printable(mention.type)} {words}")
    return hypergraph_data(made, sentence.tokens, encoded.encoding)


def svg_pieces(sentences: Iterable[Sentence], encode: Any = None) -> Iterator[str]:
    """Yield one SVG document with all sentences."""
    from hyperspan.render import TypeColours, hypergraph_picture, sentence_picture, svg_document

    drawn = list(sentences)
    colours = TypeColours(sorted({mention.type for sentence in drawn for mention in sentence.mentions}))
    yield svg_document(
        [
            sentence_picture(sentence, types=colours)
            if encode is None
            else hypergraph_picture(encode(sentence), types=colours)
            for sentence in drawn
        ]
    )


def page_pieces(sentences: Iterable[Sentence], encode: Any = None, *, title: str = "Mentions") -> Iterator[str]:
    """Yield an HTML page, sentence by sentence."""
    from hyperspan.render import TypeColours, draw_hypergraph_svg, html_head, html_heading, html_pieces, html_tail

    if encode is None:
        yield from html_pieces(sentences, title=title)
        return
    colours = TypeColours()
    yield html_head(title)
    doc = ""
    for sentence in sentences:
        if sentence.doc != doc:
            doc = sentence.doc
            yield html_heading(doc)
        yield f'<div class="hs-figure" tabindex="0">{draw_hypergraph_svg(encode(sentence), types=colours)}</div>\n'
    yield html_tail(colours)


def text_pieces(sentences: Iterable[Sentence], encode: Any = None) -> Iterator[str]:
    """Yield the sentences as plain text, separated by blank lines."""
    from hyperspan.render import TypeColours, draw_text, hypergraph_text

    colours = TypeColours()
    for number, sentence in enumerate(sentences):
        drawn = draw_text(sentence, types=colours).plain if encode is None else hypergraph_text(encode(sentence))
        yield f"{'' if number == 0 else chr(10)}{drawn}\n"


def print_text(sentences: Iterable[Sentence], encode: Any = None) -> None:
    """Draw on the terminal, with its width and colours."""
    from rich.text import Text

    from hyperspan.render import TypeColours, draw_text, hypergraph_text

    console = stdout()
    ascii_only = not console.encoding.startswith("utf")
    width = console.width if sys.stdout.isatty() else 100
    colours: TypeColours = TypeColours()
    for number, sentence in enumerate(sentences):
        if number:
            console.print()
        if encode is None:
            console.print(draw_text(sentence, width=width, types=colours, ascii_only=ascii_only))
        else:
            console.print(Text(hypergraph_text(encode(sentence), ascii_only=ascii_only)))


@contextmanager
def _writing(output: Path) -> Iterator[IO[bytes]]:
    from hyperspan.files import writing

    if output == Path("-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with writing(output) as file:
            yield file

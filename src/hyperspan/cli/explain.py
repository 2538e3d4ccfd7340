"""``hyperspan explain``: explain in words why each mention was found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperspan.cli.choices import DecodeOption
from hyperspan.cli.console import JsonOption, print_json, printable, tell_of_compiling
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError


def explain(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    text: Annotated[str, typer.Argument(help="The text, or - for stdin.", show_default=False)],
    top: Annotated[int, typer.Option("--top", min=1, help="The number of reasons for each mention.")] = 8,
    decode: DecodeOption = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", min=0.0, max=1.0, help="The minimum probability of a mention; the tuned one if not given."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Explain why each mention of a text was found: the features for it and against it, in words.

    An amount is how much a feature changes the mention's log probability: +0.7 makes it about twice as probable, -0.7
    half as probable. A model with a second look gives the reasons of both looks; those of the second change the log
    odds of the whole mention.

    Example: hyperspan explain notes.model "Left and right kidneys are enlarged."
    """
    from hyperspan.mentions import Document
    from hyperspan.recognizer import Recognizer

    tell_of_compiling()
    from hyperspan.recognizer.settings import check_threshold
    from hyperspan.text import split_document

    check_threshold(threshold)
    document = Document("stdin", _standard_input()) if text == "-" else Document("text", text)
    sentences = split_document(document)
    if not sentences:
        raise UsageError("there is no word in the text; expected a sentence, or - to read one from stdin")
    recognizer = Recognizer.load(model)
    how: dict[str, Any] = {"decode": decode, "threshold": threshold, "top": top}
    explained = (recognizer.explain(sentence, document=sentences, **how) for sentence in sentences)
    if json:
        print_json({"model": str(model), "sentences": [each.as_dict() for each in explained]})
        return
    for number, explanation in enumerate(explained):
        typer.echo(("\n\n" if number else "") + printable(str(explanation)))


def _standard_input() -> str:
    from hyperspan.corpora.files import decode

    text = decode(sys.stdin.buffer.read(), Diagnostics(advice="Nothing was read."), path=Path("<stdin>"))
    assert text is not None
    return text

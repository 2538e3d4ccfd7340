"""``hyperspan predict``: find mentions in texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyperspan.cli.choices import DecodeOption
from hyperspan.cli.console import (
    ExpandOption,
    OnErrorChoice,
    OnErrorOption,
    SingularOption,
    expander,
    progress,
    say,
    tell_of_compiling,
)
from hyperspan.cli.inputs import read_inputs
from hyperspan.cli.outputs import HOLD_PHRASES, Written, output_format, output_formats, refuse_inputs, write_output
from hyperspan.corpora import formats
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError


def predict(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Corpora, plain text files or folders of them, or - for text or JSON lines on stdin.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file or folder to write; - is stdout.")] = Path(
        "-"
    ),
    to: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"The output format; derived from the suffix of -o if not given: {', '.join(output_formats())}.",
        ),
    ] = None,
    decode: DecodeOption = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", min=0.0, max=1.0, help="The minimum probability of a mention; the tuned one if not given."
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Also write this many of the best outcomes (jsonl).")] = 0,
    keep_gold: Annotated[
        bool,
        typer.Option(
            "--keep-gold",
            help="Keep the mentions of the input in addition to those that are found, which have a "
            "probability. By default, existing annotations are not read.",
        ),
    ] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="The number of processes, including this one.")] = 1,
    expand: ExpandOption = False,
    singular: SingularOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    format: Annotated[
        str | None,
        typer.Option(
            "--from", help=f"The format; recognised automatically if not given: {', '.join(formats())}, or text."
        ),
    ] = None,
    on_error: OnErrorOption = OnErrorChoice.error,
) -> None:
    """Find mentions in corpora or in plain text.

    The suffix of -o determines the output: any format of 'hyperspan convert', or a drawing. The default on stdout is
    JSON lines.

    Example: hyperspan predict notes.model notes/ -o found.html
    """
    from hyperspan.recognizer import Recognizer

    chosen = output_format(output, to)
    if top and chosen != "jsonl":
        raise UsageError(f"--top is {top}, but the format {chosen!r} cannot hold other outcomes; expected jsonl")
    expanding = expander(expand, singular)
    if expand and chosen not in HOLD_PHRASES:
        raise UsageError(f"--expand cannot be written in the format {chosen!r}; expected {' or '.join(HOLD_PHRASES)}")
    refuse_inputs([model, *inputs], output, overwrite=overwrite)
    tell_of_compiling()
    diagnostics = Diagnostics(on_error.value)
    recognizer = Recognizer.load(model)
    how: dict[str, Any] = {"decode": decode, "threshold": threshold, "top": top}
    units = read_inputs(inputs, format, diagnostics, keep_gold=keep_gold)
    recognizer.check_annotator()
    results = progress(recognizer.find_in(units, n_workers=workers, **how), "Finding mentions")
    written = Written(results, keep_gold=keep_gold, diagnostics=diagnostics, expander=expanding)
    write_output(written, output, chosen, types=recognizer.types_, overwrite=overwrite)
    say.diagnostics(diagnostics)
    if str(output) != "-":
        say.info(f"{written.summary()}; wrote {output} ({chosen})")

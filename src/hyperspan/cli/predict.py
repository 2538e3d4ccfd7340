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
from hyperspan.cli.outputs import HOLD_PHRASES, Written, output_format, output_formats, write_output
from hyperspan.corpora import formats
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError


def predict(
    model: Annotated[Path, typer.Argument(help="A model by 'hyperspan train'.", show_default=False)],
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Corpora, plain text files or folders of them, or - for text or JSON lines on stdin.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write; - is stdout.")] = Path("-"),
    to: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"What to write, if the suffix of -o does not say it: {', '.join(output_formats())}."
        ),
    ] = None,
    decode: DecodeOption = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0.0, max=1.0, help="As probable as a mention must be; as tuned in training."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Also give so many of the best structures (jsonl).")] = 0,
    keep_gold: Annotated[
        bool,
        typer.Option(
            "--keep-gold",
            help="Read the mentions of the input too, and keep them beside those that are found, which have a "
            "probability. Without it annotations are not looked at.",
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="How many processes share the work, this one among them.")
    ] = 1,
    expand: ExpandOption = False,
    singular: SingularOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    format: Annotated[
        str | None,
        typer.Option("--from", help=f"The format, if not to be recognised: {', '.join(formats())}, or text."),
    ] = None,
    on_error: OnErrorOption = OnErrorChoice.error,
) -> None:
    """Find mentions in corpora or in plain text, sentence by sentence.

    Whatever 'hyperspan convert' writes can be written, and drawings: the suffix of -o decides. On stdout it is JSON
    lines.

    Example: hyperspan predict notes.model notes/ -o found.html
    """
    from hyperspan.recognizer import Recognizer

    chosen = output_format(output, to)
    if top and chosen != "jsonl":
        raise UsageError(f"--top is {top}, but the format {chosen!r} holds no other structures; expected jsonl")
    expanding = expander(expand, singular)
    if expand and chosen not in HOLD_PHRASES:
        raise UsageError(f"--expand has no place in the format {chosen!r}; expected {' or '.join(HOLD_PHRASES)}")
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

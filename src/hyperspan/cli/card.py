"""``hyperspan card``: write a model card."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hyperspan.cli.console import say
from hyperspan.cli.outputs import refuse_inputs


def card(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; - is stdout.")] = Path("-"),
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the model; that of the file if not given.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="The training data and its terms of use: a sentence or more.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", help="The licence of the model, as an identifier: cc-by-4.0.")
    ] = None,
    language: Annotated[str | None, typer.Option("--language", help="The language of the texts, such as en.")] = None,
    use: Annotated[str | None, typer.Option("--use", help="The intended use, and uses it is not suited for.")] = None,
) -> None:
    """Write a model card: types, settings, data, scores by view, licence and intended use.

    Options provide what only people know; the card calls anything missing "not stated". The front matter is in the form
    that model hubs read.

    Example: hyperspan card notes.model --licence cc-by-4.0 --data "120 invented reports." -o README.md
    """
    from hyperspan.files import writing
    from hyperspan.recognizer import Recognizer

    refuse_inputs([model], output)
    written = Recognizer.load(model).card(
        name=name or model.stem, data=data, licence=licence, language=language, use=use
    )
    missing = [option for option, value in (("data", data), ("licence", licence), ("use", use)) if value is None]
    if str(output) == "-":
        sys.stdout.write(written)
    else:
        with writing(output) as file:
            file.write(written.encode())
        say.info(f"wrote {output}")
    if missing:
        say.note(f"the card says that {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not stated")

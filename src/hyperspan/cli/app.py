"""The application: its commands, and the handling of errors."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from hyperspan import __version__
from hyperspan.cli import (
    adapt,
    agree,
    ambiguity,
    audit,
    brown,
    card,
    check,
    convert,
    demo,
    draw,
    evaluate,
    experiment,
    explain,
    features,
    lexicon,
    predict,
    select,
    serve,
    show,
    stats,
    threshold,
    train,
)
from hyperspan.cli.console import DEBUG, say, set_quiet
from hyperspan.cli.usage import make_plain
from hyperspan.errors import HyperspanError

app = typer.Typer(
    name="hyperspan",
    help="Find mentions whose words need not be adjacent and may overlap.",
    epilog="Exit codes: 0 success, 1 a check failed, 2 wrong usage or input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_MODELS, _CORPORA, _RESOURCES = "Models", "Corpora", "Features and their resources"
_ANNOTATION = "Annotation"

app.command("demo", rich_help_panel=_MODELS)(demo.demo)
app.command("train", rich_help_panel=_MODELS)(train.train)
app.command("adapt", rich_help_panel=_MODELS)(adapt.adapt)
app.command("predict", rich_help_panel=_MODELS)(predict.predict)
app.command("evaluate", rich_help_panel=_MODELS)(evaluate.evaluate)
app.command("explain", rich_help_panel=_MODELS)(explain.explain)
app.command("threshold", rich_help_panel=_MODELS)(threshold.threshold)
app.command("show", rich_help_panel=_MODELS)(show.show)
app.command("card", rich_help_panel=_MODELS)(card.card)
app.command("serve", rich_help_panel=_MODELS)(serve.serve)
app.command("check", rich_help_panel=_CORPORA)(check.check)
app.command("stats", rich_help_panel=_CORPORA)(stats.stats)
app.command("convert", rich_help_panel=_CORPORA)(convert.convert)
app.command("draw", rich_help_panel=_CORPORA)(draw.draw)
app.command("agree", rich_help_panel=_ANNOTATION)(agree.agree)
app.command("select", rich_help_panel=_ANNOTATION)(select.select)
app.command("audit", rich_help_panel=_ANNOTATION)(audit.audit)
app.command("features", rich_help_panel=_RESOURCES)(features.features)
app.command("brown", rich_help_panel=_RESOURCES)(brown.brown)
app.add_typer(lexicon.app, name="lexicon", rich_help_panel=_RESOURCES)
app.add_typer(ambiguity.app, name="ambiguity", rich_help_panel="Theory")
app.add_typer(experiment.app, name="experiment", rich_help_panel="Theory")
make_plain(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperspan {__version__}")
        raise typer.Exit


@app.callback()
def options(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find mentions whose words need not be adjacent and may overlap."""
    set_quiet(quiet)
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """Run the command line; user errors end with a sentence and exit code 2."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed with >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot display a character shows its code instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as stop:
        if not isinstance(stop.__context__, BrokenPipeError):  # Typer ends with 1 when the pipe is broken
            raise
        _write_no_more()
    except HyperspanError as error:
        if os.environ.get(DEBUG):
            raise
        say.error(str(error))
        sys.exit(2)
    except BrokenPipeError:
        _write_no_more()
    except OSError as error:
        if os.environ.get(DEBUG):
            raise
        name = f"{error.filename}: " if error.filename else ""
        say.error(f"{name}{error.strerror or error}")
        sys.exit(2)


def _write_no_more() -> NoReturn:
    """End with success: the reader of our output is gone (``| head``), which is not an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python must not flush into the pipe again
    sys.exit(0)

"""The application: which commands there are, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from hyperspan import __version__
from hyperspan.cli import check, convert, demo, evaluate, stats
from hyperspan.cli.console import DEBUG, say
from hyperspan.errors import HyperspanError

app = typer.Typer(
    name="hyperspan",
    help="Find mentions whose words need not be adjacent and may overlap.",
    epilog="Exit codes: 0 done, 1 ran but what was checked does not hold, 2 wrong usage or input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("demo")(demo.demo)
app.command("check")(check.check)
app.command("stats")(stats.stats)
app.command("convert")(convert.convert)
app.command("evaluate")(evaluate.evaluate)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperspan {__version__}")
        raise typer.Exit


@app.callback()
def options(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find mentions whose words need not be adjacent and may overlap."""
    say.quiet = quiet
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """Run the command line; the user's own mistakes end with a sentence and exit code 2."""
    try:
        app()
    except HyperspanError as error:
        if os.environ.get(DEBUG):
            raise
        say.error(str(error))
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not a mistake. Python must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if os.environ.get(DEBUG):
            raise
        name = f"{error.filename}: " if error.filename else ""
        say.error(f"{name}{error.strerror or error}")
        sys.exit(2)

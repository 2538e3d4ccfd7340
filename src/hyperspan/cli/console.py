"""What the commands share: options, results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hyperspan.corpora import formats
from hyperspan.findings import Findings

if TYPE_CHECKING:
    from rich.console import Console

DEBUG = "HYPERSPAN_DEBUG"

Item = TypeVar("Item")


class OnErrorChoice(StrEnum):
    """What to do with a defect."""

    error = "error"
    skip = "skip"
    widen = "widen"


CorpusArgument = Annotated[Path, typer.Argument(help="A file or folder in any format we know.", show_default=False)]
FromOption = Annotated[
    str | None, typer.Option("--from", help=f"The format, if not to be recognised: {', '.join(formats())}.")
]
OnErrorOption = Annotated[
    OnErrorChoice,
    typer.Option(
        "--on-error",
        help="What to do with a defect: stop (error), drop and count it (skip), or also move boundaries inside a "
        "token outward (widen).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DiscontiguousOption = Annotated[
    bool, typer.Option("--discontiguous-only", help="Only sentences with a discontiguous mention.")
]


class Say:
    """Speaks to the person at the terminal, on stderr."""

    def __init__(self) -> None:
        self.quiet = False

    def info(self, text: str) -> None:
        """Say something useful that is not a result."""
        if not self.quiet:
            typer.echo(text, err=True)

    def error(self, text: str) -> None:
        """Say what went wrong."""
        typer.echo(f"error: {printable(text)}", err=True)

    def findings(self, findings: Findings) -> None:
        """Say what was skipped while reading or writing, once, with a total."""
        if findings.total:
            self.info(f"skipped with {findings.summary()}")
            for finding in findings.items[:5]:
                self.info(f"  {printable(str(finding))}")
            if findings.total > 5:
                self.info("  … ('hyperspan check' lists them all)")


say = Say()


def printable(text: str) -> str:
    """Make control characters visible, so that hostile input cannot steer a terminal."""
    return "".join(
        character
        if character in "\n\t" or (character.isprintable() and not "\ud800" <= character <= "\udfff")
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def print_json(data: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print exactly one JSON document on stdout."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=list) + "\n")


def stdout() -> Console:
    """Return a console for results: colours and the window's width on a terminal, plain text elsewhere."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items with a bar on stderr, if that is a terminal."""
    if say.quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)

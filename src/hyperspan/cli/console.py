"""What the commands share: common options, results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hyperspan.corpora import formats
from hyperspan.diagnostics import Diagnostics, counted, problems

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from hyperspan.text import Expander

DEBUG = "HYPERSPAN_DEBUG"

_MOST_SHOWN = 5

Item = TypeVar("Item")


class OnErrorChoice(StrEnum):
    """What to do with a problem."""

    error = "error"
    skip = "skip"
    widen = "widen"


CorpusArgument = Annotated[Path, typer.Argument(help="A file or folder in any supported format.", show_default=False)]
FromOption = Annotated[
    str | None,
    typer.Option("--from", help=f"The format; recognised automatically if not given: {', '.join(formats())}."),
]
OnErrorOption = Annotated[
    OnErrorChoice,
    typer.Option(
        "--on-error",
        help="What to do with a problem: stop (error), drop and count it (skip), or also move boundaries inside a "
        "token outward (widen).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ExpandOption = Annotated[
    bool,
    typer.Option(
        "--expand", help="Add the phrase that each mention stands for (its words without the gap), and its group."
    ),
]
SingularOption = Annotated[
    bool,
    typer.Option(
        "--singular", help="With --expand: put nouns that a group shares into the singular; needs a lemmatiser."
    ),
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=1, help="The number of threads; results without an encoder do not depend on it.")
]
MaxComponentsOption = Annotated[
    int, typer.Option("--max-components", min=1, max=5, help="The most parts a mention can have.")
]
FeaturesOption = Annotated[
    str, typer.Option("--features", help="A template file, or the name of a built-in one: default, published.")
]
ClustersOption = Annotated[Path | None, typer.Option("--clusters", help="Brown clusters: a paths file.")]
LexiconOption = Annotated[Path | None, typer.Option("--lexicon", help="A lexicon file from 'hyperspan lexicon build'.")]
AnnotatorOption = Annotated[
    str, typer.Option("--annotator", help="What adds parts of speech and lemmas: none, auto, hanta, spacy, …")
]
DiscontiguousOption = Annotated[
    bool, typer.Option("--discontiguous-only", help="Only sentences with a discontiguous mention.")
]


class Say:
    """Prints messages for the user on stderr."""

    def __init__(self) -> None:
        self.quiet = False

    def info(self, text: str) -> None:
        """Print information that is not a result."""
        if not self.quiet:
            typer.echo(text, err=True)

    def note(self, text: str) -> None:
        """Print a note: not a problem, but perhaps a surprise."""
        self.info(f"{_styled('note:', fg='cyan')} {printable(text)}")

    def warning(self, text: str) -> None:
        """Print a warning."""
        self.info(f"{_styled('warning:', fg='yellow', bold=True)} {printable(text)}")

    def error(self, text: str) -> None:
        """Print an error."""
        typer.echo(f"{_styled('error:', fg='red', bold=True)} {printable(text)}", err=True)

    def diagnostics(self, diagnostics: Diagnostics) -> None:
        """Print what was skipped or widened while reading or writing, with a total; then the notes."""
        if diagnostics.total:
            widened = diagnostics.n_widened
            did = [f"widened {counted(widened, 'mention')} to whole words"] if widened else []
            did += [f"skipped with {problems(diagnostics.skipped)}"] if diagnostics.skipped else []
            self.warning("; ".join(did))
            for diagnostic in diagnostics.items[:_MOST_SHOWN]:
                self.info(f"  {printable(str(diagnostic))}")
            if diagnostics.total > _MOST_SHOWN:
                self.info("  … ('hyperspan check' lists them all)")
        self.notes(diagnostics)

    def notes(self, diagnostics: Diagnostics) -> None:
        """Print the notes, each kind once with its count."""
        for note in notes_of(diagnostics):
            times = f" ({note['count']:,} times)" if note["count"] > 1 else ""
            self.note(f"{note['message']}{times}")


say = Say()


class _LogHandler(logging.Handler):
    """Prints the library's log messages for the user; mere information only once."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno >= logging.ERROR:
            say.error(message)
        elif record.levelno >= logging.WARNING:
            say.warning(message)
        elif message not in self.told:
            self.told.add(message)
            say.note(message)


_LOG_HANDLER = _LogHandler()


def set_quiet(quiet: bool) -> None:
    """Print only results and errors, or everything; this includes the library's log."""
    say.quiet = quiet
    log = logging.getLogger("hyperspan")
    log.setLevel(logging.ERROR if quiet else logging.INFO)
    _LOG_HANDLER.told.clear()
    if _LOG_HANDLER not in log.handlers:
        log.addHandler(_LOG_HANDLER)


def notes_of(diagnostics: Diagnostics) -> list[dict[str, Any]]:
    """Return the notes as plain data: each kind with its first case and its count."""
    return [
        {"kind": kind, "count": diagnostics.note_counts[kind], "message": first.message, "path": first.path}
        for kind, first in sorted(diagnostics.notes.items())
    ]


def _styled(text: str, **style: Any) -> str:
    return typer.style(text, **style) if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else text


def printable(text: str) -> str:
    """Make control characters visible, so that hostile input cannot control a terminal."""
    return "".join(
        character
        if character in "\n\t" or (character.isprintable() and not "\ud800" <= character <= "\udfff")
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def print_json(data: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print exactly one JSON document on stdout, in ASCII if stdout cannot encode other characters."""
    text = json.dumps(data, indent=2, ensure_ascii=False, default=list)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2, default=list)
    sys.stdout.write(text + "\n")


def stdout() -> Console:
    """Return a console for results: colours and the window's width on a terminal, plain text elsewhere."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def table_of_numbers(*columns: str) -> Table:
    """Return a table with names in a wide first column, and numbers in the others."""
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    view.add_column("", min_width=28, overflow="fold")
    for name in columns:
        view.add_column(name, justify="right", no_wrap=True)
    return view


def expander(expand: bool, singular: bool) -> Expander | None:
    """Return the expander for --expand and --singular, or None."""
    from hyperspan.errors import UsageError
    from hyperspan.text import Expander

    if singular and not expand:
        raise UsageError("--singular says how --expand writes phrases; give both")
    if not expand:
        return None
    made = Expander(singular)
    made.check()
    return made


def tell_of_compiling() -> None:
    """Print a message when the first kernel is compiled, which happens once per machine and takes a while."""
    from hyperspan.compiled.watch import compile_watch

    compile_watch().tell = lambda: say.info("Compiling once for this machine, 10 to 30 s; later runs start at once …")


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items with a progress bar on stderr, if that is a terminal."""
    if say.quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)

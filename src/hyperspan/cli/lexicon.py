"""``hyperspan lexicon``: build semantic lexicons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import JsonOption, print_json, printable, progress, say
from hyperspan.cli.outputs import refuse_inputs
from hyperspan.diagnostics import quoted
from hyperspan.errors import MissingExtraError, UsageError, install_command
from hyperspan.files import check_file

if TYPE_CHECKING:
    from hyperspan.features.lexicon import Lexicon

app = typer.Typer(help="Build semantic lexicons: phrases with their categories.", no_args_is_help=True)


@app.command("build")
def build(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    tsv: Annotated[
        list[Path] | None, typer.Option("--tsv", help="A table of phrase, tab, category. Can be repeated.")
    ] = None,
    obo: Annotated[
        list[str] | None,
        typer.Option("--obo", help="A category and its OBO ontology: Disease=mondo.obo. Can be repeated."),
    ] = None,
    umls: Annotated[
        Path | None, typer.Option("--umls", help="A folder with the UMLS files MRCONSO.RRF and MRSTY.RRF.")
    ] = None,
    packages: Annotated[
        bool | None,
        typer.Option(
            "--packages/--no-packages",
            help="Whether to use the terminologies in installed packages; the default if no other source is given.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build a lexicon of phrases and their semantic categories.

    Without any source, it is built from free terminologies in some packages (the extra "lexicons"); each is named with
    its licence. A phrase in several sources gets the category of the first: tables, then ontologies, the UMLS,
    packages.

    Example: hyperspan lexicon build -o lexicon.npz --tsv words.tsv
    """
    tables, ontologies = tsv or [], [parse_obo(text) for text in obo or []]
    refuse_inputs([*tables, *(path for _, path in ontologies)], output)
    check_file(output)
    if packages is None:
        packages = not (tables or ontologies or umls)
    lexicon, missing = build_lexicon(tsv=tables, obo=ontologies, umls=umls, packages=packages)
    lexicon.save(output)
    summary = summary_of(lexicon)
    if json:
        print_json({"output": str(output), **summary, "missing": missing})
        return
    for note in summary["sources"]:
        typer.echo(printable(note))
    for name in missing:
        say.info(f"not installed: {name} ({install_command('lexicons')})")
    say.info(
        f"wrote {summary['phrases']:,} phrases in {len(summary['categories'])} categories to {output}; "
        f"left out {summary['dropped']:,} too long or without a letter"
    )


def build_lexicon(
    *,
    tsv: Sequence[Path] = (),
    obo: Sequence[tuple[str, Path]] = (),
    umls: Path | None = None,
    packages: bool = False,
) -> tuple[Lexicon, list[str]]:
    """Build a lexicon from the given sources; return it, and the wanted packages that are not installed."""
    from hyperspan.features.lexicon import Lexicon
    from hyperspan.features.lexicon_sources import PACKAGES, obo_entries, tsv_entries, umls_entries

    sources: list[Iterable[tuple[str, str]]] = []
    notes: list[str] = []
    missing: list[str] = []
    for path in tsv:
        sources.append(tsv_entries(path))
        notes.append(f"{path.name}: table of phrases")
    for category, path in obo:
        sources.append(obo_entries(path, category))
        notes.append(f"{path.name}: OBO ontology of {category}")
    if umls is not None:
        sources.append(umls_entries(umls / "MRCONSO.RRF", umls / "MRSTY.RRF"))
        notes.append("UMLS: MRCONSO.RRF and MRSTY.RRF (UMLS licence: do not pass it on)")
    for package in PACKAGES if packages else ():
        if package.is_installed:
            sources.append(package.entries())
            notes.append(package.note)
        else:
            missing.append(package.name)
    if not sources:
        if packages:
            raise MissingExtraError("A lexicon without --tsv, --obo or --umls", missing[0], "lexicons")
        raise UsageError("there is nothing to make a lexicon of; name a source with --tsv, --obo, --umls or --packages")
    return Lexicon.from_entries(_progress(sources), notes=notes), missing


def _progress(sources: list[Iterable[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    return progress(chain.from_iterable(sources), "Reading phrases")


def parse_obo(text: str) -> tuple[str, Path]:
    """Parse ``CATEGORY=FILE``."""
    category, sign, file = text.partition("=")
    if not (category and sign and file):
        raise UsageError(f"--obo is {quoted(text)}; expected a category and a file, as in Disease=mondo.obo")
    return category, Path(file)


def summary_of(lexicon: Lexicon) -> dict[str, Any]:
    """Return a summary as plain data."""
    return {
        "phrases": lexicon.n_phrases,
        "categories": list(lexicon.categories),
        "dropped": lexicon.n_dropped,
        "sources": list(lexicon.notes),
    }

"""``hyperspan agree``: measure the agreement of annotators, list disagreements, and merge corpora."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from hyperspan import corpora
from hyperspan.cli.console import (
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    print_json,
    printable,
    progress,
    say,
    stdout,
    table_of_numbers,
)
from hyperspan.cli.evaluate import DuplicatesOnce
from hyperspan.cli.outputs import fitted, refuse_inputs
from hyperspan.corpora.writing import check_output
from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.errors import UsageError
from hyperspan.files import check_file, writing
from hyperspan.mentions import Unit

if TYPE_CHECKING:
    from hyperspan.agreement import Agreement, Disagreement, Measured, PairAgreement, Shared

_MOST_ROWS = 10
_MEASURES = {"F1": "f1", "relaxed F1": "relaxed_f1", "Cohen's kappa, words": "kappa", "gamma, mentions": "gamma"}


class RuleChoice(StrEnum):
    """Which mentions a merged corpus keeps."""

    majority = "majority"
    union = "union"
    intersection = "intersection"


def agree(
    annotators: Annotated[
        list[Path],
        typer.Argument(help="Two or more corpora, one per annotator: files or folders.", show_default=False),
    ],
    format: FromOption = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page with all disagreements side by side, the costliest first."),
    ] = None,
    list_: Annotated[
        Path | None,
        typer.Option(
            "--list", help="Write the disputed mentions for a decision: a table (.csv) or JSON lines (.jsonl)."
        ),
    ] = None,
    adjudicate: Annotated[
        RuleChoice | None,
        typer.Option(
            "--adjudicate", help="Write one corpus with the mentions that most, any or all annotators marked; needs -o."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file or folder that --adjudicate writes.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format of -o; derived from its suffix if not given.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="The number of bootstrap samples of documents for the intervals.")
    ] = 1_000,
    rotations: Annotated[
        int, typer.Option("--rotations", min=1, help="The number of rotations that estimate chance in gamma.")
    ] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Determines which documents and rotations are drawn.")] = 0,
    min_f1: Annotated[
        float | None,
        typer.Option("--min-f1", min=0.0, max=1.0, help="Exit with 1 if the mean F1 of the pairs is lower (0 to 1)."),
    ] = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Measure the agreement of annotators on mentions with gaps and overlaps.

    Documents are matched by name and must have the same words. If an annotator lacks a document, it is reported, and
    counts only for those who have it.

    Example: hyperspan agree ann/ bob/ cat/ --html disagreements.html --adjudicate majority -o merged/
    """
    from hyperspan.agreement import agreement, disagreements, share

    if len(annotators) < 2:
        raise UsageError(f"there is one corpus, {annotators[0]}; agreement needs those of two annotators or more")
    if (adjudicate is None) != (output is None):
        raise UsageError("--adjudicate and -o belong together: which mentions to keep, and where to write them")
    if output is None and (to is not None or overwrite):
        raise UsageError("--to and --overwrite say how -o is written; name the output with -o")
    refuse_inputs(annotators, html, list_, output, overwrite=overwrite)
    for path in (html, list_):
        if path is not None:
            check_file(path)
    if output is not None:
        check_output(output, to, overwrite=overwrite)
    diagnostics = DuplicatesOnce(on_error.value)
    shared = share(
        {
            name: progress(corpora.stream(path, format=format, diagnostics=diagnostics), f"Reading {name}")
            for name, path in names_of(annotators).items()
        },
        diagnostics,
    )
    found = agreement(
        shared,
        resamples=resamples,
        n_rotations=rotations,
        seed=seed,
        watch=progress,
    )
    say.diagnostics(diagnostics)
    _tell_of_lacking(shared)
    if html is not None or list_ is not None:
        listed = disagreements(shared)
        _write_disagreements(listed, shared, html, list_)
    if adjudicate is not None and output is not None:
        _write_adjudicated(shared, adjudicate.value, output, to, overwrite, diagnostics)
    if json:
        print_json(found.as_dict())
    else:
        print_agreement(found)
    if min_f1 is not None and not found.mean("f1") >= min_f1:
        say.info(f"the mean F1 of the pairs is {found.mean('f1'):.4f}, below the {min_f1:g} of --min-f1")
        raise typer.Exit(1)


def names_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Name annotators after their files or folders, with as much of the path as distinguishes them.

    Examples
    --------
    >>> list(names_of([Path("ann/notes.jsonl"), Path("bob/notes.jsonl")])), list(names_of([Path("ann"), Path("bob")]))
    (['ann/notes', 'bob/notes'], ['ann', 'bob'])
    """
    full = [path.resolve() for path in paths]
    for depth in range(1, max(len(path.parts) for path in full) + 1):
        names = ["/".join([*path.parts[-depth:-1], path.stem]) for path in full]
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    twice = next(path for path in paths if full.count(path.resolve()) > 1)
    raise UsageError(f"{twice} is given more than once; every annotator has a corpus of their own")


def _tell_of_lacking(shared: Shared) -> None:
    for annotator, docs in shared.lacking.items():
        if docs:
            shown = ", ".join(docs[:_MOST_ROWS]) + (" …" if len(docs) > _MOST_ROWS else "")
            what = "a document that others have" if len(docs) == 1 else f"{len(docs):,} documents that others have"
            say.warning(f"{annotator} lacks {what}: {shown}")


def _write_disagreements(listed: Sequence[Disagreement], shared: Shared, html: Path | None, list_: Path | None) -> None:
    from hyperspan.agreement import as_csv, page_pieces

    if html is not None:
        with writing(html) as file:
            for piece in page_pieces(listed, shared.annotators):
                file.write(piece.encode("utf-8", "replace"))
    if list_ is not None:
        with writing(list_) as file:
            if list_.suffix == ".csv":
                file.write(as_csv(listed).encode("utf-8", "replace"))
            else:
                file.writelines(orjson.dumps(each.as_dict(), option=orjson.OPT_APPEND_NEWLINE) for each in listed)
    n_disputed = sum(len(each.disputed) for each in listed)
    where = " and ".join(str(path) for path in (html, list_) if path is not None)
    say.info(f"wrote {counted(n_disputed, 'disputed mention')} in {counted(len(listed), 'sentence')} to {where}")


def _write_adjudicated(
    shared: Shared, rule: str, output: Path, to: str | None, overwrite: bool, diagnostics: Diagnostics
) -> None:
    from hyperspan.agreement import adjudicate

    target = check_output(output, to, overwrite=overwrite)
    counts = {"units": 0, "mentions": 0}

    def counting(units: Iterator[Unit]) -> Iterator[Unit]:
        for unit in units:
            counts["units"] += 1
            counts["mentions"] += len(unit.mentions)
            yield unit

    units = fitted(counting(adjudicate(shared, rule)), target, diagnostics)
    corpora.write(units, output, format=target.name, overwrite=overwrite, diagnostics=diagnostics)
    say.notes(diagnostics)
    say.info(f"wrote {counted(counts['mentions'], 'mention')} that {_KEPT[rule]} to {output} ({target.name})")


_KEPT = {"majority": "most have", "union": "anyone has", "intersection": "all have"}


def print_agreement(found: Agreement) -> None:
    """Print every measure: for the pairs, for all together, by type and by document."""
    from rich.text import Text

    n = len(found.shared.documents)
    view = table_of_numbers("value", f"{100 * found.confidence:g} % interval")
    view.add_row(Text(f"{n:,} documents" if n > 1 else "1 document", style="bold"))
    for pair in found.pairs:
        view.add_row(Text(f"{printable(pair.first)} and {printable(pair.second)}", style="bold"))
        for name, key in _MEASURES.items():
            view.add_row(f"  {name}", *_shown(getattr(pair, key)))
    if len(found.pairs) > 1:
        view.add_row(Text("mean of the pairs", style="bold"))
        for name, key in _MEASURES.items():
            view.add_row(f"  {name}", _number(found.mean(key)))
    view.add_row(Text("all together", style="bold"))
    view.add_row("  Krippendorff's alpha", *_shown(found.alpha))
    stdout().print(view)
    _print_views(found)
    _print_classes(found)
    for pair in found.pairs:
        _print_confusion(pair)


def _print_views(found: Agreement) -> None:
    """Print F1 in every view, one column per pair."""
    from rich.text import Text

    view = table_of_numbers(*(f"{printable(pair.first)}\n{printable(pair.second)}" for pair in found.pairs))
    view.add_row(Text("F1 of the views", style="bold"))
    names = {
        "all mentions": "all",
        "discontiguous sentences": "discontiguous_sentences",
        "discontiguous mentions": "discontiguous_mentions",
        "relaxed (a common word)": "relaxed",
        "words": "words",
    }
    for name, key in names.items():
        scores = [getattr(pair.scores, key) for pair in found.pairs]
        view.add_row(f"  {name}", *("-" if score.is_empty else f"{score.f1:.3f}" for score in scores))
    for title, key in {
        "parts": "by_parts",
        "words in the gaps": "by_gap",
        "overlap": "by_overlap",
    }.items():
        for name in getattr(found.pairs[0].scores, key):
            scores = [getattr(pair.scores, key)[name] for pair in found.pairs]
            if any(not score.is_empty for score in scores):
                row = ["-" if score.is_empty else f"{score.f1:.3f}" for score in scores]
                view.add_row(f"  {title}: {name}", *row)
    console = stdout()
    console.print()
    console.print(view)


def _print_classes(found: Agreement) -> None:
    from rich.text import Text

    view = table_of_numbers("F1", "relaxed F1", "kappa", "cost", "mentions")
    view.add_row(Text("by type", style="bold"))
    for type, each in found.by_type.items():
        numbers = map(_number, (each.f1, each.relaxed_f1, each.kappa))
        view.add_row(Text(f"  {printable(type)}"), *numbers, "", _counts(each.n_mentions))
    costly = sorted(found.by_document.items(), key=lambda item: -item[1].cost)
    view.add_row()
    view.add_row(Text("by document, costliest first", style="bold"))
    for doc, each in costly[:_MOST_ROWS]:
        numbers = map(_number, (each.f1, each.relaxed_f1, each.kappa))
        view.add_row(Text(f"  {printable(doc)}"), *numbers, f"{each.cost:.2f}", _counts(each.n_mentions))
    if len(costly) > _MOST_ROWS:
        view.add_row(f"  and {len(costly) - _MOST_ROWS:,} more: --json")
    console = stdout()
    console.print()
    console.print(view)


def _print_confusion(pair: PairAgreement) -> None:
    from rich.text import Text

    first, second = printable(pair.first), printable(pair.second)
    differing = [row for row in pair.confusion.as_dict()["types"] if row["first"] != row["second"]]
    view = table_of_numbers("times")
    view.add_row(Text(f"{first} and {second} differ", style="bold"))
    for row in differing[:_MOST_ROWS]:
        one, other = (printable(row[side]) if row[side] else "nothing" for side in ("first", "second"))
        view.add_row(Text(f"  type: {one}, {other}"), f"{row['count']:,}")
    for name, count in pair.confusion.boundaries.items():
        if name != "equal":
            view.add_row(f"  boundary: {name}", f"{count:,}")
    console = stdout()
    console.print()
    console.print(view)


def _counts(n_mentions: Mapping[str, int]) -> str:
    return " / ".join(f"{count:,}" for count in n_mentions.values())


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _shown(measured: Measured) -> tuple[str, str]:
    interval = "" if measured.low is None else f"{measured.low:.3f} to {measured.high:.3f}"
    return _number(measured.value), interval

"""``hyperspan evaluate``: score a prediction, list its errors, and compare it with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import orjson
import typer

from hyperspan import corpora
from hyperspan.cli.calibration import check_picture, diagram, draw_diagram
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
from hyperspan.cli.outputs import refuse_inputs
from hyperspan.diagnostics import Diagnostics, OnError, counted
from hyperspan.errors import UsageError
from hyperspan.files import writing

if TYPE_CHECKING:
    from rich.table import Table

    from hyperspan.evaluation import CalibrationCounter, Comparison, Evaluation, Score, SentenceCounts, Significance

_MAIN_ROWS = {
    "all mentions": "all",
    "discontiguous sentences": "discontiguous_sentences",
    "discontiguous mentions": "discontiguous_mentions",
}


def evaluate(
    gold: Annotated[Path, typer.Argument(help="The corpus with the gold mentions.", show_default=False)],
    predicted: Annotated[Path, typer.Argument(help="The same corpus with predicted mentions.", show_default=False)],
    format: FromOption = None,
    predicted_format: Annotated[
        str | None,
        typer.Option(
            "--predicted-from", help="The format of the prediction (and of --compare), if different from gold."
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", help="Another system's prediction, to test whether the two differ."),
    ] = None,
    errors: Annotated[
        Path | None,
        typer.Option(
            "--errors", help="Write missed, spurious and nearly right mentions as JSON, one sentence per line."
        ),
    ] = None,
    min_f1: Annotated[
        float | None, typer.Option("--min-f1", help="Exit with 1 if the F1 over all mentions is lower (0 to 1).")
    ] = None,
    calibration: Annotated[
        bool,
        typer.Option("--calibration", help="Also print the calibration of probabilities: a reliability diagram."),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the diagram of --calibration as .png, .svg or .pdf.")
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=1, help="The number of samples for --compare.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The random seed for --compare.")] = 0,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Score predicted mentions: a mention is right if its type and all its parts are right.

    Both corpora must have the same sentences, paired by document and order. The order of mentions and duplicates do not
    matter. Documents are split into sentences; a mention belongs to the sentence in which it starts.

    Example: hyperspan evaluate gold.jsonl predicted.jsonl --errors errors.jsonl --min-f1 0.6
    """
    from hyperspan.evaluation import CalibrationCounter, SentenceCounts, compare_systems, in_sentences
    from hyperspan.text import split_sentences

    if min_f1 is not None and not 0.0 <= min_f1 <= 1.0:
        raise UsageError(f"--min-f1 is {min_f1:g}; expected a number from 0 to 1, such as 0.63 for 63 %")
    if plot is not None and not calibration:
        raise UsageError("--plot draws the diagram of --calibration; give both")
    check_picture(plot)
    refuse_inputs([gold, predicted, compare], errors, plot)

    read = _Reader(gold, format, predicted_format or format, on_error.value)
    probs = CalibrationCounter()
    evaluation, counts, kinds = score(read.comparisons(predicted, "Comparing"), errors, probs)
    table = {"sentences": evaluation.n_units, **evaluation.as_dict()}
    calibrated = probs.result() if calibration else None
    if calibrated is not None:
        if not calibrated.n_mentions:
            raise UsageError(f"{predicted}: no predicted mention has a probability, which --calibration needs")
        table["calibration"] = calibrated.as_dict()
    tested = None
    if compare is not None:
        other = SentenceCounts()
        for comparison in read.comparisons(compare, f"Comparing {compare.name}"):
            for piece in in_sentences(comparison, split_sentences):
                other.add(piece)
        tested = compare_systems(counts, other, resamples=resamples, seed=seed)
        table["significance"] = tested.as_dict()
    read.tell()
    if evaluation.n_lost:
        say.warning(f"skipped in reading, and counted as missed: {counted(evaluation.n_lost, 'gold mention')}")
    if json:
        print_json(table)
    else:
        print_evaluation(evaluation)
        if tested is not None:
            print_significance(tested, str(predicted), str(compare))
        if calibrated is not None:
            stdout().print()
            typer.echo(diagram(calibrated))
    if calibrated is not None and calibrated.n_without:
        say.warning(f"{calibrated.n_without:,} predicted mentions have no probability, and are left out of the diagram")
    if calibrated is not None and plot is not None:
        draw_diagram(calibrated, plot)
    if errors is not None:
        say.info(_summary_of(kinds, errors))
    if min_f1 is not None and evaluation.all.f1 < min_f1:
        say.info(f"F1 is {evaluation.all.f1:.4f}, below the {min_f1:g} of --min-f1")
        raise typer.Exit(1)


class DuplicatesOnce(Diagnostics):
    """Accepts duplicates: a repeated mention counts once."""

    def report(self, kind: str, message: str, **place: Any) -> None:
        if kind == "duplicate":
            self.note(kind, message, **place)
        else:
            super().report(kind, message, **place)


class _Reader:
    """Reads gold with one prediction after another, and collects the problems of both."""

    def __init__(self, gold: Path, format: str | None, predicted_format: str | None, on_error: OnError) -> None:
        self.gold = gold
        self.format = format
        self.predicted_format = predicted_format
        self.on_error = on_error
        self.diagnostics: dict[Path, Diagnostics] = {}

    def comparisons(self, predicted: Path, what: str) -> Iterator[Comparison]:
        from hyperspan.evaluation import comparisons
        from hyperspan.text import tokenize

        ours, theirs = DuplicatesOnce(self.on_error), DuplicatesOnce(self.on_error)
        found = comparisons(
            corpora.stream(self.gold, format=self.format, diagnostics=ours),
            corpora.stream(predicted, format=self.predicted_format, diagnostics=theirs),
            tokenize=tokenize,
        )
        yield from progress(found, what)
        self.diagnostics.update({self.gold: ours, predicted: theirs})

    def tell(self) -> None:
        """Report what was skipped, and which duplicates were counted once."""
        for path, diagnostics in self.diagnostics.items():
            say.diagnostics(diagnostics)
            if n_duplicates := diagnostics.note_counts["duplicate"]:
                what = "mention was" if n_duplicates == 1 else "mentions were"
                say.info(f"{n_duplicates:,} {what} given more than once in {printable(str(path))}, and counted once")


def score(
    comparisons: Iterator[Comparison], errors: Path | None = None, probs: CalibrationCounter | None = None
) -> tuple[Evaluation, SentenceCounts, Counter[str]]:
    """Score comparisons and write their errors; return scores, counts by sentence, and kinds of errors."""
    from hyperspan.evaluation import Scorer, SentenceCounts, in_sentences, list_errors
    from hyperspan.text import split_sentences

    scorer, counts = Scorer(), SentenceCounts()
    kinds: Counter[str] = Counter()
    with nullcontext() if errors is None else writing(errors) as file:
        for comparison in comparisons:
            if probs is not None:
                probs.add(comparison)
            for piece in in_sentences(comparison, split_sentences):
                scorer.add(piece)
                counts.add(piece)
                kinds["sentences"] += bool(piece.missed or piece.spurious)
            if file is not None and (record := list_errors(comparison)) is not None:
                _write_errors(record, file)
                kinds.update(error["kind"] for error in record["errors"])
    return scorer.result(), counts, kinds


def _write_errors(record: Mapping[str, Any], file: IO[bytes]) -> None:
    file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _summary_of(kinds: Counter[str], path: Path) -> str:
    from hyperspan.evaluation import KINDS

    listed = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
    total = kinds.total() - kinds["sentences"]
    wrote = f"wrote {counted(total, 'error')} in {counted(kinds['sentences'], 'sentence')} to {path}"
    return wrote + (f": {listed}" if listed else "")


def print_evaluation(evaluation: Evaluation) -> None:
    """Print every score with the counts behind it."""
    rows = {name: getattr(evaluation, key) for name, key in _MAIN_ROWS.items()}
    rows |= {"relaxed (a common word)": evaluation.relaxed, "words": evaluation.words}
    view = table_of_numbers("precision", "recall", "F1", "right", "spurious", "missed")
    _add_scores(view, f"over {evaluation.n_units:,} sentences", rows)
    _add_scores(view, "by type", evaluation.by_type)
    _add_scores(view, "by number of parts", evaluation.by_parts)
    _add_scores(view, "by words in the gaps", evaluation.by_gap)
    _add_scores(view, "by overlap with others", evaluation.by_overlap)
    stdout().print(view)


def print_significance(tested: Significance, predicted: str, other: str) -> None:
    """Print the differences of two systems, and their significance."""
    from rich.text import Text

    found = [tested.differences[key] for key in _MAIN_ROWS.values()]
    view = table_of_numbers(*(name.replace(" ", "\n") for name in _MAIN_ROWS))
    view.add_row(Text(f"compared, {tested.resamples:,} draws", style="bold"))
    interval = f"{100 * tested.confidence:g} % interval"
    for name, values in {
        f"F1 of {predicted}": [f"{each.f1:.3f}" for each in found],
        f"F1 of {other}": [f"{each.other_f1:.3f}" for each in found],
        "difference": [f"{each.difference:+.3f}" for each in found],
        interval: [f"{each.low:+.3f}, {each.high:+.3f}" for each in found],
        "p, paired bootstrap": [f"{each.p_bootstrap:.4f}" for each in found],
        "p, randomisation": [f"{each.p_randomisation:.4f}" for each in found],
        "sentences": [f"{each.n_sentences:,}" for each in found],
    }.items():
        view.add_row(Text(f"  {printable(name)}"), *values)
    console = stdout()
    console.print()
    console.print(view)


def _add_scores(view: Table, title: str, scores: Mapping[str, Score]) -> None:
    from rich.text import Text

    view.add_row()
    view.add_row(Text(title, style="bold"))
    for name, score in scores.items():
        ratios = ("-",) * 3 if score.is_empty else (f"{score.precision:.3f}", f"{score.recall:.3f}", f"{score.f1:.3f}")
        counts = (f"{count:,}" for count in (score.tp, score.fp, score.fn))
        view.add_row(Text(f"  {printable(name)}"), *ratios, *counts)

"""``hyperspan select``: choose documents to annotate next, and simulate what that saves."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.audit import settings_of
from hyperspan.cli.console import (
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    ThreadsOption,
    print_json,
    printable,
    progress,
    say,
    stdout,
    tell_of_compiling,
)
from hyperspan.cli.outputs import fitted, refuse_inputs
from hyperspan.corpora.writing import check_output
from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.errors import UsageError
from hyperspan.files import check_file
from hyperspan.mentions import Unit

if TYPE_CHECKING:
    from hyperspan.annotation import Candidate, Curve, Point, Selection, Uncertainty
    from hyperspan.recognizer import Recognizer

_MOST_ROWS = 20


class StrategyChoice(StrEnum):
    """What makes a document worth annotating."""

    errors = "errors"
    entropy = "entropy"
    margin = "margin"
    random = "random"


_STRATEGY, _MOST_SIMILAR = StrategyChoice.errors, 0.5
_ROUNDS, _SEEDS = 5, 3


def select(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    pool: Annotated[Path, typer.Argument(help="The documents to choose from: a file or folder.", show_default=False)],
    n: Annotated[
        int | None, typer.Option("-n", min=1, help="The maximum number of documents to choose.", show_default=False)
    ] = None,
    words: Annotated[
        int | None,
        typer.Option(
            "--words", min=1, help="The maximum number of words in total; with --simulate, the words per round."
        ),
    ] = None,
    strategy: Annotated[
        StrategyChoice, typer.Option("--strategy", help="What makes a document worth annotating.")
    ] = _STRATEGY,
    per_word: Annotated[
        bool,
        typer.Option("--per-word/--per-document", help="Whether to divide errors and entropy by the number of words."),
    ] = True,
    most_similar: Annotated[
        float,
        typer.Option(
            "--most-similar", min=0.0, help="Skip documents at least this similar to another (0 to 1; 2 to skip none)."
        ),
    ] = _MOST_SIMILAR,
    annotated: Annotated[
        Path | None,
        typer.Option("--annotated", help="A corpus that is already annotated: skip its documents and similar ones."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file or folder for the chosen documents with the model's mentions.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format of -o; derived from its suffix if not given.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    simulate: Annotated[
        Path | None,
        typer.Option("--simulate", help="Simulate the learning curves of all strategies, scored on this gold corpus."),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="The number of rounds of --simulate.")] = _ROUNDS,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="The number of repetitions of --simulate.")] = _SEEDS,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot the curves of --simulate as SVG.")] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations", min=1, help="The maximum number of iterations in each training with --simulate."
        ),
    ] = None,
    threads: ThreadsOption = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Determines the random choice of documents.")] = 0,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Choose the documents from whose annotation a model can learn the most.

    They are written with the model's mentions and their probabilities, for correction. With --simulate, the gold
    mentions of POOL stay hidden until they are chosen; models are trained with the settings of MODEL.

    Example: hyperspan select notes.model pool/ -n 50 -o next/
    """
    tell_of_compiling()
    diagnostics = Diagnostics(on_error.value)
    if output is None and (to is not None or overwrite):
        raise UsageError("--to and --overwrite say how -o is written; name the output with -o")
    if simulate is not None:
        if output is not None:
            raise UsageError("--simulate chooses nothing to annotate, so -o would stay empty; leave one of them out")
        without_effect = {
            "-n": n is not None,
            "--annotated": annotated is not None,
            "--strategy": strategy is not _STRATEGY,
            "--most-similar": most_similar != _MOST_SIMILAR,
        }
        for option, is_given in without_effect.items():
            if is_given:
                raise UsageError(f"--simulate compares all strategies by words, so {option} has no effect; omit it")
        if plot is not None:
            check_file(plot)
        settings = settings_of(model, max_iterations, threads)
        names = range(seed, seed + seeds)
        points = _simulated(settings, pool, simulate, rounds, words or 2_000, names, per_word, format, diagnostics)
        _report_curves(points, plot, json, rounds, words or 2_000, per_word)
        return
    if plot is not None:
        raise UsageError("--plot draws the curves of --simulate; give both")
    for option, is_given in {
        "--rounds": rounds != _ROUNDS,
        "--seeds": seeds != _SEEDS,
        "--max-iterations": max_iterations is not None,
    }.items():
        if is_given:
            raise UsageError(f"{option} only applies to --simulate; give it too")
    if n is None and words is None:
        raise UsageError("say how much to choose: -n for documents, --words for words, or both")
    if output is not None:
        refuse_inputs([model, pool, annotated], output, overwrite=overwrite)
        check_output(output, to, overwrite=overwrite)
    _choose(
        _Request(model, threads, strategy.value, per_word, most_similar, n, words, seed),
        pool,
        annotated,
        output,
        to,
        overwrite,
        format,
        diagnostics,
        json,
    )


class _Request:
    """The settings of a selection."""

    def __init__(
        self,
        model: Path,
        threads: int,
        strategy: str,
        per_word: bool,
        most_similar: float,
        n: int | None,
        words: int | None,
        seed: int,
    ) -> None:
        from hyperspan.recognizer import Recognizer

        self.recognizer: Recognizer = Recognizer.load(model, n_threads=threads)
        self.strategy = strategy
        self.per_word = per_word
        self.most_similar = most_similar
        self.n = n
        self.words = words
        self.seed = seed

    def answer(
        self, candidates: Sequence[Candidate], annotated: Sequence[Candidate]
    ) -> tuple[Selection, list[Uncertainty], list[float]]:
        """Return the selection, and the uncertainty and value of every document."""
        from hyperspan.annotation import select, uncertainties, worth

        found = list(progress(uncertainties(self.recognizer, candidates), "Looking at documents", len(candidates)))
        values = worth(self.strategy, candidates, found, per_word=self.per_word, seed=self.seed)
        chosen = select(
            candidates, values, n=self.n, n_words=self.words, most_similar=self.most_similar, annotated=annotated
        )
        return chosen, found, values


def _choose(
    request: _Request,
    pool: Path,
    annotated: Path | None,
    output: Path | None,
    to: str | None,
    overwrite: bool,
    format: str | None,
    diagnostics: Diagnostics,
    json: bool,
) -> None:
    known = [] if annotated is None else _candidates(annotated, format, diagnostics)
    candidates = _candidates(pool, format, diagnostics)
    if not candidates:
        raise UsageError(f"{pool}: there is no document in it to choose from")
    selection, found, values = request.answer(candidates, known)
    say.diagnostics(diagnostics)
    if output is not None:
        units = [unit for place in selection.chosen for unit in found[place].predicted]
        _write(units, output, to, overwrite, diagnostics)
    rows = [
        {
            "doc": candidates[place].doc,
            "words": candidates[place].n_words,
            "worth": values[place],
            "errors": found[place].errors,
            "entropy": found[place].entropy,
            "margin": found[place].margin if isfinite(found[place].margin) else None,
            "mentions": sum(len(unit.mentions) for unit in found[place].predicted),
        }
        for place in selection.chosen
    ]
    is_sampled, has_second = request.recognizer.structure_.has_transitions, request.recognizer.rescorer_ is not None
    errors_are = "sampled" if is_sampled else "exact"
    entropy_is = "exact, over tag sequences" if is_sampled else f"exact, over {request.recognizer.distribution}"
    if has_second:
        errors_are, entropy_is = "those of the second look", f"{entropy_is} of the first look"
    names = {candidate.doc for candidate in known}
    record = {
        "strategy": request.strategy,
        "per_word": request.per_word,
        "pool": len(candidates),
        "words": sum(candidates[place].n_words for place in selection.chosen),
        "annotated": sum(candidate.doc in names for candidate in candidates),
        "similar": selection.n_similar,
        "too_long": selection.n_too_long,
        "errors_are": errors_are,
        "entropy_is": entropy_is,
        "chosen": rows,
    }
    if json:
        print_json(record)
    else:
        _print_chosen(record)


def _candidates(path: Path, format: str | None, diagnostics: Diagnostics) -> list[Candidate]:
    from hyperspan import corpora
    from hyperspan.annotation import candidates

    return candidates(progress(corpora.stream(path, format=format, diagnostics=diagnostics), f"Reading {path.name}"))


def _write(units: Sequence[Unit], output: Path, to: str | None, overwrite: bool, diagnostics: Diagnostics) -> None:
    from dataclasses import replace

    from hyperspan import corpora

    target = check_output(output, to, overwrite=overwrite)
    shaped = fitted((replace(unit, source=None) for unit in units), target, diagnostics)
    corpora.write(shaped, output, format=target.name, overwrite=overwrite, diagnostics=diagnostics)
    say.notes(diagnostics)
    n_mentions = sum(len(unit.mentions) for unit in units)
    n_documents = len({unit.doc for unit in units})
    wrote = f"{counted(n_documents, 'document')} with {counted(n_mentions, 'mention')}"
    say.info(f"wrote {wrote} to correct to {output} ({target.name})")


def _print_chosen(record: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    view = Table(box=None, pad_edge=False)
    view.add_column("document", overflow="fold")
    for name in ("words", "mentions", "expected errors", "entropy", "margin"):
        view.add_column(name, justify="right", no_wrap=True)
    for row in record["chosen"][:_MOST_ROWS]:
        margin = "-" if row["margin"] is None else f"{row['margin']:.2f}"
        numbers = (f"{row['words']:,}", f"{row['mentions']:,}", f"{row['errors']:.2f}", f"{row['entropy']:.2f}", margin)
        view.add_row(Text(printable(row["doc"])), *numbers)
    stdout().print(view)
    n_more = len(record["chosen"]) - _MOST_ROWS
    say.info(
        (f"… and {n_more:,} more\n" if n_more > 0 else "")
        + f"chose {len(record['chosen']):,} of {record['pool']:,} documents, {record['words']:,} words; skipped "
        + (f"{record['annotated']:,} that are annotated, " if record["annotated"] else "")
        + f"{record['similar']:,} that are too similar and {record['too_long']:,} that did not fit\n"
        f"expected errors are {record['errors_are']}; the entropy is {record['entropy_is']}"
    )


def _simulated(
    settings: dict[str, Any],
    pool: Path,
    gold: Path,
    rounds: int,
    words: int,
    seeds: Sequence[int],
    per_word: bool,
    format: str | None,
    diagnostics: Diagnostics,
) -> list[Point]:
    from hyperspan import corpora
    from hyperspan.annotation import STRATEGIES, simulate
    from hyperspan.annotation import candidates as in_documents
    from hyperspan.text import as_sentences

    scored = list(as_sentences(corpora.stream(gold, format=format, diagnostics=diagnostics), diagnostics))
    if not any(sentence.mentions for sentence in scored):
        raise UsageError(f"{gold}: there is no mention in it; expected a corpus with gold mentions to score on")
    sentences = as_sentences(corpora.stream(pool, format=format, diagnostics=diagnostics), diagnostics)
    candidates = in_documents(progress(sentences, f"Reading {pool.name}"))
    say.diagnostics(diagnostics)
    steps = simulate(settings, candidates, scored, n_rounds=rounds, n_words=words, seeds=seeds, per_word=per_word)
    return list(progress(steps, "Training and choosing", len(STRATEGIES) * len(seeds) * (rounds + 1)))


def _report_curves(
    points: Sequence[Point], plot: Path | None, json: bool, rounds: int, words: int, per_word: bool
) -> None:
    from dataclasses import asdict

    from hyperspan.annotation import curves
    from hyperspan.annotation.plot import curves_svg
    from hyperspan.files import writing

    found = curves(points)
    if plot is not None:
        with writing(plot) as file:
            file.write(curves_svg(found).encode("utf-8"))
    if json:
        print_json(
            {
                "rounds": rounds,
                "words": words,
                "per_word": per_word,
                "curves": [curve.as_dict() for curve in found],
                "points": [asdict(point) for point in points],
            }
        )
    else:
        _print_curves(found)


def _print_curves(found: Sequence[Curve]) -> None:
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    view.add_column("words")
    for curve in found:
        view.add_column(curve.strategy, justify="right", no_wrap=True)
    for number in range(max(len(curve.words) for curve in found)):
        here = [curve for curve in found if number < len(curve.words)]
        words = sum(curve.words[number] for curve in here) / len(here)
        cells = [
            f"{curve.f1[number]:.3f} ±{curve.deviation[number]:.3f}" if number < len(curve.f1) else ""
            for curve in found
        ]
        view.add_row(f"{words:,.0f}", *cells)
    stdout().print(view)
    at_the_end = next((curve for curve in found if curve.strategy == "random"), None)
    for curve in found:
        if at_the_end is None or curve is at_the_end:
            continue
        goal = f"the {at_the_end.f1[-1]:.3f} of random choice"
        if curve.words_for_same is None or curve.saved is None:
            typer.echo(f"{curve.strategy} does not reach {goal}")
        else:
            share = f"{abs(100 * curve.saved):.0f} % {'of the words saved' if curve.saved >= 0 else 'more words'}"
            typer.echo(f"{curve.strategy} reaches {goal} after {curve.words_for_same:,.0f} words: {share}")

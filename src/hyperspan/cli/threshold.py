"""``hyperspan threshold``: print precision, recall and F1 by threshold, and choose a threshold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import (
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    print_json,
    say,
    tell_of_compiling,
)
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError

if TYPE_CHECKING:
    from hyperspan.learning import ThresholdCurve

_STEP = 5
"""Every fifth threshold is printed; JSON has all."""

_WIDTH = 40


def threshold(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    corpus: Annotated[
        Path,
        typer.Argument(metavar="DEV", help="Development data: a corpus with gold mentions.", show_default=False),
    ],
    precision: Annotated[
        float | None, typer.Option("--precision", help="Choose the lowest threshold with this precision (0 to 1).")
    ] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", help="Choose the highest threshold with this recall (0 to 1).")
    ] = None,
    beta: Annotated[
        float,
        typer.Option("--beta", help="How much more recall counts than precision: 0.5 for precision, 2 for recall."),
    ] = 1.0,
    set_it: Annotated[bool, typer.Option("--set", help="Write the threshold into the model.")] = False,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Print precision, recall and F1 by threshold, and the best threshold.

    Without --precision or --recall, it is the one that training would choose: the one with the best F score, shrunk
    towards the best one for calibrated probabilities (half of F1) if the data is scarce. The exit code is 1 if no
    threshold has the wanted precision or recall.

    Example: hyperspan threshold notes.model notes/dev.jsonl --precision 0.9 --set
    """
    from hyperspan import corpora
    from hyperspan.recognizer import Recognizer

    tell_of_compiling()
    from hyperspan.text import as_sentences

    _check(precision, recall, beta)
    recognizer = Recognizer.load(model)
    diagnostics = Diagnostics(on_error.value)
    units = corpora.stream(corpus, format=format, diagnostics=diagnostics)
    curve = recognizer.threshold_curve(as_sentences(units, diagnostics))
    say.diagnostics(diagnostics)
    if not curve.gold.sum():
        raise UsageError(f"{corpus}: there is no mention in it; expected development data with gold mentions")
    chosen = choose(curve, precision, recall, beta)
    if chosen is not None and set_it:
        recognizer.threshold_ = chosen
        recognizer.save(model)
    if json:
        print_json({"model": str(model), "own": recognizer.threshold_, "chosen": chosen, "curve": curve.rows()})
    else:
        typer.echo(plotted(curve, chosen))
    if chosen is None:
        say.info(_shortfall(curve, precision, recall))
        raise typer.Exit(1)
    if set_it:
        say.info(f"{model}: the threshold is {chosen:g} now")
    elif chosen != recognizer.threshold_:
        say.info(f"the model's own threshold is {recognizer.threshold_:g}; --set makes it {chosen:g}")


def _check(precision: float | None, recall: float | None, beta: float) -> None:
    wanted = {"--precision": precision, "--recall": recall}
    for name, value in wanted.items():
        if value is not None and not 0.0 < value <= 1.0:
            raise UsageError(f"{name} is {value:g}; expected a number above 0 and up to 1, such as 0.9 for 90 %")
    if not 0.0 < beta < float("inf"):
        raise UsageError(f"--beta is {beta:g}; expected a number above 0, such as 0.5")
    given = [name for name, value in wanted.items() if value is not None] + (["--beta"] if beta != 1.0 else [])
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} ask for different thresholds; give one of them")


def choose(curve: ThresholdCurve, precision: float | None, recall: float | None, beta: float) -> float | None:
    """Return the wanted threshold, or None if there is none."""
    if precision is not None:
        return curve.at_precision(precision)
    if recall is not None:
        return curve.at_recall(recall)
    return curve.choose(beta)


def plotted(curve: ThresholdCurve, chosen: float | None) -> str:
    """Return a table with a plot: a line for every fifth threshold, and one for the chosen one."""
    rows = [row for row in curve.rows() if round(100 * row["threshold"]) % _STEP == 0 or row["threshold"] == chosen]
    head = f"  threshold  precision  recall     F1  0{'P precision  R recall  F F1':^{_WIDTH - 1}}1"
    return "\n".join([head, *(_line(row, row["threshold"] == chosen) for row in rows)])


def _line(row: dict[str, Any], is_chosen: bool) -> str:
    strip = [" "] * (_WIDTH + 1)
    for name, sign in (("precision", "P"), ("recall", "R"), ("f1", "F")):
        strip[round(row[name] * _WIDTH)] = sign
    mark = ">" if is_chosen else " "
    return (
        f"{mark} {row['threshold']:9.2f}  {row['precision']:9.3f}  {row['recall']:6.3f}  {row['f1']:5.3f}  "
        + "".join(strip).rstrip()
    )


def _shortfall(curve: ThresholdCurve, precision: float | None, recall: float | None) -> str:
    name, wanted, reached = (
        ("precision", precision, curve.precision) if recall is None else ("recall", recall, curve.recall)
    )
    best = curve.row(float(curve.thresholds[reached.argmax()]))
    return (
        f"no threshold has a {name} of {wanted:g} on this data; the highest is {best[name]:.3f}, at "
        f"{best['threshold']:g}"
    )

"""``hyperspan show``: show a model's settings, scores and strongest features."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyperspan.cli.console import JsonOption, print_json, printable, say, stdout
from hyperspan.cli.train import rescoring_lines


def show(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    top: Annotated[int, typer.Option("--top", min=0, help="The number of features to show for each edge.")] = 5,
    corpus: Annotated[
        Path | None,
        typer.Option("--names-from", help="A corpus with names for the model's hashed features."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a model's settings, scores and strongest features.

    A model has the names of the 20 strongest features of each edge, and hashes of the others; a corpus in which they
    occur, such as the training data, provides the names of all (--names-from).

    Example: hyperspan show notes.model --top 10
    """
    from hyperspan.recognizer import Recognizer

    recognizer = Recognizer.load(model)
    summary = recognizer.summary()
    if top:
        summary["strongest"] = recognizer.strongest(top=top) if corpus is None else _strongest(recognizer, corpus, top)
    if json:
        print_json(summary)
        return
    console = stdout()
    for name, value in summary.items():
        if name not in _NOT_IN_ONE_LINE:
            console.print(f"{name.replace('_', ' '):20} {printable(_shown(value))}", markup=False)
    if summary["rescoring"]:
        for line in rescoring_lines(summary["rescoring"]):
            console.print(line, markup=False)
    for name in ("all", "discontiguous_sentences", "discontiguous_mentions"):
        if summary["dev_scores"]:
            score = summary["dev_scores"][name]
            console.print(
                f"{'dev ' + name.replace('_', ' '):30} P {score['precision']:.3f}  R {score['recall']:.3f}  "
                f"F1 {score['f1']:.3f}",
                markup=False,
            )
    shown = [feature["feature"] for features in summary.get("strongest", {}).values() for feature in features]
    if corpus is None and any(name.startswith("#") for name in shown):
        say.info("some features are shown by their hash; name them with --names-from and the training data")
    for label, features in summary.get("strongest", {}).items():
        console.print(f"\n{printable(label)}", style="bold", markup=False)
        for feature in features:
            console.print(f"  {feature['weight']:+8.3f}  {printable(feature['feature'])}", markup=False)


_NOT_IN_ONE_LINE = ("strongest", "training_log", "dev_scores", "templates", "rescoring", "rescorer", "threshold_curve")
"""Of these some have lines of their own, and others are for --json; `hyperspan threshold` draws the curve."""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _strongest(recognizer: Any, corpus: Path, top: int) -> dict[str, list[dict[str, Any]]]:
    from hyperspan import corpora
    from hyperspan.diagnostics import Diagnostics
    from hyperspan.text import as_sentences

    diagnostics = Diagnostics("skip")
    sentences = as_sentences(corpora.stream(corpus, diagnostics=diagnostics), diagnostics)
    strongest: dict[str, list[dict[str, Any]]] = recognizer.strongest(sentences, top)
    say.diagnostics(diagnostics)
    return strongest

"""The commands: ``python -m benchmarks --help``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import compare as comparing
from benchmarks import load as loading
from benchmarks import rescoring as second_look
from benchmarks import results as scoring
from benchmarks.harness import environment
from benchmarks.reporting import check_output, figures_of, print_rows, write
from benchmarks.setting import Setting
from benchmarks.tasks import TASKS
from benchmarks.tasks import run as run_tasks
from hyperspan.cli.console import JsonOption, print_json, say
from hyperspan.errors import HyperspanError

app = typer.Typer(
    name="python -m benchmarks",
    help="Speed, memory and results, measured from a checkout.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataOption = Annotated[str, typer.Option("--data", help="demo (the embedded corpus), or a corpus of your own.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Small sizes and few rounds, to see that everything runs.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Also write the JSON document here.", show_default=False)
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the embedded corpus and of random numbers.")]
ThreadsOption = Annotated[int, typer.Option("--threads", help="Threads of ours; the peers have one.", min=1)]


@app.command()
def run(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Which tasks; all, if none is named.", show_default=False)
    ] = None,
    list_tasks: Annotated[bool, typer.Option("--list", help="Say which tasks there are.")] = False,
    data: DataOption = "demo",
    quick: QuickOption = False,
    json: JsonOption = False,
    output: OutputOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 2,
) -> None:
    """Measure speed and memory beside those of peers, on the same data in one run.

    Results are compared first, then both sides are timed in turn: median, least and most. Peers come with pip install
    -e '.[bench]'; without them our figures stand alone. The exit code is 1 if results differ from a peer's.
    """
    if list_tasks:
        print_json(TASKS) if json else _print_tasks()
        return
    check_output(output)
    setting = Setting(data, quick=quick, threads=threads, seed=seed, say=say.info)
    rows = []
    for row in run_tasks(setting, tasks or ()):
        rows.append(row)
        say.info(f"  {row.ours}: {figures_of(row)}" if row.agrees else f"  {row.note}")
    document = {
        "quick": quick,
        "data": data if data == "demo" else setting.data.name,
        "seed": seed,
        "env": environment(threads),
        "rows": [row.as_dict() for row in rows],
    }
    write(output, document)
    print_json(document) if json else print_rows(rows)
    if not all(row.agrees for row in rows):
        raise typer.Exit(1)


@app.command()
def compare(
    against: Annotated[
        Path, typer.Option("--against", help="Another checkout, with its own .venv.", show_default=False)
    ],
    only: Annotated[
        str, typer.Option("--only", help=f"Some measurements, with commas between: {', '.join(comparing.MEASURES)}.")
    ] = "",
    data: DataOption = "demo",
    quick: QuickOption = False,
    json: JsonOption = False,
    output: OutputOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 2,
) -> None:
    """Measure this checkout beside another, round by round in one run.

    Both work on the same files, and on models that the other checkout has trained. Prints both medians with their
    spread, and the ratio new/old. The exit code is 1 if the two give different results.
    """
    check_output(output)
    names = [name.strip() for name in only.split(",") if name.strip()]
    setting = Setting(data, quick=quick, threads=threads, seed=seed, say=say.info)
    comparison = comparing.compare(setting, comparing.Checkout.at(against), names)
    document = {"quick": quick, "data": setting.data.name, "seed": seed, **comparison.as_dict()}
    write(output, document)
    print_json(document) if json else comparing.show(comparison)
    if not comparison.agrees:
        raise typer.Exit(1)


@app.command()
def results(
    corpora: Annotated[Path, typer.Argument(help="The folder that holds the corpora.", show_default=False)],
    corpus: Annotated[list[str] | None, typer.Option("--corpus", help=f"Which: {', '.join(scoring.CORPORA)}.")] = None,
    structure: Annotated[
        list[str] | None, typer.Option("--structure", help=f"Which: {', '.join(scoring.STRUCTURES)}.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="What is predicted: test or dev.")] = "test",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="Passed on to train, as --option=--l2=auto.")
    ] = None,
    output: OutputOption = None,
) -> None:
    """Train, predict and evaluate every structure with every decoder: the results table of the README."""
    check_output(output)
    rows: list[scoring.Result] = []
    for row in scoring.rows(
        corpora, corpus or scoring.CORPORA, structure or scoring.STRUCTURES, split, tuple(option or ())
    ):
        if not rows:
            print(scoring.HEAD, flush=True)
        rows.append(row)
        print(scoring.row_text(row), flush=True)
    write(output, {"env": environment(2, ("numpy", "numba", "scipy")), "rows": rows})


@app.command()
def rescoring(
    corpora: Annotated[Path, typer.Argument(help="The folder that holds the corpora.", show_default=False)],
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help=f"Which, and which types: {', '.join(second_look.CORPORA)}.")
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option("--structure", help=f"Which: {', '.join(second_look.STRUCTURES)}.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="What is predicted: test or dev.")] = "test",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="Passed on to train, as --option=--threads=16.")
    ] = None,
    output: OutputOption = None,
) -> None:
    """Train, predict and evaluate without and with a second look at whole mentions."""
    check_output(output)
    rows: list[scoring.Result] = []
    chosen = corpus or second_look.CORPORA, structure or second_look.STRUCTURES
    for row in second_look.rows(corpora, *chosen, split, tuple(option or ())):
        if not rows:
            print(second_look.HEAD, flush=True)
        rows.append(row)
        print(second_look.row_text(row), flush=True)
    write(output, {"env": environment(2, ("numpy", "numba", "scipy")), "rows": rows})


@app.command()
def load(
    model: Annotated[
        Path | None, typer.Option("--model", help="A model file; the demo model is trained if none is given.")
    ] = None,
    clients: Annotated[int, typer.Option("--clients", min=1, help="How many at once.")] = 200,
    requests: Annotated[int, typer.Option("--requests", min=1, help="Of each client in a round.")] = 20,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many.")] = 3,
    output: OutputOption = None,
) -> None:
    """Put load on a server of our own, on this machine only: latency, errors and memory."""
    check_output(output)
    with tempfile.TemporaryDirectory() as folder:
        served = model or loading.demo_model(Path(folder) / "demo.model")
        report = loading.measure(served, clients, requests, rounds)
    loading.show(report)
    write(output, {**report, "env": environment(1, ("fastapi", "uvicorn", "numpy", "numba"))})


def _print_tasks() -> None:
    width = max(map(len, TASKS))
    for name, what in TASKS.items():
        print(f"{name:<{width}}  {what}")


def main() -> None:
    """Run the commands; a user's own mistake ends with a sentence and exit code 2."""
    try:
        app()
    except HyperspanError as error:
        say.error(str(error))
        sys.exit(2)


if __name__ == "__main__":
    main()

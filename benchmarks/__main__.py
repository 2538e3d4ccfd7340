"""The commands: ``python -m benchmarks --help``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from benchmarks import compare as comparing
from benchmarks import gold as knowing
from benchmarks import load as loading
from benchmarks import rescoring as second_look
from benchmarks import results as scoring
from benchmarks import thresholds as choosing
from benchmarks.harness import environment
from benchmarks.reporting import append, check_output, figures_of, print_rows, read_rows, write
from benchmarks.setting import Setting
from benchmarks.tasks import TASKS
from benchmarks.tasks import run as run_tasks
from hyperspan import Recognizer
from hyperspan.cli.console import JsonOption, print_json, say
from hyperspan.cli.usage import make_plain
from hyperspan.errors import HyperspanError, UsageError

app = typer.Typer(
    name="python -m benchmarks",
    help="Speed, memory and results, measured from a checkout.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataOption = Annotated[str, typer.Option("--data", help="demo (the embedded corpus), or a corpus of your own.")]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Small sizes and few rounds, to check that everything runs.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Also write a JSON document to this file.", show_default=False)
]
RowsOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also append the rows to this file, as JSON lines.", show_default=False),
]
SplitsOption = Annotated[list[str] | None, typer.Option("--split", help="The splits to predict: test, dev, or both.")]
PassedOption = Annotated[
    list[str] | None, typer.Option("--option", help="An option for train, such as --option=--l2=auto.")
]
ModelsOption = Annotated[Path | None, typer.Option("--models", help="The folder for models; existing ones are reused.")]
SeedOption = Annotated[int, typer.Option("--seed", help="The random seed, also of the embedded corpus.")]
ThreadsOption = Annotated[
    int, typer.Option("--threads", help="The number of threads for hyperspan; peers have one.", min=1)
]


@app.command()
def run(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="The tasks to run; all by default.", show_default=False)
    ] = None,
    list_tasks: Annotated[bool, typer.Option("--list", help="List the tasks.")] = False,
    data: DataOption = "demo",
    quick: QuickOption = False,
    json: JsonOption = False,
    output: OutputOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 2,
) -> None:
    """Compare speed and memory with those of peers, on the same data in one run.

    Results are compared first, then both sides are timed in turn: median, minimum and maximum. The peers come with the
    extra 'bench'; without them, only our figures are shown. The exit code is 1 if results differ from a peer's.
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
        str, typer.Option("--only", help=f"Measurements, separated by commas: {', '.join(comparing.MEASURES)}.")
    ] = "",
    data: DataOption = "demo",
    quick: QuickOption = False,
    json: JsonOption = False,
    output: OutputOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 2,
) -> None:
    """Compare this checkout with another, in alternating rounds in one run.

    Both work on the same files, and on models that the other checkout has trained. Prints both medians with their
    spread, and the ratio new/old. The exit code is 1 if their results differ.
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
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help=f"The corpora: {', '.join(scoring.CORPORA)}.")
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option("--structure", help=f"The structures: {', '.join(scoring.STRUCTURES)}.")
    ] = None,
    split: SplitsOption = None,
    option: PassedOption = None,
    models: ModelsOption = None,
    output: RowsOption = None,
) -> None:
    """Train, predict and evaluate every structure with every decoder: the results table of the README."""
    chosen = corpus or scoring.CORPORA, structure or scoring.STRUCTURES, split or scoring.SPLITS[:1]
    _score(scoring, corpora, *chosen, tuple(option or ()), models, output)


@app.command()
def thresholds(
    data: DataOption = "demo",
    structure: Annotated[str, typer.Option("--structure", help="The structure.")] = "shared",
    types: Annotated[str, typer.Option("--types", help="Keep only mentions of these types, separated by commas.")] = "",
    cuts: Annotated[
        int, typer.Option("--cuts", min=1, help="How many times to split the development data in two.")
    ] = 200,
    max_iterations: Annotated[
        int, typer.Option("--max-iterations", min=1, help="The maximum number of iterations.")
    ] = 60,
    seed: SeedOption = 0,
    output: OutputOption = None,
) -> None:
    """Choose a threshold on some development sentences, and score it and the threshold of the highest F1 on others."""
    check_output(output)
    train, dev = choosing.splits(data, frozenset(types.split(",")) if types else None)
    say.info(f"training on {len(train):,} sentences")
    rows = []
    print(choosing.HEAD, flush=True)
    for row in choosing.measure(choosing.curve_of(train, dev, structure, max_iterations), cuts, seed):
        rows.append(row._asdict())
        print(choosing.row_text(row), flush=True)
    write(output, {"env": environment(2, ("numpy", "numba", "scipy")), "rows": rows})


@app.command()
def gold(
    data: DataOption = "demo",
    types: Annotated[str, typer.Option("--types", help="Keep only mentions of these types, separated by commas.")] = "",
    merge_types: Annotated[bool, typer.Option("--merge-types", help="Give all mentions the same type.")] = False,
    sentences: Annotated[
        int, typer.Option("--sentences", min=0, help="The number of training sentences; 0 for all.")
    ] = 0,
    discontiguous: Annotated[
        int,
        typer.Option("--discontiguous", min=0, help="The approximate number of discontiguous mentions in --sentences."),
    ] = 0,
    structure: Annotated[str, typer.Option("--structure", help="The structure.")] = "shared",
    distribution: Annotated[str, typer.Option("--distribution", help="The distribution.")] = "encodings",
    l2: Annotated[float, typer.Option("--l2", help="The penalty.")] = 1.0,
    clusters: Annotated[
        int, typer.Option("--clusters", min=0, help="The number of Brown clusters, made from all text; 0 for none.")
    ] = 0,
    max_iterations: Annotated[
        int, typer.Option("--max-iterations", min=1, help="The maximum number of iterations.")
    ] = 60,
    output: OutputOption = None,
) -> None:
    """Show the probabilities of gold mentions under a model: on development, test and training data."""
    check_output(output)
    data_of = knowing.splits(data, types.split(",") if types else (), merged=merge_types)
    if sentences:
        data_of["train"] = knowing.fewer(data_of["train"], sentences, discontiguous)
    say.info(f"training on {len(data_of['train']):,} sentences")
    recognizer = Recognizer(
        structure=structure,
        distribution=distribution,
        l2=l2,
        max_iterations=max_iterations,
        clusters=knowing.clusters_of(data_of, clusters),
    ).fit(data_of["train"])
    rows = []
    print(knowing.HEAD, flush=True)
    for row in knowing.rows(recognizer, data_of):
        rows.append(row._asdict())
        print(knowing.row_text(row), flush=True)
    write(output, {"env": environment(2, ("numpy", "numba", "scipy")), "rows": rows})


@app.command()
def rescoring(
    corpora: Annotated[Path, typer.Argument(help="The folder that holds the corpora.", show_default=False)],
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", help=f"The corpora and their types: {', '.join(second_look.CORPORA)}."),
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option("--structure", help=f"The structures: {', '.join(second_look.STRUCTURES)}.")
    ] = None,
    split: SplitsOption = None,
    option: PassedOption = None,
    models: ModelsOption = None,
    output: RowsOption = None,
) -> None:
    """Train, predict and evaluate without and with a second look at whole mentions."""
    chosen = corpus or second_look.CORPORA, structure or second_look.STRUCTURES, split or second_look.SPLITS
    _score(second_look, corpora, *chosen, tuple(option or ()), models, output)


def _score(
    table: ModuleType,
    folder: Path,
    names: Sequence[str],
    structures: Sequence[str],
    splits: Sequence[str],
    options: Sequence[str],
    models: Path | None,
    output: Path | None,
) -> None:
    """Print the rows of a table, and append them to a file, as they are made."""
    check_output(output)
    env = environment(2, ("numpy", "numba", "scipy"))
    with tempfile.TemporaryDirectory() as temporary:
        work = models or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for number, row in enumerate(table.rows(folder, names, structures, splits, work, options)):
            if not number:
                print(table.HEAD, flush=True)
            print(table.row_text(row), flush=True)
            if output is not None:
                append(output, {**row, "env": env})


@app.command()
def table(
    files: Annotated[list[Path], typer.Argument(help="Files that results or rescoring wrote with --output.")],
) -> None:
    """Print the rows of files that results or rescoring wrote, as one Markdown table.

    Rows are in the order of the files; the last row for the same model and data replaces earlier ones.
    """
    rows = [row for file in files for row in read_rows(file)]
    shown = second_look if all("rescore" in row for row in rows) else scoring
    if not all({*shown.KEYS} <= row.keys() for row in rows):
        raise UsageError("some rows are from results, others from rescoring; make one table for each")
    print(shown.HEAD)
    for row in {tuple(row[key] for key in shown.KEYS): row for row in rows}.values():
        print(shown.row_text(row))


@app.command()
def load(
    model: Annotated[
        Path | None, typer.Option("--model", help="A model file; the demo model is trained if none is given.")
    ] = None,
    clients: Annotated[int, typer.Option("--clients", min=1, help="The number of simultaneous clients.")] = 200,
    requests: Annotated[
        int, typer.Option("--requests", min=1, help="The number of requests of each client in a round.")
    ] = 20,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="The number of rounds.")] = 3,
    output: OutputOption = None,
) -> None:
    """Load-test a server on this machine: latency, errors and memory."""
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


make_plain(app)


def main() -> None:
    """Run the commands; a user error ends with one sentence and exit code 2."""
    try:
        app()
    except HyperspanError as error:
        say.error(str(error))
        sys.exit(2)


if __name__ == "__main__":
    main()

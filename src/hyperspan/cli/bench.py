"""``hyperspan bench``: speed and memory beside those of peers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import JsonOption, print_json, printable, say
from hyperspan.errors import UsageError
from hyperspan.files import writing

if TYPE_CHECKING:
    from hyperspan.bench import Figure, Row


def bench(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Which tasks; all, if none is named.", show_default=False)
    ] = None,
    list_tasks: Annotated[bool, typer.Option("--list", help="Say which tasks there are.")] = False,
    data: Annotated[
        str, typer.Option("--data", help="The data: demo (the embedded corpus), or a corpus of your own.")
    ] = "demo",
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes and few rounds, to see that all runs; no aim is looked at.")
    ] = False,
    json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write the JSON document here.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the embedded corpus and of made-up numbers.")] = 0,
    threads: Annotated[int, typer.Option("--threads", help="Threads of ours; the peers have one.", min=1)] = 2,
) -> None:
    """Measure speed and memory beside those of peers, on the same data in one run.

    Results are compared first, then both sides are timed in turn: median, least and most. Peers come with the extra
    'bench'; without them our figures stand alone. The exit code is 1 if results differ from a peer's.

    Example: hyperspan bench iteration training --data corpus/train.jsonl -o bench.json
    """
    from hyperspan.bench import TASKS, Setting, environment, run

    if list_tasks:
        print_json(TASKS) if json else _print_tasks(TASKS)
        return
    if output is not None and output.is_dir():
        raise UsageError(f"{output} is a folder; expected the name of a file to write")
    setting = Setting(data, quick=quick, threads=threads, seed=seed, say=say.info)
    rows = []
    for row in run(setting, tasks or ()):
        rows.append(row)
        say.info(f"  {row.ours}: {figures_of(row)}" if row.agrees else f"  {row.note}")
    document = {
        "quick": quick,
        "data": data if data == "demo" else setting.data.name,
        "seed": seed,
        "env": environment(threads),
        "rows": [row.as_dict() for row in rows],
    }
    if output is not None:
        write(output, document)
    if json:
        print_json(document)
    else:
        print_rows(rows)
    if not all(row.agrees for row in rows):
        raise typer.Exit(1)


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON document to a file."""
    with writing(path) as file:
        file.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())


def number(value: float) -> str:
    """Write a number with three or four digits that matter.

    Examples
    --------
    >>> [number(value) for value in (0.000123456, 0.5, 12.3456, 1234.5, 0.0)]
    ['0.000123', '0.5', '12.3', '1,234', '0']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def print_rows(rows: Sequence[Row]) -> None:
    """Print the rows, a line each, under the task, data and unit that they share; notes go to stderr."""
    width = max((len(row.ours) for row in rows), default=0)
    head = None
    for row in rows:
        if head != (head := (row.task, row.data, row.unit)):
            typer.echo(printable(": ".join((row.task, ", ".join(filter(None, (row.unit, row.data)))))))
        typer.echo(f"  {printable(row.ours):<{width}}  {figures_of(row)}")
    for row in rows:
        if row.note:
            say.info(f"{row.task}, {row.ours or 'not timed'}: {printable(row.note)}")


def figures_of(row: Row) -> str:
    """Return the figures of a row in words."""
    if row.our_figure is None:
        return "not timed"
    parts = [_with_spread(row.our_figure)]
    if row.peer_figure is not None and row.ratio is not None:
        parts += [f"{row.peer}: {_with_spread(row.peer_figure)}", f"ratio {row.ratio:.2f}"]
    if row.aim is not None:
        parts.append(f"wanted: {row.aim}" + {None: "", True: ", holds", False: ", MISSED"}[row.holds])
    return "; ".join(parts)


def _with_spread(figure: Figure) -> str:
    return f"{number(figure.median)} ({number(figure.least)} to {number(figure.most)})"


def _print_tasks(tasks: Mapping[str, str]) -> None:
    width = max(map(len, tasks))
    for name, what in tasks.items():
        typer.echo(f"{name:<{width}}  {what}")

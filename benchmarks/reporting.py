"""How figures are shown and written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import Figure, Row
from hyperspan.cli.console import printable, say
from hyperspan.errors import UsageError
from hyperspan.files import writing


def check_output(path: Path | None) -> None:
    """Refuse, before anything is measured, a file that cannot be written.

    Raises
    ------
    UsageError
        If it is a folder, or in a folder that there is not.
    """
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected the name of a file to write")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(path.parent)!r} to write into; make it first")


def write(path: Path | None, document: Mapping[str, Any]) -> None:
    """Write a JSON document, if a file was asked for."""
    if path is not None:
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


def with_spread(figure: Figure) -> str:
    """Write a figure.

    Examples
    --------
    >>> with_spread(Figure(2.0, 1.0, 4.5))
    '2 (1 to 4.5)'
    """
    return f"{number(figure.median)} ({number(figure.least)} to {number(figure.most)})"


def print_rows(rows: Sequence[Row]) -> None:
    """Print the rows, a line each, under the task, data and unit that they share; notes go to stderr."""
    width = max((len(row.ours) for row in rows), default=0)
    head = None
    for row in rows:
        if head != (head := (row.task, row.data, row.unit)):
            print(printable(": ".join((row.task, ", ".join(filter(None, (row.unit, row.data)))))))
        print(f"  {printable(row.ours):<{width}}  {figures_of(row)}")
    for row in rows:
        if row.note:
            say.info(f"{row.task}, {row.ours or 'not timed'}: {printable(row.note)}")


def figures_of(row: Row) -> str:
    """Return the figures of a row in words."""
    if row.our_figure is None:
        return "not timed"
    parts = [with_spread(row.our_figure)]
    if row.peer_figure is not None and row.ratio is not None:
        parts += [f"{row.peer}: {with_spread(row.peer_figure)}", f"ratio {row.ratio:.2f}"]
    if row.aim is not None:
        parts.append(f"wanted: {row.aim}" + {None: "", True: ", holds", False: ", MISSED"}[row.holds])
    return "; ".join(parts)

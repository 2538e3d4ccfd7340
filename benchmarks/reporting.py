"""Print and write figures."""

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
    """Reject a file that cannot be written, before anything is measured.

    Raises
    ------
    UsageError
        If it is a folder, or in a folder that does not exist.
    """
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected the name of a file to write")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(path.parent)!r} to write into; make it first")


def write(path: Path | None, document: Mapping[str, Any]) -> None:
    """Write a JSON document, if a file is given."""
    if path is not None:
        with writing(path) as file:
            file.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a file of JSON lines, so that it is safe if the next measurement fails."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file of JSON lines.

    Raises
    ------
    UsageError
        If the file does not exist, or has a line that is not a row.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not (isinstance(row, dict) and "corpus" in row):
            raise UsageError(f"{path}:{number}: this is not a row; expected a file that results or rescoring wrote")
        rows.append(row)
    return rows


def number(value: float) -> str:
    """Format a number with three or four significant digits.

    Examples
    --------
    >>> [number(value) for value in (0.000123456, 0.5, 12.3456, 1234.5, 0.0)]
    ['0.000123', '0.5', '12.3', '1,234', '0']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def with_spread(figure: Figure) -> str:
    """Format a figure.

    Examples
    --------
    >>> with_spread(Figure(2.0, 1.0, 4.5))
    '2 (1 to 4.5)'
    """
    return f"{number(figure.median)} ({number(figure.least)} to {number(figure.most)})"


def print_rows(rows: Sequence[Row]) -> None:
    """Print the rows, one per line, grouped by task, data and unit; notes go to stderr."""
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

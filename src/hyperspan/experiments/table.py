"""Results as Markdown, with tables that are also readable as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

VERDICTS = {True: "holds", False: "does not hold here", None: "undecided"}


def page_of(document: Mapping[str, Any]) -> str:
    """Return the page about a result: its table, conclusions, notes, and the command that made it.

    Parameters
    ----------
    document : mapping
        The content of the JSON file of the result.
    """
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {document['experiment']}: {document['title']}"
    yield ""
    yield from table_lines(document["columns"], document["rows"])
    if document["conclusions"]:
        yield ""
        for conclusion in document["conclusions"]:
            whose = "" if conclusion["source"] == "paper" else " (ours)"
            yield f"- **{VERDICTS[conclusion['holds']]}**: {conclusion['claim']}{whose}"
            yield f"  ({conclusion['evidence']})"
    if document["notes"]:
        yield ""
        yield from (f"- {note}" for note in document["notes"])
    environment = document["environment"]
    yield ""
    yield f"    {document['command']}"
    yield ""
    yield (
        f"{environment['date']}, hyperspan {environment['versions']['hyperspan']}, {environment['cpu']}, "
        f"{environment['cores']} cores, {environment['seconds']:,.0f} s"
    )


def table_lines(columns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table with its columns aligned.

    Examples
    --------
    >>> columns = [{"name": "n", "title": "words", "digits": 0}, {"name": "f1", "title": "F1", "digits": 1}]
    >>> print(*table_lines(columns, [{"n": 5, "f1": 60.62}, {"n": 1000, "f1": None}]), sep="\\n")
    | words |   F1 |
    | ----: | ---: |
    |     5 | 60.6 |
    | 1,000 |      |
    """
    cells = [[shown(row.get(column["name"]), column["digits"]) for column in columns] for row in rows]
    titles = [column["title"] for column in columns]
    widths = [max(3, *map(len, column)) for column in zip(titles, *cells, strict=True)]
    is_text = [any(isinstance(row.get(column["name"]), str) for row in rows) for column in columns]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(texts, widths, is_text, strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    yield line(titles)
    yield line(["-" * width if left else "-" * (width - 1) + ":" for width, left in zip(widths, is_text, strict=True)])
    yield from map(line, cells)


def shown(value: object, digits: int) -> str:
    """Format a value for a table.

    Examples
    --------
    >>> shown(None, 1), shown(12663, 1), shown(54.32, 1), shown(-0.04, 1), shown("< 2401", 1)
    ('', '12,663', '54.3', '0.0', '< 2401')
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            text = f"{value:,.{digits}f}"
            return text if text.strip("-0.") else text.removeprefix("-")
        case str():
            return value.replace("|", "\\|")
    raise TypeError(f"a table has no place for {value!r}")

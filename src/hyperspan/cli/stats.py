"""``hyperspan stats``: print corpus statistics, as in the data table of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hyperspan import corpora
from hyperspan.cli.console import (
    CorpusArgument,
    DiscontiguousOption,
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    print_json,
    printable,
    progress,
    say,
    stdout,
)
from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Unit

_MOST_TYPES = 20

_ROWS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "sentences": lambda counts: counts["sentences"],
    "  with a discontiguous mention": lambda counts: counts["discontiguous_sentences"],
    "tokens": lambda counts: counts["tokens"],
    "mentions": lambda counts: counts["mentions"],
    "  1 part": lambda counts: counts["by_parts"]["1"],
    "  2 parts": lambda counts: counts["by_parts"]["2"],
    "  3 parts": lambda counts: counts["by_parts"]["3"],
    "  4 or more": lambda counts: counts["by_parts"]["4+"],
    "overlapping pairs": lambda counts: counts["overlaps"]["all"],
    "  of different types": lambda counts: counts["overlaps"]["different_types"],
    "words in the gaps": lambda counts: -1,
    "  median": lambda counts: counts["gap"]["median"],
    "  95th percentile": lambda counts: counts["gap"]["p95"],
    "  longest": lambda counts: counts["gap"]["max"],
}


def stats(
    corpus: CorpusArgument,
    format: FromOption = None,
    discontiguous_only: DiscontiguousOption = False,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Count sentences, mentions by parts, overlaps and gaps.

    A document that is not split into sentences counts as one sentence; parts are counted as annotated.

    Example: hyperspan stats notes/ --discontiguous-only
    """
    diagnostics = Diagnostics(on_error.value)
    units = progress(corpora.stream(corpus, format=format, diagnostics=diagnostics), "Reading")
    table = table_of(unit for unit in units if unit.is_discontiguous or not discontiguous_only)
    say.diagnostics(diagnostics)
    if json:
        print_json(table)
    else:
        print_statistics(table)


def table_of(units: Iterable[Unit]) -> dict[str, Any]:
    """Count a corpus, and each of its splits, if any, under ``"splits"``."""
    from hyperspan.corpora.splitting import SPLITS
    from hyperspan.corpora.statistics import Statistics
    from hyperspan.text import tokenize

    total = Statistics()
    by_split: dict[str, Statistics] = {}
    for unit in units:
        total.add(unit, tokenize)
        if unit.split:
            by_split.setdefault(unit.split, Statistics()).add(unit, tokenize)
    table = total.as_dict()
    if by_split:
        names = dict.fromkeys((*SPLITS, *by_split))
        table["splits"] = {name: by_split[name].as_dict() for name in names if name in by_split}
    return table


def print_statistics(table: Mapping[str, Any]) -> None:
    """Print counts, one column for each split and one for all."""
    from rich.table import Table
    from rich.text import Text

    columns = {**table.get("splits", {}), "all": table}
    view = Table(box=None, pad_edge=False, header_style="bold")
    view.add_column("", overflow="fold")
    for name in columns:
        view.add_column(Text(printable(name)), justify="right", style="bold" if name == "all" else "", min_width=6)
    for name, value in _ROWS.items():
        counts = [value(counts) for counts in columns.values()]
        is_part = name.startswith(" ")
        view.add_row(
            Text(name, style="dim" if is_part else ""), *("" if count < 0 else f"{count:,}" for count in counts)
        )
    view.add_row(Text("types"), *(f"{len(counts['types']):,}" for counts in columns.values()))
    for kind in list(table["types"])[:_MOST_TYPES]:
        counts = [counts["types"].get(kind, 0) for counts in columns.values()]
        view.add_row(Text(f"  {printable(kind)}", style="dim"), *(f"{count:,}" for count in counts))
    stdout().print(view)
    if len(table["types"]) > _MOST_TYPES:
        say.info(f"… and {len(table['types']) - _MOST_TYPES:,} rarer types (--json has them all)")

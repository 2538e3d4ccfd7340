"""``hyperspan stats``: the paper's data table for any corpus."""

from __future__ import annotations

from collections.abc import Mapping
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
    progress,
    say,
    stdout,
)
from hyperspan.findings import Findings


def stats(
    corpus: CorpusArgument,
    format: FromOption = None,
    discontiguous_only: DiscontiguousOption = False,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Count sentences, mentions by parts, overlaps and gaps.

    A document without sentences of its own counts as one sentence; parts are counted as annotated.

    Example: hyperspan stats notes/ --discontiguous-only
    """
    from hyperspan.corpora.statistics import Statistics
    from hyperspan.text import tokenize

    findings = Findings(on_error.value)
    total = Statistics()
    by_split: dict[str, Statistics] = {}
    for unit in progress(corpora.stream(corpus, format=format, findings=findings), "Reading"):
        if discontiguous_only and not unit.is_discontiguous:
            continue
        total.add(unit, tokenize)
        if unit.split:
            by_split.setdefault(unit.split, Statistics()).add(unit, tokenize)
    say.findings(findings)
    table = total.as_dict()
    if by_split:
        table["splits"] = {name: counts.as_dict() for name, counts in by_split.items()}
    if json:
        print_json(table)
    else:
        print_statistics(table)


def print_statistics(table: Mapping[str, Any]) -> None:
    """Print counts, one column for each split and one for all."""
    from rich.table import Table

    columns = {**table.get("splits", {}), "all": table}
    view = Table("", *columns, box=None, pad_edge=False)
    for column in view.columns[1:]:
        column.justify = "right"
    rows = {
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
        "gap, median words": lambda counts: counts["gap"]["median"],
        "gap, 95th percentile": lambda counts: counts["gap"]["p95"],
        "gap, longest": lambda counts: counts["gap"]["max"],
    }
    for name, value in rows.items():
        view.add_row(name, *(f"{value(counts):,}" for counts in columns.values()))
    for kind in table["types"]:
        view.add_row(f"type {kind}", *(f"{counts['types'].get(kind, 0):,}" for counts in columns.values()))
    stdout().print(view)

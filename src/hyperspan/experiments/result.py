"""The result of an experiment: rows, the published rows beside them, and the paper's conclusions with verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

Row: TypeAlias = dict[str, Any]

PAPER = "paper_"
"""The prefix for a column with the published values of another."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name in the rows, its title, and its number of decimals."""

    name: str
    title: str
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A claim, and whether it holds here; None if this data cannot tell.

    ``source`` is whose claim it is: the paper's, or ours.
    """

    claim: str
    holds: bool | None
    evidence: str
    source: Literal["paper", "ours"] = "paper"


@dataclass(frozen=True, slots=True)
class Result:
    """Plain data that becomes the JSON, the table and the plot of an experiment.

    Attributes
    ----------
    columns : tuple of Column
        The columns in the order of printing.
    rows : list of dict
        One value for each column, or None.
    published : list of dict
        The published table, as far as it can be compared.
    conclusions : tuple of Conclusion
    notes : tuple of str
        What a reader of the table should know.
    details : dict
        More than the table can show: curves, counts.
    """

    columns: tuple[Column, ...]
    rows: list[Row]
    published: list[Row] = field(default_factory=list)
    conclusions: tuple[Conclusion, ...] = ()
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "rows": self.rows,
            "published": self.published,
            "conclusions": [asdict(conclusion) for conclusion in self.conclusions],
            "notes": list(self.notes),
            "details": self.details,
        }


def conclude(
    claim: str, comparisons: Iterable[tuple[str, bool]], source: Literal["paper", "ours"] = "paper"
) -> Conclusion:
    """Return a claim that holds if all comparisons do; without comparisons it is undecided.

    Examples
    --------
    >>> conclude("shared beats linear", [("60.6 > 55.7", True), ("52.0 > 54.1", False)])
    Conclusion(claim='shared beats linear', holds=False, evidence='60.6 > 55.7; not 52.0 > 54.1', source='paper')
    >>> conclude("shared beats linear", []).holds is None
    True
    """
    made = list(comparisons)
    if not made:
        return Conclusion(claim, None, "this data cannot tell", source)
    evidence = "; ".join(text if holds else f"not {text}" for text, holds in made)
    return Conclusion(claim, all(holds for _, holds in made), evidence, source)


def beside(
    rows: Iterable[Row], published: Sequence[Mapping[str, Any]], keys: Sequence[str], values: Sequence[str]
) -> list[Row]:
    """Return the rows with the published values of the row that has the same keys, as ``paper_<value>``.

    Examples
    --------
    >>> beside([{"n": 1, "f1": 60.0}, {"n": 2, "f1": 50.0}], [{"n": 1, "f1": 60.6}], ["n"], ["f1"])
    [{'n': 1, 'f1': 60.0, 'paper_f1': 60.6}, {'n': 2, 'f1': 50.0, 'paper_f1': None}]
    """
    by_key = {tuple(row[key] for key in keys): row for row in published}
    joined = []
    for row in rows:
        paper = by_key.get(tuple(row[key] for key in keys), {})
        joined.append({**row, **{f"{PAPER}{value}": paper.get(value) for value in values}})
    return joined


def paper_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return the columns that hold the published values of some columns."""
    return tuple(Column(f"{PAPER}{column.name}", f"paper {column.title}", column.digits) for column in columns)


def with_differences(result: Result) -> Result:
    """Return a result with ours minus the paper's for every number that has a published one beside it.

    Use it for the data of the paper, and for experiments without data: otherwise the difference means nothing.

    Examples
    --------
    >>> columns = (Column("f1", "F1"), Column("paper_f1", "paper F1"))
    >>> made = with_differences(Result(columns, [{"f1": 60.0, "paper_f1": 60.6}, {"f1": 50.0, "paper_f1": None}]))
    >>> made.columns[-1].title, [row["difference_f1"] for row in made.rows]
    ('F1 − paper', [-0.6, None])
    """
    names = {column.name for column in result.columns}
    pairs = [column for column in result.columns if f"{PAPER}{column.name}" in names]
    if not pairs:
        return result
    rows = [
        {**row, **{f"difference_{one.name}": _difference(row[one.name], row[f"{PAPER}{one.name}"]) for one in pairs}}
        for row in result.rows
    ]
    added = (Column(f"difference_{one.name}", f"{one.title} − paper", one.digits) for one in pairs)
    return replace(result, columns=(*result.columns, *added), rows=rows)


def _difference(ours: Any, paper: Any) -> float | None:
    both = all(isinstance(value, int | float) for value in (ours, paper))
    return round(ours - paper, 3) if both else None

"""The experiments: one module for each published table, and some of our own.

An experiment takes a `Run` (data, settings, progress) and returns a `Result`: our rows beside the published ones, and
a check of each of the paper's conclusions. ``hyperspan experiment`` runs them.

Examples
--------
>>> from hyperspan.experiments import Data, Run, Settings, experiment_named, names
>>> names()[:5]
('data-stats', 'canonical-counts', 'ambiguity', 'type-scaling', 'main')
>>> result = experiment_named("canonical-counts").run(Run(Data(), Settings()))
>>> [row["linear"] for row in result.rows]
[2, 8, 46, 310, 2049, 12663, 73944]
"""

from __future__ import annotations

from difflib import get_close_matches

from hyperspan.errors import UsageError
from hyperspan.experiments import (
    ambiguity,
    canonical_counts,
    data_stats,
    distribution,
    features,
    main,
    multi_type,
    regularisation,
    type_scaling,
)
from hyperspan.experiments.data import Data, Dataset, NotPossible, Source, load
from hyperspan.experiments.result import Column, Conclusion, Result
from hyperspan.experiments.run import Experiment, Progress, Run, write_document
from hyperspan.experiments.settings import Settings, parse_penalties
from hyperspan.experiments.table import page_of

__all__ = [
    "EXPERIMENTS",
    "Column",
    "Conclusion",
    "Data",
    "Dataset",
    "Experiment",
    "NotPossible",
    "Progress",
    "Result",
    "Run",
    "Settings",
    "Source",
    "experiment_named",
    "load",
    "names",
    "page_of",
    "parse_penalties",
    "write_document",
]

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        data_stats,
        canonical_counts,
        ambiguity,
        type_scaling,
        main,
        regularisation,
        multi_type,
        distribution,
        features,
    )
}
"""In the order of ``run all``: quick ones first, and those that others build on before these."""


def names() -> tuple[str, ...]:
    """Return the names of all experiments."""
    return tuple(EXPERIMENTS)


def experiment_named(name: str) -> Experiment:
    """Return an experiment by name.

    Raises
    ------
    UsageError
        If there is no experiment with this name.
    """
    if name not in EXPERIMENTS:
        near = get_close_matches(name, EXPERIMENTS, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"there is no experiment {name!r}; expected all, or one of {', '.join(EXPERIMENTS)}.{meant}")
    return EXPERIMENTS[name]

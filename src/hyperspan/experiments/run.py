"""Experiments, and what they are run with."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hyperspan.environment import environment
from hyperspan.errors import UsageError
from hyperspan.experiments import as_published
from hyperspan.experiments.data import Data
from hyperspan.experiments.result import Result, with_differences
from hyperspan.experiments.settings import Settings
from hyperspan.experiments.training import Options
from hyperspan.features import Clusters, Extractor, Lexicon, TemplateSet
from hyperspan.files import writing
from hyperspan.learning import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHAPE = 3
"""The version of the JSON; results of another version are made again."""


QUICK_NOTE = "Made with --quick, from a few sentences: it shows that everything works, but nothing about the models."


class Progress(Protocol):
    """Receives the progress of an experiment."""

    def say(self, text: str) -> None:
        """Report the current step."""

    def iteration(self, record: Record) -> None:
        """Report an iteration of training."""


class Silence:
    """Ignores all progress."""

    def say(self, text: str) -> None:
        """Do nothing."""

    def iteration(self, record: Record) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table, published or ours.

    Parameters
    ----------
    name : str
        Its name on the command line.
    title : str
        What it shows, in one line.
    table : str
        The table of the paper, or ``ours``.
    needs : tuple of str
        The splits it needs; none if it needs no data.
    run : callable
        Runs the experiment.
    plot : callable, optional
        Draws a plot from its JSON.
    trains : bool
        Whether it trains models, and therefore depends on features and resources.
    """

    name: str
    title: str
    table: str
    needs: tuple[str, ...]
    run: Callable[[Run], Result]
    plot: Callable[[Mapping[str, Any]], Figure] | None = None
    trains: bool = True


@dataclass
class Run:
    """Data, settings and what the experiments of one command share.

    Parameters
    ----------
    data : Data
    settings : Settings
    progress : Progress
    folder : path, optional
        Where parts of long experiments are stored, so that none is computed twice.
    again : bool
        Whether to ignore the stored parts.
    """

    data: Data
    settings: Settings
    progress: Progress = field(default_factory=Silence)
    folder: Path | None = None
    again: bool = False
    _parts: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Read the resources, so that a wrong file is noticed before hours of training."""
        clusters, lexicon = self.settings.clusters, self.settings.lexicon
        self._clusters = None if clusters is None else Clusters.load(clusters)
        self._lexicon = None if lexicon is None else Lexicon.load(lexicon)

    @cached_property
    def options(self) -> Options:
        """The options that all trainings share; templates whose resource is missing are removed."""
        settings, clusters, lexicon = self.settings, self._clusters, self._lexicon
        if clusters is None and settings.as_published:
            self.progress.say("Brown clusters of all text")
            clusters = as_published.clusters_of(self.data, settings)
        extractor = Extractor(settings.features, clusters, lexicon, threads=settings.threads)
        extractor.fit(self.data.largest.split("train"))
        skipped = {skipped.template for skipped in extractor.skipped}
        templates = tuple(template for template in extractor.templates if template not in skipped)
        return Options(
            TemplateSet(templates, extractor.templates.source),
            clusters,
            lexicon,
            settings.max_components,
            settings.max_iterations,
            settings.threads,
            settings.as_published,
        )

    @cached_property
    def _digest(self) -> str:
        return self.data.digest()

    def fingerprint(self, name: str) -> str:
        """Return a hash of the experiment or part, the data and the settings."""
        known = json.dumps([SHAPE, name, self.settings.as_dict(), self._digest], sort_keys=True)
        return hashlib.blake2b(known.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def part(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return a part of an experiment: loaded if it was stored before, else computed and stored."""
        key = self.fingerprint(name)
        if key not in self._parts:
            file = None if self.folder is None else self.folder / "parts" / f"{key}.json"
            kept = None if file is None or self.again else _read(file)
            if kept is None:
                self.progress.say(name)
                kept = {"part": name, **make()}
                if file is not None:
                    _write(file, kept)
            self._parts[key] = kept
        return self._parts[key]

    def result_of(self, experiment: Experiment, command: str) -> tuple[dict[str, Any], bool]:
        """Return the document about an experiment, and whether it existed already."""
        fingerprint = self.fingerprint(experiment.name)
        file = None if self.folder is None else self.folder / f"{experiment.name}.json"
        if file is not None and not self.again:
            kept = _read(file)
            if kept is not None and kept.get("fingerprint") == fingerprint:
                return kept, True
        for split in experiment.needs:
            for dataset in self.data.datasets:
                dataset.split(split)
        begin = time.perf_counter()
        result = experiment.run(self)
        if not experiment.needs or all(dataset.paper for dataset in self.data.datasets):
            result = with_differences(result)
        if self.settings.quick and experiment.needs:
            result = replace(result, notes=(*result.notes, QUICK_NOTE))
        if self.settings.as_published and experiment.needs:
            told = (
                as_published.notes(self.data, self.settings, self.options.clusters)
                if experiment.trains
                else [as_published.TEXT]
            )
            result = replace(result, notes=(*result.notes, *told))
        document = {
            "experiment": experiment.name,
            "title": experiment.title,
            "table": experiment.table,
            "command": command,
            "data": self.data.as_dict() if experiment.needs else {},
            "settings": self.settings.as_dict(),
            **result.as_dict(),
            "environment": {**environment(), "seconds": round(time.perf_counter() - begin, 1)},
            "fingerprint": fingerprint,
        }
        return document, False


def _read(file: Path) -> dict[str, Any] | None:
    """Return the content of a result file, None if it is missing or not a result file."""
    try:
        kept = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(file: Path, document: Mapping[str, Any]) -> None:
    with writing(file) as out:
        out.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))


def write_document(document: Mapping[str, Any], experiment: Experiment, folder: Path) -> list[Path]:
    """Write the page and the plot of a result, and last its JSON; returns the files.

    Raises
    ------
    MissingExtraError
        If there is a plot to draw, but no matplotlib. The other files are written nevertheless.
    """
    from hyperspan.experiments.plotting import svg_of
    from hyperspan.experiments.table import page_of

    if folder.is_file():
        raise UsageError(f"{folder} is a file; expected the name of a folder to write results into")
    page, plot, data = (folder / f"{experiment.name}{suffix}" for suffix in (".md", ".svg", ".json"))
    with writing(page) as out:
        out.write(page_of(document).encode("utf-8", "backslashreplace"))
    _write(data, document)
    if experiment.plot is None:
        return [page, data]
    with writing(plot) as out:
        out.write(svg_of(experiment.plot, document))
    return [page, plot, data]

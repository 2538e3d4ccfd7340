"""Compare this checkout with another in speed and memory, in alternating rounds in one run.

Each has its own interpreter, ``.venv/bin/python``. A measurement runs a script of `measured` or a command, so the other
checkout may be older. Both read the same files; the other checkout trains the models, and both load them. In each round
both run every measurement, and they take turns at going first, so that other work on the machine affects both alike.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.commands import first_commands, first_starts, run_python
from benchmarks.data import first_tokens
from benchmarks.harness import SAME, Figure, environment
from benchmarks.reporting import with_spread
from benchmarks.setting import Setting
from hyperspan import corpora
from hyperspan.diagnostics import quoted
from hyperspan.errors import UsageError
from hyperspan.features.columns import did_you_mean
from hyperspan.text import split_document

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(__file__).resolve().parent / "measured"

STRUCTURES = ("linear", "shared")
DECODERS = ("probable", "enough")

TRAINING_TOKENS = (3_000, 100_000)
TEXT_TOKENS = (2_000, 100_000)
FIRST_TOKENS = 2_000
"""The numbers of tokens for training and prediction, at quick and full size, and for a user's first ``train``."""

ITERATIONS = (10, 30)
"""The iterations of a short and a long training; their difference gives the time of an iteration."""

WORSE = 0.05
"""A figure that is worse by more than this share is marked."""

MORE_IS_BETTER = ("tokens a second",)
"""The units where more is better."""

Values = dict[str, float]
"""Measured values by unit."""

Results = dict[str, float | str]
"""Results that must be the same in both checkouts."""


@dataclass(frozen=True)
class Checkout:
    """A checkout with an interpreter that has its package installed.

    Use `at`, which checks this.
    """

    path: Path
    python: str
    about: Mapping[str, Any]

    @classmethod
    def at(cls, path: Path) -> Checkout:
        """Return the checkout in a folder.

        Raises
        ------
        UsageError
            If it has no interpreter, or one with the package of another folder.
        """
        root = path.resolve()
        python = root / ".venv" / "bin" / "python"
        if not python.exists():
            raise UsageError(f"{path}: there is no '.venv/bin/python'; expected a checkout in which 'make test' works")
        version = json.loads(run_python(str(SCRIPTS / "version.py"), python=str(python))[0])
        if root not in Path(version["path"]).resolve().parents:
            raise UsageError(
                f"{path}: its interpreter has hyperspan from {quoted(version['path'])}; expected that of the checkout. "
                "Install it there with: .venv/bin/python -m pip install -e ."
            )
        about = {"commit": _git(root, "rev-parse", "HEAD"), "changed": bool(_git(root, "status", "--porcelain"))}
        return cls(root, str(python), {**about, "versions": version["versions"]})

    def ask(self, script: str, request: Mapping[str, Any]) -> Answer:
        """Run a script of `measured`.

        Raises
        ------
        Disagreement
            If it fails.
        """
        printed, _ = run_python(str(SCRIPTS / f"{script}.py"), python=self.python, text=json.dumps(request))
        found = json.loads(printed)
        return Answer({"": found["values"]}, found["results"])


@dataclass(frozen=True)
class Answer:
    """The output of one checkout in one round: values by state (such as a cold cache) and unit, and results."""

    values: Mapping[str, Values]
    results: Results = field(default_factory=dict)


@dataclass(frozen=True)
class Files:
    """The files that both checkouts work on."""

    folder: Path
    setting: Setting
    trainer: Checkout
    """The checkout that trains the models."""

    request: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        """Write the corpora, and put their paths into the request."""
        setting, folder = self.setting, self.folder
        sentences = first_tokens(setting.data.sentences, setting.pick(*TRAINING_TOKENS))
        texts = setting.data.texts(setting.pick(*TEXT_TOKENS))
        corpora.write(sentences, folder / "train.jsonl")
        corpora.write(texts, folder / "texts.jsonl")
        corpora.write(first_tokens(sentences, FIRST_TOKENS), self.first_corpus)
        self.request.update(
            corpus=str(folder / "train.jsonl"),
            texts=str(folder / "texts.jsonl"),
            n_tokens=sum(len(sentence) for text in texts for sentence in split_document(text)),
            short=ITERATIONS[0],
            long=ITERATIONS[1],
            passes=setting.pick(2, 5),
            threads=setting.threads,
        )

    @property
    def first_corpus(self) -> Path:
        """A small corpus."""
        return self.folder / "first.jsonl"

    def model(self, structure: str) -> Path:
        """Return a model, which is trained on the first call."""
        path = self.folder / f"{structure}.model"
        if not path.exists():
            self.setting.say(f"training {structure} in {self.trainer.path.name}")
            self.trainer.ask("training", {**self.request, "structure": structure, "model": str(path)})
        return path


Ask = Callable[[Checkout], Answer]


def iteration(files: Files) -> dict[str, Ask]:
    """Return the measurement of a training iteration."""
    return {name: _asking("iteration", {**files.request, "structure": name}) for name in STRUCTURES}


def prediction(files: Files) -> dict[str, Ask]:
    """Return the measurement of prediction, from text to mentions."""
    return {
        f"{name}, {decode}": _asking("prediction", {**files.request, "model": str(files.model(name)), "decode": decode})
        for name in STRUCTURES
        for decode in DECODERS
    }


def loading(files: Files) -> dict[str, Ask]:
    """Return the measurement of loading a model."""
    return {name: _asking("loading", {**files.request, "model": str(files.model(name))}) for name in STRUCTURES}


def memory(files: Files) -> dict[str, Ask]:
    """Return the measurement of the peak memory of training."""
    return {name: _asking("memory", {**files.request, "structure": name}) for name in STRUCTURES}


def start(files: Files) -> dict[str, Ask]:
    """Return the measurement of a user's first commands, with a cold and then a warm cache of compiled code."""
    commands = first_commands(files.model("shared"), files.first_corpus, files.setting.threads)
    return {f"first {name}": partial(_starts, {name: arguments}) for name, arguments in commands.items()}


def _asking(script: str, request: Mapping[str, Any]) -> Ask:
    return lambda checkout: checkout.ask(script, request)


def _starts(commands: Mapping[str, Sequence[str]], checkout: Checkout) -> Answer:
    (found,) = first_starts(commands, checkout.python).values()
    return Answer(
        {f"{state} cache": {"seconds": usage.wall, "CPU seconds": usage.cpu} for state, usage in found.items()}
    )


@dataclass(frozen=True)
class Measure:
    """A measurement: its variants, and their numbers of rounds at quick and full size."""

    variants: Callable[[Files], dict[str, Ask]]
    rounds: tuple[int, int] = (2, 7)


MEASURES = {
    "iteration": Measure(iteration),
    "prediction": Measure(prediction),
    "loading": Measure(loading),
    "memory": Measure(memory, (1, 3)),
    "start": Measure(start, (1, 3)),
}
"""The measurements by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One figure of both checkouts.

    Examples
    --------
    >>> pair = Pair(measure="iteration", name="linear", unit="seconds", new=Figure(1.2, 1, 2), old=Figure(1.0, 1, 1))
    >>> pair.ratio, pair.is_worse
    (1.2, True)
    """

    measure: str
    name: str
    unit: str
    new: Figure
    old: Figure

    @property
    def ratio(self) -> float | None:
        """The new median divided by the old one; None if the old one is 0."""
        return self.new.median / self.old.median if self.old.median else None

    @property
    def is_worse(self) -> bool:
        """Whether the new figure is worse by more than `WORSE`: a lower rate, or a longer time."""
        ratio = self.ratio
        if ratio is None:
            return False
        return ratio < 1.0 - WORSE if self.unit in MORE_IS_BETTER else ratio > 1.0 / (1.0 - WORSE)

    def as_dict(self) -> dict[str, Any]:
        """Return the pair as plain data."""
        return {
            "measure": self.measure,
            "name": self.name,
            "unit": self.unit,
            "new_median": self.new.median,
            "new_spread": [self.new.least, self.new.most],
            "old_median": self.old.median,
            "old_spread": [self.old.least, self.old.most],
            "ratio": self.ratio,
            "more_is_better": self.unit in MORE_IS_BETTER,
            "worse": self.is_worse,
        }


@dataclass(frozen=True)
class Comparison:
    """The measurements of two checkouts."""

    new: Checkout
    old: Checkout
    threads: int
    pairs: list[Pair]
    differences: list[str]

    @property
    def agrees(self) -> bool:
        """Whether both have the same results."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, with the environment."""
        return {
            "env": environment(self.threads),
            "checkouts": {"new": dict(self.new.about), "old": dict(self.old.about)},
            "differences": self.differences,
            "rows": [pair.as_dict() for pair in self.pairs],
        }


def compare(setting: Setting, old: Checkout, only: Sequence[str] = ()) -> Comparison:
    """Measure this checkout and another one.

    Parameters
    ----------
    setting : Setting
    old : Checkout
        The other checkout; it may be older.
    only : sequence of str
        Names from `MEASURES`; all by default.

    Raises
    ------
    UsageError
        If there is no such measurement.
    Disagreement
        If a measurement fails.
    """
    for name in only:
        if name not in MEASURES:
            raise UsageError(
                f"there is no measurement {quoted(name)}{did_you_mean(name, MEASURES)} "
                f"Expected some of {', '.join(MEASURES)}"
            )
    new = Checkout.at(ROOT)
    with TemporaryDirectory() as folder:
        files = Files(Path(folder), setting, old)
        files.prepare()
        chosen = {name: MEASURES[name] for name in dict.fromkeys(only or MEASURES)}
        rounds = {name: setting.pick(*measure.rounds) for name, measure in chosen.items()}
        variants = {name: measure.variants(files) for name, measure in chosen.items()}
        answers = _in_turns(setting, variants, rounds, new, old)
    pairs: list[Pair] = []
    differences: list[str] = []
    for (measure, name), (of_new, of_old) in answers.items():
        pairs += pairs_of(measure, name, of_new, of_old)
        differences += differences_between(f"{measure}, {name}", of_new[0].results, of_old[0].results)
    return Comparison(new, old, setting.threads, pairs, differences)


Answers = dict[tuple[str, str], tuple[list[Answer], list[Answer]]]


def _in_turns(
    setting: Setting,
    variants: Mapping[str, Mapping[str, Ask]],
    rounds: Mapping[str, int],
    new: Checkout,
    old: Checkout,
) -> Answers:
    """Run both checkouts in alternating rounds."""
    answers: Answers = {}
    for turn in range(max(rounds.values())):
        for measure, asks in variants.items():
            if turn >= rounds[measure]:
                continue
            for name, ask in asks.items():
                setting.say(f"round {turn + 1} of {rounds[measure]}: {measure}, {name}")
                of_new, of_old = answers.setdefault((measure, name), ([], []))
                turns = [(new, of_new), (old, of_old)]
                for checkout, found in turns if turn % 2 else reversed(turns):
                    found.append(ask(checkout))
    return answers


def pairs_of(measure: str, name: str, of_new: Sequence[Answer], of_old: Sequence[Answer]) -> Iterator[Pair]:
    """Yield the figures of both checkouts over all rounds, for each state and unit."""
    for state, values in of_new[0].values.items():
        for unit in values:
            yield Pair(
                measure=measure,
                name=", ".join(filter(None, (name, state))),
                unit=unit,
                new=Figure.of(answer.values[state][unit] for answer in of_new),
                old=Figure.of(answer.values[state][unit] for answer in of_old),
            )


def differences_between(where: str, new: Results, old: Results) -> list[str]:
    """Describe the results that differ; numbers differ if they are apart by more than the share `SAME`.

    Examples
    --------
    >>> differences_between("shared", {"objective": 1.0, "mentions": "a"}, {"objective": 1.1, "mentions": "a"})
    ['shared: the objective is 1.0 here and 1.1 there']
    """
    return [
        f"{where}: the {name} is {value} here and {old[name]} there"
        for name, value in new.items()
        if not _is_same(value, old[name])
    ]


def _is_same(one: float | str, other: float | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) <= SAME * max(1.0, abs(other))


def show(comparison: Comparison) -> None:
    """Print both medians with their spread, and the ratio new/old, grouped by measurement and unit."""
    pairs = sorted(comparison.pairs, key=lambda pair: ([*MEASURES].index(pair.measure), pair.unit))
    width = max((len(pair.name) for pair in pairs), default=0)
    head = None
    for pair in pairs:
        if head != (head := (pair.measure, pair.unit)):
            print(f"{pair.measure}: {pair.unit}" + (", more is better" if pair.unit in MORE_IS_BETTER else ""))
        ratio = "no ratio" if pair.ratio is None else f"ratio {pair.ratio:.3f}"
        worse = ", WORSE" if pair.is_worse else ""
        print(f"  {pair.name:<{width}}  new {with_spread(pair.new)}; old {with_spread(pair.old)}; {ratio}{worse}")
    for difference in comparison.differences:
        print(f"different results: {difference}")


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git for a folder, None if there is none."""
    try:
        git = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return git.stdout.strip() or None

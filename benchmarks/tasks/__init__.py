"""The list of tasks, and how to run them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from benchmarks.harness import Disagreement, Row
from benchmarks.setting import Setting
from hyperspan.diagnostics import quoted
from hyperspan.errors import UsageError
from hyperspan.features.columns import did_you_mean

TASKS = {
    "features": "feature extraction, beside the same features as Python strings",
    "iteration": "one training iteration of linear, shared and split, beside CRFsuite",
    "training": "the training of a chain to the same objective, beside CRFsuite",
    "prediction": "from raw text to mentions, beside sklearn-crfsuite with feature dictionaries",
    "rescoring": "from raw text to mentions with a second look at whole mentions, beside without",
    "loading": "loading a model, beside CRFsuite",
    "startup": "the command line from its start: --help, predict and train, with a cold and a warm cache",
    "memory": "peak memory of training and predicting, beside CRFsuite",
    "growth": "a training iteration by tokens, types, templates, parts and sentence length",
    "limit": "a training iteration beside the bytes it must move and the machine's bandwidth",
    "sweeps": "inference alone: partition functions, marginals, best and probable, beside torch-struct and CRFsuite",
    "segments": "segments beside shared: an evaluation, prediction and memory, by token",
    "spark": "the same texts under Spark with one and two executors, beside --workers; checks that no note is lost",
    "brown": "Brown clusters, beside brown-clustering",
    "lexicon": "building, loading and matching a lexicon",
}
"""The tasks and what they measure; each is a module with a function ``run`` that yields rows."""


def run(setting: Setting, tasks: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of some tasks, or of all.

    A task whose results differ from the peer's gives one row that says so, with ``agrees`` false.

    Raises
    ------
    UsageError
        If there is no such task.
    """
    for name in tasks:
        if name not in TASKS:
            raise UsageError(
                f"there is no task {quoted(name)}{did_you_mean(name, TASKS)} Expected one of {', '.join(TASKS)}"
            )
    for name in dict.fromkeys(tasks or TASKS):
        setting.say(f"{name}: {TASKS[name]}")
        try:
            yield from import_module(f"benchmarks.tasks.{name}").run(setting)
        except Disagreement as error:
            yield Row(
                task=name,
                data=setting.data.name,
                ours="",
                unit="",
                is_quick=setting.quick,
                agrees=False,
                note=str(error),
            )

"""CRFsuite, through python-crfsuite, on the same features, tags and weights as our chain.

Its attributes are the names of our features. Our biases of tags become an attribute that every word has. CRFsuite has
all transitions, and weights for the pairs of attribute and tag that occur, like our chain with `SEEN_ONLY`. So both
have the same weights and, at equal weights, the same likelihood; `check` verifies this.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import check_same, peer
from benchmarks.problem import L2, Done, Problem
from hyperspan.features.columns import Values
from hyperspan.features.extraction_reference import features_reference
from hyperspan.mentions import Sentence

BIAS = "bias"

_ITERATION = "***** Iteration"


def pycrfsuite() -> Any:
    """Return the package.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    return peer("pycrfsuite", "python-crfsuite", "The comparison with CRFsuite")


@dataclass(frozen=True)
class Run:
    """One training by CRFsuite.

    Attributes
    ----------
    done : list of (float, float)
        The time of each iteration, in seconds from the start (which includes the making of its features), and the
        objective then.
    processor : list of float
        The CPU time of each iteration, as CRFsuite reports it.
    """

    done: Done
    processor: list[float]


class Crfsuite:
    """CRFsuite with the data of a chain problem.

    Parameters
    ----------
    problem : Problem
        A problem with the structure ``linear``.
    sentences : sequence of Sentence
        The sentences of the problem.
    say : callable
        Receives progress messages.
    """

    def __init__(
        self, problem: Problem, sentences: Sequence[Sentence], say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.problem = problem
        say(f"CRFsuite reads {sum(map(len, sentences)):,} tokens")
        self.append_seconds = 0.0
        self.id_of: dict[str, int] = {}
        self._trainer = _trainer_class()(verbose=False)
        self._trainer.select("lbfgs")
        for names, tags in self._instances(sentences):
            begin = time.perf_counter()
            self._trainer.append(names, tags)
            self.append_seconds += time.perf_counter() - begin

    def _instances(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[list[str]], list[str]]]:
        """Yield the attributes and tags of each sentence, and store the ids of features."""
        problem = self.problem
        known: dict[str, dict[Hashable, Values]] = {}
        tags = problem.tags
        first_word, features = problem.gold.first_word, problem.features
        for number, sentence in enumerate(sentences):
            first, last = int(first_word[number]), int(first_word[number + 1])
            names = features_reference(problem.extractor.active, sentence, known=known)
            ids = features.feature[features.first_feature[first] : features.first_feature[last]].tolist()
            self.id_of.update(zip((name for of_word in names for name in of_word), ids, strict=True))
            for of_word in names:
                of_word.append(BIAS)
            yield names, [tags[label] for label in problem.gold.label[first:last].tolist()]

    def train(self, iterations: int, model: Path | None = None) -> Run:
        """Train from zero for a limited number of iterations."""
        trainer = self._trainer
        trainer.set_params({"c1": 0.0, "c2": L2, "max_iterations": iterations, "feature.possible_transitions": True})
        trainer.heard.clear()
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            trainer.train(str(model or Path(folder) / "model"))
        log = trainer.logparser.iterations
        done = [seconds - begin for seconds, message in trainer.heard if message.startswith(_ITERATION)]
        losses = [each["loss"] for each in log]
        return Run(list(zip(done, losses, strict=True)), [each["time"] for each in log])

    def check(self, iterations: int = 5) -> float:
        """Check that our objective equals CRFsuite's at the weights that it finds in a few iterations; return it.

        Raises
        ------
        Disagreement
            If they differ, or CRFsuite has more or fewer weights.
        """
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            run = self.train(iterations, model)
            check_same("the number of weights", self.problem.n_separate_weights, self.n_weights, 0.0)
            value = self.problem.value_at(self.weights_of(model))
        check_same("the objective at CRFsuite's weights", value, run.done[-1][1])
        return value

    def weights_of(self, model: Path) -> NDArray[np.float64]:
        """Return the weights of a model in the order of ours."""
        tagger = pycrfsuite().Tagger()
        tagger.open(str(model))
        try:
            return weights_of(tagger.info(), self.problem, self.id_of)
        finally:
            tagger.close()

    @property
    def n_weights(self) -> int:
        """The number of CRFsuite's weights in its last training."""
        return int(self._trainer.logparser.featgen_num_features)


def weights_of(info: Any, problem: Problem, id_of: dict[str, int]) -> NDArray[np.float64]:
    """Return the weights of a CRFsuite model in the order of ours.

    Parameters
    ----------
    info : pycrfsuite.ParsedDump
    problem : Problem
    id_of : dict
        The feature id of each attribute.
    """
    parameters = problem.parameters
    n_labels, row_of = parameters.n_labels, parameters.row_of_feature
    label_of = {tag: label for label, tag in enumerate(problem.tags)}
    weights = problem.zeros()
    for (before, after), weight in info.transitions.items():
        weights[n_labels + label_of[before] * n_labels + label_of[after]] = weight
    rows, labels, values = [], [], []
    for (attribute, tag), weight in info.state_features.items():
        if attribute == BIAS:
            weights[label_of[tag]] = weight
        else:
            rows.append(row_of[id_of[attribute]])
            labels.append(label_of[tag])
            values.append(weight)
    owner = np.repeat(np.arange(parameters.n_rows), np.diff(parameters.first_pair))
    ours = owner * n_labels + parameters.pair_label
    theirs = np.array(rows, dtype=np.int64) * n_labels + np.array(labels, dtype=np.int64)
    order = np.argsort(ours, kind="stable")
    first = n_labels + parameters.n_transitions
    weights[first + order[np.searchsorted(ours, theirs, sorter=order)]] = values
    return weights


def _trainer_class() -> Any:
    """Return a trainer of CRFsuite that records the time of each message."""
    base = pycrfsuite().Trainer

    class Trainer(base):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.heard: list[tuple[float, str]] = []

        def message(self, message: str) -> None:
            now = time.perf_counter()
            super().message(message)
            self.heard.append((now, message))

    return Trainer

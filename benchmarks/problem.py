"""A training problem made from sentences: features, gold, weights and objective."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import Extractor, FeatureBlock, TemplateSet
from hyperspan.inference import BatchDistribution, Gold, distribution_class, encode_gold
from hyperspan.learning import Objective, State, choose_parameters, minimise
from hyperspan.learning.parameters import FREQUENT
from hyperspan.mentions import Sentence
from hyperspan.scoring.parameters import Parameters
from hyperspan.structures import Structure, structure

L2 = 1.0
"""The penalty of the recognizer's defaults."""

Done = list[tuple[float, float]]
"""The time of each iteration, and the objective then."""

SEEN_ONLY = 2**62
"""The frequency from which a feature has weights for unseen labels: never, as in CRFsuite."""

LEFT_OUT = ("bias", "pos", "lemma", "note", "section", "clusters", "lexicon")
"""Groups of templates that are not used: labels have a bias anyway, and few corpora have what the others need."""


def templates() -> TemplateSet:
    """Return the default templates that need only words."""
    return TemplateSet.load("default").without(*LEFT_OUT)


@dataclass(frozen=True)
class Problem:
    """The input of a training iteration."""

    structure: Structure
    extractor: Extractor
    features: FeatureBlock
    gold: Gold
    parameters: Parameters

    @property
    def n_features(self) -> int:
        """The number of distinct features."""
        assert self.extractor.index_ is not None
        return len(self.extractor.index_)

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.parameters.n_weights

    @property
    def n_separate_weights(self) -> int:
        """The number of weights if duplicate features did not share theirs."""
        parameters = self.parameters
        n_pairs = np.diff(parameters.first_pair)[parameters.row_of_feature].sum()
        return parameters.n_labels + parameters.n_transitions + int(n_pairs)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of a chain."""
        return tuple(map(self.structure.label_name, range(self.structure.n_labels)))

    @property
    def distribution(self) -> type[BatchDistribution[Any]]:
        """The distribution of the likelihood."""
        return distribution_class(self.structure)

    def value_at(self, weights: NDArray[np.float64], threads: int = 2) -> float:
        """Return the objective at the weights of a model."""
        objective = self.objective(threads)
        value, _ = objective(objective.of_model(weights))
        return float(value)

    def objective(self, threads: int) -> Objective:
        """Return the function to minimise."""
        return Objective(
            self.structure,
            self.features,
            self.gold,
            self.parameters,
            self.distribution,
            group_key=self.extractor.group_key_,
            l2=L2,
            n_threads=threads,
        )

    def zeros(self) -> NDArray[np.float64]:
        """Return initial weights."""
        return np.zeros(self.n_weights)


def problem(
    sentences: Sequence[Sentence],
    name: str,
    max_components: int = 3,
    *,
    extractor: Extractor | None = None,
    features: FeatureBlock | None = None,
    frequent: int = FREQUENT,
    threads: int = 2,
) -> Problem:
    """Make a problem from sentences for a structure.

    Parameters
    ----------
    sentences : sequence of Sentence
    name : str
        The name of the structure.
    max_components : int
    extractor, features : Extractor and FeatureBlock, optional
        Those of the sentences, if they exist already.
    frequent : int
        The frequency from which a feature has weights for all labels.
    threads : int

    Examples
    --------
    >>> from benchmarks.data import EVERY_TAG
    >>> made = problem([EVERY_TAG], "linear", frequent=SEEN_ONLY)
    >>> made.n_weights == made.parameters.n_labels * 8 + len(made.parameters.pair_label)
    True
    """
    if extractor is None or features is None:
        extractor = Extractor(templates(), threads=threads)
        features = extractor.fit_transform(sentences)
    types = sorted({mention.type for sentence in sentences for mention in sentence.mentions})
    made = structure(name, types, max_components)
    gold = encode_gold(distribution_class(made), made, sentences)
    assert extractor.index_ is not None
    parameters = choose_parameters(made, features, gold, len(extractor.index_), frequent=frequent)
    return Problem(made, extractor, features, gold, parameters)


def search(
    objective: Objective, n_weights: int, iterations: int, clock: Callable[[], float] = time.perf_counter
) -> Done:
    """Train from zero; return the time of each iteration, in seconds from the start, and the objective then."""
    done = []
    begin = clock()
    for state in minimise(objective, State(np.zeros(n_weights)), max_iterations=iterations):
        done.append((clock() - begin, state.value))
    return done


def per_iteration(done: Done) -> float:
    """Return the median time between iterations.

    Examples
    --------
    >>> per_iteration([(5.0, 9.0), (6.0, 8.0), (7.0, 7.0)])
    1.0
    """
    return float(np.median(np.diff([seconds for seconds, _ in done])))

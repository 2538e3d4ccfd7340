"""What was learned, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import Extractor, FeatureBlock
from hyperspan.inference import Distribution, Over, distribution
from hyperspan.learning import Parameters, Scorer
from hyperspan.mentions import Sentence, Unit
from hyperspan.structures import Hypergraph, Linear

BATCH_WORDS = 4_096
"""About how many words are worked on at a time: it bounds memory, and nothing else depends on it."""

AnyUnit = TypeVar("AnyUnit", bound=Unit)


@dataclass(frozen=True)
class Model:
    """What was learned: all it takes to find mentions in sentences that have been annotated.

    Attributes
    ----------
    structure : Hypergraph or Linear
        How mentions are written as edges or tags.
    over : {"encodings", "mention-sets", "published"}
        What probabilities are over.
    extractor : Extractor
        From sentences to features.
    parameters : Parameters
        Which weights there are.
    weights : float64 array of shape (parameters.n_weights,)
    names : dict of int to str
        The readable names of the strongest features, by id.
    """

    structure: Hypergraph | Linear
    over: Over
    extractor: Extractor
    parameters: Parameters
    weights: NDArray[np.float64]
    names: dict[int, str] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """How many features the model knows."""
        index = self.extractor.index_
        return 0 if index is None else len(index)

    @property
    def transitions(self) -> NDArray[np.float64]:
        """The scores of tags after one another, of shape (n_tags, n_tags); only ``linear`` has them."""
        first = self.parameters.n_labels
        return self.weights[first : first + self.parameters.n_transitions].reshape(-1, first)

    def scores(self, block: FeatureBlock) -> NDArray[np.float64]:
        """Return the scores of every label at every word, of shape (n_words, n_labels)."""
        return self._scorer.scores(block)

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer.of(self.structure, self.parameters, self.weights)

    def distributions(self, sentences: Iterable[Sentence]) -> Iterator[Distribution]:
        """Yield the distribution over the outcomes of each sentence, in batches that bound memory."""
        for batch in batches(sentences):
            yield from self.distributions_of(self.extractor.transform(batch))

    def distributions_of(self, block: FeatureBlock) -> Iterator[Distribution]:
        """Yield the distribution over the outcomes of each sentence, given the features of all of them."""
        scores = self.scores(block)
        for number in range(block.n_sentences):
            yield self._distribution(scores[block.first_token[number] : block.first_token[number + 1]])

    def _distribution(self, scores: NDArray[np.float64]) -> Distribution:
        if isinstance(self.structure, Linear):
            return distribution(self.structure, scores, transitions=self.transitions)
        return distribution(self.structure, scores, over=self.over)


@dataclass(frozen=True)
class Training:
    """How a model came about.

    Attributes
    ----------
    l2 : float
        The penalty on weights: the one given, or the best of those tried.
    threshold : float
        As probable as a mention must be.
    threshold_curve : list of dict
        Precision, recall and F1 by threshold, if it was tuned: ``ThresholdCurve.rows``.
    n_iterations : int
        Of the optimiser, over all penalties tried.
    log : list of dict
        Every iteration.
    dev_scores : dict
        On the development data; empty without any.
    left_out : int
        How many training mentions the structure cannot write.
    annotator : dict
        What gave parts of speech and lemmas: the annotator's record.
    """

    l2: float
    threshold: float
    n_iterations: int
    log: list[dict[str, Any]]
    dev_scores: dict[str, Any]
    left_out: int
    annotator: dict[str, Any]
    threshold_curve: list[dict[str, Any]] = field(default_factory=list)


def batches(units: Iterable[AnyUnit], n_words: int | None = None) -> Iterator[list[AnyUnit]]:
    """Cut units into lists of about so many words, `BATCH_WORDS` if not given, counting six characters as one."""
    wanted = BATCH_WORDS if n_words is None else n_words
    batch: list[AnyUnit] = []
    n_here = 0
    for unit in units:
        batch.append(unit)
        n_here += 1 + (len(unit.tokens) if isinstance(unit, Sentence) else len(unit.text) // 6)
        if n_here >= wanted:
            yield batch
            batch, n_here = [], 0
    if batch:
        yield batch

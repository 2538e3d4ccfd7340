"""The optimisation problem of linear weights: training features, the objective, and the resulting scorer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import Extractor, FeatureBlock
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, encode_gold
from hyperspan.learning import Objective, SegmentObjective, choose_parameters, choose_segment_parameters, first_weights
from hyperspan.mentions import Sentence
from hyperspan.recognizer.settings import Settings
from hyperspan.scoring import LinearScorer, Scorer, SegmentParameters, SegmentScorer
from hyperspan.structures import Segments, Structure
from hyperspan.structures.segments import GAP, PART

Blocks = tuple[FeatureBlock, ...]
"""The features of sentences, one block for each kind of features."""


class Problem(Protocol):
    """A search for linear weights."""

    @property
    def gold(self) -> Gold:
        """The edges of the training mentions."""

    @property
    def blocks(self) -> Blocks:
        """The features of the training data."""

    @property
    def objective(self) -> Any:
        """The function to minimise: an `Objective` or a similar object."""

    @property
    def prior(self) -> NDArray[np.float64] | None:
        """The prior of a search, if it was computed from the gold data: a checkpoint resumes the same one only."""

    def first_weights(self) -> NDArray[np.float64]:
        """Return the initial weights, unless they are to be zero."""

    def scorer(self, weights: NDArray[np.float64]) -> Scorer:
        """Return the scorer that has the weights of a model."""

    def named(self, weights: NDArray[np.float64], train: Sequence[Sentence]) -> Scorer:
        """Return the same with the names of its strongest features."""

    def features(self, sentences: Sequence[Sentence]) -> Blocks:
        """Return the features of sentences."""

    def scores(self, weights: NDArray[np.float64], batches: Iterable[Blocks]) -> Iterator[ScoreBatch]:
        """Yield the scores of batches of sentences, given their features and the weights of a model."""


@dataclass(frozen=True)
class WordProblem:
    """Weights for the features of words."""

    extractor: Extractor
    gold: Gold
    blocks: Blocks
    objective: Objective

    prior: ClassVar[None] = None

    def first_weights(self) -> NDArray[np.float64]:
        """Return biases that make every choice as frequent as in the gold data."""
        return first_weights(self.objective.structure, self.gold, self.objective.parameters)

    def scorer(self, weights: NDArray[np.float64]) -> LinearScorer:
        """Return the scorer that has the weights of a model."""
        return LinearScorer(self.objective.structure, self.extractor, self.objective.parameters, weights)

    def named(self, weights: NDArray[np.float64], train: Sequence[Sentence]) -> LinearScorer:
        """Return the same with the names of its strongest features."""
        scorer = self.scorer(weights)
        return replace(scorer, names=scorer.names_of_strongest(train, self.blocks[0]))

    def features(self, sentences: Sequence[Sentence]) -> Blocks:
        """Return the features of sentences."""
        return (self.extractor.transform(sentences),)

    def scores(self, weights: NDArray[np.float64], batches: Iterable[Blocks]) -> Iterator[ScoreBatch]:
        """Yield the scores of batches of sentences, given their features and the weights of a model."""
        scorer = self.scorer(weights)
        return (scorer.scores_of(words) for (words,) in batches)


@dataclass(frozen=True)
class SegmentProblem:
    """Weights for the features of words and of whole spans."""

    extractors: tuple[Extractor, Extractor]
    gold: Gold
    blocks: Blocks
    objective: SegmentObjective

    @property
    def prior(self) -> NDArray[np.float64]:
        """The prior, which has the frequencies of parts and gaps."""
        return self.objective.parameters.prior

    def first_weights(self) -> NDArray[np.float64]:
        """Return zeros: the search starts from the prior."""
        return np.zeros(self.objective.parameters.n_weights)

    def scorer(self, weights: NDArray[np.float64]) -> SegmentScorer:
        """Return the scorer that has the weights of a model."""
        structure, parameters = self.objective.structure, self.objective.parameters
        borders, spans = SegmentParameters.labels_of(structure)
        bias, of_words, of_spans = parameters.split(weights)
        return SegmentScorer(
            structure,
            parameters.prior,
            bias,
            LinearScorer(borders, self.extractors[0], parameters.words, of_words),
            LinearScorer(spans, self.extractors[1], parameters.spans, of_spans),
        )

    def named(self, weights: NDArray[np.float64], train: Sequence[Sentence]) -> SegmentScorer:
        """Return the same with the names of its strongest features."""
        words, spans = self.blocks
        return self.scorer(weights).names_of_strongest(train, words, spans)

    def features(self, sentences: Sequence[Sentence]) -> Blocks:
        """Return the features of sentences."""
        return tuple(extractor.transform(sentences) for extractor in self.extractors)

    def scores(self, weights: NDArray[np.float64], batches: Iterable[Blocks]) -> Iterator[ScoreBatch]:
        """Yield the scores of batches of sentences, given their features and the weights of a model."""
        scorer = self.scorer(weights)
        return (scorer.scores_of(words, spans) for words, spans in batches)


def word_problem(
    settings: Settings, structure: Structure, distribution: type[BatchDistribution[Any]], train: Sequence[Sentence]
) -> WordProblem:
    """Make the problem for structures that label words."""
    extractor = Extractor(settings.features, settings.clusters, settings.lexicon, threads=settings.n_threads)
    block = extractor.fit_transform(train)
    gold = encode_gold(distribution, structure, train)
    parameters = choose_parameters(
        structure,
        block,
        gold,
        _size(extractor),
        frequent=settings.frequent,
        base_score=distribution.prior(structure),
    )
    objective = Objective(
        structure, block, gold, parameters, distribution, group_key=extractor.group_key_, n_threads=settings.n_threads
    )
    return WordProblem(extractor, gold, (block,), objective)


def segment_problem(
    settings: Settings, structure: Segments, distribution: type[BatchDistribution[Any]], train: Sequence[Sentence]
) -> SegmentProblem:
    """Make the problem for structures that score whole parts, gaps and ends."""
    from hyperspan.features.spans import SPAN_WORDS, SpanExtractor

    gold = encode_gold(distribution, structure, train)
    resources = (settings.features, settings.clusters, settings.lexicon)
    words, spans = (
        Extractor(*resources, threads=settings.n_threads),
        SpanExtractor(*resources, threads=settings.n_threads),
    )
    block = words.fit_transform(train)
    segment = structure.segment_of(gold.label.astype(np.int64))
    is_span = np.isin(segment.what, (PART, GAP)) & (segment.length <= SPAN_WORDS)
    first = gold.word + (segment.what == GAP)
    spans.fit_spans(train, first[is_span], segment.length[is_span])
    of_spans = spans.transform(train)
    parameters = choose_segment_parameters(
        structure, block, of_spans, gold, (_size(words), _size(spans)), frequent=settings.frequent
    )
    objective = SegmentObjective(
        structure,
        block,
        of_spans,
        gold,
        parameters,
        distribution,
        group_key=words.group_key_,
        n_threads=settings.n_threads,
    )
    return SegmentProblem((words, spans), gold, (block, of_spans), objective)


def _size(extractor: Extractor) -> int:
    return 0 if extractor.index_ is None else len(extractor.index_)


Maker = Callable[[Settings, Any, type[BatchDistribution[Any]], Sequence[Sentence]], Problem]

PROBLEMS: dict[str, Maker] = {"segments": segment_problem}
"""Makes the problem for kinds of structures that are not scored word by word."""


def problem_for(
    settings: Settings, structure: Structure, distribution: type[BatchDistribution[Any]], train: Sequence[Sentence]
) -> Problem:
    """Make the problem for training data."""
    maker: Maker = PROBLEMS.get(structure.kind, word_problem)
    return maker(settings, structure, distribution, train)

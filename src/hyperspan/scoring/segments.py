"""Linear weights for ``segments``: over features of words at borders and inside, and of whole parts and gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.features import FeatureBlock
from hyperspan.features.spans import SPAN_WORDS, SpanExtractor
from hyperspan.features.words import in_words
from hyperspan.inference import ScoreBatch
from hyperspan.mentions import Sentence
from hyperspan.schema import check_array
from hyperspan.scoring.borders import RoleLabels, border_labels, contract, expand, span_labels
from hyperspan.scoring.linear import LinearScorer, most_telling
from hyperspan.scoring.parameters import Parameters
from hyperspan.scoring.scorer import Arrays, Reason, register_scorer
from hyperspan.structures import Segments
from hyperspan.threads import run

_WORTH_THREADS = 1_000
_SPANS = "spans."


class SegmentParameters(NamedTuple):
    """The weights that exist.

    A vector of weights consists of the biases of the structure's labels, the weights of words and those of spans.

    Attributes
    ----------
    prior : float64 array of shape (n_labels,)
        Fixed scores that are added to the learned ones.
    words, spans : Parameters
    """

    prior: NDArray[np.float64]
    words: Parameters
    spans: Parameters

    @staticmethod
    def labels_of(structure: Segments) -> tuple[RoleLabels, RoleLabels]:
        """Return the labels of words and of spans."""
        return border_labels(structure), span_labels(structure)

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return len(self.prior) + self.words.n_weights + self.spans.n_weights

    def split(
        self, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Split a vector of weights into biases, the weights of words and those of spans."""
        first, second = len(self.prior), len(self.prior) + self.words.n_weights
        return weights[:first], weights[first:second], weights[second:]


@dataclass(frozen=True)
class SegmentScorer:
    """Linear weights over the features of words and of whole spans.

    Attributes
    ----------
    structure : Segments
        The structure whose labels are scored.
    prior, bias : float64 arrays of shape (n_labels,)
        The score of each label by itself: counted in the training data, and learned in addition.
    words, spans : LinearScorer
        They score words and spans, from which parts, gaps and ends get their scores (`hyperspan.scoring.borders`).
    """

    structure: Segments
    prior: NDArray[np.float64]
    bias: NDArray[np.float64]
    words: LinearScorer
    spans: LinearScorer

    @property
    def n_threads(self) -> int:
        """The number of threads; results do not depend on it."""
        return self.words.n_threads

    def use_threads(self, number: int) -> None:
        """Set the number of threads."""
        self.words.use_threads(number)
        self.spans.use_threads(number)

    @property
    def weights(self) -> NDArray[np.float64]:
        """All weights: biases, those of words, those of spans."""
        return np.concatenate([self.bias, self.words.weights, self.spans.weights])

    def of_types(self, types: slice) -> SegmentScorer:
        """Return the scorer of some consecutive types; types do not interact."""
        structure, labels = self.structure.of_types(types), self.structure.labels_of_types(types)
        borders, spans = (
            scorer.of_labels(made, slice(types.start * made.table.n_labels, types.stop * made.table.n_labels))
            for scorer, made in zip((self.words, self.spans), SegmentParameters.labels_of(structure), strict=True)
        )
        return SegmentScorer(structure, self.prior[labels], self.bias[labels], borders, spans)

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        """Return the scores of annotated sentences."""
        return self.scores_of(self.words.extractor.transform(sentences), self.spans.extractor.transform(sentences))

    def scores_of(self, words: FeatureBlock, spans: FeatureBlock) -> ScoreBatch:
        """Return the scores of sentences, given the features of their words and spans."""
        at_words, at_spans = self.words.scores_of(words), self.spans.scores_of(spans)
        n_threads = self.n_threads if words.n_tokens >= _WORTH_THREADS else 1
        batch = ScoreBatch(np.empty((words.n_tokens, self.structure.n_labels)), words.first_token)
        pieces = batch.cut(n_threads)
        first = np.cumsum([0, *(piece.n_sentences for piece in pieces)])
        bias, labels = self.prior + self.bias, self._labels

        def work(number: int) -> None:
            piece, (begin, end) = pieces[number], first[number : number + 2]
            of_words, of_spans = at_words.sentences(begin, end).scores, at_spans.sentences(begin, end).scores
            expand(*labels, bias, of_words, of_spans, piece.first_word, piece.scores)

        run(n_threads, work, n_threads)
        return batch

    @property
    def _labels(self) -> tuple[RoleLabels, RoleLabels]:
        return SegmentParameters.labels_of(self.structure)

    def describe(self) -> dict[str, Any]:
        """Return the sizes and the templates, as plain data."""
        words, spans = self.words.describe(), self.spans.describe()
        return {
            "features": words["features"] + spans["features"],
            "weights": self.structure.n_labels + words["weights"] + spans["weights"],
            "templates": words["templates"] + spans["templates"],
            "skipped_templates": words["skipped_templates"] + spans["skipped_templates"],
            **self.structure.sizes,
        }

    # Why

    def explain(self, sentence: Sentence, moved: NDArray[np.float64], top: int) -> list[Reason]:
        """Return the features with the largest contributions: those of words, and those of whole parts and gaps."""
        borders, spans = self._labels
        at_words = np.empty((len(sentence), borders.n_labels))
        at_spans = np.empty((SPAN_WORDS * len(sentence), spans.n_labels))
        contract(borders, spans, moved, np.array([0, len(sentence)]), at_words, at_spans)
        reasons = self.words.reasons(sentence, at_words)
        for reason in self.spans.reasons(sentence, at_spans):
            word, length = divmod(reason.word, SPAN_WORDS)
            others = " ".join(sentence.tokens[word + 1 : word + length + 1])
            together = f"with ‘{others}’ as a whole" if others else "as a whole"
            reasons.append(replace(reason, word=word, in_words=f"{together}: {in_words(reason.feature)}"))
        return most_telling(reasons, top)

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        """Return the features with the greatest weights for each label of words, and then of spans."""
        known = list(sentences)
        return {**self.words.strongest(known, top), **self.spans.strongest(known, top)}

    def names_of_strongest(
        self, sentences: Sequence[Sentence], words: FeatureBlock, spans: FeatureBlock
    ) -> SegmentScorer:
        """Return the scorer with the names of the strongest features, from sentences and their features."""
        named = replace(self.words, names=self.words.names_of_strongest(sentences, words))
        return replace(
            self, words=named, spans=replace(self.spans, names=self.spans.names_of_strongest(sentences, spans))
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of words that templates use and the training data had."""
        return tuple(dict.fromkeys((*self.words.columns, *self.spans.columns)))

    # Serialization

    def settings(self) -> dict[str, Any]:
        """Return templates, clusters and lexicon."""
        return self.words.settings()

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as plain data and arrays; the names of those for spans begin with ``spans``."""
        data, arrays = self.words.state()
        of_spans, span_arrays = self.spans.state()
        names = {f"{_SPANS}{feature}": name for feature, name in of_spans.pop("feature_names").items()}
        data = {**data, "feature_names": {**data["feature_names"], **names}, "spans": of_spans}
        kept = {name: array for name, array in span_arrays.items() if name not in arrays or _is_own(name)}
        own = {"prior": self.prior, "bias": self.bias}
        return data, {**arrays, **own, **{_SPANS + name: array for name, array in kept.items()}}

    @classmethod
    def from_state(cls, structure: Any, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int) -> SegmentScorer:
        """Restore a scorer from its state."""
        borders, spans = SegmentParameters.labels_of(structure)
        names = dict(data.get("feature_names", {}))
        span_names = {name.removeprefix(_SPANS): names.pop(name) for name in list(names) if name.startswith(_SPANS)}
        own = {name: array for name, array in arrays.items() if not name.startswith(_SPANS)}
        of_spans = {name.removeprefix(_SPANS): array for name, array in arrays.items() if name.startswith(_SPANS)}
        words = LinearScorer.from_state(borders, {**data, "feature_names": names}, own, n_threads=n_threads)
        made = cls(
            structure,
            check_array(arrays, "prior", np.float64, (structure.n_labels,)),
            check_array(arrays, "bias", np.float64, (structure.n_labels,)),
            words,
            LinearScorer.from_state(
                spans,
                {**data["spans"], "feature_names": span_names},
                {**own, **of_spans},
                n_threads=n_threads,
                extractor_class=SpanExtractor,
            ),
        )
        if not np.all(np.isfinite(made.prior + made.bias)):
            raise ModelError("it has weights that are not numbers; train again, with a higher l2")
        return made


def _is_own(name: str) -> bool:
    """Return whether an array belongs to spans alone: clusters and lexicon are shared with words."""
    return not name.startswith("features.") or name == "features.feature_hash"


register_scorer("linear", SegmentScorer, kind="segments")

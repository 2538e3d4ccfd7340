"""Linear weights over features: the score of an edge at a word is the sum of the weights of the word's features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.features import Extractor, FeatureBlock, TemplateSet
from hyperspan.features.templates import NAMED as NAMED_TEMPLATES
from hyperspan.features.words import in_words, is_bias
from hyperspan.inference import ScoreBatch
from hyperspan.mentions import Sentence
from hyperspan.schema import Count, check_array, check_texts, fitted
from hyperspan.scoring.parameters import Parameters, check_parameters, first_of_rows
from hyperspan.scoring.scorer import Arrays, Reason, register_scorer
from hyperspan.scoring.weight_table import WeightTable
from hyperspan.structures.structure import Labels
from hyperspan.threads import run

NAMED = 20
"""How many of the strongest features of each label are stored with their names in a model."""

_WORTH_THREADS = 1_000
_FEATURES = "features."


@dataclass(frozen=True)
class LinearScorer:
    """Linear weights over the features of words.

    Attributes
    ----------
    structure : Labels
        The structure whose labels have the weights.
    extractor : Extractor
        Extracts the features of sentences.
    parameters : Parameters
        Which weights there are.
    weights : float64 array of shape (parameters.n_weights,)
    names : dict of int to str
        The readable names of the strongest features, by id.
    """

    structure: Labels
    extractor: Extractor
    parameters: Parameters
    weights: NDArray[np.float64]
    names: dict[int, str] = field(default_factory=dict)

    @property
    def n_threads(self) -> int:
        """How many threads it may use; results do not depend on it."""
        return self.extractor.threads

    def use_threads(self, number: int) -> None:
        """Set the number of threads."""
        self.extractor.threads = number

    @property
    def n_features(self) -> int:
        """How many features it knows."""
        return 0 if self.extractor.index_ is None else len(self.extractor.index_)

    def of_labels(self, structure: Labels, labels: slice) -> LinearScorer:
        """Return what scores some labels, one after another, that are all labels of a smaller structure."""
        return LinearScorer(structure, self.extractor, *self.parameters.of_labels(labels, self.weights))

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        """Return the scores of annotated sentences."""
        return self.scores_of(self.extractor.transform(sentences))

    def scores_of(self, block: FeatureBlock) -> ScoreBatch:
        """Return the scores of sentences, given their features."""
        n_threads = self.n_threads if block.n_tokens >= _WORTH_THREADS else 1
        scores, pieces = np.empty((block.n_tokens, self.parameters.n_labels)), block.cut(n_threads)
        first = np.cumsum([0, *(piece.n_tokens for piece in pieces)])

        def work(number: int) -> None:
            self._table.add_up(pieces[number], scores[first[number] : first[number + 1]])

        run(n_threads, work, n_threads)
        return ScoreBatch(scores, block.first_token, self._transitions)

    @cached_property
    def _table(self) -> WeightTable:
        return WeightTable.of(self.structure, self.parameters, self.weights)

    @cached_property
    def _transitions(self) -> NDArray[np.float64]:
        return self.parameters.split(self.weights, self.structure.weightless_labels)[1]

    def describe(self) -> dict[str, Any]:
        """Return the sizes and the templates, as plain data."""
        return {
            "features": self.n_features,
            "weights": len(self.weights),
            "templates": [list(row) for row in self.extractor.templates.rows()],
            "skipped_templates": [skipped.template.name for skipped in self.extractor.skipped],
        }

    # Why

    def explain(self, sentence: Sentence, moved: NDArray[np.float64], top: int) -> list[Reason]:
        """Return the features with the most influence: their weights times the change in their labels' expected counts.

        Features that hold for every word, and so say nothing about these, come last, combined into one.
        """
        return most_telling(self.reasons(sentence, moved), top)

    def reasons(self, sentence: Sentence, moved: NDArray[np.float64]) -> list[Reason]:
        """Return all features with an influence on a sentence, in no particular order."""
        pair_weight = self.weights[self.parameters.n_shared :]
        found = []
        for word, name, feature in self._known_features(sentence):
            row = self.parameters.row_of_feature[feature]
            pairs = slice(self.parameters.first_pair[row], self.parameters.first_pair[row + 1])
            amount = float((pair_weight[pairs] * moved[word, self.parameters.pair_label[pairs]]).sum())
            if amount:
                found.append(Reason(word, name, amount, in_words(name, sentence.tokens, word), is_bias(name)))
        return found

    def _known_features(self, sentence: Sentence) -> list[tuple[int, str, int]]:
        """Return the features of a sentence that the scorer knows: word, name and id."""
        index = self.extractor.index_
        assert index is not None
        (block,) = self.extractor.hash_blocks([sentence])
        names = [(word, name) for word, texts in enumerate(self.extractor.describe(sentence)) for name in texts]
        ids = index.ids_of(block.hash).tolist()
        return [(word, name, feature) for (word, name), feature in zip(names, ids, strict=True) if feature >= 0]

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        """Return the features with the greatest weights for each label, by name if known and otherwise by hash.

        Features that occur in the given sentences have names, and so have the strongest of the model. Duplicate
        features have the same weights: one represents all of them.
        """
        names = {**self.names, **self.extractor.names(sentences).names}
        hashes = self.extractor.to_state()[1]["feature_hash"]
        weights = self.weights[self.parameters.n_shared :]
        row_of_feature, n_rows = self.parameters.row_of_feature, self.parameters.n_rows
        first_feature, n_features = first_of_rows(row_of_feature), np.bincount(row_of_feature, minlength=n_rows)
        name_of_row: dict[int, str] = {}
        for feature in sorted(names):
            name_of_row.setdefault(int(row_of_feature[feature]), names[feature])
        strongest: dict[str, list[dict[str, Any]]] = {}
        for label, pairs in self._strongest_pairs(top):
            rows = self._rows_of_pairs[pairs].tolist()
            strongest[self.structure.label_name(label)] = [
                {
                    "feature": name_of_row.get(row) or f"#{hashes[first_feature[row]]:016x}",
                    "twins": int(n_features[row]) - 1,
                    "weight": float(weights[pair]),
                }
                for row, pair in zip(rows, pairs.tolist(), strict=True)
            ]
        return strongest

    def names_of_strongest(self, sentences: Sequence[Sentence], block: FeatureBlock) -> dict[int, str]:
        """Return the names of the strongest features for each label, by id, given sentences and their features.

        Each is looked up in only one sentence, since making names is slow.
        """
        pairs = np.concatenate([np.empty(0, dtype=np.int64), *(pairs for _, pairs in self._strongest_pairs(NAMED))])
        wanted = np.zeros(self.n_features, dtype=np.bool_)
        wanted[first_of_rows(self.parameters.row_of_feature)[self._rows_of_pairs[pairs]]] = True
        places = np.flatnonzero(wanted[block.feature])
        features, first = np.unique(block.feature[places], return_index=True)
        tokens = np.searchsorted(block.first_feature, places[first], side="right") - 1
        chosen = np.unique(np.searchsorted(block.first_token, tokens, side="right") - 1)
        names = self.extractor.names(sentences[number] for number in chosen.tolist()).names
        return {feature: names[feature] for feature in features.tolist() if feature in names}

    @cached_property
    def _rows_of_pairs(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.parameters.n_rows), np.diff(self.parameters.first_pair))

    def _strongest_pairs(self, top: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield each label with the indices of its greatest weights among the pairs."""
        strength = np.abs(self.weights[self.parameters.n_shared :])
        for label in self.parameters.dense_label.tolist():
            of_label = np.flatnonzero(self.parameters.pair_label == label)
            yield label, of_label[np.argsort(-strength[of_label], kind="stable")[:top]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of words that templates use and that the training data had."""
        skipped = {skipped.template for skipped in self.extractor.skipped}
        used = (
            part.column.source
            for template in self.extractor.active
            if template not in skipped
            for part in template.parts
        )
        return tuple(dict.fromkeys(source.name for source in used if source.kind == "token"))

    # Serialization

    def settings(self) -> dict[str, Any]:
        """Return templates (by name, if that name still means the same templates), clusters and lexicon."""
        templates = self.extractor.templates
        is_ours = templates.source in NAMED_TEMPLATES and tuple(templates) == tuple(TemplateSet.load(templates.source))
        return {
            "features": templates.source if is_ours else templates,
            "clusters": self.extractor.clusters,
            "lexicon": self.extractor.lexicon,
        }

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the complete state as plain data and arrays, with the names of features under ``feature_names``."""
        features, arrays = self.extractor.to_state()
        features["templates_source"] = Path(features["templates_source"]).name  # paths are private
        data = {
            "features": features,
            "feature_names": {str(feature): name for feature, name in self.names.items()},
            "n_transitions": self.parameters.n_transitions,
        }
        weights: dict[str, NDArray[Any]] = {
            "weights": self.weights,
            "row_of_feature": self.parameters.row_of_feature,
            "first_pair": self.parameters.first_pair,
            "pair_label": self.parameters.pair_label,
            "dense_label": self.parameters.dense_label,
            "base_score": self.parameters.base_score,
        }
        return data, weights | {_FEATURES + name: array for name, array in arrays.items()}

    @classmethod
    def from_state(
        cls,
        structure: Labels,
        data: Mapping[str, Any],
        arrays: Arrays,
        *,
        n_threads: int,
        extractor_class: type[Extractor] = Extractor,
    ) -> LinearScorer:
        """Restore a scorer from its state."""
        checked: LinearState = fitted(dict(data), LinearState)
        _check_features(checked.features, arrays)
        in_features = {
            name.removeprefix(_FEATURES): array for name, array in arrays.items() if name.startswith(_FEATURES)
        }
        extractor = extractor_class.from_state(data["features"], in_features, threads=n_threads)
        one_each = np.arange(len(arrays["first_pair"]) - 1, dtype=np.int32)  # for older files without shared rows
        parameters = Parameters(
            structure.n_labels,
            data["n_transitions"],
            arrays.get("row_of_feature", one_each),
            arrays["first_pair"],
            arrays["pair_label"],
            arrays["dense_label"],
            arrays["base_score"],
        )
        names = {int(feature): str(name) for feature, name in data.get("feature_names", {}).items()}
        scorer = cls(structure, extractor, parameters, arrays["weights"], names)
        check_parameters(structure, parameters, scorer.n_features)
        if any(not 0 <= feature < scorer.n_features for feature in names):
            raise ModelError("it names features that it does not have")
        if not np.all(np.bincount(parameters.row_of_feature, minlength=parameters.n_rows)):
            raise ModelError("it has weights for features that it does not have")
        if scorer.weights.dtype != np.float64 or scorer.weights.shape != (parameters.n_weights,):
            raise ModelError("it does not have as many weights as its features need; train again")
        if not np.all(np.isfinite(scorer.weights)):
            raise ModelError("it has weights that are not numbers; train again, with a higher l2")
        return scorer


def most_telling(reasons: list[Reason], top: int) -> list[Reason]:
    """Return the strongest reasons, and the bias."""
    reasons = sorted(reasons, key=_strength)
    bias = [reason for reason in reasons if reason.is_bias]
    merged: dict[tuple[int, str], Reason] = {}
    for reason in reasons:  # features with the same meaning, such as the distance to the sentence start, are one reason
        if not reason.is_bias:
            before = merged.get((reason.word, reason.in_words))
            amount = reason.amount + (0.0 if before is None else before.amount)
            merged[reason.word, reason.in_words] = replace(before or reason, amount=amount)
    kept = sorted(merged.values(), key=_strength)[:top]
    if bias:
        kept.append(replace(bias[0], amount=sum(reason.amount for reason in bias)))
    return kept


def _strength(reason: Reason) -> tuple[float, int, str]:
    return -abs(reason.amount), reason.word, reason.feature


class FeaturesState(Struct):
    """The plain data of an extractor."""

    version: int
    templates: list[list[str]]
    templates_source: str
    skipped: list[tuple[str, str]]
    has_clusters: bool
    has_lexicon: bool


class LinearState(Struct):
    """The plain data of a linear scorer."""

    features: FeaturesState
    n_transitions: Count
    feature_names: dict[str, str] = {}


def _check_features(state: FeaturesState, arrays: Arrays) -> None:
    """Raise an error if features are not hashes, or if words have clusters without paths."""
    check_array(arrays, _FEATURES + "feature_hash", np.uint64, (None,))
    if state.has_clusters:
        n_words = check_texts(arrays, _FEATURES + "cluster_words", _FEATURES + "cluster_first_word")
        n_paths = check_texts(arrays, _FEATURES + "cluster_paths", _FEATURES + "cluster_first_path")
        path = check_array(arrays, _FEATURES + "cluster_ids", np.int32, (n_words,))
        if bool(np.any((path < 0) | (path >= n_paths))):
            raise ModelError("its clusters name paths that are not there")


register_scorer("linear", LinearScorer)

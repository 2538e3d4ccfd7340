"""A second look by logistic regression: the log odds of a candidate are a weighted sum of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.features.columns import SemanticCategories
from hyperspan.features.index import FeatureIndex
from hyperspan.mentions import Mention, Sentence
from hyperspan.schema import Count, Penalty, Threshold, check_array, check_finite, fitted
from hyperspan.scoring.candidate_features import Table, Weights, log_odds_of
from hyperspan.scoring.candidate_reference import Feature, Known, features_reference
from hyperspan.scoring.candidate_table import COLUMNS, WordCodes, candidates_of, documents_of, words_of
from hyperspan.scoring.candidate_templates import PLACE_OF, TEMPLATES, dense_hashes, template_hashes
from hyperspan.scoring.mention_scorer import Proposal, register_mention_scorer
from hyperspan.scoring.proposed import Proposed
from hyperspan.scoring.rivals import elsewhere_kernel
from hyperspan.scoring.scorer import Arrays, Reason, Scorer
from hyperspan.scoring.string_counts import OwnCounts, Queries, StringCounts
from hyperspan.structures import Structure


@dataclass(frozen=True)
class LinearMentionScorer:
    """Logistic regression over the features of whole candidates.

    Attributes
    ----------
    types : tuple of str
        The types of mentions.
    proposal : Proposal
        Which mentions it was trained on, and expects as candidates.
    counts : StringCounts
        The counts of strings in the training data.
    features : FeatureIndex
        The features that have a weight.
    weights : float64 array of shape (n_features,)
    columns : tuple of str
        The columns of words that all training sentences had.
    l2 : float
        The penalty that it was trained with; not used afterwards.
    lexicon : SemanticCategories, optional
        The lexicon of the first look.
    """

    name: ClassVar[str] = "linear"

    types: tuple[str, ...]
    proposal: Proposal
    counts: StringCounts
    features: FeatureIndex
    weights: NDArray[np.float64]
    columns: tuple[str, ...] = ()
    l2: float = 0.0
    lexicon: SemanticCategories | None = None
    _codes: WordCodes = field(default_factory=WordCodes, repr=False, compare=False)

    def probs(self, sentences: Sequence[Sentence], candidates: Proposed) -> NDArray[np.float64]:
        """Return the probability of each candidate."""
        probs: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * self.log_odds(sentences, candidates)))
        return probs

    def log_odds(self, sentences: Sequence[Sentence], candidates: Proposed) -> NDArray[np.float64]:
        """Return the log odds of each candidate."""
        return log_odds_of(self.table(sentences, candidates), self._lookup)

    def mapped(self, slope: float, shift: float) -> LinearMentionScorer:
        """Return a scorer whose log odds are those of this one, times a slope, plus a shift.

        All weights are scaled; the shift is added to the weight of the feature that every candidate has.
        """
        every = dense_hashes(len(self.types))[:, PLACE_OF["every"]]
        own = self.features.ids_of(every[0, :1] if len(self.types) > 1 else every[0, 1:])
        weights = slope * self.weights
        weights[own[own >= 0]] += shift
        return replace(self, weights=weights)

    @cached_property
    def _lookup(self) -> Weights:
        return Weights.of(self.features, self.weights, len(self.types))

    @cached_property
    def _type_ids(self) -> dict[str, int]:
        return {type: number for number, type in enumerate(self.types)}

    def table(
        self,
        sentences: Sequence[Sentence],
        candidates: Proposed,
        own: OwnCounts | None = None,
    ) -> Table:
        """Return what the features of candidates depend on; sentences without candidates are left out.

        If the contribution of each document to the counts of strings is given, it is subtracted, as if the document
        had not been seen. The sentences must then be those that were counted, in the same order.
        """
        document = documents_of(sentences) if candidates.document is None else candidates.document
        chosen, candidates = candidates.where_any()
        document = document[chosen]
        sentences = [sentences[place] for place in chosen.tolist()]
        words = words_of(sentences, self._codes, self.columns, self.lexicon)
        rows = candidates_of(sentences, candidates, self.types, self.lexicon)
        queries = Queries.of(words, rows)
        sentence = candidates.rows.sentence
        if own is None:
            counts = self.counts.counts(queries)
        else:
            counts = self.counts.counts_elsewhere(queries, own, chosen[sentence])
        document, typed = document[sentence], queries.typed[: rows.n_rows]
        elsewhere, n_elsewhere = np.full(rows.n_rows, -np.inf), np.zeros(rows.n_rows, dtype=np.int64)
        order = np.argsort(typed, kind="stable")  # rows are in the order of documents and sentences already
        elsewhere_kernel(order, typed, document, sentence, rows.log_odds, elsewhere, n_elsewhere)
        return Table(words, rows, counts, queries.first, elsewhere, n_elsewhere, template_hashes(), len(self.types))

    def explain(
        self,
        sentences: Sequence[Sentence],
        candidates: Proposed,
        wanted: Sequence[Sequence[Mention]],
        top: int,
    ) -> list[dict[Mention, list[Reason]]]:
        """Return the features that contribute most to the log odds of some candidates: weights times values."""
        table = self.table(sentences, candidates)
        found, first = [], 0
        for sentence, here, asked in zip(sentences, candidates, wanted, strict=True):
            places = [here.index(mention) for mention in asked]
            reasons = [self._reasons(sentence, here, place, table, first + place, top) for place in places]
            found.append(dict(zip(asked, reasons, strict=True)))
            first += len(here)
        return found

    def _reasons(
        self, sentence: Sentence, candidates: Sequence[Mention], place: int, table: Table, row: int, top: int
    ) -> list[Reason]:
        n_more = 1 + len(candidates[place].parts) if len(candidates[place].parts) > 1 else 0
        queries = [row, *range(table.first_query[row], table.first_query[row] + n_more)]
        n_elsewhere = int(table.n_elsewhere[row])
        known = Known(
            [tuple(table.counts[query].tolist()) for query in queries],
            [float(table.elsewhere[row])] * n_elsewhere,
            self._type_ids,
            self.columns,
            self.lexicon,
        )
        made = features_reference(sentence, candidates, place, known)
        ids = self.features.ids_of(np.array([feature.hash for feature in made], dtype=np.uint64)).tolist()
        amounts: dict[str, tuple[Feature, float]] = {}
        for feature, id in zip(made, ids, strict=True):
            if id >= 0:
                before = amounts.get(feature.said, (feature, 0.0))
                amounts[feature.said] = before[0], before[1] + float(self.weights[id]) * feature.value
        word = candidates[place].start
        reasons = [
            Reason(word, feature.name, amount, said, feature.template == "every", 2)
            for said, (feature, amount) in amounts.items()
            if amount
        ]
        falling = sorted(reasons, key=lambda reason: (-abs(reason.amount), reason.feature))
        return [reason for reason in falling if not reason.is_bias][:top] + [
            reason for reason in falling if reason.is_bias
        ]

    def describe(self) -> dict[str, Any]:
        """Return the sizes, the templates and the proposal, as plain data."""
        return {
            "name": self.name,
            "features": len(self.features),
            "strings": len(self.counts.strings),
            "l2": self.l2,
            "lowest": list(self.proposal.lowest),
            "most": self.proposal.most,
            "templates": list(TEMPLATES),
            "columns": list(self.columns),
        }

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as plain data and arrays; words and strings are hashes."""
        data = {
            "version": VERSION,
            "lowest": list(self.proposal.lowest),
            "most": self.proposal.most,
            "columns": list(self.columns),
            "l2": self.l2,
            "has_lexicon": self.lexicon is not None,
        }
        return data, {"features": self.features.hashes, "weights": self.weights, **self.counts.state()}

    @classmethod
    def from_state(
        cls, structure: Structure, scorer: Scorer, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int
    ) -> LinearMentionScorer:
        """Restore a mention scorer from its state."""
        state: LinearMentionState = fitted(dict(data), LinearMentionState, "rescorer")
        check_finite(state.l2, *state.lowest)
        if state.version != VERSION:
            raise ModelError(f"its second look has version {state.version}; this program reads version {VERSION}")
        if not {*state.columns} <= {*COLUMNS}:
            raise ModelError(f"its second look needs the columns {state.columns}; expected some of {list(COLUMNS)}")
        lexicon = scorer.settings().get("lexicon") if state.has_lexicon else None
        if state.has_lexicon and lexicon is None:
            raise ModelError("its second look needs a lexicon that it does not have")
        hashes = check_array(arrays, "features", np.uint64, (None,))
        weights = check_array(arrays, "weights", np.float64, (len(hashes),))
        if not np.all(np.isfinite(weights)):
            raise ModelError("its second look has weights that are not numbers; train again")
        return cls(
            structure.types,
            Proposal(tuple(state.lowest), state.most),
            StringCounts.from_state(arrays),
            FeatureIndex(hashes),
            weights,
            tuple(state.columns),
            state.l2,
            lexicon,
        )


VERSION = 1
"""The version of the features: weights are valid for one version only."""


class LinearMentionState(Struct, forbid_unknown_fields=True):
    """The plain data of a linear mention scorer."""

    version: Count
    lowest: Annotated[list[Threshold], Meta(min_length=1, max_length=5)]
    most: Annotated[int, Meta(ge=1, le=1_000)]
    columns: list[str]
    l2: Penalty
    has_lexicon: bool


register_mention_scorer(LinearMentionScorer.name, LinearMentionScorer)

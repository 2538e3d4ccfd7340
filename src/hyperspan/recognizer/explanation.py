"""Why a sentence was read as it was: edges with their probabilities, mentions, and the features that moved them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import Extractor
from hyperspan.features.words import in_words, is_bias
from hyperspan.inference import Distribution, distribution
from hyperspan.learning import Parameters
from hyperspan.mentions import Mention, Sentence
from hyperspan.render import draw_hypergraph_svg, draw_text, hypergraph_data
from hyperspan.structures import Encoding, Hypergraph, Linear
from hyperspan.structures.staircase import NO_START

SHOWN_EDGES = 0.01
"""Edges that are not chosen are listed from this expected count on."""

_BAR = 12
"""Characters of the longest bar."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A feature of a word, and how much it speaks for a mention (or against it, if negative).

    The amount is the feature's weights times how much more often their labels are used in structures with the mention
    than in all: the change of the mention's log probability per share of the feature.
    """

    word: int
    feature: str
    amount: float


@dataclass(frozen=True)
class Explanation:
    """What a model makes of a sentence.

    Attributes
    ----------
    sentence : Sentence
        With the mentions found.
    structure : Hypergraph or Linear
    best : tuple of (word, label)
        The edges of the most probable structure.
    scores, expected : float64 arrays of shape (n_words, n_labels)
        The score of every edge, and how often it is used on average.
    log_partition : float
    reasons : dict of Mention to list of Reason
        The features that moved each mention most.
    """

    sentence: Sentence
    structure: Hypergraph | Linear
    best: Encoding
    scores: NDArray[np.float64]
    expected: NDArray[np.float64]
    log_partition: float
    reasons: dict[Mention, list[Reason]]

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        chosen = set(self.best)
        shown = sorted({*chosen, *zip(*map(np.ndarray.tolist, np.nonzero(self.expected >= SHOWN_EDGES)), strict=True)})
        return {
            "doc": self.sentence.doc,
            "tokens": list(self.sentence.tokens),
            "log_partition": self.log_partition,
            "edges": [
                {
                    "word": word,
                    "label": self.structure.label_name(label),
                    "score": float(self.scores[word, label]),
                    "expected": float(self.expected[word, label]),
                    "chosen": (word, label) in chosen,
                }
                for word, label in shown
            ],
            "mentions": [
                {
                    "type": mention.type,
                    "spans": [list(part) for part in mention.parts],
                    "text": self.sentence.text_of(mention),
                    "prob": mention.prob,
                    "reasons": [
                        {
                            "word": reason.word,
                            "feature": reason.feature,
                            "in_words": in_words(reason.feature, self.sentence.tokens, reason.word),
                            "is_bias": is_bias(reason.feature),
                            "amount": reason.amount,
                        }
                        for reason in self.reasons[mention]
                    ],
                }
                for mention in self.sentence.mentions
            ],
        }

    def hypergraph(self) -> dict[str, Any]:
        """Return the hypergraph as plain data: the best structure chosen, others with their expected counts."""
        return hypergraph_data(self.structure, self.sentence.tokens, self.best, expected=self.expected)

    def _repr_svg_(self) -> str:
        return draw_hypergraph_svg(self.hypergraph())

    def __str__(self) -> str:
        lines = [draw_text(self.sentence).plain]
        for mention in self.sentence.mentions:
            lines.append(f"\n{mention.type} ‘{self.sentence.text_of(mention)}’, probability {mention.prob or 0.0:.3f}")
            reasons = self.reasons[mention]
            most = max((abs(reason.amount) for reason in reasons), default=1.0)
            for reason in reasons:
                bar = "█" * max(1, round(_BAR * abs(reason.amount) / most))
                where = "" if is_bias(reason.feature) else f"at ‘{self.sentence.tokens[reason.word]}’ "
                meaning = in_words(reason.feature, self.sentence.tokens, reason.word)
                lines.append(f"  {reason.amount:+7.3f} {bar:<{_BAR}} {where}{meaning}")
        return "\n".join(lines)


def explain(
    sentence: Sentence,
    over: Distribution,
    extractor: Extractor,
    parameters: Parameters,
    weights: NDArray[np.float64],
    top: int = 8,
) -> Explanation:
    """Explain what a model makes of a sentence.

    Parameters
    ----------
    sentence : Sentence
        As the model sees it, with the mentions found.
    over : Distribution
        Over the outcomes of the sentence.
    extractor, parameters, weights
        The model's.
    top : int
        How many features are named for each mention.
    """
    expected = over.expected_counts()
    best = over.best().edges
    features = _features(sentence, extractor)
    reasons = {}
    for mention in sentence.mentions:
        moved = _given(over, mention, best).expected_counts() - expected
        reasons[mention] = _most_telling(_reasons(features, moved, parameters, weights), sentence.tokens, top)
    return Explanation(sentence, over.structure, best, over.scores, expected, over.log_partition(), reasons)


def _most_telling(reasons: list[Reason], tokens: Sequence[str], top: int) -> list[Reason]:
    """Return the strongest reasons; last, as one, what holds of every word and so says nothing of these."""
    bias = [reason for reason in reasons if is_bias(reason.feature)]
    merged: dict[tuple[int, str], Reason] = {}
    for reason in reasons:  # features that mean the same, such as how far away the sentence begins, are one reason
        if not is_bias(reason.feature):
            key = reason.word, in_words(reason.feature, tokens, reason.word)
            before = merged.get(key)
            merged[key] = reason if before is None else replace(before, amount=before.amount + reason.amount)
    kept = sorted(merged.values(), key=_strength)[:top]
    if bias:
        kept.append(replace(bias[0], amount=sum(reason.amount for reason in bias)))
    return kept


def _strength(reason: Reason) -> tuple[float, int, str]:
    return -abs(reason.amount), reason.word, reason.feature


def _given(over: Distribution, mention: Mention, best: Encoding) -> Distribution:
    """Return the distribution over structures with a mention: for tags, with the best tags at its words."""
    scores = over.scores.copy()
    structure = over.structure
    if isinstance(structure, Linear):
        tags = dict(best)
        for word in mention.words():
            scores[word, np.arange(scores.shape[1]) != tags[word]] = -np.inf
        return distribution(structure, scores, transitions=getattr(over, "transitions", None))
    block = structure.block_of(mention)
    scores[mention.start, block.first_label + NO_START] = -np.inf
    for word, node, child in block.staircase.path(mention):
        for label, (parent, children) in enumerate(block.staircase.edges, start=block.first_label + 2):
            if parent == node and not children & child:
                scores[word, label] = -np.inf
    return distribution(structure, scores, over=over.over)


def _features(sentence: Sentence, extractor: Extractor) -> list[tuple[int, str, int]]:
    """Return the features of a sentence that the model knows: word, name and id."""
    index = extractor.index_
    assert index is not None
    (block,) = extractor.hash_blocks([sentence])
    names = [(word, name) for word, texts in enumerate(extractor.describe(sentence)) for name in texts]
    ids = index.ids_of(block.hash).tolist()
    return [(word, name, feature) for (word, name), feature in zip(names, ids, strict=True) if feature >= 0]


def _reasons(
    features: list[tuple[int, str, int]],
    moved: NDArray[np.float64],
    parameters: Parameters,
    weights: NDArray[np.float64],
) -> list[Reason]:
    pair_weight = weights[parameters.n_labels + parameters.n_transitions :]
    found = []
    for word, name, feature in features:
        row = parameters.row_of_feature[feature]
        pairs = slice(parameters.first_pair[row], parameters.first_pair[row + 1])
        amount = float((pair_weight[pairs] * moved[word, parameters.pair_label[pairs]]).sum())
        if amount:
            found.append(Reason(word, name, amount))
    return sorted(found, key=_strength)

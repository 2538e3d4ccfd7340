"""Why a sentence was read as it was: edges with their probabilities, mentions, and the features that moved them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer.model import Model
from hyperspan.scoring import Reason
from hyperspan.structures import Encoding, Structure

SHOWN_EDGES = 0.01
"""Edges that are not chosen are listed from this expected count on."""

_BAR = 12
"""Characters of the longest bar."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a model makes of a sentence.

    Attributes
    ----------
    sentence : Sentence
        With the mentions found.
    structure : Structure
    best : tuple of (word, label)
        The edges of the most probable structure.
    scores, expected : float64 arrays of shape (n_words, n_labels)
        The score of every edge, and how often it is used on average.
    log_partition : float
    reasons : dict of Mention to list of Reason
        The features that moved each mention most.
    """

    sentence: Sentence
    structure: Structure
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
                            "in_words": reason.in_words or reason.feature,
                            "is_bias": reason.is_bias,
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
        from hyperspan.render import hypergraph_data  # here, so that predicting does not wait for drawing

        return hypergraph_data(self.structure, self.sentence.tokens, self.best, expected=self.expected)

    def _repr_svg_(self) -> str:
        from hyperspan.render import draw_hypergraph_svg

        return draw_hypergraph_svg(self.hypergraph())

    def _repr_html_(self) -> str:
        from hyperspan.render.notebook import html_of
        from hyperspan.render.visible import xml_text

        reasons = "\n".join(self._reasons()).strip()
        written = f"<pre>{xml_text(reasons)}</pre>" if reasons else "<p>No mention was found.</p>"
        return f"{html_of(self.sentence)}{written}{self._repr_svg_()}"

    def __repr__(self) -> str:
        return f"Explanation({self.sentence!r})"

    def __str__(self) -> str:
        from hyperspan.render import draw_text

        return "\n".join([draw_text(self.sentence).plain, *self._reasons()])

    def _reasons(self) -> list[str]:
        """Return why each mention was found, in lines."""
        lines = []
        for mention in self.sentence.mentions:
            lines.append(f"\n{mention.type} ‘{self.sentence.text_of(mention)}’, probability {mention.prob or 0.0:.3f}")
            reasons = self.reasons[mention]
            most = max((abs(reason.amount) for reason in reasons), default=1.0)
            for reason in reasons:
                bar = "█" * max(1, round(_BAR * abs(reason.amount) / most))
                where = "" if reason.is_bias else f"at ‘{self.sentence.tokens[reason.word]}’ "
                lines.append(f"  {reason.amount:+7.3f} {bar:<{_BAR}} {where}{reason.in_words or reason.feature}")
        return lines


def explain(sentence: Sentence, model: Model, top: int = 8) -> Explanation:
    """Explain what a model makes of a sentence.

    Parameters
    ----------
    sentence : Sentence
        As the model sees it, with the mentions found.
    model : Model
    top : int
        How many reasons are given for each mention.
    """
    over = model.over_sentences([sentence])
    marginals = over.marginals()
    reasons = {}
    for mention in sentence.mentions:
        moved = over.given(mention).marginals().edges - marginals.edges
        reasons[mention] = model.scorer.explain(sentence, moved, top)
    return Explanation(
        sentence,
        model.structure,
        over.best()[0].edges,
        over.batch.scores,
        marginals.edges,
        float(marginals.log_partition[0]),
        reasons,
    )

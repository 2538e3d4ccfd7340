"""Explain a prediction: edges with their probabilities, mentions, and the features behind them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer.model import Model
from hyperspan.recognizer.prediction import candidates_in
from hyperspan.scoring import MentionScorer, Reason
from hyperspan.structures import Encoding, Structure

SHOWN_EDGES = 0.01
"""Edges outside the best structure are listed if their expected count is at least this."""

_BAR = 12
"""The length of the longest bar in characters."""

_NOTHING = "No mention was found."

_LOOKS = {2: "the mention as a whole, by its log odds:", 1: "its words, by the log probability of the first look:"}


@dataclass(frozen=True, repr=False)
class Explanation:
    """A model's prediction for a sentence, with its reasons.

    Attributes
    ----------
    sentence : Sentence
        The sentence with the predicted mentions.
    structure : Structure
    best : tuple of (word, label)
        The edges of the most probable structure.
    scores, expected : float64 arrays of shape (n_words, n_labels)
        The score and the expected count of every edge.
    log_partition : float
    reasons : dict of Mention to list of Reason
        The features with the most influence on each mention: those of the second look, if any, then those of the first.
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
            "edges": [self._edge(word, label, chosen) for word, label in shown],
            "mentions": [
                {
                    "type": mention.type,
                    "spans": [list(part) for part in mention.parts],
                    "text": self.sentence.text_of(mention),
                    "prob": mention.prob,
                    "edges": [self._edge(word, label, chosen) for word, label in self.edges_of(mention)],
                    "reasons": [
                        {
                            "word": reason.word,
                            "feature": reason.feature,
                            "in_words": reason.in_words or reason.feature,
                            "is_bias": reason.is_bias,
                            "amount": reason.amount,
                            "look": reason.look,
                        }
                        for reason in self.reasons[mention]
                    ],
                }
                for mention in self.sentence.mentions
            ],
        }

    def _edge(self, word: int, label: int, chosen: Collection[tuple[int, int]]) -> dict[str, Any]:
        return {
            "word": word,
            "label": self.structure.label_name(label),
            "score": float(self.scores[word, label]),
            "expected": float(self.expected[word, label]),
            "chosen": (word, label) in chosen,
        }

    def edges_of(self, mention: Mention) -> list[tuple[int, int]]:
        """Return the edges of a mention: those that a sentence without mentions does not have."""
        n_words = len(self.sentence)
        without = set(self.structure.encode([], n_words).encoding)
        return [edge for edge in self.structure.encode([mention], n_words).encoding if edge not in without]

    def hypergraph(self) -> dict[str, Any]:
        """Return the hypergraph as plain data: the best structure's edges, and others with their expected counts."""
        from hyperspan.render import hypergraph_data  # imported here, since prediction does not need it

        return hypergraph_data(self.structure, self.sentence.tokens, self.best, expected=self.expected)

    def _repr_svg_(self) -> str:
        from hyperspan.render import draw_hypergraph_svg

        return draw_hypergraph_svg(self.hypergraph())

    def _repr_html_(self) -> str:
        from hyperspan.render.notebook import html_of
        from hyperspan.render.visible import xml_text

        reasons = "\n".join(self._reasons()).strip()
        written = f"<pre>{xml_text(reasons)}</pre>" if reasons else f"<p>{_NOTHING}</p>"
        return f"{html_of(self.sentence)}{written}{self._repr_svg_()}"

    def __repr__(self) -> str:
        return f"Explanation({self.sentence!r})"

    def __str__(self) -> str:
        from hyperspan.render import draw_text

        return "\n".join([draw_text(self.sentence).plain, *(self._reasons() or ["", _NOTHING])])

    def _reasons(self) -> list[str]:
        """Return the reasons for each mention as lines of text."""
        lines = []
        for mention in self.sentence.mentions:
            lines.append(f"\n{mention.type} ‘{self.sentence.text_of(mention)}’, probability {mention.prob or 0.0:.3f}")
            if self.structure.kind == "segments":
                edges = self.edges_of(mention)
                names = (self.structure.label_name(label).removeprefix(mention.type).strip() for _, label in edges)
                made_of = (f"{name} {self.scores[edge]:+.2f}" for name, edge in zip(names, edges, strict=True))
                lines.append(f"  scores: {'; '.join(made_of)}")
            looks = sorted({reason.look for reason in self.reasons[mention]}, reverse=True)
            for look in looks:
                reasons = [reason for reason in self.reasons[mention] if reason.look == look]
                if len(looks) > 1:
                    lines.append(f"  {_LOOKS[look]}")
                most = max((abs(reason.amount) for reason in reasons), default=1.0)
                for reason in reasons:
                    bar = "█" * max(1, round(_BAR * abs(reason.amount) / most))
                    where = "" if reason.is_bias or look > 1 else f"at ‘{self.sentence.tokens[reason.word]}’ "
                    lines.append(f"  {reason.amount:+7.3f} {bar:<{_BAR}} {where}{reason.in_words or reason.feature}")
        return lines


def explain(
    sentence: Sentence, model: Model, top: int = 8, document: Sequence[Sentence] = (), place: int = 0
) -> Explanation:
    """Explain a model's prediction for a sentence.

    Parameters
    ----------
    sentence : Sentence
        The annotated sentence with the predicted mentions.
    model : Model
    top : int
        The number of reasons per look for each mention.
    document : sequence of Sentence
        The sentences of its document, in which it has the index ``place``; if empty, the sentence is on its own.
    place : int
    """
    document = list(document) or [sentence]
    read, here = (document, place) if model.reads_documents else ([sentence], 0)
    over = model.over_sentences(read).sentence(here)
    marginals = over.marginals()
    reasons = {mention: model.scorer.explain(sentence, over.moved(mention), top) for mention in sentence.mentions}
    if model.rescorer is not None:
        sentence, of_second = _second_look(sentence, model, model.rescorer, top, document, place)
        reasons = {mention: [*of_second.get(mention, ()), *reasons[mention]] for mention in sentence.mentions}
    return Explanation(
        sentence,
        model.structure,
        over.best()[0].edges,
        over.batch.scores,
        marginals.edges,
        float(marginals.log_partition[0]),
        reasons,
    )


def _second_look(
    sentence: Sentence, model: Model, rescorer: MentionScorer, top: int, document: list[Sentence], place: int
) -> tuple[Sentence, dict[Mention, list[Reason]]]:
    """Return the sentence with the new probabilities of its mentions, and the reasons for the candidates among them.

    A mention too improbable to be a candidate keeps its probability.
    """
    candidates = candidates_in(model, rescorer.proposal, document)
    probs = rescorer.probs(document, candidates)[candidates.first[place] : candidates.first[place + 1]]
    new = dict(zip(candidates[place], probs.tolist(), strict=True))
    mentions = [replace(mention, prob=new.get(mention, mention.prob)) for mention in sentence.mentions]
    wanted: list[list[Mention]] = [[] for _ in document]
    wanted[place] = [mention for mention in mentions if mention in new]
    return sentence.with_mentions(mentions), rescorer.explain(document, candidates, wanted, top)[place]

"""Predict and explain the mentions of sentences, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperspan.diagnostics import quoted
from hyperspan.mentions import Mention, Sentence, to_characters
from hyperspan.recognizer import Explanation, Prediction, Recognizer
from hyperspan.render import draw_hypergraph_svg, hypergraph_data
from hyperspan.render.directions import directions
from hyperspan.server.errors import ApiError
from hyperspan.server.models import Model

LOWEST_CANDIDATE = 0.02
"""The minimum probability of a candidate."""

MOST_REASONS = 12
"""How many features are listed for a requested mention."""

MOST_EXPLAINED = 100
"""The maximum number of mentions to explain, the most probable first: each takes a pass over the sentence."""

_SHOWN_EDGES = 0.02


@dataclass(frozen=True, slots=True)
class How:
    """How to decode mentions."""

    decode: str
    threshold: float

    @classmethod
    def of(cls, recognizer: Recognizer, decode: str | None, threshold: float | None) -> How:
        """Return the requested settings, with those of the model as defaults."""
        return cls(decode or recognizer.decode, recognizer.threshold_ if threshold is None else threshold)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"decode": self.decode, "threshold": self.threshold}


@dataclass(frozen=True, slots=True)
class Answer:
    """The mentions of a sentence, and the candidates if requested."""

    found: Prediction
    candidates: tuple[Mention, ...] | None = None


def find(model: Model, sentences: Sequence[Sentence], how: How, *, wants_candidates: bool = False) -> list[Answer]:
    """Find mentions in sentences.

    Candidates are all mentions with a probability of at least `LOWEST_CANDIDATE`, the most probable first. A model
    that reads documents sees each sentence by itself, so that its result is the same in every response.
    """
    recognizer = model.recognizer
    if recognizer.reads_documents_:
        sentences = [_alone(sentence) for sentence in sentences]
    with model.turn:
        if not wants_candidates:
            found = recognizer.find(sentences, decode=how.decode, threshold=how.threshold)
            return [Answer(each) for each in found]
        candidates = list(recognizer.find(sentences, decode="probable", threshold=LOWEST_CANDIDATE))
        if how.decode == "probable" and how.threshold >= LOWEST_CANDIDATE:
            chosen = [
                next(iter(recognizer.find([sentence], decode="probable", threshold=how.threshold)))
                if each.truncated
                else Prediction(tuple(mention for mention in each.mentions if (mention.prob or 0.0) >= how.threshold))
                for sentence, each in zip(sentences, candidates, strict=True)
            ]
        else:
            chosen = list(recognizer.find(sentences, decode=how.decode, threshold=how.threshold))
    return [
        Answer(replace(best, truncated=best.truncated or all_.truncated), _falling(all_.mentions))
        for best, all_ in zip(chosen, candidates, strict=True)
    ]


def _alone(sentence: Sentence) -> Sentence:
    """Return a sentence without a document."""
    return replace(sentence, doc="", offsets=None)


def _falling(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(mentions, key=lambda mention: (-(mention.prob or 0.0), mention)))


def sentence_answer(sentence: Sentence, answer: Answer, gold: Sequence[Mention] | None = None) -> dict[str, Any]:
    """Return a sentence with its mentions as plain data."""
    offsets = sentence.offsets
    data: dict[str, Any] = {}
    if offsets:
        data |= {"start": offsets[0][0], "end": offsets[-1][1]}
    data |= {
        "tokens": sentence.tokens,
        "offsets": offsets,
        "direction": "rtl" if directions(sentence.tokens)[0] else "ltr",
        "mentions": [_mention_answer(sentence, mention) for mention in answer.found.mentions],
        "truncated": answer.found.truncated,
    }
    if answer.candidates is not None:
        data["candidates"] = [_mention_answer(sentence, mention) for mention in answer.candidates]
    if gold is not None:
        found = set(answer.found.mentions)
        data["gold"] = [_slot(sentence, mention) | {"found": mention in found} for mention in gold]
    return data


def _slot(sentence: Sentence, mention: Mention) -> dict[str, Any]:
    return {
        "type": mention.type,
        "spans": mention.parts,
        "characters": None if sentence.offsets is None else to_characters(mention, sentence.offsets).parts,
        "text": sentence.text_of(mention),
    }


def _mention_answer(sentence: Sentence, mention: Mention) -> dict[str, Any]:
    return _slot(sentence, mention) | {"prob": mention.prob}


def explanation_answer(model: Model, sentence: Sentence, how: How, type: str | None = None) -> dict[str, Any]:
    """Explain the mentions of a sentence, and draw the hypergraph of one type.

    Parameters
    ----------
    model : Model
    sentence : Sentence
        If it has mentions, these are explained, otherwise the predicted ones.
    how : How
    type : str, optional
        If not given, the type of the mentions, or the type with the most expected mentions.

    Raises
    ------
    ApiError
        With status 422, if the model does not know the type, or cannot encode a mention.
    """
    recognizer = model.recognizer
    if type is not None and type not in recognizer.types_:
        known = ", ".join(map(quoted, recognizer.types_))
        raise ApiError(422, f"the model {quoted(model.name)} does not know the type {quoted(type)}; expected {known}")
    (answer,) = find(model, [sentence.with_mentions(())], how, wants_candidates=True)
    with model.turn:
        asked = _with_probs(recognizer, sentence)
        found = asked or answer.found.mentions
        explained = _falling(found)[:MOST_EXPLAINED]
        explanation = recognizer.explain(sentence, mentions=explained, top=MOST_REASONS if asked else 8)
    expected = expected_mentions(recognizer.types_, answer.candidates or ())
    drawn = type or (asked[0].type if asked else max(expected, key=expected.__getitem__))
    data = hypergraph_of(explanation, drawn)
    return {
        "model": model.name,
        **how.as_dict(),
        **explanation.as_dict(),
        "truncated": answer.found.truncated or len(explained) < len(found),
        "types": expected,
        "type": drawn,
        "hypergraph": draw_hypergraph_svg(data, types=recognizer.types_),
        "hypergraph_data": data,
    }


def _with_probs(recognizer: Recognizer, sentence: Sentence) -> list[Mention]:
    """Return the mentions of a sentence with their probabilities.

    Raises
    ------
    ApiError
        With status 422, if the model cannot encode one, so that there is no probability.
    """
    most = recognizer.structure_.max_components
    for mention in sentence.mentions:
        if mention.type not in recognizer.types_:
            known = ", ".join(map(quoted, recognizer.types_))
            raise ApiError(422, f"the model does not know the type {quoted(mention.type)}; it knows {known}")
        n_parts = len(mention.parts)
        if n_parts > most:
            raise ApiError(422, f"the mention has {n_parts} parts; this model can only encode mentions of up to {most}")
        if recognizer.structure_.encode([mention], len(sentence)).left_out:
            sizes = ", ".join(f"{name} {size}" for name, size in recognizer.structure_.sizes.items())
            raise ApiError(422, f"the mention is too long for this model ({sizes})")
    if not sentence.mentions:
        return []
    (probs,) = recognizer.distribution_over([sentence]).mention_probs([sentence.mentions])
    return [replace(mention, prob=prob) for mention, prob in zip(sentence.mentions, probs, strict=True)]


def expected_mentions(types: Sequence[str], candidates: Sequence[Mention]) -> dict[str, float]:
    """Return the expected number of mentions of each type: the sum of the candidates' probabilities.

    Examples
    --------
    >>> candidates = [Mention("Drug", [(0, 1)], prob=0.75), Mention("Drug", [(1, 2)], prob=0.5)]
    >>> expected_mentions(["Drug", "Finding"], candidates)
    {'Drug': 1.25, 'Finding': 0.0}
    """
    expected = dict.fromkeys(types, 0.0)
    for mention in candidates:
        expected[mention.type] += mention.prob or 0.0
    return expected


def hypergraph_of(explanation: Explanation, type: str) -> dict[str, Any]:
    """Return the hypergraph of one type as plain data; for tags, which all types share, the whole."""
    structure, tokens = explanation.structure, explanation.sentence.tokens
    is_shown = structure.labels_of(type)
    data = hypergraph_data(
        structure,
        tokens,
        [(word, label) for word, label in explanation.best if is_shown[label]],
        expected=np.where(is_shown, explanation.expected, 0.0),
        min_expected=_SHOWN_EDGES,
    )
    if "n_left_out" not in data:
        return data
    n_of_other_types = int(np.count_nonzero(~is_shown[structure.start_labels]))
    return {**data, "n_left_out": data["n_left_out"] - n_of_other_types} if n_of_other_types else data

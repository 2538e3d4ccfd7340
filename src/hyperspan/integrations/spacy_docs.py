"""Convert spaCy Docs to sentences or documents, and mentions to spans."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from hyperspan.mentions import Document, Mention, Sentence, in_order
from hyperspan.text import split_documents


def write_mentions(doc: Doc, mentions: Iterable[Mention], key: str) -> None:
    """Write mentions in token offsets to a group of spans; their probabilities go to its attribute ``scores``."""
    spans, scores = [], []
    for number, mention in enumerate(in_order(mentions)):
        for start, end in mention.parts:
            spans.append(Span(doc, start, end, label=mention.type, span_id=str(number)))
            scores.append(math.nan if mention.prob is None else mention.prob)
    group = SpanGroup(doc, name=key, spans=spans)
    if scores and not all(map(math.isnan, scores)):
        group.attrs["scores"] = np.asarray(scores)
    doc.spans[key] = group


def read_mentions(doc: Doc, key: str) -> tuple[Mention, ...]:
    """Return the mentions of a group of spans in token offsets; a span without an id is a mention of its own."""
    if key not in doc.spans:
        return ()
    group = doc.spans[key]
    scores = group.attrs.get("scores")
    parts: dict[tuple[str, str | int], list[tuple[int, int]]] = {}
    probs: dict[tuple[str, str | int], float | None] = {}
    for position, span in enumerate(group):
        which = (span.label_, span.id_ or position)
        parts.setdefault(which, []).append((span.start, span.end))
        prob = math.nan if scores is None or position >= len(scores) else float(scores[position])
        probs.setdefault(which, None if math.isnan(prob) else prob)
    found = {Mention.of(type, spans, prob=probs[type, id]): None for (type, id), spans in parts.items()}
    return in_order(found)


def as_document(doc: Doc, key: str, *, doc_id: str = "") -> Document:
    """Return the text of a Doc with its mentions in character offsets."""
    mentions: dict[Mention, None] = {}
    for mention in read_mentions(doc, key):
        spans = [(doc[start].idx, doc[end - 1].idx + len(doc[end - 1])) for start, end in mention.parts]
        mentions[Mention.of(mention.type, spans, prob=mention.prob)] = None
    return Document(doc_id, doc.text, mentions)


def as_sentences(doc: Doc, key: str) -> list[Sentence]:
    """Return the sentences of a Doc with their mentions: spaCy's sentences if it has any, otherwise ours."""
    (cut,) = cut_docs([doc])
    return cut.with_mentions(read_mentions(doc, key))[0]


@dataclass(frozen=True)
class CutDoc:
    """A Doc split into sentences, whose words are its tokens without white space.

    Attributes
    ----------
    sentences : list of Sentence
        Without mentions.
    tokens : list of list of int
        The index of each word's token in the Doc.
    """

    sentences: list[Sentence]
    tokens: list[list[int]]

    def in_doc(self, mention: Mention, number: int) -> Mention:
        """Convert a mention of a sentence to token offsets of the Doc."""
        places = self.tokens[number]
        spans = [(places[start], places[end - 1] + 1) for start, end in mention.parts]
        return Mention.of(mention.type, spans, prob=mention.prob)

    def with_mentions(self, mentions: Iterable[Mention]) -> tuple[list[Sentence], list[Mention]]:
        """Return the sentences with the Doc's mentions, and the mentions that cross sentences or cover no words."""
        starts = [places[0] for places in self.tokens]
        of_sentence: list[dict[Mention, None]] = [{} for _ in self.sentences]
        lost = []
        for mention in mentions:
            number = bisect_right(starts, mention.end - 1) - 1
            places = self.tokens[number] if number >= 0 else []
            spans = [(bisect_left(places, start), bisect_left(places, end)) for start, end in mention.parts]
            spans = [(start, end) for start, end in spans if start < end]
            if not spans or mention.start < places[0]:
                lost.append(mention)
            else:
                of_sentence[number][Mention.of(mention.type, spans, prob=mention.prob)] = None
        made = [each.with_mentions(found) for each, found in zip(self.sentences, of_sentence, strict=True)]
        return made, lost


def cut_docs(docs: Sequence[Doc]) -> list[CutDoc]:
    """Split Docs into sentences: spaCy's if it has any, otherwise ours.

    Sections and note types are found by our own rules, as in training.
    """
    ours = split_documents([Document("", doc.text) for doc in docs], compiled=True)
    return [_cut(doc, sentences) for doc, sentences in zip(docs, ours, strict=True)]


def _cut(doc: Doc, ours: list[Sentence]) -> CutDoc:
    begins = [sentence.offsets[0][0] for sentence in ours if sentence.offsets]
    known: list[Any] = [sentence.attributes for sentence in ours if sentence.offsets]
    has_sentences = doc.has_annotation("SENT_START")
    attributes: list[Any] = []
    tokens: list[list[int]] = []
    current = object()
    for token in doc:
        if token.is_space:
            continue
        number = max(0, bisect_right(begins, token.idx) - 1)
        here: object = token.sent.start if has_sentences else number
        if here != current:
            current = here
            tokens.append([])
            attributes.append(known[number] if known else {})
        tokens[-1].append(token.i)
    rows = zip(tokens, attributes, strict=True)
    return CutDoc([Sentence([doc[i].text for i in places], attributes=each) for places, each in rows], tokens)

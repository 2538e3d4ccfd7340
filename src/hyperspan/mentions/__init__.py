"""Mentions, and the sentences, documents and corpora that contain them.

All objects are immutable and validated once, when they are created. Offsets are half-open: word indices in a
`Sentence`, characters in a `Document`.
"""

from hyperspan.mentions.alignment import to_characters, to_tokens
from hyperspan.mentions.mention import NOTHING, Mention, Span, in_order, unchecked_mention
from hyperspan.mentions.units import Corpus, Document, Sentence, Unit, unchecked_document, unchecked_sentence

__all__ = [
    "NOTHING",
    "Corpus",
    "Document",
    "Mention",
    "Sentence",
    "Span",
    "Unit",
    "in_order",
    "to_characters",
    "to_tokens",
    "unchecked_document",
    "unchecked_mention",
    "unchecked_sentence",
]

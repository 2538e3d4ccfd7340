"""Split text into sentences of words with exact offsets, and annotate words with parts of speech and lemmas."""

from hyperspan.text.annotators import Annotator, annotator, installed_annotators
from hyperspan.text.expansion import Expander, groups_of
from hyperspan.text.marks import is_mark, normal_form
from hyperspan.text.notes import NOTE_TYPES, note_type
from hyperspan.text.pipeline import (
    as_documents,
    as_sentences,
    join_sentences,
    split_document,
    split_documents,
    whole_sentence,
)
from hyperspan.text.sections import Section, find_sections, section_name
from hyperspan.text.sentences import split_sentences
from hyperspan.text.tokens import tokenize

__all__ = [
    "NOTE_TYPES",
    "Annotator",
    "Expander",
    "Section",
    "annotator",
    "as_documents",
    "as_sentences",
    "find_sections",
    "groups_of",
    "installed_annotators",
    "is_mark",
    "join_sentences",
    "normal_form",
    "note_type",
    "section_name",
    "split_document",
    "split_documents",
    "split_sentences",
    "tokenize",
    "whole_sentence",
]

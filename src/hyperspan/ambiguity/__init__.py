"""Measure the ambiguity of structures: count canonical encodings, their growth, and round trips of real mentions.

Examples
--------
>>> from hyperspan.ambiguity import canonical_encodings, relative_ambiguity
>>> canonical_encodings("linear", 7)
[2, 8, 46, 310, 2049, 12663, 73944]
>>> round(relative_ambiguity("linear", "shared"), 4)
4.2922
"""

from hyperspan.ambiguity.counts import (
    STRUCTURES,
    canonical_encodings,
    count_encodings,
    count_mention_sets,
    count_table,
    mention_sets_log2,
)
from hyperspan.ambiguity.growth import eigenvalues, growth_log2, growth_table, relative_ambiguity
from hyperspan.ambiguity.matrices import (
    TransitionMatrix,
    grid_closed_form,
    grid_counts,
    grid_matrix,
    transition_matrix,
)
from hyperspan.ambiguity.readings import count_readings, possible_mentions
from hyperspan.ambiguity.roundtrip import Errors, OfStructure, Readings, round_trip
from hyperspan.ambiguity.tag_language import TagLanguage, canonical_tags

__all__ = [
    "STRUCTURES",
    "Errors",
    "OfStructure",
    "Readings",
    "TagLanguage",
    "TransitionMatrix",
    "canonical_encodings",
    "canonical_tags",
    "count_encodings",
    "count_mention_sets",
    "count_readings",
    "count_table",
    "eigenvalues",
    "grid_closed_form",
    "grid_counts",
    "grid_matrix",
    "growth_log2",
    "growth_table",
    "mention_sets_log2",
    "possible_mentions",
    "relative_ambiguity",
    "round_trip",
    "transition_matrix",
]

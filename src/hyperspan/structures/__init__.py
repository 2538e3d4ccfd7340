"""Structures: how sets of mentions are encoded as edges or tags, and decoded again.

Examples
--------
>>> from hyperspan import Mention
>>> shared = structure("shared", ["Finding"])
>>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
>>> encoding = shared.encode(mentions, n_words=6).encoding
>>> shared.decode(encoding, "all").mentions == shared.decode(encoding, "enough").mentions == tuple(mentions)
True
"""

from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading
from hyperspan.structures.hypergraph import (
    Block,
    Hypergraph,
    mention_structure,
    shared_structure,
    split_structure,
)
from hyperspan.structures.linear import Linear, linear_structure
from hyperspan.structures.registry import (
    STRUCTURES,
    check_structure,
    register_structure,
    sizes_for,
    structure,
    structure_names,
)
from hyperspan.structures.segments import Segments, segments_structure
from hyperspan.structures.staircase import Staircase
from hyperspan.structures.structure import MAX_COMPONENTS, Encoded, Encoding, Structure

__all__ = [
    "MAX_COMPONENTS",
    "MOST_MENTIONS",
    "STRUCTURES",
    "Block",
    "Decoded",
    "Encoded",
    "Encoding",
    "Hypergraph",
    "Linear",
    "Reading",
    "Segments",
    "Staircase",
    "Structure",
    "check_structure",
    "linear_structure",
    "mention_structure",
    "register_structure",
    "segments_structure",
    "shared_structure",
    "sizes_for",
    "split_structure",
    "structure",
    "structure_names",
]

"""The distribution over the outcomes of one sentence: the face that the rest of the package sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference.base import Distribution
from hyperspan.inference.batch import Over, check_over
from hyperspan.inference.encodings import Encodings
from hyperspan.inference.mention_sets import Derivations, MentionSets
from hyperspan.inference.tag_sequences import TagSequences
from hyperspan.structures.hypergraph import Hypergraph
from hyperspan.structures.linear import Linear


def distribution(
    structure: Hypergraph | Linear,
    scores: NDArray[np.float64],
    *,
    over: Over = "encodings",
    transitions: NDArray[np.float64] | None = None,
) -> Distribution:
    """Return the distribution over the outcomes of one sentence.

    Parameters
    ----------
    structure : Hypergraph or Linear
    scores : float64 array of shape (n_words, structure.n_labels)
        -inf forbids an edge.
    over : {"encodings", "mention-sets", "derivations"}
        Over distinct encodings; over sets of mentions, each a prefix tree of paths; or over derivations, with
        the normaliser of the second and the score of the first. ``linear`` is always over tag sequences.
    transitions : float64 array of shape (n_tags, n_tags), optional
        Scores of a tag after another, for ``linear`` only.

    Examples
    --------
    >>> from hyperspan.mentions import Mention
    >>> from hyperspan.structures.hypergraph import shared_structure
    >>> structure = shared_structure(["Finding"], max_components=2)
    >>> over_encodings = distribution(structure, np.zeros((3, structure.n_labels)))
    >>> round(np.exp(over_encodings.log_partition()))
    80
    >>> round(over_encodings.prob_of([Mention("Finding", [(0, 1), (2, 3)])]), 3)
    0.5
    """
    check_over(over, structure)
    if isinstance(structure, Linear):
        return TagSequences(structure, scores, transitions)
    if transitions is not None:
        raise StructureError(f"transitions are for the structure 'linear', not for {structure.name!r}")
    kinds: dict[str, type[Encodings] | type[MentionSets]] = {
        "encodings": Encodings,
        "mention-sets": MentionSets,
        "derivations": Derivations,
    }
    return kinds[over](structure, scores)

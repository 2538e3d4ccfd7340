"""The registry of distributions, by kind of structure and name."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from hyperspan.errors import StructureError
from hyperspan.inference.distribution import BatchDistribution
from hyperspan.inference.encodings import Encodings
from hyperspan.inference.mention_sets import Derivations, MentionSets
from hyperspan.inference.scores import ScoreBatch
from hyperspan.inference.segments import SegmentSets
from hyperspan.inference.tag_sequences import TagSequences
from hyperspan.structures.structure import Structure

_log = logging.getLogger(__name__)

DISTRIBUTIONS: dict[str, dict[str, type[BatchDistribution[Any]]]] = {
    "staircase": {kind.name: kind for kind in (Encodings, MentionSets, Derivations)},
    "chain": {TagSequences.name: TagSequences},
    "segments": {SegmentSets.name: SegmentSets, MentionSets.name: SegmentSets},
}
"""The distributions of each kind of structure, by name; the first is the default."""

_OLD_NAME = "published"


def register_distribution(kind: str, distribution: type[BatchDistribution[Any]]) -> None:
    """Register a distribution for the structures of a kind."""
    DISTRIBUTIONS.setdefault(kind, {})[distribution.name] = distribution


def distribution_names() -> tuple[str, ...]:
    """Return the names of all distributions."""
    return tuple(dict.fromkeys(name for by_name in DISTRIBUTIONS.values() for name in by_name))


def current_name(name: str) -> str:
    """Return the current name of a distribution; log a message, once, for an old name.

    Examples
    --------
    >>> current_name("encodings")
    'encodings'
    """
    if name == _OLD_NAME:
        _tell_old_name()
        return "derivations"
    return name


@cache
def _tell_old_name() -> None:
    _log.warning(
        "the distribution %r is now called 'derivations': that the paper summed over derivations is our guess, not "
        "its formula. It is trained without a prior now; a model that was trained with one keeps it",
        _OLD_NAME,
    )


def distribution_class(structure: Structure, name: str = "encodings") -> type[BatchDistribution[Any]]:
    """Return a distribution by name.

    Raises
    ------
    StructureError
        If there is no such distribution for this structure.
    """
    by_name = DISTRIBUTIONS.get(structure.kind, {})
    if name in by_name:
        return by_name[name]
    if name not in distribution_names():
        raise StructureError(f"the distribution is {name!r}; expected one of {', '.join(distribution_names())}")
    raise StructureError(
        f"the structure {structure.name!r} has no distribution {name!r}; expected one of {', '.join(by_name)}, "
        "or another structure"
    )


def distribution(structure: Structure, batch: ScoreBatch, name: str = "encodings") -> BatchDistribution[Any]:
    """Return the distribution over the outcomes of each sentence of a batch.

    Parameters
    ----------
    structure : Structure
    batch : ScoreBatch
        The scores of edges; -inf forbids an edge.
    name : {"encodings", "mention-sets", "derivations"}
        Over distinct encodings (the default); over sets of mentions, each a prefix tree of paths; or with the
        normaliser of the second and the score of the first. ``linear`` is always over tag sequences; for ``segments``,
        an encoding and a set of mentions are the same.

    Raises
    ------
    StructureError
        If the structure has no such distribution, or the scores do not fit the structure or are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperspan.mentions import Mention
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"], max_components=2)
    >>> dist = distribution(shared, ScoreBatch.of_sentence(np.zeros((3, shared.n_labels))))
    >>> np.exp(dist.log_partition()).round(6)
    array([80.])
    >>> [[prob]] = dist.mention_probs([[Mention("Finding", [(0, 1), (2, 3)])]])
    >>> round(prob, 3)
    0.5
    """
    return distribution_class(structure, name)(structure, batch)

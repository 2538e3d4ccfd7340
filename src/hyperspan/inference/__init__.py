"""Exact inference over structures: partition functions, best outcomes, samples and probabilities.

A `ScoreBatch` and a structure make a `BatchDistribution`; a decoder turns it into mentions, and
`negative_log_likelihood` into a loss. Compiled kernels over flat arrays (`numba`) do the work; `reference` has the same
computations in plain Python.

Examples
--------
>>> import numpy as np
>>> from hyperspan.inference import ScoreBatch, distribution
>>> from hyperspan.structures import structure
>>> shared = structure("shared", ["Finding"])
>>> dist = distribution(shared, ScoreBatch.of_sentence(np.zeros((4, shared.n_labels))))
>>> np.exp(dist.log_partition()).round(6)
array([3584.])
"""

from hyperspan.inference.decoders import DECODERS, Decoder, check_decoder, register_decoder
from hyperspan.inference.distribution import BatchDistribution, Marginals
from hyperspan.inference.likelihood import Gold, Loss, encode_gold, negative_log_likelihood
from hyperspan.inference.mention_rows import MentionRows
from hyperspan.inference.outcomes import Outcome
from hyperspan.inference.registry import (
    DISTRIBUTIONS,
    current_name,
    distribution,
    distribution_class,
    distribution_names,
    register_distribution,
)
from hyperspan.inference.scores import ScoreBatch

__all__ = [
    "DECODERS",
    "DISTRIBUTIONS",
    "BatchDistribution",
    "Decoder",
    "Gold",
    "Loss",
    "Marginals",
    "MentionRows",
    "Outcome",
    "ScoreBatch",
    "check_decoder",
    "current_name",
    "distribution",
    "distribution_class",
    "distribution_names",
    "encode_gold",
    "negative_log_likelihood",
    "register_decoder",
    "register_distribution",
]

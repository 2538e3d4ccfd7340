"""Exact sums, maxima, samples and probabilities over structures.

Compiled kernels over flat arrays; beside each stands a plain-Python twin that says what is meant.

Examples
--------
>>> import numpy as np
>>> from hyperspan.inference import distribution
>>> from hyperspan.structures import structure
>>> shared = structure("shared", ["Finding"])
>>> round(np.exp(distribution(shared, np.zeros((4, shared.n_labels))).log_partition()))
3584
"""

from hyperspan.inference.base import Distribution
from hyperspan.inference.batch import OVER, Over, Totals, sum_batch
from hyperspan.inference.counting import count_encodings, count_mention_sets
from hyperspan.inference.distribution import distribution
from hyperspan.inference.outcomes import Outcome

__all__ = [
    "OVER",
    "Distribution",
    "Outcome",
    "Over",
    "Totals",
    "count_encodings",
    "count_mention_sets",
    "distribution",
    "sum_batch",
]

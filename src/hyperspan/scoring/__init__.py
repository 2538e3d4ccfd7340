"""Who scores: from sentences to the scores of every label at every word."""

from hyperspan.scoring.linear import LinearScorer
from hyperspan.scoring.parameters import Parameters
from hyperspan.scoring.scorer import SCORERS, Reason, Scorer, register_scorer, scorer_class
from hyperspan.scoring.segments import SegmentParameters, SegmentScorer

__all__ = [
    "SCORERS",
    "LinearScorer",
    "Parameters",
    "Reason",
    "Scorer",
    "SegmentParameters",
    "SegmentScorer",
    "register_scorer",
    "scorer_class",
]

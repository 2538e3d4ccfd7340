"""Scorers: compute the score of every label at every word of a sentence."""

from hyperspan.scoring.linear import LinearScorer
from hyperspan.scoring.mention_scorer import (
    MENTION_SCORERS,
    DocumentBorders,
    MentionScorer,
    Proposal,
    mention_scorer_class,
    register_mention_scorer,
)
from hyperspan.scoring.parameters import Parameters
from hyperspan.scoring.proposed import Proposed
from hyperspan.scoring.scorer import SCORERS, Reason, Scorer, register_scorer, scorer_class
from hyperspan.scoring.segments import SegmentParameters, SegmentScorer

__all__ = [
    "MENTION_SCORERS",
    "SCORERS",
    "DocumentBorders",
    "LinearScorer",
    "MentionScorer",
    "Parameters",
    "Proposal",
    "Proposed",
    "Reason",
    "Scorer",
    "SegmentParameters",
    "SegmentScorer",
    "mention_scorer_class",
    "register_mention_scorer",
    "register_scorer",
    "scorer_class",
]

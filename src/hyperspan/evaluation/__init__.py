"""Score predictions, list their errors, and test whether one system is better than another.

Examples
--------
>>> from hyperspan import Mention, Sentence
>>> from hyperspan.evaluation import evaluate
>>> nested = [Mention("Finding", [(0, 3)]), Mention("Finding", [(2, 3)])]
>>> gold = [Sentence("blood in stomach".split(), nested)]
>>> evaluate(gold, gold).all.f1
1.0
"""

from hyperspan.evaluation.breakdowns import GAPS, OVERLAPS, PARTS, gap_class, overlap_classes, overlap_of, parts_class
from hyperspan.evaluation.calibration import Calibration, CalibrationCounter
from hyperspan.evaluation.listing import KINDS, list_errors
from hyperspan.evaluation.matching import Comparison, Tokenize, compare, comparisons, pairs
from hyperspan.evaluation.scores import Evaluation, Score, Scorer, evaluate
from hyperspan.evaluation.sentences import Split, in_sentences
from hyperspan.evaluation.significance import Difference, SentenceCounts, Significance, compare_counts, compare_systems

__all__ = [
    "GAPS",
    "KINDS",
    "OVERLAPS",
    "PARTS",
    "Calibration",
    "CalibrationCounter",
    "Comparison",
    "Difference",
    "Evaluation",
    "Score",
    "Scorer",
    "SentenceCounts",
    "Significance",
    "Split",
    "Tokenize",
    "compare",
    "compare_counts",
    "compare_systems",
    "comparisons",
    "evaluate",
    "gap_class",
    "in_sentences",
    "list_errors",
    "overlap_classes",
    "overlap_of",
    "pairs",
    "parts_class",
]

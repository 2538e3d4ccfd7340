"""Measure how far annotators agree on mentions with gaps and overlaps, list disagreements, and merge corpora.

Examples
--------
>>> from hyperspan import Mention, Sentence
>>> from hyperspan.agreement import agreement, share
>>> words = "blood in stomach and overlying lac".split()
>>> ann = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(2, 3), (5, 6)])], doc="a")
>>> bob = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(5, 6)])], doc="a")
>>> found = agreement(share({"ann": [ann], "bob": [bob]}))
>>> found.mean("f1"), found.mean("relaxed_f1"), round(found.mean("gamma"), 3)
(0.5, 1.0, 0.9)
"""

from hyperspan.agreement.adjudication import RULES, adjudicate
from hyperspan.agreement.alignment import Alignment, align, dissimilarity
from hyperspan.agreement.chance import Gamma, gamma
from hyperspan.agreement.coefficients import Alpha, Kappa, masi_distance, nominal_distance
from hyperspan.agreement.confusion import Confusion
from hyperspan.agreement.disagreements import Disagreement, Disputed, as_csv, disagreements
from hyperspan.agreement.documents import Shared, SharedDocument, SharedSentence, share
from hyperspan.agreement.page import page_pieces
from hyperspan.agreement.report import Agreement, ClassAgreement, Measured, PairAgreement, agreement

__all__ = [
    "RULES",
    "Agreement",
    "Alignment",
    "Alpha",
    "ClassAgreement",
    "Confusion",
    "Disagreement",
    "Disputed",
    "Gamma",
    "Kappa",
    "Measured",
    "PairAgreement",
    "Shared",
    "SharedDocument",
    "SharedSentence",
    "adjudicate",
    "agreement",
    "align",
    "as_csv",
    "disagreements",
    "dissimilarity",
    "gamma",
    "masi_distance",
    "nominal_distance",
    "page_pieces",
    "share",
]

"""One sentence as three annotators mark it."""

from __future__ import annotations

from hyperspan import Mention, Sentence

WORDS = ["Infarctions", "either", "water", "shed", "or", "embolic"]
SHED, EMBOLIC = Mention("Finding", [(0, 1), (2, 4)]), Mention("Finding", [(0, 1), (5, 6)])
ANN = Sentence(WORDS, [SHED, EMBOLIC], doc="a")
BOB = Sentence(WORDS, [SHED, Mention("Finding", [(5, 6)])], doc="a")
CAT = Sentence(WORDS, [SHED, Mention("Drug", [(5, 6)])], doc="a")

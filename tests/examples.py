"""The sentences every reader of the paper knows, with their mentions."""

from __future__ import annotations

from hyperspan import Mention, Sentence


def _sentence(text: str, *mentions: list[tuple[int, int]]) -> Sentence:
    return Sentence(text.split(), [Mention("Finding", parts) for parts in mentions])


LACERATION = _sentence(
    "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlying lac .",
    [(2, 4)],
    [(6, 7), (9, 10)],
    [(11, 14)],
    [(13, 14), (16, 17)],
)
INFARCTIONS = _sentence("Infarctions either water shed or embolic", [(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])
BLOOD = _sentence(
    "You see blood or dark / black material when you vomit or have a bowel movement .",
    [(2, 3), (10, 11)],
    [(2, 3), (14, 16)],
    [(4, 5), (7, 8), (10, 11)],
    [(4, 5), (14, 16)],
    [(6, 8), (10, 11)],
    [(6, 8), (14, 16)],
)
MOUTH = _sentence(
    "The patient had blood in his mouth and on his tongue , pupils were pinpoint and reactive .",
    [(3, 7)],
    [(3, 4), (8, 11)],
    [(12, 13), (14, 15)],
)
ETHANOL = _sentence("Ethanol Intoxication and withdrawal", [(0, 2)], [(0, 1), (3, 4)])

EXAMPLES = {
    "laceration": LACERATION,
    "infarctions": INFARCTIONS,
    "blood": BLOOD,
    "mouth": MOUTH,
    "ethanol": ETHANOL,
}

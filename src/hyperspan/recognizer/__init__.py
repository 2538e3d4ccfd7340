"""The recognizer: learn from annotated sentences, find mentions in others, keep what was learned.

>>> from hyperspan import Mention, Sentence
>>> sentences = [
...     Sentence("blood in stomach".split(), [Mention("Finding", [(0, 3)])]),
...     Sentence("no blood seen".split(), [Mention("Finding", [(1, 2)])]),
... ] * 10
>>> recognizer = Recognizer(max_components=2).fit(sentences)
>>> [sentences[1].text_of(mention) for mention in recognizer.predict(sentences[1:2])[0]]
['blood']
"""

from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.recognizer.explanation import Explanation, Reason
from hyperspan.recognizer.finding import Found, with_found
from hyperspan.recognizer.fitting import LONGEST_SENTENCE
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.recognizer import Recognizer
from hyperspan.recognizer.settings import DECODE, Decode, Settings

__all__ = [
    "DECODE",
    "LONGEST_SENTENCE",
    "Decode",
    "Explanation",
    "Found",
    "Interrupted",
    "Model",
    "Reason",
    "Recognizer",
    "Settings",
    "Training",
    "with_found",
]

"""The recognizer: train on annotated sentences, find mentions in new ones, save and load models.

Examples
--------
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
from hyperspan.recognizer.explanation import Explanation
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.prediction import Prediction, with_found
from hyperspan.recognizer.recognizer import Recognizer
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.training import LONGEST_SENTENCE, register_trainer
from hyperspan.scoring import Reason

__all__ = [
    "LONGEST_SENTENCE",
    "Explanation",
    "Interrupted",
    "Model",
    "Prediction",
    "Reason",
    "Recognizer",
    "Settings",
    "Training",
    "register_trainer",
    "with_found",
]

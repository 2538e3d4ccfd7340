"""Pretrained encoders with exact inference: ``Recognizer(encoder="FOLDER_OR_NAME")``.

Loaded by the name of its scorer, ``neural``, when a recognizer or a model file needs it. It requires torch and
transformers, which no other part of the package imports.
"""

from importlib.util import find_spec

from hyperspan.errors import MissingExtraError

for _package in ("torch", "transformers"):
    if find_spec(_package) is None:
        raise MissingExtraError("The scorer 'neural'", _package, "neural")

from hyperspan.neural.likelihood import exact_likelihood  # noqa: E402
from hyperspan.neural.mention_scorer import NeuralMentionScorer  # noqa: E402
from hyperspan.neural.scorer import NeuralScorer  # noqa: E402
from hyperspan.neural.training import train_neural  # noqa: E402

__all__ = ["NeuralMentionScorer", "NeuralScorer", "exact_likelihood", "train_neural"]

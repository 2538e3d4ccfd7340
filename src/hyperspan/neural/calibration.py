"""Probabilities that are what they say: a temperature chosen on development data."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from hyperspan.evaluation.calibration import calibration_error, reliability
from hyperspan.inference import ScoreBatch, distribution_class, encode_gold, negative_log_likelihood
from hyperspan.mentions import Sentence
from hyperspan.neural.scorer import NeuralScorer

LEAST_PROBABLE = 0.01
"""Mentions less probable than this have no part in calibration."""

HOTTEST = 10.0


def calibrated(scorer: NeuralScorer, dev: Sequence[Sentence]) -> NeuralScorer:
    """Return a scorer whose scores are divided by the temperature under which the development data is likeliest.

    Without development data that has mentions it is returned as it is.
    """
    if not any(sentence.mentions for sentence in dev):
        return scorer
    distribution = distribution_class(scorer.structure, scorer.distribution)
    batch = scorer.scores(dev)
    gold = encode_gold(distribution, scorer.structure, dev)

    def cooled(temperature: float) -> ScoreBatch:
        return ScoreBatch(batch.scores / temperature, batch.first_word, batch.transitions / temperature)

    def loss(log_temperature: float) -> float:
        over = distribution(scorer.structure, cooled(float(np.exp(log_temperature))))
        return negative_log_likelihood(over, gold).value

    limit = float(np.log(HOTTEST))
    found = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-3})
    temperature = float(np.exp(found.x))

    def error(temperature: float) -> float:
        over = distribution(scorer.structure, cooled(temperature))
        candidates = [here.mentions for here in over.probable(LEAST_PROBABLE)]
        return calibration_error(reliability([sentence.mentions for sentence in dev], candidates))

    made = copy.copy(scorer)
    made.temperature = scorer.temperature * temperature
    made.calibration = {"calibration_error_before": error(1.0), "calibration_error": error(temperature)}
    return made

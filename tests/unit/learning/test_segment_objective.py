"""The objective of segments: its gradient, its prior, and the same result whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.inference import distribution, distribution_class, encode_gold, negative_log_likelihood
from hyperspan.learning.segment_objective import SegmentObjective, segment_prior
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.problems import problem_for
from hyperspan.recognizer.training import structure_of

SENTENCES = [
    Sentence(
        ["Infarctions", "either", "water", "shed", "or", "embolic"],
        [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])],
    ),
    Sentence(["no", "blood", "in", "stomach"], [Mention("Finding", [(1, 4)]), Mention("Site", [(3, 4)])]),
    Sentence(["nothing", "to", "report"]),
] * 2


def made(n_threads=1):
    settings = Recognizer(structure="segments", n_threads=n_threads)._settings()
    structure = structure_of(settings, SENTENCES)
    return problem_for(settings, structure, distribution_class(structure), SENTENCES)


def test_value_is_the_likelihood_of_the_scorer_plus_the_penalty():
    problem = made()
    problem.objective.l2 = 0.3
    weights = np.random.default_rng(0).normal(size=problem.objective.parameters.n_weights)
    model = problem.objective.to_model(weights)
    np.testing.assert_allclose(problem.objective.of_model(model), weights)
    scorer = problem.scorer(model)
    over = distribution(scorer.structure, scorer.scores(SENTENCES))
    wanted = negative_log_likelihood(over, problem.gold).value
    penalty = 0.3 * sum(float(part @ part) for part in penalised(problem.objective, weights))
    assert problem.objective(weights)[0] == pytest.approx(wanted + penalty, rel=1e-5)


def penalised(objective: SegmentObjective, weights):
    """The weights as the penalty counts them: a row of several features counts as all of them."""
    bias, words, spans = objective.parameters.split(weights)
    yield objective._preconditioner * bias
    yield objective._words._preconditioner * words
    yield objective._spans._preconditioner * spans


def test_gradient_is_the_finite_difference():
    objective = made().objective
    doubles = SegmentObjective(
        objective.structure,
        *made().blocks,
        objective.gold,
        objective.parameters,
        objective.distribution,
        n_threads=1,
        l2=0.3,
        dtype=np.float64,
    )
    rng = np.random.default_rng(1)
    weights = 0.3 * rng.normal(size=objective.parameters.n_weights)
    value, gradient = doubles(weights)
    for _ in range(10):
        direction = rng.normal(size=len(weights))
        slope = (doubles(weights + 1e-5 * direction)[0] - doubles(weights - 1e-5 * direction)[0]) / 2e-5
        assert float(gradient @ direction) == pytest.approx(slope, rel=1e-6)
    assert value > 0.0


def test_threads_make_no_difference():
    one, three = made(1).objective, made(3).objective
    weights = np.random.default_rng(2).normal(size=one.parameters.n_weights)
    value, gradient = one(weights)
    assert three(weights)[0] == value
    np.testing.assert_array_equal(three(weights)[1], gradient)


def test_under_the_prior_mentions_are_about_as_frequent_as_in_the_gold():
    problem = made()
    structure = problem.objective.structure
    gold = encode_gold(distribution_class(structure), structure, SENTENCES)
    prior = segment_prior(structure, gold)
    scorer = problem.scorer(np.zeros(problem.objective.parameters.n_weights))
    np.testing.assert_array_equal(scorer.prior, prior)
    expected = distribution(structure, scorer.scores(SENTENCES)).marginals().edges
    starts = structure.start_labels
    n_gold = np.isin(gold.label, starts).sum()
    assert n_gold / 2 < expected[:, starts].sum() < 2 * n_gold

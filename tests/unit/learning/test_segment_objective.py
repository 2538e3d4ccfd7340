"""The objective of segments: its gradient, its prior, and the same result whatever the threads."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.inference import ScoreBatch, distribution, distribution_class, encode_gold, negative_log_likelihood
from hyperspan.learning import segment_objective
from hyperspan.learning.segment_objective import SegmentObjective, segment_prior
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.problems import problem_for
from hyperspan.recognizer.training import structure_of
from hyperspan.scoring.borders import border_labels, words_of_roles
from hyperspan.structures.segments import segments_structure

SENTENCES = [
    Sentence(
        ["Infarctions", "either", "water", "shed", "or", "embolic"],
        [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])],
    ),
    Sentence(["no", "blood", "in", "stomach"], [Mention("Finding", [(1, 4)]), Mention("Site", [(3, 4)])]),
    Sentence(["nothing", "to", "report"]),
] * 2


def made(n_threads=1, sentences=SENTENCES, **options):
    settings = Recognizer(structure="segments", n_threads=n_threads, **options)._settings()
    structure = structure_of(settings, sentences)
    return problem_for(settings, structure, distribution_class(structure), sentences)


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


def test_under_the_prior_types_with_few_parts_do_not_explode():
    mentions = [Mention("Common", [(place, place + 2)]) for place in range(0, 30, 3)]
    long = Sentence(["word"] * 40, [*mentions, Mention("Rare", [(0, 1), (4, 9)])])
    structure = made(sentences=[long], max_components=3, longest_part=20, longest_gap=30).objective.structure
    gold = encode_gold(distribution_class(structure), structure, [long])
    batch = ScoreBatch(np.tile(segment_prior(structure, gold), (40, 1)), np.array([0, 40]))
    expected = distribution(structure, batch).marginals().edges.sum()
    assert len(gold.label) / 2 < expected < 2 * len(gold.label)


def test_scores_of_words_that_are_added_up_move_in_smaller_steps():
    sentence = Sentence(["word"] * 12, [Mention("Finding", [(0, 4), (8, 9)])])
    labels = border_labels(segments_structure(["Finding"], 2, longest_part=5, longest_gap=6))
    gold = encode_gold(distribution_class(labels.structure), labels.structure, [sentence])
    names = [labels.label_name(label) for label in range(labels.n_labels)]
    n_words = dict(zip(names, words_of_roles(labels, gold.label), strict=True))
    assert n_words["Finding first word of a part"] == 1.0
    assert n_words["Finding continuing word of a part"] == 3.0
    assert n_words["Finding word in a gap"] == 4.0
    none = dict(zip(names, words_of_roles(labels, gold.label[:0]), strict=True))
    assert (none["Finding continuing word of a part"], none["Finding word in a gap"]) == (5.0, 6.0)


def test_types_are_summed_over_in_groups_with_the_same_result(monkeypatch):
    objective = made().objective
    weights = np.random.default_rng(3).normal(size=objective.parameters.n_weights)
    value, gradient = objective(weights)
    monkeypatch.setattr(segment_objective, "TYPE_SCORES", 1)
    one_by_one, same = objective(weights)
    assert one_by_one == pytest.approx(value)
    np.testing.assert_allclose(same, gradient, rtol=1e-5, atol=1e-6)


def test_memory_for_the_scores_of_a_long_sentence_does_not_grow_with_the_types(monkeypatch):
    monkeypatch.setattr(segment_objective, "TYPE_SCORES", 100_000)
    n_words, types = 1_000, [f"T{number}" for number in range(40)]
    mentions = [Mention(type, [(place, place + 2), (place + 4, place + 5)]) for place, type in enumerate(types)]
    long = Sentence(["word"] * n_words, mentions)
    objective = made(sentences=[long], max_components=4, longest_part=10, longest_gap=10).objective
    weights = np.zeros(objective.parameters.n_weights)
    objective(weights)  # compiled
    n_scores = n_words * objective.structure.n_labels
    at_words_and_spans = n_words * (objective._borders.n_labels + 5 * objective._span_labels.n_labels)
    assert n_scores > 25 * segment_objective.TYPE_SCORES
    tracemalloc.start()
    objective(weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (at_words_and_spans + 5 * segment_objective.TYPE_SCORES + 5 * objective.parameters.n_weights)
    assert peak < 8 * 2 * n_scores  # what scores and their gradient alone would take

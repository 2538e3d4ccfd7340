"""What must hold of thresholds, objectives and gradients, whatever the sentences are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.features import Extractor, TemplateSet
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.learning import (
    DEFAULT_THRESHOLD,
    LOWEST_THRESHOLD,
    Objective,
    ThresholdCurve,
    choose_parameters,
)
from hyperspan.mentions import Mention, Sentence
from hyperspan.structures import structure
from strategies import TYPES, sentences

TEMPLATES = TemplateSet.parse('[words]\nhere = "word[0]"\nbefore = "word[-1]"\nprefix = "prefix1[0]"')

probs = st.one_of(
    st.sampled_from([LOWEST_THRESHOLD, 0.2, DEFAULT_THRESHOLD, 0.3000001, 0.3000002, 0.5, 1.0]),
    st.floats(LOWEST_THRESHOLD, 1.0),
)
candidates = st.dictionaries(st.integers(0, 6), probs, max_size=5)
corpora = st.lists(st.tuples(st.sets(st.integers(0, 6), max_size=4), candidates), min_size=1, max_size=4)


def mention(place: int, prob: float | None = None) -> Mention:
    return Mention("Finding", [(place, place + 1)], prob=prob)


def f1_at(corpus: list[tuple[set[int], dict[int, float]]], threshold: float) -> float:
    kept = [(gold, {place for place, prob in found.items() if prob >= threshold}) for gold, found in corpus]
    n_right = sum(len(gold & found) for gold, found in kept)
    total = sum(len(gold) + len(found) for gold, found in kept)
    return 2.0 * n_right / total if total else 0.0


@settings(max_examples=100)
@given(corpora, st.sampled_from([0.5, 1.0, 2.0]))
def test_the_curve_counts_what_every_threshold_finds(corpus, beta):
    curve = ThresholdCurve.of(
        [[mention(place) for place in gold] for gold, _ in corpus],
        [[mention(place, prob) for place, prob in found.items()] for _, found in corpus],
    )
    expected = [f1_at(corpus, threshold) for threshold in curve.thresholds]
    assert curve.f_score() == pytest.approx(expected)
    assert [row["f1"] for row in curve.rows()] == pytest.approx(expected)
    assert curve.best_f1 == pytest.approx(max(expected))
    chosen = curve.choose(beta)
    assert chosen == DEFAULT_THRESHOLD if curve.is_empty else chosen in curve.thresholds


@settings(max_examples=25)
@given(
    st.lists(sentences(max_tokens=5, max_mentions=3), min_size=1, max_size=3),
    st.sampled_from(["encodings", "mention-sets", "derivations"]),
    st.sampled_from(["mention", "shared", "split", "linear"]),
    st.integers(0, 2**16),
)
def test_the_gradient_points_along_the_slope(corpus: list[Sentence], over, name, seed):
    if name == "linear":
        over = "encodings"
    held = structure(name, TYPES, 2)
    extractor = Extractor(TEMPLATES, threads=1)
    block = extractor.fit_transform(corpus)
    seen_as = distribution_class(held, over)
    gold = encode_gold(seen_as, held, corpus)
    assert extractor.index_ is not None
    # The prior of mention-sets under derivations too: models that were trained so keep it.
    prior = None if over == "encodings" else distribution_class(held, "mention-sets").prior(held)
    parameters = choose_parameters(held, block, gold, len(extractor.index_), frequent=2, base_score=prior)
    function = Objective(
        held, block, gold, parameters, seen_as, group_key=extractor.group_key_, l2=0.1, n_threads=1, dtype=np.float64
    )
    rng = np.random.default_rng(seed)
    weights, direction = 0.3 * rng.normal(size=(2, parameters.n_weights))
    _, gradient = function(weights)
    ahead, behind = function(weights + 1e-5 * direction)[0], function(weights - 1e-5 * direction)[0]
    slope = (ahead - behind) / 2e-5
    assert float(gradient @ direction) == pytest.approx(slope, rel=1e-5, abs=1e-5)


@settings(max_examples=25)
@given(st.lists(sentences(max_tokens=5, max_mentions=3), min_size=1, max_size=3), st.integers(0, 2**16))
def test_a_likelihood_is_never_above_one(corpus: list[Sentence], seed):
    for name, over in (("shared", "encodings"), ("split", "mention-sets"), ("linear", "encodings")):
        held = structure(name, TYPES, 3)
        extractor = Extractor(TEMPLATES, threads=1)
        block = extractor.fit_transform(corpus)
        seen_as = distribution_class(held, over)
        gold = encode_gold(seen_as, held, corpus)
        assert extractor.index_ is not None
        parameters = choose_parameters(held, block, gold, len(extractor.index_))
        weights = np.random.default_rng(seed).normal(size=parameters.n_weights)
        value, _ = Objective(held, block, gold, parameters, seen_as, l2=0.0, n_threads=1)(weights)
        assert value >= -1e-9

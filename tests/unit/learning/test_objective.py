"""The objective: its value against the reference, its gradient against differences, its bits over threads."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from examples import EXAMPLES
from hyperspan.features import Extractor, FeatureBlock, TemplateSet
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.learning import Objective, choose_parameters, objective
from hyperspan.learning.objective_reference import Key, objective_reference, scores_reference
from hyperspan.learning.vectors import add_kernel, dot_kernel
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.parameters import Parameters
from hyperspan.scoring.weight_table import WeightTable
from hyperspan.structures import Structure, structure
from hyperspan.threads import run

TEMPLATES = TemplateSet.parse('[words]\nhere = "word[0]"\nbefore = "word[-1]"\nbias = "bias"\nsuffix = "suffix2[0]"')

FEW = [
    Sentence(["no", "blood", "in", "stomach"], [Mention("Finding", [(1, 2), (3, 4)]), Mention("Place", [(3, 4)])]),
    Sentence([]),
    Sentence(["nothing", "to", "see"]),
    Sentence(["blood", "or", "blood"], [Mention("Finding", [(0, 1)]), Mention("Finding", [(0, 1), (2, 3)])]),
    Sentence(["Infarctions"], [Mention("Finding", [(0, 1)])]),
    Sentence([]),
]

CASES: list[tuple[str, str]] = [
    *((name, over) for name in ("mention", "shared", "split") for over in ("encodings", "mention-sets", "derivations")),
    ("linear", "encodings"),
]


def prepared(
    name: str, over: str, sentences: list[Sentence] = FEW, *, max_components: int = 2, frequent: int = 2
) -> tuple[Structure, FeatureBlock, Parameters, Objective]:
    types = sorted({mention.type for sentence in sentences for mention in sentence.mentions})
    chosen = structure(name, types, max_components)
    extractor = Extractor(TEMPLATES, threads=1)
    block = extractor.fit_transform(sentences)
    seen_as = distribution_class(chosen, over)
    gold = encode_gold(seen_as, chosen, sentences)
    assert extractor.index_ is not None
    parameters = choose_parameters(
        chosen, block, gold, len(extractor.index_), frequent=frequent, base_score=seen_as.prior(chosen)
    )
    function = Objective(
        chosen, block, gold, parameters, seen_as, group_key=extractor.group_key_, l2=0.3, n_threads=1, dtype=np.float64
    )
    return chosen, block, parameters, function


def as_mapping(parameters: Parameters, weights: np.ndarray) -> dict[Key, float]:
    """Write a vector of weights as the dictionary that the reference takes."""
    n_labels, n_transitions = parameters.n_labels, parameters.n_transitions
    named: dict[Key, float] = {("bias", 0, label): weights[label] for label in range(n_labels)}
    for place in range(n_transitions):
        named["transition", place // n_labels, place % n_labels] = weights[n_labels + place]
    for feature, row in enumerate(parameters.row_of_feature):
        for pair in range(parameters.first_pair[row], parameters.first_pair[row + 1]):
            named["pair", feature, int(parameters.pair_label[pair])] = weights[n_labels + n_transitions + pair]
    return named


def scores_of(chosen: Structure, parameters: Parameters, weights: np.ndarray, block: FeatureBlock) -> np.ndarray:
    scores = np.empty((block.n_tokens, chosen.n_labels))
    WeightTable.of(chosen, parameters, weights).add_up(block, scores)
    return scores


def features_of(block: FeatureBlock) -> list[list[list[int]]]:
    return [
        [block.of(sentence, word).tolist() for word in range(block.first_token[sentence + 1] - first)]
        for sentence, first in enumerate(block.first_token[:-1])
    ]


@pytest.mark.kernel
@pytest.mark.parametrize(("name", "over"), CASES)
def test_the_value_is_that_of_the_reference(name: str, over: str) -> None:
    chosen, block, parameters, function = prepared(name, over)
    rng = np.random.default_rng(1)
    for size in (0.0, 0.5):
        weights = size * rng.normal(size=parameters.n_weights)
        value, _ = function(weights)
        expected = objective_reference(
            distribution_class(chosen, over),
            chosen,
            FEW,
            features_of(block),
            as_mapping(parameters, function.to_model(weights)),
            l2=0.3,
        )
        assert value == pytest.approx(expected, rel=1e-11)


@pytest.mark.kernel
@pytest.mark.parametrize(("name", "over"), CASES)
def test_the_gradient_is_that_of_central_differences(name: str, over: str) -> None:
    _, _, parameters, function = prepared(name, over)
    weights = 0.4 * np.random.default_rng(2).normal(size=parameters.n_weights)
    _, gradient = function(weights)
    places = np.random.default_rng(3).permutation(parameters.n_weights)[:60]
    for place in {0, 1, 2, *places.tolist()}:
        ahead, behind = weights.copy(), weights.copy()
        ahead[place] += 1e-5
        behind[place] -= 1e-5
        slope = (function(ahead)[0] - function(behind)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-6), place


@pytest.mark.parametrize(
    ("name", "over"), [("shared", "encodings"), ("split", "mention-sets"), ("linear", "encodings")]
)
def test_the_bits_are_the_same_for_any_number_of_threads_and_as_often_as_one_asks(name, over, monkeypatch):
    monkeypatch.setattr(objective, "CHUNK_SCORES", 400)  # many chunks, so that threads have something to share
    sentences = [*EXAMPLES.values(), *FEW] * 3
    results = []
    for n_threads in (1, 2, 3, 2):
        _, _, parameters, function = prepared(name, over, sentences, max_components=3)
        function.n_threads = n_threads
        assert len(function._chunks) > 4
        weights = 0.3 * np.random.default_rng(4).normal(size=parameters.n_weights)
        results.append(function(weights))
        results.append(function(weights))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        assert gradient.tobytes() == results[0][1].tobytes()


def test_chunks_cover_every_sentence_once_and_never_cut_one(monkeypatch):
    for room in (1, 400, 2_000, 1 << 17):
        monkeypatch.setattr(objective, "CHUNK_SCORES", room)
        *_, function = prepared("shared", "encodings", [*FEW, *EXAMPLES.values()])
        covered = [sentence for begin, end in function._chunks for sentence in range(begin, end)]
        assert covered == list(range(len(FEW) + len(EXAMPLES)))


@pytest.mark.parametrize(("name", "over"), [("shared", "encodings"), ("linear", "encodings")])
def test_chunks_do_not_change_the_sum(name, over, monkeypatch):
    *_, parameters, function = prepared(name, over)
    weights = 0.3 * np.random.default_rng(5).normal(size=parameters.n_weights)
    value, gradient = function(weights)
    monkeypatch.setattr(objective, "CHUNK_SCORES", 1)
    *_, cut = prepared(name, over)
    assert len(cut._chunks) > len(function._chunks)
    cut_value, cut_gradient = cut(weights)
    assert cut_value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(cut_gradient, gradient, rtol=1e-10, atol=1e-12)


def test_a_corpus_of_empty_sentences_has_nothing_but_the_penalty():
    empty = [Sentence([]), Sentence([])]
    chosen = structure("shared", ["Finding"], 2)
    extractor = Extractor(TEMPLATES, threads=1)
    block = extractor.fit_transform(empty)
    over = distribution_class(chosen)
    gold = encode_gold(over, chosen, empty)
    parameters = choose_parameters(chosen, block, gold, 0)
    function = Objective(chosen, block, gold, parameters, over, l2=0.5)
    value, gradient = function(function.of_model(np.ones(parameters.n_weights)))
    assert value == pytest.approx(0.5 * parameters.n_weights)
    np.testing.assert_allclose(gradient, function.to_model(np.ones(parameters.n_weights)))


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("name", "over"),
    [("shared", "encodings"), ("shared", "mention-sets"), ("split", "derivations"), ("linear", "encodings")],
)
def test_scores_of_words_are_those_of_the_reference(name: str, over: str) -> None:
    chosen, block, parameters, _ = prepared(name, over)
    weights = np.random.default_rng(6).normal(size=parameters.n_weights)
    prior = distribution_class(chosen, over).prior(chosen).tolist()
    expected = [
        row
        for words in features_of(block)
        for row in scores_reference(chosen, words, as_mapping(parameters, weights), prior)
    ]
    scores = scores_of(chosen, parameters, weights, block)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def test_features_the_model_does_not_know_add_nothing():
    chosen, _, parameters, _ = prepared("shared", "encodings")
    extractor = Extractor(TEMPLATES, threads=1).fit(FEW)
    weights = np.random.default_rng(6).normal(size=parameters.n_weights)
    block = extractor.transform([Sentence(["xyzzy"]), Sentence([]), Sentence(["xyzzy", "plugh"])])
    scores = scores_of(chosen, parameters, weights, block)
    assert scores.shape == (3, chosen.n_labels)
    known = as_mapping(parameters, weights)
    np.testing.assert_allclose(
        scores[2], scores_reference(chosen, [block.of(2, 1).tolist()], known)[0], rtol=1e-12, atol=1e-12
    )


@pytest.mark.kernel
def test_vectors_are_added_and_multiplied():
    rng = np.random.default_rng(7)
    for length in (0, 1, 7, 100):
        left, right = rng.normal(size=length), rng.normal(size=length)
        assert dot_kernel(left, right) == pytest.approx(float(np.dot(left, right)), abs=1e-12)
        total = left.copy()
        add_kernel(total, -2.5, right)
        np.testing.assert_allclose(total, left - 2.5 * right)


def test_memory_is_in_proportion_to_weights_not_to_pairs_of_labels() -> None:
    """A thousand types, 25,000 labels, once took 5 GB: a number for every pair of labels, which only tags have."""
    sentences = [Sentence([f"w{number}", f"t{number}"], [Mention(f"T{number}", [(0, 1)])]) for number in range(1_000)]
    tracemalloc.start()
    chosen, block, parameters, function = prepared("shared", "encodings", sentences, max_components=3, frequent=10)
    value, gradient = function(np.zeros(parameters.n_weights))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert chosen.n_labels == 25_000
    assert np.isfinite(value)
    assert len(gradient) == parameters.n_weights
    n_residuals = block.n_tokens * len(parameters.dense_label)
    assert peak < 100 * (parameters.n_weights + n_residuals + objective.CHUNK_SCORES)


def test_not_too_many_chunks_wait_to_be_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk has a number for every pair of tags: with many types and many chunks they once filled the memory."""
    monkeypatch.setattr(objective, "CHUNK_SCORES", 1)
    _, _, parameters, function = prepared("linear", "encodings", [*FEW, *FEW])
    weights = np.random.default_rng(0).normal(size=parameters.n_weights)
    wanted = function(weights)
    asked: list[int] = []

    def run_and_count(n_threads: int, work: Any, n_tasks: int) -> list[Any]:
        asked.append(n_tasks)
        return run(n_threads, work, n_tasks)

    monkeypatch.setattr(objective, "run", run_and_count)
    monkeypatch.setattr(objective, "WAITING_NUMBERS", 2 * parameters.n_transitions)
    value, gradient = function(weights)
    assert value == wanted[0]
    np.testing.assert_array_equal(gradient, wanted[1])
    assert asked.count(2) >= 4

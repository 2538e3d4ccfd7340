"""CRFsuite's weights as ours: the same objective at the same weights."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.crfsuite import BIAS, Crfsuite, weights_of
from benchmarks.data import Data, as_one_type
from benchmarks.harness import Disagreement
from benchmarks.problem import L2, SEEN_ONLY, per_iteration, problem, search


@pytest.fixture(scope="module")
def sentences():
    return as_one_type(Data("demo", most_tokens=400).sentences)


@pytest.fixture(scope="module")
def chain(sentences):
    return problem(sentences, "linear", frequent=SEEN_ONLY, threads=1)


def test_there_is_a_weight_for_every_pair_that_occurs(chain, sentences):
    seen = set()
    for number, sentence in enumerate(sentences):
        first = chain.gold.first_word[number]
        for word in range(len(sentence)):
            tag = chain.gold.label[first + word]
            seen |= {(feature, tag) for feature in chain.features.of(number, word).tolist()}
    assert chain.n_separate_weights == 7 + 49 + len(seen)
    assert chain.n_weights <= chain.n_separate_weights


def test_at_zero_weights_all_tag_sequences_are_as_likely(chain):
    assert chain.value_at(chain.zeros(), threads=1) == pytest.approx(chain.features.n_tokens * math.log(7))


def test_the_objective_of_a_dumped_model_is_that_of_its_definition(chain, sentences):
    """Weights under their names, summed in plain Python along every sentence, give what our objective gives."""
    chance = np.random.default_rng(0)
    tags, gold = chain.tags, chain.gold
    names = {id: f"f{id}" for id in range(chain.n_features)}
    by_row: dict[tuple[int, int], float] = {}
    state, transitions = {}, {}
    for number, sentence in enumerate(sentences):
        for word in range(len(sentence)):
            label = int(gold.label[gold.first_word[number] + word])
            state.setdefault((BIAS, tags[label]), chance.normal())
            for feature in chain.features.of(number, word).tolist():
                row = int(chain.parameters.row_of_feature[feature])
                weight = by_row.setdefault((row, label), chance.normal() / 10)
                state[names[feature], tags[label]] = weight
    for before in tags:
        for after in tags:
            transitions[before, after] = chance.normal()
    info = SimpleNamespace(state_features=state, transitions=transitions)
    weights = weights_of(info, chain, {name: id for id, name in names.items()})
    likelihood = 0.0
    for number, sentence in enumerate(sentences):
        rows = []
        for word in range(len(sentence)):
            attributes = [BIAS, *(names[feature] for feature in chain.features.of(number, word).tolist())]
            rows.append([sum(state.get((attribute, tag), 0.0) for attribute in attributes) for tag in tags])
        first = int(gold.first_word[number])
        labels = gold.label[first : first + len(sentence)].tolist()
        forward = rows[0]
        for row in rows[1:]:
            forward = [
                row[after]
                + np.logaddexp.reduce([forward[before] + transitions[tags[before], tags[after]] for before in range(7)])
                for after in range(7)
            ]
        score = sum(row[label] for row, label in zip(rows, labels, strict=True))
        score += sum(transitions[tags[before], tags[after]] for before, after in pairwise(labels))
        likelihood += score - float(np.logaddexp.reduce(forward))
    penalty = L2 * sum(weight**2 for weight in (*state.values(), *transitions.values()))
    assert chain.value_at(weights, threads=1) == pytest.approx(penalty - likelihood, rel=1e-6)


def test_a_search_says_when_each_iteration_was_done(chain):
    ticks = iter(range(100))
    done = search(chain.objective(1), chain.n_weights, 4, clock=lambda: float(next(ticks)))
    assert [seconds for seconds, _ in done] == [1.0, 2.0, 3.0, 4.0]
    assert sorted((value for _, value in done), reverse=True) == [value for _, value in done]
    assert per_iteration(done) == 1.0


def test_crfsuite_has_our_weights_and_our_objective(chain, sentences):
    pytest.importorskip("pycrfsuite", reason="CRFsuite is not installed (the extra 'bench' brings it)")
    crfsuite = Crfsuite(chain, sentences)
    value = crfsuite.check(3)
    run = crfsuite.train(3)
    assert run.done[-1][1] == pytest.approx(value, rel=1e-5)
    assert len(run.done) == len(run.processor) == 3
    assert crfsuite.n_weights == chain.n_separate_weights


def test_a_crfsuite_with_other_data_is_found_out(chain, sentences):
    pytest.importorskip("pycrfsuite", reason="CRFsuite is not installed (the extra 'bench' brings it)")
    others = [sentences[0], *(sentence.with_mentions(()) for sentence in sentences[1:])]
    crfsuite = Crfsuite(chain, sentences)
    crfsuite.problem = problem(others, "linear", frequent=SEEN_ONLY, threads=1)
    with pytest.raises(Disagreement, match=r"the number of weights: ours is \d+, the peer's \d+; nothing was timed"):
        crfsuite.check(3)
    crfsuite.problem = chain
    chain.gold.label[0] ^= 1
    try:
        with pytest.raises(Disagreement, match="the objective at CRFsuite's weights: ours is"):
            crfsuite.check(3)
    finally:
        chain.gold.label[0] ^= 1

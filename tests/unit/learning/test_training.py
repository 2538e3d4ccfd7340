"""The search over penalties: records, warm starts, the best one, and taking it up again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hyperspan.errors import LearningError
from hyperspan.learning import Record, Search, new_search

OPTIONS = {"max_iterations": 100, "tolerance": 1e-9}


class Bowl:
    """Ends at 4 / (1 + l2) everywhere."""

    l2 = 0.0

    n_threads = 1

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        away = weights - 4.0
        return float(away @ away + self.l2 * weights @ weights), 2.0 * away + 2.0 * self.l2 * weights


def likes(target: float):
    """Scores weights by how near they are to a target."""
    return lambda weights: float(1.0 / (1.0 + np.abs(weights - target).max()))


def ran(search: Search, **options: object) -> list[Record]:
    return list(search.run(Bowl(), **{**OPTIONS, **options}))  # type: ignore[arg-type]


def test_one_penalty_needs_no_development_data():
    search = new_search(np.zeros(3), [1.0])
    records = ran(search)
    np.testing.assert_allclose(search.weights, np.full(3, 2.0), atol=1e-4)
    assert search.is_done
    assert search.best_l2 == 1.0
    assert [record.iteration for record in records] == list(range(1, len(records) + 1))
    assert [bool(record.stopped) for record in records] == [False] * (len(records) - 1) + [True]
    assert search.n_iterations == len(records)
    assert search.records == [record.as_dict(with_time=False) for record in records]
    assert all(record.dev_f1 is None for record in records)


def test_the_best_of_several_penalties_is_kept():
    search = new_search(np.zeros(2), [3.0, 1.0, 0.0])
    records = ran(search, dev_f1=likes(2.0))
    assert search.best_l2 == 1.0
    np.testing.assert_allclose(search.weights, np.full(2, 2.0), atol=1e-4)
    assert [record.l2 for record in records if record.stopped] == [3.0, 1.0, 0.0]
    assert [record.dev_f1 is not None for record in records] == [bool(record.stopped) for record in records]


def test_each_penalty_starts_from_the_weights_of_the_one_before():
    search = new_search(np.zeros(2), [3.0, 2.9])
    starts = []

    class Watched(Bowl):
        def __call__(self, weights):
            starts.append((self.l2, weights.copy()))
            return super().__call__(weights)

    list(search.run(Watched(), dev_f1=likes(0.0), **OPTIONS))
    first = next(weights for l2, weights in starts if l2 == 2.9)
    np.testing.assert_allclose(first, np.ones(2), atol=1e-4)


def test_several_penalties_need_development_data():
    with pytest.raises(LearningError, match="several penalties need development data to choose among them"):
        ran(new_search(np.zeros(2), [1.0, 0.5]))


def test_development_data_is_scored_as_often_as_asked():
    class Slow(Bowl):
        def __call__(self, weights):
            scale = np.logspace(0, 3, len(weights))
            away = weights - 4.0
            return float(away @ (scale * away)), 2.0 * scale * away

    records = list(new_search(np.zeros(8), [1.0]).run(Slow(), dev_f1=likes(4.0), dev_every=3, **OPTIONS))  # type: ignore[arg-type]
    assert len(records) > 6
    for record in records:
        assert (record.dev_f1 is not None) == (record.iteration % 3 == 0 or bool(record.stopped))


class Abyss(Bowl):
    """Has no value anywhere."""

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        return float("nan"), weights


def test_an_objective_that_is_not_a_number_is_refused_with_a_sentence():
    with pytest.raises(LearningError, match=r"the objective became nan at iteration 0; check the features .* raise l2"):
        list(new_search(np.zeros(1), [1.0]).run(Abyss(), **OPTIONS))  # type: ignore[arg-type]


@pytest.mark.parametrize("pause", [1, 2, 3, 4, 5])
def test_a_saved_search_goes_on_as_if_nothing_had_happened(pause: int):
    def summary(search: Search) -> tuple[object, ...]:
        return search.weights.tobytes(), search.best_l2, search.best_f1, search.records, search.n_iterations

    whole = new_search(np.zeros(2), [3.0, 1.0, 0.25])
    ran(whole, dev_f1=likes(2.0))
    search = new_search(np.zeros(2), [3.0, 1.0, 0.25])
    for number, _ in enumerate(search.run(Bowl(), dev_f1=likes(2.0), **OPTIONS), start=1):  # type: ignore[arg-type]
        if number == pause:
            break
    assert number == pause, "the search was done before it could be paused"
    data, arrays = search.to_arrays()
    restored = Search.of_arrays(json.loads(json.dumps(data)), {name: array.copy() for name, array in arrays.items()})
    ran(restored, dev_f1=likes(2.0))
    assert summary(restored) == summary(whole)


def test_a_record_holds_its_time_only_when_asked():
    record = Record(0.5, 3, 12.5, 0.1, 4, 1.23456, dev_f1=0.7, stopped="converged")
    assert record.as_dict() == {**record.as_dict(with_time=False), "seconds": 1.235}
    assert record.as_dict(with_time=False) == {
        "l2": 0.5,
        "iteration": 3,
        "objective": 12.5,
        "gradient_norm": 0.1,
        "evaluations": 4,
        "dev_f1": 0.7,
        "stopped": "converged",
    }

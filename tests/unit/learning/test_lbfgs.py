"""The optimiser: where it ends, why it stops, and that it can be taken up again in the middle."""

from __future__ import annotations

import json
import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from hyperspan.corpora import demo
from hyperspan.features import Extractor, TemplateSet
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.learning import Objective, State, choose_parameters, minimise
from hyperspan.learning.history import HISTORY
from hyperspan.learning.lbfgs import PERIOD, Function
from hyperspan.structures import structure


def ran(function: Function, state: State, **options: float) -> State:
    return list(minimise(function, state, **options))[-1]


def quadratic(n: int) -> tuple[Function, np.ndarray]:
    """A bowl a thousand times as long as it is wide, and its lowest point."""
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
    matrix = turn @ np.diag(np.logspace(0, 3, n)) @ turn.T
    lowest = rng.normal(size=n)
    return lambda x: (float((x - lowest) @ matrix @ (x - lowest)) / 2.0, matrix @ (x - lowest)), lowest


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float(rosen(x)), np.asarray(rosen_der(x))


@pytest.fixture(scope="module")
def real() -> Objective:
    sentences = demo.generate(6, unit="sentences").units
    held = structure("shared", sorted({mention.type for unit in sentences for mention in unit.mentions}), 2)
    extractor = Extractor(TemplateSet.parse('[words]\nhere = "word[0]"\nbefore = "word[-1]"'), threads=1)
    block = extractor.fit_transform(sentences)
    over = distribution_class(held)
    gold = encode_gold(over, held, sentences)
    assert extractor.index_ is not None
    parameters = choose_parameters(held, block, gold, len(extractor.index_))
    return Objective(held, block, gold, parameters, over, l2=0.5, n_threads=1)


def test_a_bowl_has_its_lowest_point():
    function, lowest = quadratic(20)
    state = ran(function, State(np.zeros(20)), tolerance=0.0, gradient_tolerance=1e-8)
    np.testing.assert_allclose(state.weights, lowest, atol=1e-6)
    assert state.stopped.startswith("converged: gradient norm ")


def test_parallel_searches_leave_the_filters_of_warnings_as_they_were():
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def first(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x.any():  # in a line search
            first_is_in.set()
            assert second_is_in.wait(30)
        return rosenbrock(x)

    def second(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x.any():
            second_is_in.set()
            assert first_is_out.wait(30)
        return rosenbrock(x)

    def search_second() -> None:
        assert first_is_in.wait(30)
        ran(second, State(np.zeros(2)), max_iterations=1)

    ran(rosenbrock, State(np.zeros(2)), max_iterations=1)  # imports what has filters of its own
    before, other = list(warnings.filters), threading.Thread(target=search_second)
    other.start()
    ran(first, State(np.zeros(2)), max_iterations=1)
    first_is_out.set()
    other.join()
    assert warnings.filters == before


def test_a_curved_valley_is_followed_to_its_end():
    state = ran(rosenbrock, State(np.array([-1.2, 1.0, -0.5, 2.0])), tolerance=0.0, gradient_tolerance=1e-8)
    np.testing.assert_allclose(state.weights, np.ones(4), atol=1e-6)
    assert state.iteration < 100


def test_a_real_objective_ends_where_scipy_ends(real: Objective):
    start = np.zeros(real.parameters.n_weights)
    theirs = minimize(real, start, jac=True, method="L-BFGS-B", options={"maxiter": 1_000, "ftol": 1e-12})
    ours = ran(real, State(start), tolerance=1e-9)
    assert ours.value == pytest.approx(theirs.fun, rel=1e-6)
    np.testing.assert_allclose(ours.weights, theirs.x, atol=1e-3 * np.abs(theirs.x).max())
    roughly = ran(real, State(start))
    assert roughly.value == pytest.approx(theirs.fun, rel=1e-4)
    assert "fell by less than 1e-05 of itself over 10 iterations" in roughly.stopped


def test_the_value_never_rises_and_iterations_are_counted(real: Objective):
    values, iterations = [], []
    for state in minimise(real, State(np.zeros(real.parameters.n_weights)), max_iterations=15):
        values.append(state.value)
        iterations.append(state.iteration)
    assert all(after < before for before, after in pairwise(values))
    assert iterations == list(range(1, 16))


def test_it_says_why_it_stopped_and_what_to_do(real: Objective):
    state = ran(real, State(np.zeros(real.parameters.n_weights)), max_iterations=3)
    assert state.iteration == 3
    assert state.stopped.startswith("stopped after 3 iterations, gradient norm ")
    assert state.stopped.endswith("Raise max_iterations, or raise l2 if weights grow.")


def test_a_start_at_the_lowest_point_needs_no_iteration():
    function, lowest = quadratic(5)
    states = list(minimise(function, State(lowest)))
    assert len(states) == 1
    assert states[0].iteration == 0
    assert states[0].stopped.startswith("converged: gradient norm 0")


def test_a_stopped_state_stays_where_it_is(real: Objective):
    state = ran(real, State(np.zeros(real.parameters.n_weights)), max_iterations=3)
    before = state.n_evaluations
    assert [again.iteration for again in minimise(real, state, max_iterations=100)] == [3]
    assert state.n_evaluations == before


def test_a_wrong_gradient_stops_the_search_with_a_sentence():
    state = ran(lambda x: (float(x @ x), -2.0 * x), State(np.ones(3)))
    assert state.stopped == "stopped: no step lowers the objective any further"
    np.testing.assert_array_equal(state.weights, np.ones(3))


@pytest.mark.parametrize("pause", [1, 2, HISTORY + 3, 2 * PERIOD])
def test_a_state_saved_in_the_middle_goes_on_bit_by_bit(real: Objective, pause: int):
    def trace(state: State) -> list[tuple[int, float, bytes, int, str]]:
        return [
            (after.iteration, after.value, after.weights.tobytes(), after.n_evaluations, after.stopped)
            for after in minimise(real, state, max_iterations=35)
        ]

    whole = trace(State(np.zeros(real.parameters.n_weights)))
    for state in minimise(real, State(np.zeros(real.parameters.n_weights)), max_iterations=35):
        if state.iteration == pause:
            break
    numbers, arrays = state.to_arrays()
    restored = State.of_arrays(json.loads(json.dumps(numbers)), {name: array.copy() for name, array in arrays.items()})
    assert trace(restored) == whole[pause:]


def test_a_state_that_has_not_begun_can_be_saved(real: Objective):
    fresh = State(np.zeros(real.parameters.n_weights))
    restored = State.of_arrays(*fresh.to_arrays())
    first = next(iter(minimise(real, restored)))
    assert first.weights.tobytes() == next(iter(minimise(real, fresh))).weights.tobytes()

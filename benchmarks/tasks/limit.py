"""A training iteration beside its lower bound on this machine: the bytes that must move, divided by the bandwidth.

The bandwidth is that of a plain loop over arrays far larger than the caches: reading one (sum), and reading two to
write a third (triad), on as many threads as training has. The bytes of an iteration are counted as if every number were
read from memory for each use that no cache can serve: the ids of features twice (scores and gradient), the indices of
weights twice, weights once, the gradient once; and every step in the history of L-BFGS twice. An iteration can be
faster than that, because duplicate features share weights and many words share sums.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from benchmarks.data import as_one_type
from benchmarks.harness import Figure, Row, in_turns
from benchmarks.problem import SEEN_ONLY, Problem, per_iteration, problem, search
from benchmarks.setting import Setting
from hyperspan.learning.history import HISTORY
from hyperspan.learning.parameters import FREQUENT

ARRAY_BYTES = 1 << 28


def run(setting: Setting) -> Iterator[Row]:
    """Yield the bandwidth and, for two structures, the share of it that an iteration achieves."""
    rower = setting.rower("limit", "gigabytes a second")
    rounds = setting.pick(2, 7)
    size = ARRAY_BYTES // setting.pick(16, 1) // 8
    bandwidth = measure_bandwidth(size, setting.threads, rounds)
    for name, figure in bandwidth.items():
        yield rower(f"{name}, {setting.threads} threads", figure, note=f"arrays of {size * 8 / 1e6:,.0f} MB")
    best = max(figure.median for figure in bandwidth.values())
    sentences = as_one_type(setting.data.sentences)
    for structure, frequent in {"linear": SEEN_ONLY, "shared": FREQUENT}.items():
        made = problem(sentences, structure, frequent=frequent, threads=setting.threads)
        objective = made.objective(setting.threads)
        seconds = Figure.of(
            per_iteration(search(objective, made.n_weights, HISTORY + 2)) for _ in range(setting.pick(1, 5))
        )
        n_bytes = bytes_of_iteration(made)
        yield rower(
            f"{structure}, an iteration",
            Figure(*(100 * n_bytes / 1e9 / best / each for each in (seconds.median, seconds.most, seconds.least))),
            unit="% of the bandwidth",
            note=f"{n_bytes / 1e6:,.0f} MB must move, which takes {1e3 * n_bytes / 1e9 / best:,.0f} ms at "
            f"{best:.1f} GB/s; measured {1e3 * seconds.median:,.0f} ms",
            more_is_better=True,
        )


def bytes_of_iteration(made: Problem) -> int:
    """Return the bytes that an iteration with one evaluation must move, as this module counts them."""
    features, parameters = made.features, made.parameters
    ids = 2 * (features.feature.nbytes + features.first_feature.nbytes)
    places = 2 * (parameters.first_pair.nbytes + parameters.pair_label.nbytes)
    weights_and_gradient = 2 * 8 * made.n_weights
    remembered = 2 * 2 * HISTORY * 4 * made.n_weights
    direction = 8 * made.n_weights
    return ids + places + weights_and_gradient + remembered + direction


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def sum_kernel(values):  # type: ignore[no-untyped-def]
    """Return the sum of an array."""
    total = 0.0
    for place in range(values.shape[0]):
        total += values[place]
    return total


@numba.njit(nogil=True, cache=True)
def triad_kernel(one, other, factor, result):  # type: ignore[no-untyped-def]
    """Set a result to one array plus a multiple of another."""
    for place in range(result.shape[0]):
        result[place] = one[place] + factor * other[place]


def measure_bandwidth(size: int, threads: int, rounds: int) -> dict[str, Figure]:
    """Return the gigabytes per second of the sum and the triad, over arrays of the given size."""
    one, other, result = np.ones(size), np.ones(size), np.zeros(size)
    bounds = np.linspace(0, size, threads + 1).astype(int)
    slices = [slice(begin, end) for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]

    def timed(work: Callable[[slice], object]) -> float:
        begin = time.perf_counter()
        list(pool.map(work, slices))
        return time.perf_counter() - begin

    def triad(part: slice) -> None:
        triad_kernel(one[part], other[part], 3.0, result[part])

    with ThreadPoolExecutor(threads) as pool:
        seconds = in_turns(
            {"read": lambda: timed(lambda part: sum_kernel(one[part])), "triad": lambda: timed(triad)}, rounds
        )
    return {"read": seconds["read"].rate(8 * size / 1e9), "triad": seconds["triad"].rate(24 * size / 1e9)}

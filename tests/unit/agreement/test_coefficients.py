"""κ and α, by hand, against scikit-learn, krippendorff and NLTK."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hyperspan.agreement import Alpha, Kappa, masi_distance, nominal_distance

RATINGS = """
1 2 3 3 2 1 4 1 2 * * *
1 2 3 3 2 2 4 1 2 5 * 3
* 3 3 3 2 3 4 2 2 5 1 *
1 2 3 3 2 4 4 1 2 5 1 *
"""
"""The example of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): nominal α is 0.743."""


def rows_of_ratings() -> Counter[tuple[str, ...]]:
    columns = zip(*(line.split() for line in RATINGS.strip().splitlines()), strict=True)
    rated = [tuple(value for value in column if value != "*") for column in columns]
    return Counter(row for row in rated if len(row) > 1)


def test_nominal_alpha_is_the_published_one():
    assert Alpha([rows_of_ratings()], nominal_distance).value() == pytest.approx(0.743, abs=5e-4)


def test_alpha_does_not_depend_on_how_items_are_cut_into_documents():
    rows = rows_of_ratings()
    cut = [Counter({row: count}) for row, count in rows.items()]
    assert Alpha(cut, nominal_distance).value() == pytest.approx(Alpha([rows], nominal_distance).value())


def test_kappa_is_the_one_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 4, (2, 300))
    theirs = np.where(rng.random(300) < 0.6, ours, theirs)
    rows = [
        Counter(zip(ours[part].tolist(), theirs[part].tolist(), strict=True)) for part in (slice(99), slice(99, 300))
    ]
    assert Kappa(rows).value() == pytest.approx(metrics.cohen_kappa_score(ours, theirs))


def test_alpha_is_the_one_of_krippendorff_with_masi_too():
    krippendorff = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    rng = np.random.default_rng(1)
    sets = [frozenset(letters) for letters in ("", "a", "ab", "abc", "bc", "d")]
    values = rng.integers(0, len(sets), (3, 80))
    values[1] = np.where(rng.random(80) < 0.7, values[0], values[1])
    data = values.astype(float)
    data[2, :30] = np.nan
    table = np.array([[masi_distance(one, other) for other in sets] for one in sets])
    rows = Counter(tuple(sets[int(value)] for value in column if not np.isnan(value)) for column in data.T)

    def metric(v1, v2, i1, i2, n_v, dtype=np.float64):
        return table[v1.astype(int), v2.astype(int)]

    domain = list(range(len(sets)))
    for distance, level in ((nominal_distance, "nominal"), (masi_distance, metric)):
        theirs = krippendorff.alpha(data, value_domain=domain, level_of_measurement=level)
        assert Alpha([rows], distance).value() == pytest.approx(theirs)


def test_masi_is_the_one_of_nltk():
    nltk = pytest.importorskip("nltk.metrics", reason="nltk is not installed")
    sets = [frozenset(letters) for letters in ("a", "ab", "abc", "bc", "d")]
    for one in sets:
        for other in sets:
            # NLTK rounds 1/3 and 2/3 to 0.33 and 0.67.
            assert masi_distance(one, other) == pytest.approx(nltk.masi_distance(one, other), abs=0.004)


def test_masi_by_hand():
    assert masi_distance(frozenset("ab"), frozenset("bc")) == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert masi_distance(frozenset("ab"), frozenset("abc")) == pytest.approx(1 - 2 / 3 * 2 / 3)
    assert masi_distance(frozenset(), frozenset()) == 0.0


def test_where_chance_gives_full_agreement_there_is_no_kappa_nor_alpha():
    rows = [{("a", "a"): 10}]
    assert np.isnan(Kappa(rows).value())
    assert np.isnan(Alpha(rows, nominal_distance).value())


def test_weights_are_how_often_a_document_is_drawn():
    documents = [{("a", "a"): 3, ("a", "b"): 2}, {("b", "b"): 4, ("b", "a"): 1}]
    twice = [documents[0], documents[0], documents[1]]
    weights = np.array([[2.0, 1.0]])
    assert Kappa(documents).resampled(weights)[0] == pytest.approx(Kappa(twice).value())
    ours, whole = (Alpha(each, nominal_distance) for each in (documents, twice))
    assert ours.resampled(weights)[0] == pytest.approx(whole.value())

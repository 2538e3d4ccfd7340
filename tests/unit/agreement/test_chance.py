"""Agreement corrected for chance."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import gamma, share


def test_gamma_by_hand_over_all_rotations():
    one, other = (Sentence(list("abcd"), [Mention("X", [(at, at + 1)])], doc="a") for at in (0, 0))
    found = gamma(share({"ann": [one], "bob": [other]}).documents, "ann", "bob")
    # Moved by 1 word the mentions touch: 1. By 2 or 3 words they cost (2 + 2)² / 4 and more, so each stands alone: 2.
    assert (found.observed, found.expected, found.n_rotations) == (0.0, pytest.approx(5 / 3), 3)
    assert found.value == 1.0
    far = Sentence(list("abcd"), [Mention("X", [(2, 3)])], doc="a")
    apart = gamma(share({"ann": [one], "bob": [far]}).documents, "ann", "bob")
    # Word 2 against 0: alone. Moved to 3 alone, to 0 equal, to 1 touching.
    assert (apart.observed, apart.expected) == (2.0, pytest.approx(1.0))
    assert apart.value == pytest.approx(-1.0)


def test_annotations_by_chance_have_a_gamma_about_zero():
    rng = np.random.default_rng(0)

    def random() -> Sentence:
        words = rng.choice(1_000, 150, replace=False).tolist()
        return Sentence(["w"] * 1_000, [Mention("X", [(at, at + 1)]) for at in sorted(words)], doc="a")

    found = gamma(share({"ann": [random()], "bob": [random()]}).documents, "ann", "bob")
    assert abs(found.value) < 0.1

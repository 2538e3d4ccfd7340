"""Bounds on the work that a model can cause: steps are counted, since time depends on the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hyperspan.inference import DECODERS, ScoreBatch, distribution, outcomes
from hyperspan.inference.reference.mention_marginals import ClampedSums
from hyperspan.structures import structure
from hyperspan.structures.staircase import END


@pytest.mark.parametrize("decoder", ["probable", "enough", "all"])
@pytest.mark.parametrize("is_fond_of_gaps", [False, True])
def test_the_work_for_a_hostile_model_is_bounded(
    monkeypatch: pytest.MonkeyPatch, decoder: str, is_fond_of_gaps: bool
) -> None:
    """Five parts and weights from N(0, 30) once took two minutes for 2,000 words, and long mentions would take longer.

    What takes the time is to go over a word in log space.
    """
    n_steps, whole = 0, ClampedSums.across

    def across(*args: Any, **options: Any) -> Any:
        nonlocal n_steps
        n_steps += 1
        return whole(*args, **options)

    monkeypatch.setattr(ClampedSums, "across", across)
    monkeypatch.setattr(outcomes, "MOST_STEPS", 16_000)
    made, n_words = structure("shared", ["Finding"], 5), 300
    scores = np.random.default_rng(0).normal(0.0, 30.0, (n_words, made.n_labels))
    if is_fond_of_gaps:  # every mention begins early and ends at the last words
        for label, (node, children) in enumerate(made.blocks[0].staircase.edges, start=2):
            scores[:, label] += 200.0 * ((node % 2 == 1) - bool(children & END))
    (found,) = DECODERS[decoder](distribution(made, ScoreBatch.of_sentence(scores)), 0.3)
    assert found.truncated
    assert 0 < n_steps <= 1_000 + n_words  # 16,000 divided by 16 for five parts; a mention more than that at the most

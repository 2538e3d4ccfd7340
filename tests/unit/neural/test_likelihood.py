"""The exact likelihood as a loss of torch: its gradient is right, and threads change nothing."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")

from hyperspan.inference import distribution_class, encode_gold
from hyperspan.mentions import Mention, Sentence
from hyperspan.neural import exact_likelihood
from hyperspan.structures import structure

SENTENCES = [
    Sentence(["a", "b", "c", "d", "e"], [Mention("A", [(0, 1), (2, 4)]), Mention("B", [(0, 1)])]),
    Sentence(["a", "b"]),
    Sentence(["a", "b", "c"], [Mention("A", [(0, 3)]), Mention("A", [(1, 2)])]),
]


@pytest.mark.parametrize(
    ("name", "over"),
    [("shared", "encodings"), ("shared", "mention-sets"), ("linear", "encodings"), ("segments", "encodings")],
)
def test_gradient_agrees_with_finite_differences(name, over):
    written_as = structure(name, ["A", "B"], 2)
    distribution = distribution_class(written_as, over)
    gold = encode_gold(distribution, written_as, SENTENCES)
    draw = torch.Generator().manual_seed(0)
    n_words, n_labels = int(gold.first_word[-1]), written_as.n_labels
    scores = torch.randn((n_words, n_labels), generator=draw, dtype=torch.float64) - 1.0
    n_tags = n_labels if written_as.has_transitions else 0
    transitions = torch.randn((n_tags, n_tags), generator=draw, dtype=torch.float64)
    weights = [scores.requires_grad_(), *([transitions.requires_grad_()] if n_tags else [])]

    def loss(*given):
        return exact_likelihood(given[0], given[1] if n_tags else transitions, distribution, written_as, gold)

    assert torch.autograd.gradcheck(loss, weights, eps=1e-5, atol=1e-5, fast_mode=True)
    (slope,) = torch.autograd.grad(loss(*weights), weights[:1])
    for word, label in ((0, 1), (3, n_labels // 2), (n_words - 1, n_labels - 1)):
        step = torch.zeros_like(scores)
        step[word, label] = 1e-5
        with torch.no_grad():
            sides = [loss(scores + sign * step, *weights[1:]).item() for sign in (1.0, -1.0)]
        assert slope[word, label].item() == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("name", ["shared", "linear", "segments"])
def test_threads_change_nothing(name, some):
    types = sorted({mention.type for sentence in some for mention in sentence.mentions})
    written_as = structure(name, types)
    distribution = distribution_class(written_as)
    gold = encode_gold(distribution, written_as, some)
    draw = torch.Generator().manual_seed(1)
    scores = torch.randn((int(gold.first_word[-1]), written_as.n_labels), generator=draw) - 3.0
    n_tags = written_as.n_labels if written_as.has_transitions else 0
    found = []
    for n_threads in (1, 3):
        here, transitions = scores.clone().requires_grad_(), torch.zeros((n_tags, n_tags), requires_grad=True)
        loss = exact_likelihood(here, transitions, distribution, written_as, gold, n_threads)
        loss.backward()
        found.append((loss.item(), here.grad.numpy(), transitions.grad))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])

"""Scores of words do not depend on what else is in the batch, and start where the gold is."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")

from hyperspan.inference import distribution_class, encode_gold
from hyperspan.mentions import Mention
from hyperspan.neural import exact_likelihood
from hyperspan.neural.heads import head_for
from hyperspan.neural.mention_head import Candidates, MentionHead
from hyperspan.structures import structure


def parts_of(name, sentences):
    types = sorted({mention.type for sentence in sentences for mention in sentence.mentions})
    written_as = structure(name, types)
    distribution = distribution_class(written_as)
    return written_as, distribution, encode_gold(distribution, written_as, sentences)


@pytest.mark.parametrize("name", ["shared", "linear", "segments"])
def test_a_sentence_alone_scores_as_among_others(name):
    torch.manual_seed(0)
    written_as = structure(name, ["A", "B"])
    head = head_for(written_as, 8, np.zeros(written_as.n_labels), 0.0).eval()
    vectors, first_word = torch.randn(12, 8), torch.tensor([0, 5, 5, 12])
    together = head(vectors, first_word)
    alone = [head(vectors[begin:end], torch.tensor([0, end - begin])) for begin, end in ((0, 5), (5, 5), (5, 12))]
    assert together.shape == (12, written_as.n_labels)
    torch.testing.assert_close(torch.cat(alone), together)


@pytest.mark.parametrize("name", ["shared", "linear", "segments"])
def test_a_gradient_is_the_same_every_time_with_several_threads(name):
    torch.manual_seed(0)
    written_as = structure(name, ["A", "B"])
    head = head_for(written_as, 8, np.zeros(written_as.n_labels), 0.0)
    vectors, first_word = torch.randn(60, 8, requires_grad=True), torch.tensor([0, 20, 20, 60])
    outer = torch.randn(60, written_as.n_labels)
    n_before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, *others = (torch.autograd.grad(head(vectors, first_word), vectors, outer)[0] for _ in range(12))
    finally:
        torch.set_num_threads(n_before)
    assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("name", ["shared", "split", "linear", "segments"])
def test_a_head_starts_from_the_frequencies_of_the_gold(name, some):
    torch.manual_seed(0)
    written_as, distribution, gold = parts_of(name, some)
    head = head_for(written_as, 8, distribution.prior(written_as), 0.0)
    vectors = torch.zeros((int(gold.first_word[-1]), 8))

    def loss():
        scores = head(vectors, torch.from_numpy(gold.first_word))
        return exact_likelihood(scores, head.transitions, distribution, written_as, gold).item() / len(some)

    before = loss()
    head.start_from(gold)
    assert loss() < before / 2
    assert loss() < 12.0


def test_a_prior_is_added_and_never_learned(some):
    written_as = structure("shared", ["A"])
    prior = distribution_class(written_as, "mention-sets").prior(written_as)
    head = head_for(written_as, 8, prior, 0.0)
    torch.nn.init.zeros_(head.scores.weight)
    found = head(torch.zeros((3, 8)), torch.tensor([0, 3]))[0].detach().numpy()
    np.testing.assert_allclose(found, prior, atol=1e-6)
    assert "base_score" not in head.state_dict()


def test_labels_without_weights_score_zero():
    torch.manual_seed(0)
    written_as = structure("shared", ["A", "B"])
    head = head_for(written_as, 8, np.zeros(written_as.n_labels), 0.0)
    found = head(torch.randn(4, 8), torch.tensor([0, 4]))
    assert not found[:, torch.from_numpy(written_as.weightless_labels)].any()


def test_candidates_are_seen_with_their_gaps():
    mentions = [[Mention("B", [(0, 1), (3, 5)]), Mention("A", [(1, 2)])], [], [Mention("A", [(0, 1)])]]
    found = Candidates.of(mentions, np.array([0, 6, 6, 7]), ["A", "B"])
    assert found.word.tolist() == [0, 3, 4, 1, 6]
    assert found.owner.tolist() == [0, 0, 0, 1, 2]
    assert found.gap_word.tolist() == [1, 2]
    assert found.gap_owner.tolist() == [0, 0]
    assert found.first.tolist() == [0, 1, 6]
    assert found.last.tolist() == [4, 1, 6]
    assert found.kinds.tolist() == [[1, 0, 0], [1, 0, 0], [3, 1, 1], [2, 0, 0]]


def test_a_candidate_alone_scores_as_among_others():
    torch.manual_seed(0)
    head, vectors = MentionHead(8, 2, 0.0).eval(), torch.randn(9, 8)
    mentions = [Mention("B", [(0, 1), (3, 5)]), Mention("A", [(1, 2)]), Mention("A", [(1, 9)])]
    together = head(vectors, Candidates.of([mentions], np.array([0, 9]), ["A", "B"]))
    alone = [head(vectors, Candidates.of([[each]], np.array([0, 9]), ["A", "B"])) for each in mentions]
    torch.testing.assert_close(torch.cat(alone), together)

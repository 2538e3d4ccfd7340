"""The second look of a neural model: a head on the same encoder, combined with the exact probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from msgspec import Meta, Struct
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from hyperspan.errors import ModelError
from hyperspan.mentions import Mention, Sentence
from hyperspan.neural.encoder import size_of
from hyperspan.neural.mention_head import Candidates, MentionHead
from hyperspan.neural.network import first_words
from hyperspan.neural.scorer import NeuralScorer, fill
from hyperspan.schema import fitted
from hyperspan.scoring import Proposal, Proposed, Reason, register_mention_scorer
from hyperspan.scoring.scorer import Arrays, Scorer
from hyperspan.structures import Structure

PROPOSAL = Proposal((0.01,), 50)
"""Which mentions get a second look."""

_SUREST = 1e-6
_RIDGE = 1e-2


class NeuralMentionScorer:
    """Combines the log-odds of the first look with those of a head over the words of the whole mention.

    Parameters
    ----------
    scorer : NeuralScorer
        The scorer of the first look, whose network has the head.
    mix : tuple of three floats
        The factors of the log-odds of the first look and of the head, and a constant.
    """

    name: ClassVar[str] = "neural"
    proposal = PROPOSAL

    def __init__(self, scorer: NeuralScorer, mix: tuple[float, float, float]) -> None:
        assert scorer.network.mentions is not None
        self.scorer = scorer
        self.head: MentionHead = scorer.network.mentions
        self.mix = mix
        scorer.remembers = True

    def probs(self, sentences: Sequence[Sentence], candidates: Proposed) -> NDArray[np.float64]:
        """Return the probability of each candidate."""
        return mixed(*self.log_odds(sentences, candidates), self.mix)

    def log_odds(
        self, sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-odds of all candidates as flat arrays: those of the first look, and those of the head."""
        wanted = [number for number, here in enumerate(candidates) if here]
        if not wanted:
            return np.zeros(0), np.zeros(0)
        chosen = [candidates[number] for number in wanted]
        with torch.inference_mode(), self.scorer.ready():
            vectors = self.scorer.vectors_again(sentences, wanted)
            first_word = first_words([len(sentences[number]) for number in wanted])
            arrays = Candidates.of(chosen, first_word, self.scorer.structure.types)
            head = self.head(vectors, arrays).to("cpu", torch.float64).numpy()
        return log_odds_of(chosen), head

    def explain(
        self,
        sentences: Sequence[Sentence],
        candidates: Sequence[Sequence[Mention]],
        wanted: Sequence[Sequence[Mention]],
        top: int,
    ) -> list[dict[Mention, list[Reason]]]:
        """Return the words with the most influence on candidates, and the first look as one reason."""
        found: list[dict[Mention, list[Reason]]] = []
        for number, (known, here) in enumerate(zip(candidates, wanted, strict=True)):
            by_mention, words = {mention: mention for mention in known}, sentences[number].tokens
            reasons = {}
            for mention in here:
                first_look = by_mention.get(mention, mention)
                amount = float(self.mix[0] * log_odds_of([[first_look]])[0])
                reasons[mention] = [
                    Reason(mention.start, "first look", amount, "the log-odds of the first look", look=2),
                    *(
                        replace(reason, look=2, in_words=f"what the encoder makes of ‘{words[reason.word]}’")
                        for reason in self.scorer.words_that_moved(
                            sentences, number, partial(self._of_one, mention), top
                        )
                    ),
                ][: max(1, top)]
            found.append(reasons)
        return found

    def _of_one(self, mention: Mention, vectors: torch.Tensor) -> torch.Tensor:
        arrays = Candidates.of([[mention]], np.zeros(1, dtype=np.int64), self.scorer.structure.types)
        return self.mix[1] * self.head(vectors, arrays).sum()

    def describe(self) -> dict[str, Any]:
        """Return how both looks are mixed."""
        return {
            "rescorer": self.name,
            "mixing_weight": self.mix[1] / ((self.mix[0] + self.mix[1]) or 1.0),
            "parameters": sum(each.numel() for each in self.head.parameters()),
        }

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the complete state as plain data and arrays."""
        arrays = {name: self.scorer.written(tensor) for name, tensor in self.head.state_dict().items()}
        return {"mix": list(self.mix)}, arrays

    @classmethod
    def from_state(
        cls, structure: Structure, scorer: Scorer, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int
    ) -> NeuralMentionScorer:
        """Restore a mention scorer from its state."""
        checked: MixState = fitted(dict(data), MixState)
        if not isinstance(scorer, NeuralScorer):
            raise ModelError("its second look needs an encoder, and its first look has none")
        network = scorer.network
        head = MentionHead(size_of(network.encoder), len(structure.types), 0.0)
        fill(head.state_dict(), arrays)
        network.mentions = head.to(network.device)
        return cls(scorer, checked.mix)


Weight = Annotated[float, Meta(ge=-1e3, le=1e3)]


class MixState(Struct, forbid_unknown_fields=True):
    """The plain data of a second look."""

    mix: tuple[Weight, Weight, Weight]


def log_odds_of(candidates: Sequence[Sequence[Mention]]) -> NDArray[np.float64]:
    """Return the log-odds of the candidates' probabilities."""
    probs = np.array([mention.prob or 0.0 for here in candidates for mention in here])
    log_odds: NDArray[np.float64] = logit(np.clip(probs, _SUREST, 1.0 - _SUREST))
    return log_odds


def mixed(
    first_look: NDArray[np.float64], head: NDArray[np.float64], mix: tuple[float, float, float]
) -> NDArray[np.float64]:
    """Return probabilities, given both log-odds and the mix."""
    probs: NDArray[np.float64] = expit(mix[0] * first_look + mix[1] * head + mix[2])
    return probs


def best_mix(
    first_look: NDArray[np.float64], head: NDArray[np.float64], is_right: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return the mix that maximises the likelihood of development data: a logistic regression over two numbers.

    So the mixed probabilities are also calibrated. If all candidates are right, or none is, the first look remains.

    Examples
    --------
    >>> odds = np.array([2.0, 1.0, -1.0, -2.0])
    >>> first_look, _, shift = best_mix(odds, np.zeros(4), np.array([True, False, True, False]))
    >>> round(first_look, 2), abs(shift) < 1e-3
    (0.42, True)
    >>> best_mix(odds, odds, np.zeros(4, dtype=bool))
    (1.0, 0.0, 0.0)
    """
    if is_right.all() or not is_right.any():
        return 1.0, 0.0, 0.0
    columns = np.stack([first_look, head, np.ones_like(head)], axis=1)
    signs = np.where(is_right, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (columns @ weights)
        slope = columns.T @ (-signs * expit(-margins))
        value = float(np.logaddexp(0.0, -margins).sum() + _RIDGE * (weights @ weights))
        return value, slope + 2.0 * _RIDGE * weights

    found = minimize(
        loss, np.array([0.5, 0.5, 0.0]), jac=True, method="L-BFGS-B", bounds=[(0.0, 10.0)] * 2 + [(-50, 50)]
    )
    first, second, shift = found.x.tolist()
    return first, second, shift


register_mention_scorer("neural", NeuralMentionScorer)

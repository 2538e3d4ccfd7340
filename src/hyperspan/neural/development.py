"""Tune and score a network on development data: its temperature, the mix of both looks, and its F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from hyperspan.evaluation.calibration import Calibration
from hyperspan.inference import BatchDistribution, ScoreBatch, distribution_class, encode_gold, negative_log_likelihood
from hyperspan.learning import LOWEST_THRESHOLD, ThresholdCurve
from hyperspan.mentions import Mention, Sentence, unchecked_mention
from hyperspan.neural.likelihood import in_pieces
from hyperspan.neural.mention_head import Candidates
from hyperspan.neural.mention_scorer import PROPOSAL, best_mix, log_odds_of, mixed
from hyperspan.neural.network import first_words
from hyperspan.neural.scorer import NeuralScorer
from hyperspan.structures import Structure
from hyperspan.threads import run

HOTTEST = 10.0
"""The highest temperature tried; the lowest is its inverse."""

MOST_SCORES = 1 << 26
"""If development data has more scores than this, an evenly chosen part of it is used."""

MOST_FOUND = 200
"""The maximum number of candidates in a type in a sentence: an untrained network would have thousands."""

Mentions = Sequence[Sequence[Mention]]


@dataclass(frozen=True)
class Judgement:
    """The results on development data.

    Attributes
    ----------
    f1 : float
        The best F1 of all thresholds, with the second look if it is to be used.
    first_f1 : float
        The same for the first look alone.
    temperature : float
        What to divide scores by.
    mix : tuple of three floats, optional
        How to mix both looks; None if the first is better alone.
    calibration : dict of str to float
        The expected calibration error before and after.
    """

    f1: float
    first_f1: float
    temperature: float
    mix: tuple[float, float, float] | None = None
    calibration: dict[str, float] = field(default_factory=dict)


def judge(scorer: NeuralScorer, dev: Sequence[Sentence], rescore: str = "off") -> Judgement:
    """Evaluate a scorer on development data with mentions.

    Parameters
    ----------
    scorer : NeuralScorer
        The scorer, which is not changed.
    dev : sequence of Sentence
    rescore : {"auto", "on", "off"}
        Whether to use a second look; ``auto`` uses it if it is better.
    """
    dev = _bounded(dev, scorer.structure.n_labels)
    distribution = distribution_class(scorer.structure, scorer.distribution)
    first_word = first_words([len(sentence) for sentence in dev])
    with torch.inference_mode(), scorer.ready():
        vectors = scorer.vectors(dev)
        scores = scorer.network.scores(vectors, first_word).to("cpu", torch.float64).numpy()
        transitions = scorer.network.head.transitions.to("cpu", torch.float64).numpy()
    batch = ScoreBatch(scores, first_word, transitions)
    gold = [sentence.mentions for sentence in dev]
    temperature = best_temperature(distribution, scorer.structure, batch, dev, scorer.n_threads)
    errors = []
    for value in (1.0, temperature):
        candidates = propose(distribution, scorer.structure, cooled(batch, value), scorer.n_threads)
        errors.append(calibration_error(gold, candidates))
    calibration = {"calibration_error_before": errors[0], "calibration_error": errors[1]}
    first_f1 = ThresholdCurve.on(dev, candidates, LOWEST_THRESHOLD).best_f1
    head = scorer.network.mentions
    if rescore == "off" or head is None or not any(candidates):
        return Judgement(first_f1, first_f1, temperature, None, calibration)
    with torch.inference_mode(), scorer.ready():
        arrays = Candidates.of(candidates, first_word, scorer.structure.types)
        of_head = head(vectors, arrays).to("cpu", torch.float64).numpy()
    first_look = log_odds_of(candidates)
    is_right = [mention in known for known, here in zip(map(set, gold), candidates, strict=True) for mention in here]
    mix = best_mix(first_look, of_head, np.array(is_right))
    after = with_new_probs(candidates, mixed(first_look, of_head, mix))
    f1 = ThresholdCurve.on(dev, after, LOWEST_THRESHOLD).best_f1
    if rescore == "auto" and f1 <= first_f1:
        return Judgement(first_f1, first_f1, temperature, None, calibration)
    calibration["calibration_error"] = calibration_error(gold, after)
    return Judgement(f1, first_f1, temperature, mix, calibration)


def best_temperature(
    distribution: type[BatchDistribution[Any]],
    structure: Structure,
    batch: ScoreBatch,
    dev: Sequence[Sentence],
    n_threads: int,
) -> float:
    """Return the temperature that maximises the likelihood of the gold development data."""
    types = frozenset(structure.types)  # the development data may have other types, which the structure cannot encode
    known = [each.with_mentions(mention for mention in each.mentions if mention.type in types) for each in dev]
    gold = encode_gold(distribution, structure, known)
    pieces = in_pieces(batch)
    borders = np.cumsum([0, *(piece.n_sentences for piece in pieces)]).tolist()
    golds = [gold.sentences(begin, end) for begin, end in pairwise(borders)]

    def loss(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))

        def work(number: int) -> float:
            over = distribution(structure, cooled(pieces[number], temperature))
            return negative_log_likelihood(over, golds[number]).value

        return sum(run(n_threads, work, len(pieces)))

    limit = float(np.log(HOTTEST))
    found = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-2})
    return float(np.exp(found.x))


def cooled(batch: ScoreBatch, temperature: float) -> ScoreBatch:
    """Return scores divided by a temperature."""
    return ScoreBatch(batch.scores / temperature, batch.first_word, batch.transitions / temperature)


def propose(
    distribution: type[BatchDistribution[Any]],
    structure: Structure,
    batch: ScoreBatch,
    n_threads: int,
    lowest: float | tuple[float, ...] = PROPOSAL.lowest,
) -> list[tuple[Mention, ...]]:
    """Return the mentions of each sentence that get a second look, with their exact probabilities."""
    pieces = in_pieces(batch)

    def work(number: int) -> list[tuple[Mention, ...]]:
        decoded = distribution(structure, pieces[number]).probable(lowest, limit=MOST_FOUND)
        return [_most_probable(here.mentions) for here in decoded]

    return [here for found in run(n_threads, work, len(pieces)) for here in found]


def _most_probable(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    if len(mentions) <= PROPOSAL.most:
        return mentions
    return tuple(sorted(mentions, key=lambda mention: (-(mention.prob or 0.0), mention))[: PROPOSAL.most])


def with_new_probs(candidates: Mentions, probs: NDArray[np.float64]) -> list[list[Mention]]:
    """Return candidates with new probabilities, given as a flat array."""
    new = iter(probs.tolist())
    return [[unchecked_mention(mention.type, mention.parts, next(new)) for mention in here] for here in candidates]


def calibration_error(gold: Mentions, candidates: Mentions) -> float:
    """Return the expected calibration error of the candidates' probabilities."""
    pairs = zip(map(set, gold), candidates, strict=True)
    return Calibration.of((mention.prob, mention in known) for known, here in pairs for mention in here).error


def _bounded(dev: Sequence[Sentence], n_labels: int) -> Sequence[Sentence]:
    share = MOST_SCORES / max(1, n_labels * sum(map(len, dev)))
    if share >= 1.0:
        return dev
    return [dev[number] for number in np.linspace(0, len(dev) - 1, max(1, int(share * len(dev)))).astype(int)]

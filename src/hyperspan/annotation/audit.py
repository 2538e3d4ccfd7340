"""Which gold mentions a model finds improbable, and which unannotated ones probable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hyperspan.annotation.folds import Fold, cross_train
from hyperspan.mentions import Mention, Sentence, unchecked_mention
from hyperspan.recognizer import Recognizer

N_FOLDS = 5
MISSING_FROM = 0.5
"""As probable as an unannotated mention must be to be listed."""

IMPROBABLE_TO = 0.1
"""As probable as a gold mention may be to be listed."""

Kind = Literal["improbable", "missing"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A mention whose annotation a model doubts.

    Attributes
    ----------
    kind : {"improbable", "missing"}
        It is in gold, and the model finds it improbable; or it is not, and the model finds it probable.
    mention : Mention
        With its probability, as a model gives it that has not seen its document.
    sentence : int
        The position of its sentence in the corpus.
    doubt : float
        How much the model speaks against the annotation, 0 to 1; the list is in this order.
    instead : Mention or None
        The most probable mention that the model has in place of an improbable one, or the gold mention in place of
        which a missing one would stand.
    """

    kind: Kind
    mention: Mention
    sentence: int
    doubt: float
    instead: Mention | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """The doubts about a corpus.

    Attributes
    ----------
    doubts : list of Doubt
        The surest first.
    n_mentions : int
        How many gold mentions were judged.
    unjudged : list of (int, Mention)
        Sentence and mention of those that no model could judge: their types occur in one fold only.
    """

    doubts: list[Doubt]
    n_mentions: int
    unjudged: list[tuple[int, Mention]] = field(default_factory=list)


def audit(
    settings: Mapping[str, Any],
    sentences: Sequence[Sentence],
    *,
    n_folds: int = N_FOLDS,
    seed: int = 0,
    watch: Callable[[Iterable[Fold]], Iterable[Fold]] = iter,
) -> Audit:
    """List the annotations that models doubt, each judged by one that has not seen its document.

    Parameters
    ----------
    settings : mapping
        The arguments of each `Recognizer`.
    sentences : sequence of Sentence
        The corpus, with its mentions.
    n_folds, seed : int
        How the documents are cut: see `hyperspan.annotation.folds`.
    watch : callable
        Passes the folds on, for a progress bar.

    Notes
    -----
    The doubt about a missing mention is its probability ``p``. That about an improbable one is ``1 - p ** (1 / n)``,
    with ``n`` the words from its first to its last and one: the steps at which a model decides whether it begins, goes
    on, pauses or ends. Without this, long mentions would stand at the top whether right or wrong, because every step
    makes them less probable.
    """
    doubts: list[Doubt] = []
    unjudged: list[tuple[int, Mention]] = []
    n_mentions = 0
    for fold in watch(cross_train(settings, sentences, n_folds, seed)):
        held_out = [sentences[place] for place in fold.held_out]
        for place, sentence, probs, candidates in _judged(fold.recognizer, fold.held_out, held_out):
            known = {mention: prob for mention, prob in probs.items() if prob is not None}
            n_mentions += len(known)
            unjudged += [(place, mention) for mention, prob in probs.items() if prob is None]
            doubts += _doubts(place, sentence, known, candidates)
    doubts.sort(key=lambda each: (-each.doubt, each.sentence, each.mention))
    return Audit(doubts, n_mentions, unjudged)


def _judged(
    recognizer: Recognizer, places: Sequence[int], sentences: Sequence[Sentence]
) -> Iterator[tuple[int, Sentence, dict[Mention, float | None], Sequence[Mention]]]:
    """Yield every sentence with the probabilities of its gold mentions, and all probable mentions."""
    from hyperspan.recognizer.model import batches

    numbered = iter(places)
    for batch in batches(sentences):
        bare = [sentence.with_mentions(()) for sentence in batch]
        over = recognizer.distribution_over(bare)
        known = [[each for each in sentence.mentions if each.type in recognizer.types_] for sentence in batch]
        probs, found = over.mention_probs(known), over.probable(IMPROBABLE_TO)
        for sentence, mentions, here, decoded in zip(batch, known, probs, found, strict=True):
            prob_of: dict[Mention, float | None] = dict.fromkeys(sentence.mentions)
            prob_of.update(zip(mentions, here, strict=True))
            yield next(numbered), sentence, prob_of, decoded.mentions


def _doubts(
    place: int, sentence: Sentence, probs: Mapping[Mention, float], candidates: Sequence[Mention]
) -> Iterator[Doubt]:
    gold = set(sentence.mentions)
    for mention, prob in probs.items():
        if prob > IMPROBABLE_TO:
            continue
        judged = unchecked_mention(mention.type, mention.parts, prob)
        n_steps = mention.end - mention.start + 1
        rivals = [each for each in candidates if each not in gold and each.overlaps(mention)]
        best = max(rivals, key=_prob, default=None)
        yield Doubt("improbable", judged, place, 1.0 - prob ** (1.0 / n_steps), best)
    for mention in candidates:
        if mention not in gold and _prob(mention) >= MISSING_FROM:
            replaced = [each for each in gold if each.overlaps(mention)]
            least = min(replaced, key=lambda each: (probs.get(each, 1.0), each), default=None)
            yield Doubt("missing", mention, place, _prob(mention), least)


def _prob(mention: Mention) -> float:
    return mention.prob or 0.0

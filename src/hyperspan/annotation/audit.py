"""List gold mentions that a model finds improbable, and unannotated mentions that it finds probable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hyperspan.annotation.folds import Fold, cross_train
from hyperspan.mentions import Mention, Sentence, unchecked_mention
from hyperspan.recognizer import Recognizer

N_FOLDS = 5
MISSING_FROM = 0.5
"""The minimum probability at which an unannotated mention is listed."""

IMPROBABLE_TO = 0.1
"""The greatest probability at which a gold mention is listed."""

Kind = Literal["improbable", "missing"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A mention whose annotation a model doubts.

    Attributes
    ----------
    kind : {"improbable", "missing"}
        A gold mention that the model finds improbable, or an unannotated one that it finds probable.
    mention : Mention
        With its probability from a model that has not seen its document.
    sentence : int
        The index of its sentence in the corpus.
    doubt : float
        How much the model contradicts the annotation, 0 to 1; the list is sorted by it.
    instead : Mention or None
        The most probable mention that would replace an improbable one, or the gold mention that a missing one would
        replace.
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
        The strongest first.
    n_mentions : int
        How many gold mentions were checked.
    unjudged : list of (int, Mention)
        Sentence and mention of those that no model could check, because their types occur in one fold only.
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
    """List the annotations that models doubt, each checked by a model that has not seen its document.

    Parameters
    ----------
    settings : mapping
        The arguments of each `Recognizer`.
    sentences : sequence of Sentence
        The corpus with its mentions.
    n_folds, seed : int
        How the documents are divided: see `hyperspan.annotation.folds`.
    watch : callable
        Wraps the folds, for a progress bar.

    Notes
    -----
    Every gold mention needs a probability, and a second look has none for those that are not candidates. So the
    probabilities are those of the first look, and no second look is trained, except by an encoder, which learns both
    together.

    The doubt about a missing mention is its probability ``p``. The doubt about an improbable one is ``1 - p ** (1 /
    n)``, where ``n`` is one more than the number of words from its first to its last: the steps at which a model
    decides whether it begins, continues, pauses or ends. Otherwise long mentions would come first whether right or
    wrong, because every step makes them less probable.
    """
    doubts: list[Doubt] = []
    unjudged: list[tuple[int, Mention]] = []
    n_mentions = 0
    if settings.get("encoder") is None:
        settings = {**settings, "rescore": "off"}
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
    for batch in batches(sentences, whole_documents=recognizer.reads_documents_):
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

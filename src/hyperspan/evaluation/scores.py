"""Precision, recall and F1 over all mentions and over classes of mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperspan.diagnostics import LostMention, counted, quoted
from hyperspan.errors import UsageError
from hyperspan.evaluation.breakdowns import GAPS, OVERLAPS, PARTS, gap_class, overlap_classes, parts_class
from hyperspan.evaluation.matching import Comparison, Tokenize, comparisons, most_partners
from hyperspan.evaluation.sentences import Split, in_sentences
from hyperspan.mentions import Document, Mention, Unit
from hyperspan.mentions.notebook import Shown


@dataclass(frozen=True, slots=True)
class Score:
    """The number of right (``tp``), spurious (``fp``) and missed (``fn``) mentions, and the ratios that follow.

    A ratio of zero to zero is 0.0, as in the scorers of the shared tasks, so that predicting nothing never pays. A
    class without mentions on either side therefore has F1 0.0 too, and `is_empty` is true.

    Examples
    --------
    >>> score = Score(tp=6, fp=2, fn=4)
    >>> score.precision, score.recall, round(score.f1, 3)
    (0.75, 0.6, 0.667)
    >>> Score().f1, Score().is_empty
    (0.0, True)
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        """The share of the predicted mentions that is right."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """The share of the gold mentions that was found."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def is_empty(self) -> bool:
        """Whether there are no mentions, neither gold nor predicted."""
        return not (self.tp or self.fp or self.fn)

    def as_dict(self) -> dict[str, float]:
        """Return ratios and counts as plain data."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Shown):
    """All scores of a prediction.

    Attributes
    ----------
    all : Score
        Over all mentions; a mention is right if its type and all its parts match.
    discontiguous_sentences : Score
        Over all mentions of the sentences that have a discontiguous gold mention.
    discontiguous_mentions : Score
        Over the discontiguous mentions of the whole corpus.
    by_type, by_parts, by_gap, by_overlap : mapping of str to Score
        Over the mentions of each class. The classes of one breakdown add up to `all`.
    relaxed : Score
        Over a largest one-to-one pairing of mentions that have the same type and a word in common.
    words : Score
        Over pairs of a word and the type of a mention that contains it.
    n_units : int
        How many sentences were compared, those of documents included.
    n_lost : int
        How many gold mentions the reader skipped. They count as missed, in the classes of no gap and no overlap,
        because their offsets are unknown; only `words` excludes them.
    """

    all: Score
    discontiguous_sentences: Score
    discontiguous_mentions: Score
    by_type: Mapping[str, Score]
    by_parts: Mapping[str, Score]
    by_gap: Mapping[str, Score]
    by_overlap: Mapping[str, Score]
    relaxed: Score
    words: Score
    n_units: int
    n_lost: int = 0

    def __repr__(self) -> str:
        views = ("all", "discontiguous_sentences", "discontiguous_mentions")
        scores = ", ".join(f"{name} {getattr(self, name).f1:.3f}" for name in views)
        return f"Evaluation(F1 over {counted(self.n_units, 'sentence')}: {scores})"

    def as_dict(self) -> dict[str, Any]:
        """Return the scores, under the keys that ``evaluate --json`` prints beside the number of sentences."""
        return {
            "all": self.all.as_dict(),
            "discontiguous_sentences": self.discontiguous_sentences.as_dict(),
            "discontiguous_mentions": self.discontiguous_mentions.as_dict(),
            "by_type": _dicts(self.by_type),
            "by_parts": _dicts(self.by_parts),
            "by_gap": _dicts(self.by_gap),
            "by_overlap": _dicts(self.by_overlap),
            "relaxed": self.relaxed.as_dict(),
            "words": self.words.as_dict(),
            "lost": self.n_lost,
        }


def evaluate(
    gold: Iterable[Unit],
    predicted: Iterable[Unit],
    *,
    tokenize: Tokenize | None = None,
    split: Split | None = None,
) -> Evaluation:
    """Score a prediction against gold, reading both one sentence or document at a time.

    Neither the order of mentions nor duplicates matter: mentions are compared as sets.

    Parameters
    ----------
    gold, predicted : iterable of Sentence or Document
        The same sentences with the mentions of each side, paired by document and order (see `pairs`).
    tokenize : callable, optional
        Returns the offsets of the words in a document's text, as ``hyperspan.text.tokenize`` does. Needed for
        documents: their mentions match by character, but gaps, overlaps and words are counted in words.
    split : callable, optional
        Returns the offsets of the sentences in a document's text, as ``hyperspan.text.split_sentences`` does. Needed
        for documents, which are scored sentence by sentence.

    Raises
    ------
    CorpusError
        If the two do not have the same sentences.
    UsageError
        If there are documents, and ``tokenize`` or ``split`` is not given.

    Examples
    --------
    >>> from hyperspan import Mention, Sentence
    >>> words = "Infarctions either water shed or embolic".split()
    >>> gold = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
    >>> found = evaluate([Sentence(words, gold)], [Sentence(words, gold[:2])])
    >>> found.all
    Score(tp=2, fp=0, fn=1)
    >>> found.discontiguous_mentions.recall, found.by_gap["1"].recall, found.by_gap["3-5"].recall
    (0.5, 1.0, 0.0)
    """
    scorer = Scorer()
    for comparison in comparisons(gold, predicted, tokenize=tokenize):
        if split is None and isinstance(comparison.gold, Document):
            raise UsageError(
                f"document {quoted(comparison.gold.doc)} is scored by its sentences; define them, for "
                "example with split=hyperspan.text.split_sentences"
            )
        for piece in [comparison] if split is None else in_sentences(comparison, split):
            scorer.add(piece)
    return scorer.result()


def score_of(comparison: Comparison) -> Score:
    """Score the mentions of one sentence or document; gold mentions that the reader skipped count as missed."""
    n_missed = len(comparison.missed) + len(comparison.gold.lost)
    return Score(len(comparison.right), len(comparison.spurious), n_missed)


def discontiguous_score_of(comparison: Comparison) -> Score:
    """Score the discontiguous mentions of one sentence or document."""
    found = Score(*map(_n_discontiguous, (comparison.right, comparison.spurious, comparison.missed)))
    return found + Score(fn=_n_discontiguous(comparison.gold.lost))


@dataclass(slots=True)
class Scorer:
    """Adds up the counts of one comparison after another."""

    _scores: dict[str, Score] = field(default_factory=lambda: defaultdict(Score), init=False)
    _counts: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0, 0]), init=False
    )
    _n_units: int = field(default=0, init=False)
    _n_lost: int = field(default=0, init=False)

    def add(self, comparison: Comparison) -> None:
        """Count one sentence or document."""
        self._n_units += 1
        self._n_lost += len(comparison.gold.lost)
        score = score_of(comparison)
        self._scores["all"] += score
        if comparison.gold.is_discontiguous:
            self._scores["discontiguous_sentences"] += score
        self._scores["discontiguous_mentions"] += discontiguous_score_of(comparison)
        if score.is_empty:
            return
        self._add_classes(comparison)
        self._scores["relaxed"] += _relaxed(comparison)
        self._scores["words"] += _word_score(comparison)

    def result(self) -> Evaluation:
        """Return the scores of everything added so far."""
        scores = self._scores
        types = sorted(name for breakdown, name in self._counts if breakdown == "type")
        return Evaluation(
            all=scores["all"],
            discontiguous_sentences=scores["discontiguous_sentences"],
            discontiguous_mentions=scores["discontiguous_mentions"],
            by_type=self._breakdown("type", types),
            by_parts=self._breakdown("parts", PARTS),
            by_gap=self._breakdown("gap", GAPS),
            by_overlap=self._breakdown("overlap", OVERLAPS),
            relaxed=scores["relaxed"],
            words=scores["words"],
            n_units=self._n_units,
            n_lost=self._n_lost,
        )

    def _breakdown(self, breakdown: str, names: Iterable[str]) -> dict[str, Score]:
        return {name: Score(*self._counts.get((breakdown, name), ())) for name in names}

    def _add_classes(self, comparison: Comparison) -> None:
        in_gold = _overlaps(comparison, comparison.gold_mentions)
        in_predicted = _overlaps(comparison, comparison.predicted_mentions)
        # A right mention counts in its gold class: its overlaps may differ in the prediction.
        for kind, mentions, overlaps in (
            (0, comparison.right, in_gold),
            (1, comparison.spurious, in_predicted),
            (2, comparison.missed, in_gold),
        ):
            for mention in mentions:
                in_words = comparison.in_words.get(mention)
                self._counts["type", mention.type][kind] += 1
                self._counts["parts", parts_class(mention)][kind] += 1
                self._counts["gap", gap_class(0 if in_words is None else in_words.gap)][kind] += 1
                self._counts["overlap", overlaps.get(mention, "none")][kind] += 1
        for lost in comparison.gold.lost:
            for key in (("type", lost.type), ("parts", parts_class(lost)), ("gap", "0"), ("overlap", "none")):
                self._counts[key][2] += 1


def _overlaps(comparison: Comparison, mentions: Iterable[Mention]) -> dict[Mention, str]:
    with_words = [mention for mention in mentions if mention in comparison.in_words]
    return dict(zip(with_words, overlap_classes(comparison.words_of(with_words)), strict=True))


def _relaxed(comparison: Comparison) -> Score:
    gold, predicted = comparison.gold_mentions, comparison.predicted_mentions
    # A mention that covers only white space shares no word, but is still its own partner.
    wordless = sum(mention not in comparison.in_words for mention in comparison.right)
    tp = most_partners(comparison.words_of(gold), comparison.words_of(predicted)) + wordless
    return Score(tp, len(predicted) - tp, len(gold) + len(comparison.gold.lost) - tp)


def _word_score(comparison: Comparison) -> Score:
    gold, predicted = (
        {(word, mention.type) for mention in comparison.words_of(mentions) for word in mention.words()}
        for mentions in (comparison.gold_mentions, comparison.predicted_mentions)
    )
    tp = len(gold & predicted)
    return Score(tp, len(predicted) - tp, len(gold) - tp)


def _n_discontiguous(mentions: Iterable[Mention] | Iterable[LostMention]) -> int:
    return sum(mention.is_discontiguous for mention in mentions)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _dicts(scores: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    return {name: score.as_dict() for name, score in scores.items()}

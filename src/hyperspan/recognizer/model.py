"""The trained model, and the record of its training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hyperspan.inference import BatchDistribution, ScoreBatch, distribution
from hyperspan.mentions import Document, Sentence, Unit
from hyperspan.scoring import DocumentBorders, MentionScorer, Scorer, SegmentScorer
from hyperspan.structures import Structure

BATCH_WORDS = 4_096
"""About how many words are processed at a time. This bounds memory and has no other effect."""

MOST_SCORES = 1 << 23
"""The most scores (words times labels) of a batch, about: 64 MB, however many types there are."""

AnyUnit = TypeVar("AnyUnit", bound=Unit)


@dataclass(frozen=True)
class Model:
    """The trained model: everything needed to find mentions in annotated sentences.

    Attributes
    ----------
    structure : Structure
        How mentions are encoded as edges or tags.
    distribution : str
        The distribution: what probabilities are over.
    scorer : Scorer
        Computes the scores of edges from sentences.
    rescorer : MentionScorer, optional
        Takes a second look at whole mentions and gives them new probabilities.
    """

    structure: Structure
    distribution: str
    scorer: Scorer
    rescorer: MentionScorer | None = None

    @property
    def batch_words(self) -> int:
        """About how many words are scored at a time: fewer if there are very many labels."""
        return max(1, min(BATCH_WORDS, MOST_SCORES // self.structure.n_labels))

    def by_types(self, n_words: int) -> Iterator[Model]:
        """Yield this model; or, if so many words have too many scores, models that find some of its types each.

        Batches are cut between sentences only, so a very long sentence may have too many. That is for `segments`, whose
        types do not interact; other structures score all types at once.
        """
        if not isinstance(self.scorer, SegmentScorer) or n_words <= 2 * self.batch_words:
            yield self
            return
        for types in self.scorer.structure.groups_of_types(n_words, MOST_SCORES):
            yield replace(self, structure=self.scorer.structure.of_types(types), scorer=self.scorer.of_types(types))

    @property
    def reads_documents(self) -> bool:
        """Whether sentences are scored together with their neighbours, so that documents must not be split."""
        return getattr(self.scorer, "context", 0) > 0

    def over(self, batch: ScoreBatch) -> BatchDistribution[Any]:
        """Return the distribution over the outcomes of sentences, given their scores."""
        return distribution(self.structure, batch, self.distribution)

    def over_sentences(self, sentences: Sequence[Sentence]) -> BatchDistribution[Any]:
        """Return the distribution over the outcomes of sentences."""
        return self.over(self.scorer.scores(sentences))


@dataclass(frozen=True)
class Training:
    """The record of a training.

    Attributes
    ----------
    l2 : float
        The penalty on weights: the one given, or the best of those tried.
    threshold : float
        The minimum probability of a mention.
    threshold_curve : list of dict
        Precision, recall and F1 by threshold, if it was tuned: ``ThresholdCurve.rows``.
    n_iterations : int
        The iterations of the optimiser, summed over all penalties tried.
    log : list of dict
        A record of every iteration.
    dev_scores : dict
        The scores on the development data; empty if there is none.
    left_out : int
        How many training mentions the structure cannot encode.
    annotator : dict
        The record of the annotator that added parts of speech and lemmas.
    rescoring : dict
        What a second look changed, and whether it was kept; empty if none was trained.
    """

    l2: float
    threshold: float
    n_iterations: int
    log: list[dict[str, Any]]
    dev_scores: dict[str, Any]
    left_out: int
    annotator: dict[str, Any]
    threshold_curve: list[dict[str, Any]] = field(default_factory=list)
    rescoring: dict[str, Any] = field(default_factory=dict)


def batches(
    units: Iterable[AnyUnit], n_words: int | None = None, *, whole_documents: bool = False
) -> Iterator[list[AnyUnit]]:
    """Split units into lists of about ``n_words`` words, by default `BATCH_WORDS`; six characters count as a word.

    Sentences of one document can be kept together: see `DocumentBorders`.
    """
    wanted = BATCH_WORDS if n_words is None else n_words
    batch: list[AnyUnit] = []
    n_here, borders = 0, DocumentBorders()
    for unit in units:
        may_cut = not whole_documents or isinstance(unit, Document) or borders.begins(unit)
        if n_here >= wanted and may_cut:
            yield batch
            batch, n_here = [], 0
        batch.append(unit)
        n_here += 1 + (len(unit.tokens) if isinstance(unit, Sentence) else len(unit.text) // 6)
        if n_here >= wanted and not whole_documents:  # the batch need not wait for the next unit
            yield batch
            batch, n_here = [], 0
    if batch:
        yield batch

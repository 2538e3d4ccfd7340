"""What was learned, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hyperspan.inference import BatchDistribution, ScoreBatch, distribution
from hyperspan.mentions import Document, Sentence, Unit
from hyperspan.scoring import DocumentBorders, MentionScorer, Scorer
from hyperspan.structures import Structure

BATCH_WORDS = 4_096
"""About how many words are worked on at a time: it bounds memory, and nothing else depends on it."""

MOST_SCORES = 1 << 23
"""A batch has at most about so many scores, words times labels: 64 MB, however many types there are."""

AnyUnit = TypeVar("AnyUnit", bound=Unit)


@dataclass(frozen=True)
class Model:
    """What was learned: all it takes to find mentions in sentences that have been annotated.

    Attributes
    ----------
    structure : Structure
        How mentions are written as edges or tags.
    distribution : str
        What probabilities are over.
    scorer : Scorer
        From sentences to the scores of edges.
    rescorer : MentionScorer, optional
        Who takes a second look at whole mentions, and gives them new probabilities.
    """

    structure: Structure
    distribution: str
    scorer: Scorer
    rescorer: MentionScorer | None = None

    @property
    def batch_words(self) -> int:
        """About how many words are scored at a time: fewer, where there are very many labels."""
        return max(1, min(BATCH_WORDS, MOST_SCORES // self.structure.n_labels))

    @property
    def reads_documents(self) -> bool:
        """Whether sentences are scored together with their neighbours, so that documents must not be cut."""
        return getattr(self.scorer, "context", 0) > 0

    def over(self, batch: ScoreBatch) -> BatchDistribution[Any]:
        """Return the distribution over the outcomes of sentences, given their scores."""
        return distribution(self.structure, batch, self.distribution)

    def over_sentences(self, sentences: Sequence[Sentence]) -> BatchDistribution[Any]:
        """Return the distribution over the outcomes of sentences."""
        return self.over(self.scorer.scores(sentences))


@dataclass(frozen=True)
class Training:
    """How a model came about.

    Attributes
    ----------
    l2 : float
        The penalty on weights: the one given, or the best of those tried.
    threshold : float
        As probable as a mention must be.
    threshold_curve : list of dict
        Precision, recall and F1 by threshold, if it was tuned: ``ThresholdCurve.rows``.
    n_iterations : int
        Of the optimiser, over all penalties tried.
    log : list of dict
        Every iteration.
    dev_scores : dict
        On the development data; empty without any.
    left_out : int
        How many training mentions the structure cannot write.
    annotator : dict
        What gave parts of speech and lemmas: the annotator's record.
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
    """Cut units into lists of about so many words, `BATCH_WORDS` if not given, counting six characters as one.

    Sentences of one document can be left together: see `DocumentBorders`.
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
        if n_here >= wanted and not whole_documents:  # nothing has to wait for what comes next
            yield batch
            batch, n_here = [], 0
    if batch:
        yield batch

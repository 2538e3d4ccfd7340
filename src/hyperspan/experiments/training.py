"""Train a recognizer, and decode its predictions with every decoder at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hyperspan.evaluation import Evaluation, evaluate
from hyperspan.features import Clusters, Lexicon, TemplateSet
from hyperspan.learning import LOWEST_THRESHOLD, Record, ThresholdCurve
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer

DECODERS = ("enough", "all", "probable")

DEFAULT_L2 = 1.0
"""The penalty of experiments that do not choose one: that of ``hyperspan train``."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that all trainings of a run share."""

    templates: TemplateSet
    clusters: Clusters | None
    lexicon: Lexicon | None
    max_components: int
    max_iterations: int
    threads: int
    from_zero: bool = False

    def train(
        self,
        sentences: Sequence[Sentence],
        *,
        structure: str = "shared",
        over: str = "encodings",
        l2: float = DEFAULT_L2,
        templates: TemplateSet | None = None,
        on_iteration: Callable[[Record], None] | None = None,
    ) -> Recognizer:
        """Train a recognizer on sentences that have all the columns its features need."""
        recognizer = Recognizer(
            structure=structure,
            distribution=over,
            l2=l2,
            features=templates or self.templates,
            clusters=self.clusters,
            lexicon=self.lexicon,
            max_components=self.max_components,
            max_iterations=self.max_iterations,
            n_threads=self.threads,
            initial_weights="zero" if self.from_zero else "frequencies",
        )
        return recognizer.fit(sentences, on_iteration=on_iteration)


@dataclass(frozen=True, slots=True)
class Found:
    """The predictions of a recognizer for some sentences.

    Attributes
    ----------
    sentences : tuple of Sentence
        The sentences with their gold mentions.
    enough, all : list of tuple of Mention
        The mentions in the best outcome of each sentence, under both readings.
    candidates : list of tuple of Mention
        Every mention that is not improbable, with its probability.
    """

    sentences: tuple[Sentence, ...]
    enough: list[tuple[Mention, ...]]
    all: list[tuple[Mention, ...]]
    candidates: list[tuple[Mention, ...]]

    def best_threshold(self) -> float:
        """Return the threshold of ``probable`` that training would choose on these sentences."""
        return ThresholdCurve.on(self.sentences, self.candidates).choose()

    def read(self, decoder: str, threshold: float) -> list[tuple[Mention, ...]]:
        """Return the mentions of each sentence with a decoder."""
        if decoder != "probable":
            return self.enough if decoder == "enough" else self.all
        return [tuple(mention for mention in found if (mention.prob or 0.0) >= threshold) for found in self.candidates]

    def evaluate(self, decoder: str, threshold: float) -> Evaluation:
        """Score the mentions of a decoder."""
        predicted = (
            sentence.with_mentions(mentions)
            for sentence, mentions in zip(self.sentences, self.read(decoder, threshold), strict=True)
        )
        return evaluate(self.sentences, predicted)


def find(recognizer: Recognizer, sentences: Iterable[Sentence], lowest: float = LOWEST_THRESHOLD) -> Found:
    """Find mentions with every decoder; candidates of ``probable`` are at least as probable as ``lowest``."""
    kept = tuple(sentences)
    found = Found(kept, [], [], [])
    found.enough.extend(each.mentions for each in recognizer.find(kept, decode="enough"))
    found.all.extend(each.mentions for each in recognizer.find(kept, decode="all"))
    found.candidates.extend(each.mentions for each in recognizer.find(kept, decode="probable", threshold=lowest))
    return found


def find_enough(recognizer: Recognizer, sentences: Sequence[Sentence]) -> Evaluation:
    """Score what ``enough`` reads from the best outcomes; nothing else is computed."""
    predicted = (
        sentence.with_mentions(found.mentions)
        for sentence, found in zip(sentences, recognizer.find(sentences, decode="enough"), strict=True)
    )
    return evaluate(sentences, predicted)

"""Train a recognizer, and read what it finds in every way at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hyperspan.evaluation import Evaluation, evaluate
from hyperspan.features import Clusters, Lexicon, TemplateSet
from hyperspan.inference import Distribution, Over
from hyperspan.learning import LOWEST_THRESHOLD, Record, ThresholdCurve
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.structures import decode_all, decode_enough

DECODERS = ("enough", "all", "probable")

DEFAULT_L2 = 1.0
"""The penalty of experiments that do not choose one: that of ``hyperspan train``."""


@dataclass(frozen=True, slots=True)
class Options:
    """What all trainings of a run have in common."""

    templates: TemplateSet
    clusters: Clusters | None
    lexicon: Lexicon | None
    max_components: int
    max_iterations: int
    threads: int

    def train(
        self,
        sentences: Sequence[Sentence],
        *,
        structure: str = "shared",
        over: Over = "encodings",
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
        )
        return recognizer.fit(sentences, on_iteration=on_iteration)


@dataclass(frozen=True, slots=True)
class Found:
    """What a recognizer finds in some sentences.

    Attributes
    ----------
    sentences : tuple of Sentence
        With their gold mentions.
    enough, all : list of tuple of Mention
        What the best outcome of each sentence means.
    candidates : list of tuple of Mention
        Every mention that is not improbable, with its probability.
    """

    sentences: tuple[Sentence, ...]
    enough: list[tuple[Mention, ...]]
    all: list[tuple[Mention, ...]]
    candidates: list[tuple[Mention, ...]]

    def best_threshold(self) -> float:
        """Return the threshold of ``probable`` that training would take on these sentences."""
        return ThresholdCurve.of((sentence.mentions for sentence in self.sentences), self.candidates).choose()

    def read(self, decoder: str, threshold: float) -> list[tuple[Mention, ...]]:
        """Return the mentions of each sentence as a decoder gives them."""
        if decoder != "probable":
            return self.enough if decoder == "enough" else self.all
        return [tuple(mention for mention in found if (mention.prob or 0.0) >= threshold) for found in self.candidates]

    def evaluate(self, decoder: str, threshold: float) -> Evaluation:
        """Score the mentions that a decoder gives."""
        predicted = (
            sentence.with_mentions(mentions)
            for sentence, mentions in zip(self.sentences, self.read(decoder, threshold), strict=True)
        )
        return evaluate(self.sentences, predicted)


def find(recognizer: Recognizer, sentences: Iterable[Sentence], lowest: float = LOWEST_THRESHOLD) -> Found:
    """Find mentions in every way; candidates of ``probable`` are at least as probable as ``lowest``."""
    kept = tuple(sentences)
    found = Found(kept, [], [], [])
    for over in recognizer.distributions(kept):
        enough, everything = read_best(over)
        found.enough.append(enough)
        found.all.append(everything)
        found.candidates.append(over.probable(lowest).mentions)
    return found


def find_enough(recognizer: Recognizer, sentences: Sequence[Sentence]) -> Evaluation:
    """Score what ``enough`` reads from the best outcomes; nothing else is worked out."""
    predicted = (
        sentence.with_mentions(read_best(over)[0])
        for sentence, over in zip(sentences, recognizer.distributions(sentences), strict=True)
    )
    return evaluate(sentences, predicted)


def read_best(over: Distribution) -> tuple[tuple[Mention, ...], tuple[Mention, ...]]:
    """Return what ``enough`` and ``all`` read from the best outcome.

    A set of mentions can be read in one way only. The paper takes the best derivation for a hypergraph and reads that:
    the derivation expands a node in the same best way wherever it comes, so its edges are a hypergraph indeed.
    """
    best = over.best()
    if best.mentions is not None and over.over != "published":
        return best.mentions, best.mentions
    edges = tuple(sorted(set(best.edges)))
    return decode_enough(over.structure, edges).mentions, decode_all(over.structure, edges).mentions

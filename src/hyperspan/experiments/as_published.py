"""A set-up as close to the paper's as possible: features, annotations, clusters, initial weights; and what differs."""

from __future__ import annotations

from collections.abc import Iterator

from hyperspan.experiments.data import Data
from hyperspan.experiments.settings import Settings
from hyperspan.features import Clusters
from hyperspan.features.brown import brown_clusters
from hyperspan.learning import L2_CHOICES
from hyperspan.recognizer.annotating import described
from hyperspan.text import normal_form

N_CLUSTERS, QUICK_CLUSTERS = 1000, 50


def clusters_of(data: Data, settings: Settings) -> Clusters:
    """Make Brown clusters from all text (train, dev and test), as the paper did."""
    sentences = (sentence for split in data.largest.splits.values() for sentence in split)
    words = ([normal_form(token) for token in sentence.tokens] for sentence in sentences)
    return brown_clusters(words, QUICK_CLUSTERS if settings.quick else N_CLUSTERS)


TEXT = (
    "Not the same: sentences, tokens and section names are by our own rules, the paper's by Stanford CoreNLP, regular "
    "expressions and rules that the paper does not print."
)
"""What differs in every table about a corpus."""


def notes(data: Data, settings: Settings, clusters: Clusters | None) -> Iterator[str]:
    """Yield notes for the page of a result: what is the same as in the paper, and what is not."""
    others = ", ".join(f"{penalty:g}" for penalty in settings.penalties if penalty not in L2_CHOICES)
    yield (
        "As published: the paper's templates and no others (but for 'segments', which the paper does not have), "
        f"penalties from its set{f' (but for {others})' if others else ''}, the normaliser in both of its readings."
    )
    if data.annotator.get("columns"):
        who = described(data.annotator)
        yield (
            f"Not the same: parts of speech and lemmas are by {who}, the paper's by the Stanford POS tagger and NLP4J."
        )
    else:
        yield (
            "Not the same: no annotator is installed, so the templates of parts of speech and lemmas are left out "
            "unless the corpus brings them (the extra 'spacy' has one)."
        )
    yield TEXT
    if clusters is not None:
        whose = "given" if settings.clusters else "made here from train, dev and test, as in the paper"
        yield f"Brown clusters: {clusters.n_clusters:,} of {len(clusters):,} words, {whose}."
    yield (
        "Semantic categories are those of the lexicon given, the paper's those of UMLS."
        if settings.lexicon
        else "Not the same: no lexicon is given, so the template of semantic categories, in the paper from UMLS, is "
        "left out (hyperspan lexicon build makes one; --lexicon gives it)."
    )
    yield (
        "Not known from the paper: the optimiser, its initial weights and its iterations (here L-BFGS from zero, at "
        f"most {settings.max_iterations:,}), how long prefixes and suffixes are (here up to four characters), which "
        "pairs of features and labels had weights, and which documents are in SMALL."
    )

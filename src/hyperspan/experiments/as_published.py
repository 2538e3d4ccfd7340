"""The paper's set-up, as near as it can be had: features, annotations, clusters, initial weights; and what differs."""

from __future__ import annotations

from collections.abc import Iterator

from hyperspan.experiments.data import Data
from hyperspan.experiments.settings import Settings
from hyperspan.features import Clusters
from hyperspan.features.brown import brown_clusters
from hyperspan.recognizer.annotating import described
from hyperspan.text import normal_form

N_CLUSTERS, QUICK_CLUSTERS = 1000, 50


def clusters_of(data: Data, settings: Settings) -> Clusters:
    """Make Brown clusters from all text there is, train, dev and test, as the paper did."""
    sentences = (sentence for split in data.largest.splits.values() for sentence in split)
    words = ([normal_form(token) for token in sentence.tokens] for sentence in sentences)
    return brown_clusters(words, QUICK_CLUSTERS if settings.quick else N_CLUSTERS)


def notes(data: Data, settings: Settings, clusters: Clusters | None) -> Iterator[str]:
    """Yield what is as in the paper and what cannot be, for the page of a result."""
    yield (
        "As published: the paper's templates and no others, one initial weight for all (zero), penalties from its set, "
        "the normaliser in both of its readings."
    )
    if data.annotator.get("columns"):
        who = described(data.annotator)
        yield f"Not the same: parts of speech and lemmas are by {who}, the paper's tags by the Stanford POS tagger."
    else:
        yield (
            "Not the same: no annotator is installed, so the templates of parts of speech and lemmas are left out "
            "unless the corpus brings them (pip install 'hyperspan[spacy]', for example)."
        )
    yield (
        "Not the same: sentences and tokens are by our own rules, the paper's by Stanford CoreNLP, a regular "
        "expression and rules that it does not print."
    )
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
        f"Not known from the paper: how many iterations of L-BFGS there were (here at most "
        f"{settings.max_iterations:,}), which pairs of features and labels had weights, and which documents made SMALL."
    )

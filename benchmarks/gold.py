"""The probabilities of gold mentions under a model: is a mention missed by the threshold, or by the model?

A model is trained on the training split. Then gold mentions of development and test data, and of some training
sentences, are looked up in its distribution. No setting is chosen by the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hyperspan import Recognizer, corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from hyperspan.experiments.data import evenly, of_types
from hyperspan.features import Clusters
from hyperspan.features.brown import brown_clusters
from hyperspan.mentions import Mention, Sentence
from hyperspan.text import as_sentences, normal_form

MERGED = "Mention"
"""The type of all mentions when types are merged."""

LIKELY = 0.3
"""The threshold of ``probable`` without development data."""

N_KNOWN = 200
"""The number of training sentences to look up."""

BATCH = 200


class Row(NamedTuple):
    """The probabilities of some gold mentions; ``likely`` counts those of at least `LIKELY`."""

    which: str
    n_mentions: int
    mean: float
    highest: float
    likely: int
    found: int


def splits(data: str, types: Sequence[str] = (), *, merged: bool = False) -> dict[str, list[Sentence]]:
    """Return the sentences of each split, with mentions of some types, or with one merged type."""
    corpus = demo.load("sentences") if data == "demo" else corpora.read(data, on_error="skip")
    made = {}
    for name in ("train", "dev", "test"):
        sentences = as_sentences(corpus.split(name))
        kept = of_types(sentences, types) if types else sentences
        made[name] = [of_one_type(sentence) if merged else sentence for sentence in kept]
        if not made[name]:
            raise UsageError(f"{data!r} has no {name} sentences; expected train, dev and test")
    return made


def of_one_type(sentence: Sentence) -> Sentence:
    """Return a sentence whose mentions have the same type; mentions with the same words become one."""
    return sentence.with_mentions({replace(mention, type=MERGED) for mention in sentence.mentions})


def fewer(sentences: Sequence[Sentence], n_sentences: int, n_discontiguous: int) -> list[Sentence]:
    """Return a number of evenly spread sentences, with about the given number of discontiguous mentions."""
    apart = [sentence for sentence in sentences if sentence.is_discontiguous]
    others = [sentence for sentence in sentences if not sentence.is_discontiguous]
    per_sentence = count(apart, is_discontiguous) / max(1, len(apart))
    kept = evenly(apart, round(n_discontiguous / per_sentence) if apart else 0)
    return kept + evenly(others, n_sentences - len(kept))


def count(sentences: Iterable[Sentence], which: Callable[[Mention], bool]) -> int:
    """Count mentions of a kind."""
    return sum(which(mention) for sentence in sentences for mention in sentence.mentions)


def is_discontiguous(mention: Mention) -> bool:
    """Whether a mention has several parts."""
    return mention.is_discontiguous


def clusters_of(sentences: Mapping[str, Sequence[Sentence]], n_clusters: int) -> Clusters | None:
    """Cluster the words of all splits, if any clusters are requested."""
    words = ([normal_form(token) for token in each.tokens] for split in sentences.values() for each in split)
    return brown_clusters(words, n_clusters) if n_clusters else None


def rows(recognizer: Recognizer, sentences: Mapping[str, Sequence[Sentence]]) -> Iterator[Row]:
    """Yield a row for each kind of gold mention: held out, held out but known from training, and training."""
    known = {words_of(sentence, mention) for sentence in sentences["train"] for mention in sentence.mentions}
    held_out = [*sentences["dev"], *sentences["test"]]
    for name, some in (("held out", held_out), ("training", evenly(sentences["train"], N_KNOWN))):
        probs = list(probs_of(recognizer, some))
        kinds: dict[str, Callable[[_Gold], bool]] = {
            "contiguous": lambda gold: not gold.mention.is_discontiguous,
            "discontiguous": lambda gold: gold.mention.is_discontiguous,
        }
        if name == "held out":
            kinds["discontiguous, with the words of a training mention"] = lambda gold: (
                gold.mention.is_discontiguous and gold.words in known
            )
        for kind, belongs in kinds.items():
            yield _row(f"{name}, {kind}", [gold for gold in probs if belongs(gold)])


class _Gold(NamedTuple):
    mention: Mention
    words: tuple[str, ...]
    prob: float
    is_found: bool


def words_of(sentence: Sentence, mention: Mention) -> tuple[str, ...]:
    """Return the type and the lower-cased words of a mention, without its gaps."""
    words = (sentence.tokens[place].lower() for start, end in mention.parts for place in range(start, end))
    return (mention.type, *words)


def probs_of(recognizer: Recognizer, sentences: Sequence[Sentence]) -> Iterator[_Gold]:
    """Yield the gold mentions that a model can represent, with their probabilities."""
    types, most = set(recognizer.types_), recognizer.max_components
    for start in range(0, len(sentences), BATCH):
        batch = sentences[start : start + BATCH]
        gold = [[m for m in each.mentions if m.type in types and len(m.parts) <= most] for each in batch]
        over = recognizer.distribution_over(batch)
        for sentence, mentions, probs, enough in zip(
            batch, gold, over.mention_probs(gold), over.read_best("enough"), strict=True
        ):
            for mention, prob in zip(mentions, probs, strict=True):
                yield _Gold(mention, words_of(sentence, mention), prob, mention in enough.mentions)


def _row(which: str, gold: Sequence[_Gold]) -> Row:
    probs = np.array([each.prob for each in gold] or [0.0])
    found = sum(each.is_found for each in gold)
    return Row(which, len(gold), float(probs.mean()), float(probs.max()), int((probs >= LIKELY).sum()), found)


def row_text(row: Row) -> str:
    """Return a row of the table in Markdown."""
    return f"| {row.which} | {row.n_mentions:,} | {row.mean:.3f} | {row.highest:.2f} | {row.likely:,} | {row.found:,} |"


HEAD = f"""\
| gold mentions | number | mean probability | highest | at least {LIKELY} | found with enough |
| --- | ---: | ---: | ---: | ---: | ---: |"""

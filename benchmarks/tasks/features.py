"""The speed of feature extraction, beside building the same features as Python strings.

All published templates are used: if a corpus has no tags, lemmas, sections or note types, every token gets simple
placeholders, so that no template is idle. Tokens are given; reading and splitting do not count. First the compiled
features are compared with the strings. Strings are built in two ways: without a cache, and with the values of a word
(affixes, clusters …) cached. Ours is timed with words that it has never seen, and with words in its cache.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import first_tokens, n_tokens_of
from benchmarks.harness import Aim, Disagreement, Row, in_turns
from benchmarks.setting import Setting
from hyperspan.features import Extractor, Lexicon
from hyperspan.features.columns import Values, hash_text
from hyperspan.features.extraction_reference import features_reference, hash_feature_reference
from hyperspan.features.state import ClusterMap
from hyperspan.mentions import Sentence

MOST_TOKENS = 150_000
"""A limit, because strings are slow."""


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each way to build features."""
    rower = setting.rower("features", "tokens a second")
    sentences = [with_stand_ins(each) for each in first_tokens(setting.data.sentences, MOST_TOKENS)]
    clusters, lexicon = resources_for(sentences)
    extractor = Extractor("published", clusters, lexicon, threads=setting.threads).fit(sentences)
    check_features(extractor, sentences[:: max(1, len(sentences) // 200)])
    index, answers = extractor.index_, Answers(lexicon, sentences)

    def strings() -> None:
        for sentence in sentences:
            features_reference(extractor.active, sentence, clusters, answers)

    def strings_with_memory() -> None:
        known: dict[str, dict[Hashable, Values]] = {}
        for sentence in sentences:
            features_reference(extractor.active, sentence, clusters, answers, known)

    def new_words() -> None:
        fresh = Extractor("published", clusters, lexicon, threads=setting.threads)
        fresh.index_ = index
        fresh.transform(sentences)

    seconds = in_turns(
        {
            "strings": strings,
            "strings, words remembered": strings_with_memory,
            "words never seen": new_words,
            "known words": lambda: extractor.transform(sentences),
        },
        setting.pick(2, 5),
    )
    n_tokens = n_tokens_of(sentences)
    n_features = sum(len(block.hash) for block in extractor.hash_blocks(sentences))
    note = f"{n_tokens:,} tokens, {n_features / n_tokens:.1f} features a token, {len(index or ()):,} different"
    rates = {name: figure.rate(n_tokens) for name, figure in seconds.items()}
    for ours in ("words never seen", "known words"):
        for theirs in ("strings", "strings, words remembered"):
            yield rower(
                f"extractor, {setting.threads} threads, {ours}",
                rates[ours],
                f"Python {theirs}",
                rates[theirs],
                aim=Aim("ratio", "at least", 10.0),
                note=note,
                more_is_better=True,
            )


def with_stand_ins(sentence: Sentence) -> Sentence:
    """Give a sentence every column and attribute that the published templates use.

    Examples
    --------
    >>> sorted(with_stand_ins(Sentence(["no", "hernias"])).columns["lemma"])
    ['hernia', 'no']
    """
    columns = {
        "pos": tuple(f"T{hash_text(token[-2:]) % 40}" for token in sentence.tokens),
        "lemma": tuple(token.lower().removesuffix("s") or token for token in sentence.tokens),
        **sentence.columns,
    }
    kind = hash_text(sentence.doc)
    attributes = {"section": f"section {kind % 30}", "note_type": f"type {kind % 4}", **sentence.attributes}
    return replace(sentence, columns=columns, attributes=attributes)


def resources_for(sentences: Sequence[Sentence]) -> tuple[ClusterMap, Lexicon]:
    """Return clusters with paths of 8 to 14 bits for every word, and a lexicon of every seventh."""
    words = sorted({token for sentence in sentences for token in sentence.tokens})
    paths = {}
    for word in words:
        bits = hash_text(word)
        paths[word] = f"{bits % 1000:010b}"[: 8 + bits % 3] + f"{bits >> 40:b}"[: bits % 5]
    return ClusterMap(paths), Lexicon.from_entries([(word, f"C{hash_text(word) % 12}") for word in words[::7]])


class Answers:
    """Precomputed categories of some sentences: a lexicon is fast for batches only, strings are made one by one."""

    def __init__(self, lexicon: Lexicon, sentences: Sequence[Sentence]) -> None:
        self.categories = lexicon.categories
        tokens = [sentence.tokens for sentence in sentences]
        self._found = dict(zip(tokens, lexicon.match(tokens), strict=True))

    def match(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.int32]]:
        """Return the precomputed categories of sentences."""
        return [self._found[tuple(tokens)] for tokens in sentences]


def check_features(extractor: Extractor, sentences: Sequence[Sentence]) -> None:
    """Raise an error if the compiled features differ from the strings.

    Raises
    ------
    Disagreement
        If they differ.
    """
    strings = [
        hash_feature_reference(feature)
        for sentence in sentences
        for features in extractor.describe(sentence)
        for feature in features
    ]
    compiled = np.concatenate([np.empty(0, np.uint64), *(block.hash for block in extractor.hash_blocks(sentences))])
    if compiled.tolist() != strings:
        raise Disagreement("the compiled features are not those that the strings name; nothing was timed")

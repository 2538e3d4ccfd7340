"""Plant errors in a corpus, to measure which of them an audit finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hyperspan.annotation.audit import Doubt
from hyperspan.mentions import Mention, Sentence

KINDS = ("dropped", "invented", "type", "boundary")
"""The kinds of planted errors: a mention is removed; one is added at random words; a type or a boundary is changed."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A corpus with planted errors.

    Attributes
    ----------
    sentences : list of Sentence
    removed, added : set of (int, Mention)
        Sentence and mention of what only gold has, and of what only the corpus has.
    kinds : dict of str to int
        How many errors of each of `KINDS` there are.
    """

    sentences: list[Sentence]
    removed: set[tuple[int, Mention]]
    added: set[tuple[int, Mention]]
    kinds: dict[str, int]

    def is_found(self, doubt: Doubt) -> bool:
        """Return whether a doubt points to a planted error: the mention that was added, or the one that was removed."""
        place = (doubt.sentence, doubt.mention)
        return place in (self.added if doubt.kind == "improbable" else self.removed)

    def precision_at(self, doubts: Iterable[Doubt], n: int) -> float:
        """Return the share of planted errors among the first ``n`` doubts: a lower bound if gold itself has errors."""
        first = list(doubts)[:n]
        return sum(map(self.is_found, first)) / len(first) if first else 0.0

    def recall_at(self, doubts: Iterable[Doubt], n: int) -> float:
        """Return the share of planted errors to which one of the first ``n`` doubts points."""
        n_errors = sum(self.kinds.values())
        return sum(map(self.is_found, list(doubts)[:n])) / n_errors if n_errors else 0.0


def plant(sentences: Sequence[Sentence], share: float, seed: int = 0) -> Planted:
    """Plant errors in a share of the mentions, equally many of every kind.

    Examples
    --------
    >>> sentence = Sentence("no fever and no rash at all".split(), [Mention("Finding", [(1, 2)])])
    >>> planted = plant([sentence] * 40, 0.1)
    >>> planted.kinds, len(planted.removed), len(planted.added)
    ({'dropped': 1, 'invented': 1, 'type': 0, 'boundary': 1}, 2, 2)
    """
    rng = np.random.default_rng(seed)
    places = [(number, mention) for number, sentence in enumerate(sentences) for mention in sentence.mentions]
    types = sorted({mention.type for _, mention in places})
    mentions = [set(sentence.mentions) for sentence in sentences]
    gold = [set(sentence.mentions) for sentence in sentences]
    kinds = dict.fromkeys(KINDS, 0)
    chosen = rng.choice(len(places), round(share * len(places)), replace=False).tolist() if places else []
    for count, place in enumerate(chosen):
        number, mention = places[place]
        kind = KINDS[count % len(KINDS)]
        wrong = _wrong(kind, mention, types, len(sentences[number]), rng)
        if kind != "dropped" and (wrong is None or wrong in gold[number] or wrong in mentions[number]):
            continue
        if kind != "invented":
            mentions[number].discard(mention)
        if wrong is not None:
            mentions[number].add(wrong)
        kinds[kind] += 1
    made = [sentence.with_mentions(here) for sentence, here in zip(sentences, mentions, strict=True)]
    removed = {(number, each) for number, here in enumerate(gold) for each in here - mentions[number]}
    added = {(number, each) for number, here in enumerate(mentions) for each in here - gold[number]}
    return Planted(made, removed, added, kinds)


def _wrong(kind: str, mention: Mention, types: Sequence[str], n_words: int, rng: np.random.Generator) -> Mention | None:
    """Return the wrong mention that replaces or joins a mention; None if there is none."""
    if kind == "dropped":
        return None
    if kind == "type":
        others = [type for type in types if type != mention.type]
        return Mention(others[rng.integers(len(others))], mention.parts) if others else None
    if kind == "invented":
        start = int(rng.integers(n_words))
        end = min(n_words, start + int(rng.integers(1, 4)))
        return Mention(types[int(rng.integers(len(types)))], [(start, end)])
    if mention.is_discontiguous:
        kept = rng.integers(len(mention.parts))
        return Mention(mention.type, [mention.parts[kept]])
    moved = [(mention.start + first, mention.end + last) for first, last in ((-1, 0), (0, 1), (1, 0), (0, -1))]
    possible = [(start, end) for start, end in moved if 0 <= start < end <= n_words]
    return Mention(mention.type, [possible[rng.integers(len(possible))]]) if possible else None

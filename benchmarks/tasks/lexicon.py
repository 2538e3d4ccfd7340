"""The speed of building, loading and matching a lexicon, and its size.

The phrases are synthetic: one to five words from a vocabulary with Zipf frequencies. The text has the same words, with
a phrase inserted now and then. First the matches in some sentences are compared with a plain dictionary search, which
is also the baseline for the time. Compiling does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.harness import Disagreement, Figure, Row, in_turns
from benchmarks.setting import Setting
from hyperspan.features.lexicon import Lexicon

ENTRIES = (2_000, 1_000_000)
TOKENS = (5_000, 2_000_000)
N_CATEGORIES = 100
LONGEST = 5

Entries = list[tuple[str, str]]
Found = list[tuple[str, ...]]


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each step."""
    rower = setting.rower("lexicon", "seconds", data="made up")
    entries, sentences = made_up(setting.pick(*ENTRIES), setting.pick(*TOKENS), setting.seed)
    Lexicon.from_entries(entries[:10]).match(sentences[:2])
    lexicon = Lexicon.from_entries(entries)
    raw = lexicon.to_bytes()
    plain = dict(reversed(entries))  # the first category of a phrase counts
    for tokens in sentences[:300]:
        if lexicon.categories_of(tokens) != categories_reference(plain, tokens):
            raise Disagreement(f"matches differ in {tokens}; nothing was timed")
    few = sentences[: setting.pick(100, 2_000)]
    timed: dict[str, Callable[[], object]] = {
        "build": lambda: Lexicon.from_entries(entries),
        "save": lexicon.to_bytes,
        "load": lambda: Lexicon.from_bytes(raw),
        "match": lambda: lexicon.match(sentences),
        "dictionary": lambda: [categories_reference(plain, tokens) for tokens in few],
    }
    seconds = in_turns(timed, setting.pick(2, 3))
    note = f"{len(entries):,} entries, {len(lexicon):,} different phrases"
    for name in ("build", "save", "load"):
        yield rower(name, seconds[name], note=note)
    yield rower(
        "match",
        seconds["match"].rate(sum(map(len, sentences))),
        "Python dictionary",
        seconds["dictionary"].rate(sum(map(len, few))),
        unit="tokens a second",
        note=note,
        more_is_better=True,
    )
    for name, size in {"memory, arrays": lexicon.n_bytes, "file": len(raw)}.items():
        each = size / len(lexicon)
        yield rower(name, Figure(each, each, each), unit="bytes a phrase", note=note)


def made_up(n_entries: int, n_tokens: int, seed: int = 0) -> tuple[Entries, list[list[str]]]:
    """Return phrases with their categories, and sentences."""
    chance = np.random.default_rng(seed)
    n_words = max(n_entries // 5, 1000)
    syllables = [consonant + vowel for consonant in "bcdfgklmnprtv" for vowel in "aeiou"]
    words = []
    for number in range(n_words):
        parts = []
        rest = number + len(syllables)
        while rest:
            rest, part = divmod(rest, len(syllables))
            parts.append(syllables[part])
        words.append("".join(parts) + "k")  # no word looks like a plural
    weights = 1.0 / (np.arange(n_words) + 10.0)
    weights /= weights.sum()
    lengths = chance.choice([1, 2, 3, 4, LONGEST], n_entries, p=[0.2, 0.35, 0.25, 0.12, 0.08])
    flat = iter(chance.choice(n_words, int(lengths.sum()), p=weights).tolist())
    categories = chance.integers(N_CATEGORIES, size=n_entries).tolist()
    entries = [
        (" ".join(words[next(flat)] for _ in range(length)), f"category {category}")
        for length, category in zip(lengths.tolist(), categories, strict=True)
    ]
    tokens = [words[number] for number in chance.choice(n_words, n_tokens, p=weights).tolist()]
    sentences = [tokens[start : start + 20] for start in range(0, n_tokens, 20)]
    for number in range(0, len(sentences), 3):
        sentences[number][5:10] = entries[int(chance.integers(n_entries))][0].split()
    return entries, sentences


def categories_reference(categories: dict[str, str], tokens: Sequence[str]) -> Found:
    """Return the category of every token by looking up all phrases: the longest one that covers it, the leftmost first.

    Examples
    --------
    >>> categories_reference({"hiatal hernia": "A", "hernia": "B"}, "hernia or hiatal hernia".split())
    [('B',), (), ('A',), ('A',)]
    """
    best = [(0, "")] * len(tokens)
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + LONGEST, len(tokens)) + 1):
            category = categories.get(" ".join(tokens[start:end]), "")
            for position in range(start, end) if category else ():
                if best[position][0] < end - start:
                    best[position] = (end - start, category)
    return [(category,) if category else () for _, category in best]

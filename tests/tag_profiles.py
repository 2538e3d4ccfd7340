"""Every canonical tag sequence of a few words, found without an automaton.

A tag depends only on whether a word is covered by no, one or more mentions, whether one of them is discontiguous, and
whether no, one or more of them cover the word before. A set of mentions is described by these *profiles*, which are
gathered mention by mention: millions of sets have the same.
"""

from __future__ import annotations

from brute_force import all_mentions

TAGS = ("O", "B", "I", "BD", "ID", "BH", "IH")


def canonical_sequences(n_words: int, max_parts: int) -> set[tuple[str, ...]]:
    """Every tag sequence that some set of mentions with at most ``max_parts`` parts is encoded as."""
    profiles = {0}
    for mention in all_mentions(n_words, max_parts=max_parts):
        counted = discontiguous = 0
        for start, end in mention.parts:
            for word in range(start, end):
                counted |= (1 if word == start else 1 | 8) << 5 * word
                discontiguous |= mention.is_discontiguous << 5 * word + 2
        profiles |= {
            _forget_kind(profile | (profile & counted) << 1 | counted | discontiguous, n_words) for profile in profiles
        }
    return {tuple(TAGS[_tag(profile >> 5 * word)] for word in range(n_words)) for profile in profiles}


def _forget_kind(profile: int, n_words: int) -> int:
    """What kind of mention covers a word no longer matters when there are two."""
    for word in range(n_words):
        if profile >> 5 * word & 3 == 3:
            profile |= 1 << 5 * word + 2
    return profile


def _tag(of_word: int) -> int:
    covered, discontiguous, with_before = of_word & 3, of_word >> 2 & 1, of_word >> 3 & 3
    if covered == 3:
        return 6 if with_before == 3 else 5
    if covered == 1:
        return (3 if discontiguous else 1) + (with_before > 0)
    return 0

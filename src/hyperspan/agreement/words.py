"""The values of words that κ and α compare."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

from hyperspan.agreement.documents import SharedDocument
from hyperspan.mentions import Mention

Values: TypeAlias = Callable[[Sequence[Mention], int], list[frozenset[Hashable]]]
"""Returns the value of every word of a sentence, given its mentions and its number of words."""


def types_of_words(mentions: Iterable[Mention], n_words: int) -> list[frozenset[Hashable]]:
    """Return the types of the mentions that contain each word.

    Examples
    --------
    >>> [sorted(types) for types in types_of_words([Mention("B", [(0, 2)]), Mention("A", [(1, 2)])], 3)]
    [['B'], ['A', 'B'], []]
    """
    return _gathered(((word, mention.type) for mention in mentions for word in mention.words()), n_words)


def parts_of_words(mentions: Iterable[Mention], n_words: int) -> list[frozenset[Hashable]]:
    """Return the parts that contain each word: type, which part of how many, and whether it begins here.

    Examples
    --------
    >>> for parts in parts_of_words([Mention("Finding", [(0, 1), (2, 4)])], 4):
    ...     print(set(parts) or "")
    {('Finding', 1, 2, 'begins')}
    <BLANKLINE>
    {('Finding', 2, 2, 'begins')}
    {('Finding', 2, 2, 'goes on')}
    """
    found = (
        (word, (mention.type, number, len(mention.parts), "begins" if word == start else "goes on"))
        for mention in mentions
        for number, (start, end) in enumerate(mention.parts, 1)
        for word in range(start, end)
    )
    return _gathered(found, n_words)


def rows_of(
    shared: SharedDocument, annotators: Sequence[str], values: Values, type: str | None = None
) -> Counter[tuple[Hashable, ...]]:
    """Count the combinations of values of the words of a document: one value per annotator who has it, in order.

    With ``type``, only mentions of that type count.
    """
    rows: Counter[tuple[Hashable, ...]] = Counter()
    present = [annotator for annotator in annotators if annotator in shared.units]
    nothing: tuple[Hashable, ...] = (frozenset(),) * len(present)
    for sentence in shared.sentences:
        n_words = len(sentence.sentence)
        seen = [
            [mention for mention in sentence.words_of(annotator) if type is None or mention.type == type]
            for annotator in present
        ]
        if any(seen):
            rows.update(zip(*(values(mentions, n_words) for mentions in seen), strict=True))
        else:
            rows[nothing] += n_words
    return rows


def _gathered(found: Iterable[tuple[int, Hashable]], n_words: int) -> list[frozenset[Hashable]]:
    at_word: defaultdict[int, set[Hashable]] = defaultdict(set)
    for word, value in found:
        at_word[word].add(value)
    return [frozenset(at_word.get(word, ())) for word in range(n_words)]

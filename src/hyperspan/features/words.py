"""Describe features in plain words: ``word[1]=and`` is “the next word is ‘and’”.

In features of whole parts and gaps, “it” is the part or gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_BAR = re.compile(r"(?:[^\\|]|\\.)+", re.DOTALL)
_PART = re.compile(r"(?P<column>[^\s\[\]=]+)(?:\[(?P<offset>[+-]?\d|[a-z]+)\])?=(?P<value>.*)", re.DOTALL)
_BOUNDARY = re.compile(r"<s([+-]\d)>")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_AFFIX = re.compile(r"(prefix|suffix)\d")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_CAPITALS = {
    "lower": "is in lower case",
    "upper": "is in capitals",
    "title": "begins with a capital",
    "mixed": "has lower and upper case",
    "none": "has neither lower-case nor capital letters",
}


_SHAPES = {
    "x": _CAPITALS["lower"],
    "X": _CAPITALS["upper"],
    "Xx": _CAPITALS["title"],
    "d": "is made of digits",
}


_OF_SPANS = {
    "span": "it",
    "first": "its first word",
    "last": "its last word",
    "left": "the word before it",
    "right": "the word after it",
    "whole": "it",
    "joined": "without it, what stands around it",
}
_SEVERAL = {"shape": "has the shapes", "pos": "has the parts of speech", "lemma": "has the lemmas"}


def in_words(feature: str, tokens: Sequence[str] = (), place: int = 0) -> str:
    """Describe a feature of a word in plain words.

    Parameters
    ----------
    feature : str
        A feature from `Extractor.describe`.
    tokens : sequence of str
        The words of the sentence, if known: an affix that is a whole word is then described as that word.
    place : int
        The position of the word in the sentence.

    Examples
    --------
    >>> in_words("word[1]=and")
    'the next word is ‘and’'
    >>> in_words("word[-3]=<s-2>|word[0]=and")
    'the word is the second of the sentence and is ‘and’'
    >>> in_words("suffix3[-1]=ing"), in_words("prefix3[1]=and", ["Left", "and", "right"], 0)
    ('the word before ends with ‘ing’', 'the next word is ‘and’')
    >>> in_words("lower[left]=<s-1>|pos[span]=JJ NN"), in_words("category[whole]=Disease")
    ('the sentence begins with it and it has the parts of speech ‘JJ NN’', 'it is an entry of the lexicon: ‘Disease’')
    >>> in_words("#00c0ffee00c0ffee")
    '#00c0ffee00c0ffee'
    """
    claims = [_claim(part, tokens, place) for part in _parts(feature)]
    if not claims or None in claims:
        return feature
    said: list[tuple[str, list[str]]] = []
    for subject, predicate in (claim for claim in claims if claim is not None):
        if said and said[-1][0] == subject:
            said[-1][1].append(predicate)
        else:
            said.append((subject, [predicate]))
    return " and ".join(f"{subject} {' and '.join(predicates)}".rstrip() for subject, predicates in said)


def is_bias(feature: str) -> bool:
    """Return whether a feature holds for every word: it says how common something is, not anything about this text."""
    return feature == "bias=1"


def _parts(feature: str) -> Iterator[str]:
    return (found[0] for found in _BAR.finditer(feature))


def _claim(part: str, tokens: Sequence[str], place: int) -> tuple[str, str] | None:
    """Return the subject and the predicate of one part of a feature; None if it is not in our form."""
    found = _PART.fullmatch(part)
    if found is None:
        return None
    if found["offset"] in _OF_SPANS:
        return _claim_of_span(found["column"], found["offset"], found["value"])
    if (found["offset"] or "").isalpha():
        return None
    column, offset, value = found["column"], int(found["offset"] or 0), found["value"]
    if (beyond := _BOUNDARY.fullmatch(value)) is not None:
        return "the word", _place(offset, int(beyond[1]))
    shown = f"‘{_ESCAPED.sub(chr(92) + '1', value)}’"
    if column == "bias":
        return "for every word", ""
    if column in ("section", "note_type"):
        return f"the {'section' if column == 'section' else 'type of the note'}", f"is {shown}"
    if (column == "lower" or _AFFIX.fullmatch(column)) and value in tokens[place + offset : place + offset + 1]:
        column = "word"
    kind, _, name = column.partition(".")
    if kind == "attribute":
        return f"the attribute ‘{name}’", f"is {shown}"
    return _subject(offset), _predicate(column, name, value, shown)


def _claim_of_span(column: str, place: str, value: str) -> tuple[str, str]:
    """Return the same for a place of a part or gap."""
    if _BOUNDARY.fullmatch(value) is not None:
        return "the sentence", f"{'begins' if place == 'left' else 'ends'} with it"
    shown = f"‘{_ESCAPED.sub(chr(92) + '1', value)}’"
    if place in ("whole", "joined"):
        return _OF_SPANS[place], f"is an entry of the lexicon: {shown}"
    if place == "span" and " " in value and column in _SEVERAL:
        return _OF_SPANS[place], f"{_SEVERAL[column]} {shown}"
    return _OF_SPANS[place], _predicate(column, column.partition(".")[2], value, shown)


def _subject(offset: int) -> str:
    """Name a word at an offset."""
    if abs(offset) <= 1:
        return ("the word before", "the word", "the next word")[offset + 1]
    return f"the {_ORDINALS[abs(offset) - 1]} word {'before' if offset < 0 else 'after'}"


def _place(offset: int, beyond: int) -> str:
    """Describe where a word is in the sentence, given how far an offset goes beyond the sentence's end."""
    if beyond < 0:
        return f"is the {_ORDINALS[beyond - offset]} of the sentence"
    left = offset - beyond
    if left == 0:
        return "is the last of the sentence"
    return (
        f"is the last but {('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight')[left - 1]} of the sentence"
    )


def _predicate(column: str, name: str, value: str, shown: str) -> str:
    if column == "lower":
        return f"is {shown} in lower case"
    if column == "capitals":
        return _CAPITALS.get(value, f"is {shown}")
    if column == "shape" and value in _SHAPES:
        return _SHAPES[value]
    if affix := _AFFIX.fullmatch(column):
        return f"{'begins' if affix[1] == 'prefix' else 'ends'} with {shown}"
    phrases = {
        "word": "is",
        "shape": "has the shape",
        "mark": "stands for a",
        "cluster": "is in the cluster",
        "category": "is in the lexicon as",
        "pos": "has the part of speech",
        "lemma": "has the lemma",
    }
    return f"{phrases[column]} {shown}" if column in phrases else f"has the {name or column} {shown}"

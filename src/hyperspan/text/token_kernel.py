"""The compiled tokenizer: finds the tokens of many texts in one pass, by character class.

`hyperspan.text.tokens.tokenize` is the reference: it does the same with a regular expression.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import chain, islice, pairwise

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel
from hyperspan.mentions import Span
from hyperspan.text.marks import LONGEST_MARK
from hyperspan.text.tokens import JOINERS, SINGLE_SIGNS, Tokens

_UNKNOWN, _SPACE, _WORD, _SIGN, _SINGLE, _JOINS = range(6)
_KIND_OF = np.zeros(0x110000, np.uint8)

_STAR, _OPENS, _CLOSES, _NEWLINE = map(ord, "*[]\n")

_BETWEEN = "\n]"
"""A separator that no token contains: only marks contain white space, and never followed by a bracket."""


def cut_tokens(texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> list[list[Tokens]]:
    """Return the tokens of each part of each text, and their offsets.

    Examples
    --------
    >>> cut_tokens(["No fever. Rest."], [[(0, 9), (10, 15)]])
    [[(('No', 'fever', '.'), ((0, 2), (3, 8), (8, 9))), (('Rest', '.'), ((10, 14), (14, 15)))]]
    """
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    n_parts = list(map(len, spans))
    begins = np.repeat(np.cumsum([0, *map(len, texts)])[:-1], n_parts)
    parts = np.array(list(chain.from_iterable(spans)), np.int64).reshape(-1, 2) + begins[:, None]
    places = np.empty((len(codes), 2), np.int64)
    written = np.empty((1 + len(_BETWEEN)) * len(codes), np.uint32)
    first_token = np.empty(len(parts) + 1, np.int64)
    n_written = token_kernel(_KIND_OF, codes, parts, places, written, first_token)
    if n_written < 0:
        _learn_kinds(codes)
        n_written = token_kernel(_KIND_OF, codes, parts, places, written, first_token)
    firsts = first_token.tolist()
    tokens = tuple(written[:n_written].tobytes().decode("utf-32-le", "surrogatepass").split(_BETWEEN))
    inside = places[: firsts[-1]] - np.repeat(begins, np.diff(first_token))[:, None]
    offsets = tuple(zip(*inside.T.tolist(), strict=True))
    found = iter([(tokens[first:last], offsets[first:last]) for first, last in pairwise(firsts)])
    return [list(islice(found, n)) for n in n_parts]


def _learn_kinds(codes: npt.NDArray[np.uint32]) -> None:
    for code in np.unique(codes[_KIND_OF[codes] == _UNKNOWN]).tolist():
        _KIND_OF[code] = _kind(chr(code))


def _kind(character: str) -> int:
    if character.isspace():
        return _SPACE
    if character.isalnum() or character == "_":
        return _WORD
    if character in SINGLE_SIGNS:
        return _SINGLE
    return _JOINS if character in JOINERS or unicodedata.category(character)[0] == "M" else _SIGN


@kernel
def token_kernel(kind_of, codes, spans, places, written, first_token):
    """Write the offsets of each token, its characters followed by `_BETWEEN`, and the first token of each span.

    Return how many characters were written, or -1 if a character's class is unknown.
    """
    n_tokens, n_written = 0, 0
    for index in range(spans.shape[0]):
        first_token[index] = n_tokens
        position, last = spans[index, 0], spans[index, 1]
        while position < last:
            kind = kind_of[codes[position]]
            if kind == _UNKNOWN:
                return -1
            end = position + 1
            if kind == _SPACE:
                position = end
                continue
            if kind == _SINGLE:
                end = end_of_mark(codes, position, last)
            else:
                if kind == _JOINS:
                    kind = _SIGN
                while end < last and (kind_of[codes[end]] == kind or kind_of[codes[end]] == _JOINS):
                    end += 1
            places[n_tokens, 0], places[n_tokens, 1] = position, end
            n_tokens += 1
            for inside in range(position, end):
                written[n_written] = codes[inside]
                n_written += 1
            written[n_written], written[n_written + 1] = _NEWLINE, _CLOSES
            n_written += 2
            position = end
    first_token[spans.shape[0]] = n_tokens
    return n_written


@kernel
def end_of_mark(codes, position, last):
    """Return the end of the mark that begins here; if none does, the end of this one character."""
    if position + 6 > last or codes[position] != _OPENS or codes[position + 1] != _STAR or codes[position + 2] != _STAR:
        return position + 1
    closing = position + 3
    farthest = min(last, closing + LONGEST_MARK + 3)
    while closing < farthest and codes[closing] != _OPENS and codes[closing] != _CLOSES:
        closing += 1
    if closing == farthest or closing < position + 5 or codes[closing] != _CLOSES:
        return position + 1
    return closing + 1 if codes[closing - 1] == _STAR and codes[closing - 2] == _STAR else position + 1

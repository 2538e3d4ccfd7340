"""Split words into the pieces that an encoder reads, and sentences into windows that it can hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hyperspan.mentions import Sentence

MOST_PIECES = 24
"""The maximum number of pieces in a word; the rest of a longer one (mostly strings of digits or bases) is ignored."""

LONGEST_WINDOW = 512
"""The maximum number of pieces in a window, even if an encoder could read more: the cost grows with the square."""

_MOST_REMEMBERED = 200_000

Pieces = tuple[int, ...]


class Window(NamedTuple):
    """What an encoder reads at a time, and which words of it are wanted.

    Attributes
    ----------
    ids : tuple of int
        All pieces, including special ones and those of the context.
    first : int
        Where the pieces of the first wanted word begin.
    n_pieces : tuple of int
        How many pieces each wanted word has; they are consecutive.
    """

    ids: Pieces
    first: int
    n_pieces: Pieces


class PieceBatch(NamedTuple):
    """Windows in arrays.

    Attributes
    ----------
    ids, mask : int64 arrays of shape (n_windows, longest)
        The pieces, and 1 where there is one.
    place, word : int64 arrays of shape (n_pieces,)
        The indices of the wanted pieces, numbered through all windows, and the word of each, in increasing order.
    n_words : int
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    place: NDArray[np.int64]
    word: NDArray[np.int64]
    n_words: int


class WordPieces:
    """Splits words into pieces, each word by itself, and sentences into windows.

    Parameters
    ----------
    tokenizer : Tokenizer
    longest : int
        The maximum number of pieces that a window can hold.
    unknown, padding : int
        The piece for a word without pieces, and the padding piece.
    """

    def __init__(self, tokenizer: Tokenizer, longest: int, unknown: int, padding: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.longest = longest
        self.unknown = unknown
        self.padding = padding
        self._space = _space_before_words(tokenizer)
        self._before, self._after = _special_pieces(tokenizer)
        self._known: dict[str, Pieces] = {}

    @property
    def capacity(self) -> int:
        """How many pieces of words a window can hold."""
        return self.longest - len(self._before) - len(self._after)

    def of_words(self, words: Sequence[str]) -> list[Pieces]:
        """Return the pieces of each word: at least one, and at most `MOST_PIECES`."""
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > _MOST_REMEMBERED:
            known = self._known = {}  # not cleared: other threads may be reading the old one
            new = list(dict.fromkeys(words))
        if new:
            encoded = self.tokenizer.encode_batch([self._space + word for word in new], add_special_tokens=False)
            for word, here in zip(new, encoded, strict=True):
                known[word] = tuple(here.ids[:MOST_PIECES]) or (self.unknown,)
        return [known[word] for word in words]

    def windows(self, sentences: Sequence[Sentence], n_context: int = 0) -> list[list[Window]]:
        """Return the windows of each sentence.

        Parameters
        ----------
        sentences : sequence of Sentence
        n_context : int
            How many words of the same document before and after a sentence the encoder also sees, if they fit.
        """
        pieces = [self.of_words(sentence.tokens) for sentence in sentences]
        if not n_context:
            return [self._cut([], here, []) for here in pieces]
        docs = [sentence.doc for sentence in sentences]
        return [
            self._cut(
                _neighbours(pieces, docs, number, -1, n_context), here, _neighbours(pieces, docs, number, 1, n_context)
            )
            for number, here in enumerate(pieces)
        ]

    def _cut(self, left: list[Pieces], words: list[Pieces], right: list[Pieces]) -> list[Window]:
        """Return the windows of a sentence, given the words to its left and right, nearest first."""
        n_pieces = tuple(map(len, words))
        room = self.capacity - sum(n_pieces)
        if room >= 0:
            before, after = _in_room(left, right, room)
            ids = (*self._before, *before, *chain.from_iterable(words), *after, *self._after)
            return [Window(ids, len(self._before) + len(before), n_pieces)]
        return self._overlapping(words, n_pieces)

    def _overlapping(self, words: list[Pieces], n_pieces: Pieces) -> list[Window]:
        """Split a long sentence into overlapping windows; each word is read where it is farther from an edge."""
        first_piece = np.cumsum([0, *n_pieces])
        begins, ends = [0], []
        while True:
            end = int(np.searchsorted(first_piece, first_piece[begins[-1]] + self.capacity, side="right")) - 1
            ends.append(min(end, len(words)))
            if ends[-1] == len(words):
                break
            begin = int(np.searchsorted(first_piece, first_piece[ends[-1]] - self.capacity // 2))
            begins.append(max(begin, begins[-1] + 1))
        middles = [(begin + end) // 2 for begin, end in zip(begins[1:], ends[:-1], strict=True)]
        windows = []
        for begin, end, mine, others in zip(begins, ends, [0, *middles], [*middles, len(words)], strict=True):
            ids = (*self._before, *chain.from_iterable(words[begin:end]), *self._after)
            windows.append(Window(ids, len(self._before) + sum(n_pieces[begin:mine]), n_pieces[mine:others]))
        return windows

    def batch(self, windows: Sequence[Window]) -> PieceBatch:
        """Return windows as arrays, with their words in the order of the windows."""
        longest = max((len(window.ids) for window in windows), default=0)
        ids = np.full((len(windows), longest), self.padding, dtype=np.int64)
        mask = np.zeros((len(windows), longest), dtype=np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
        n_pieces = np.fromiter(chain.from_iterable(window.n_pieces for window in windows), dtype=np.int64)
        of_window = np.array([sum(window.n_pieces) for window in windows], dtype=np.int64)
        first = np.array([row * longest + window.first for row, window in enumerate(windows)], dtype=np.int64)
        number = np.arange(of_window.sum()) - np.repeat(np.cumsum(of_window) - of_window, of_window)
        word = np.repeat(np.arange(len(n_pieces)), n_pieces)
        return PieceBatch(ids, mask, np.repeat(first, of_window) + number, word, len(n_pieces))


def _neighbours(pieces: list[list[Pieces]], docs: list[str], number: int, step: int, n_wanted: int) -> list[Pieces]:
    """Return the words of the same document on one side of a sentence, the nearest first."""
    found: list[Pieces] = []
    other = number + step
    while docs[number] and 0 <= other < len(docs) and docs[other] == docs[number] and len(found) < n_wanted:
        found += pieces[other][::step]
        other += step
    return found[:n_wanted]


def _in_room(left: list[Pieces], right: list[Pieces], room: int) -> tuple[Pieces, Pieces]:
    """Return as many pieces of both sides as fit; one side may use the space that the other leaves."""
    n_left, n_right = sum(map(len, left)), sum(map(len, right))
    of_right = min(n_right, max(room // 2, room - n_left))
    before: list[Pieces] = []
    for words, most, kept in ((left, room - of_right, before), (right, of_right, after := list[Pieces]())):
        for word in words:
            most -= len(word)
            if most < 0:
                break
            kept.append(word)
    return tuple(chain.from_iterable(reversed(before))), tuple(chain.from_iterable(after))


def _space_before_words(tokenizer: Tokenizer) -> str:
    """Return a space if a tokenizer treats a word inside a text differently from one at its beginning."""
    alone, after_space = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", " a"))
    return " " if alone != after_space and len(alone) == len(after_space) else ""


def _special_pieces(tokenizer: Tokenizer) -> tuple[Pieces, Pieces]:
    """Return the special pieces that the tokenizer adds before and after every text."""
    plain, whole = (tokenizer.encode("a", add_special_tokens=special).ids for special in (False, True))
    for first in range(len(whole) - len(plain) + 1):
        if whole[first : first + len(plain)] == plain:
            return tuple(whole[:first]), tuple(whole[first + len(plain) :])
    return (), ()

"""Matching words against the trie of a lexicon: phrases that cover a word, whole spans, and phrases across a gap.

`hyperspan.features.lexicon` defines pieces and the layout of the trie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import inlined, kernel

Ints = npt.NDArray[np.int32]


class Trie(NamedTuple):
    """The trie of a `Lexicon` as arrays for kernels.

    Attributes
    ----------
    first_child, piece, category : int32 arrays
        As in `Lexicon`.
    from_root : int32 array of shape (n_pieces,)
        The child of the root for each piece, 0 if there is none.
    """

    first_child: Ints
    piece: Ints
    category: Ints
    from_root: Ints


class Tokens(NamedTuple):
    """Sentences as the pieces of their tokens.

    Attributes
    ----------
    first : int64 array of shape (n_sentences + 1,)
        The tokens of sentence s are ``number[first[s]:first[s + 1]]``.
    number : int64 array of shape (n_tokens,)
        The number of each token among the distinct ones.
    first_piece : int64 array of shape (n_distinct + 1,)
    piece : int32 array
        The pieces of distinct token t are ``piece[first_piece[t]:first_piece[t + 1]]``; -1 for a piece of no phrase.
    begin, end : int32 arrays of shape (n_distinct,)
        The pieces at which a phrase may begin and end; -1 for none.
    """

    first: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    first_piece: npt.NDArray[np.int64]
    piece: Ints
    begin: Ints
    end: Ints


@kernel
def child_kernel(first_child, piece, from_root, node, wanted):
    """Return the child for a piece, 0 if there is none."""
    if wanted < 0:
        return 0
    if node == 0:
        return from_root[wanted]
    low, high = first_child[node], first_child[node + 1]
    while low < high:
        middle = (low + high) // 2
        if piece[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < first_child[node + 1] and piece[low] == wanted:
        return low
    return 0


@inlined
def follow_kernel(first_child, piece, category, from_root, first_piece, pieces, end, node, token, start):
    """Follow the pieces of a token from a node, beginning with a given piece.

    Returns the node that they lead to, 0 if none, and the category of a phrase that ends in the token, -1 if none does.
    """
    found, place, stop = -1, first_piece[token] + start, first_piece[token + 1]
    last = first_piece[token] + end[token]
    while place < stop:
        node = child_kernel(first_child, piece, from_root, node, pieces[place])
        if node == 0:
            break
        if place == last:
            found = category[node]
        place += 1
    return node, found


@kernel
def match_kernel(first_child, piece, category, from_root, first, number, first_piece, pieces, begin, end, found):
    """Fill ``found`` (n_tokens,) with the category of the longest phrase that covers each token."""
    length = np.zeros(found.shape[0], dtype=np.int32)
    for sentence in range(first.shape[0] - 1):
        stop = first[sentence + 1]
        for start in range(first[sentence], stop):
            place = begin[number[start]]
            if place < 0:
                continue
            node, longest, best, at = 0, 0, -1, start
            place += first_piece[number[start]]
            going = True
            while going:  # the same as follow_kernel, which would take twice the time here
                token = number[at]
                last = first_piece[token] + end[token]
                while place < first_piece[token + 1]:
                    node = child_kernel(first_child, piece, from_root, node, pieces[place])
                    if node == 0:
                        going = False
                        break
                    if place == last and category[node] >= 0:
                        longest, best = at + 1 - start, category[node]
                    place += 1
                at += 1
                if at == stop:
                    break
                place = first_piece[number[at]]
            for covered in range(start, start + longest):
                if length[covered] < longest:
                    length[covered] = longest
                    found[covered] = best


@kernel
def entries_kernel(
    first_child, piece, category, from_root, first, number, first_piece, pieces, begin, end, whole, joined
):
    """Fill in the categories of spans that are phrases, and of phrases that a span interrupts.

    ``whole[t, l]`` is for the span of l + 1 tokens from token t: -1, unless a phrase is exactly these tokens.
    ``joined[t, l]`` is for the tokens on both sides of that span, at most as many on each side as a span can have: the
    longest phrase that the span interrupts, the leftmost of several.
    """
    most = whole.shape[1]
    longest = np.zeros(joined.shape, dtype=np.int32)
    for sentence in range(first.shape[0] - 1):
        stop = first[sentence + 1]
        for start in range(first[sentence], stop):
            node, place = 0, begin[number[start]]
            if place < 0:
                continue
            for at in range(start, min(start + most, stop)):
                node, here = follow_kernel(
                    first_child, piece, category, from_root, first_piece, pieces, end, node, number[at], place
                )
                whole[start, at - start] = here
                if node == 0:
                    break
                place = 0
                for gap in range(min(most, stop - at - 2)):
                    after, first_after = node, at + 2 + gap
                    for last in range(first_after, min(first_after + most, stop)):
                        after, here = follow_kernel(
                            first_child, piece, category, from_root, first_piece, pieces, end, after, number[last], 0
                        )
                        n_tokens = at + 1 - start + last + 1 - first_after
                        if here >= 0 and n_tokens > longest[at + 1, gap]:
                            longest[at + 1, gap] = n_tokens
                            joined[at + 1, gap] = here
                        if after == 0:
                            break

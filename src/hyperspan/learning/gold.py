"""Gold mentions as flat arrays of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference import Over
from hyperspan.mentions import Mention, Sentence
from hyperspan.structures import Hypergraph, Linear


class Gold(NamedTuple):
    """The edges of the gold mentions of many sentences.

    Attributes
    ----------
    first_word : int64 array of shape (n_sentences + 1,)
    word, label : int64 and int32 arrays of shape (n_edges,)
        Words count through all sentences; words in rising order. An edge that is used twice stands twice.
    left_out : tuple of (int, Mention)
        Mentions that the structure cannot write, with the number of their sentence.
    """

    first_word: NDArray[np.int64]
    word: NDArray[np.int64]
    label: NDArray[np.int32]
    left_out: tuple[tuple[int, Mention], ...]


def encode_gold(structure: Hypergraph | Linear, sentences: Sequence[Sentence], over: Over = "encodings") -> Gold:
    """Encode the mentions of sentences: unfolded into prefix trees where probabilities are over sets of mentions."""
    unfolds = over == "mention-sets" and isinstance(structure, Hypergraph)
    words: list[int] = []
    labels: list[int] = []
    left_out: list[tuple[int, Mention]] = []
    first_word = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(sentence) for sentence in sentences], out=first_word[1:])
    for number, sentence in enumerate(sentences):
        encode = structure.unfold if unfolds and isinstance(structure, Hypergraph) else structure.encode
        encoded = encode(sentence.mentions, len(sentence))
        first = int(first_word[number])
        words.extend(first + word for word, _ in encoded.encoding)
        labels.extend(label for _, label in encoded.encoding)
        left_out.extend((number, mention) for mention in encoded.left_out)
    return Gold(first_word, np.array(words, dtype=np.int64), np.array(labels, dtype=np.int32), tuple(left_out))

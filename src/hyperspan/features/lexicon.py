"""Lexicons: the category of a word, by the longest known phrase that covers it.

Phrases and words are compared by their *pieces*: runs of letters or of digits, in lower case and in the singular.
Hyphens are ignored, other punctuation is a piece of its own. So ``"Beta-blockers"``, ``"beta blocker"`` and
``"beta - Blocker"`` are the same, however a text was tokenized, and ``"IL2"`` is ``"IL-2"``.

The phrases become a trie in flat arrays. Its nodes are stored level by level, with the children of a node consecutive
and sorted. A node takes 12 bytes, and a kernel matches whole batches of sentences.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
import zipfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError
from hyperspan.features.trie import Ints, Tokens, Trie, entries_kernel, match_kernel
from hyperspan.files import writing

UNKNOWN = -1
"""The category id of a word that no phrase covers."""

MOST_PIECES = 32
"""Phrases with more pieces are left out and counted."""

LARGEST_LEXICON = 16 * 1024**3
"""The maximum number of bytes in the arrays of a lexicon file."""

_FORMAT = "hyperspan.Lexicon"
_VERSION = 1
_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_HYPHENS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212_")
_JOINED = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=[^\W\d_])")
_LONGEST_ACRONYM = 5


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Phrases and their categories, ready to be matched.

    Made by `Lexicon.from_entries` or `Lexicon.load`.

    Attributes
    ----------
    categories : tuple of str
        The names of the categories; a category id is an index into them.
    n_phrases : int
        The number of distinct phrases.
    n_dropped : int
        The number of phrases that were left out: without a letter or digit, or with more than `MOST_PIECES` pieces.
    notes : tuple of str
        Where the phrases come from and under which licence.

    Examples
    --------
    >>> lexicon = Lexicon.from_entries([("hernia", "Finding"), ("hiatal hernia", "Disease"), ("stomach", "Anatomy")])
    >>> lexicon.categories_of("Hiatal hernias and a full stomach".split())
    [('Disease',), ('Disease',), (), (), (), ('Anatomy',)]
    >>> [ids.tolist() for ids in lexicon.match([["a", "hernia"], ["stomach"]])]
    [[-1, 0], [2]]
    """

    categories: tuple[str, ...]
    pieces: tuple[str, ...]
    """The pieces of all phrases; a piece id is an index into them."""
    first_child: Ints = field(repr=False)
    """(n_nodes + 1,): the children of node i are the nodes ``first_child[i]:first_child[i + 1]``; 0 is the root."""
    piece: Ints = field(repr=False)
    """(n_nodes,): the piece that leads to a node, -1 for the root; increasing among the children of a node."""
    category: Ints = field(repr=False)
    """(n_nodes,): the category of the phrase that ends in a node, -1 if none does."""
    n_dropped: int = 0
    notes: tuple[str, ...] = ()
    _piece_ids: dict[str, int] = field(init=False, repr=False)
    _from_root: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_piece_ids", {piece: number for number, piece in enumerate(self.pieces)})
        from_root = np.zeros(len(self.pieces), dtype=np.int32)
        children = np.arange(self.first_child[0], self.first_child[1], dtype=np.int32)
        from_root[self.piece[children]] = children
        object.__setattr__(self, "_from_root", from_root)

    @classmethod
    def from_entries(cls, entries: Iterable[tuple[str, str]], *, notes: Sequence[str] = ()) -> Lexicon:
        """Compile phrases and their categories.

        Parameters
        ----------
        entries : iterable of (phrase, category)
            Consumed one at a time. If a phrase occurs again with another category, in any equivalent spelling, the
            first category is kept. A phrase with a hyphen between letters is also added without it.
        notes : sequence of str
            Where the phrases come from.
        """
        categories: dict[str, int] = {}
        piece_ids: dict[str, int] = {}
        known: dict[str, int] = {}
        flat, lengths, of = array("i"), array("i"), array("i")
        n_dropped = 0
        for phrase, category in entries:
            if not isinstance(phrase, str) or not isinstance(category, str) or not category:
                raise FeatureError(
                    f"the entry ({quoted(phrase)}, {quoted(category)}) is not a phrase and a category, both strings"
                )
            number = categories.setdefault(category, len(categories))
            spellings = [phrase]
            if "-" in phrase or "\u2010" in phrase or "\u2011" in phrase:
                joined = _JOINED.sub("", phrase)
                if joined != phrase:
                    spellings.append(joined)
            for spelling in spellings:
                ids = []
                for raw in _raw_pieces(spelling):
                    piece = known.get(raw)
                    if piece is None:
                        piece = known[raw] = piece_ids.setdefault(_folded(raw), len(piece_ids))
                    ids.append(piece)
                if 0 < len(ids) <= MOST_PIECES:
                    flat.extend(ids)
                    lengths.append(len(ids))
                    of.append(number)
                elif spelling is phrase:
                    n_dropped += 1
        del known
        first_child, node_piece, node_category = _trie(
            np.array(flat, dtype=np.int64), np.array(lengths, dtype=np.int64), np.array(of, dtype=np.int32)
        )
        return cls(tuple(categories), tuple(piece_ids), first_child, node_piece, node_category, n_dropped, tuple(notes))

    @property
    def n_phrases(self) -> int:
        """The number of distinct phrases."""
        return int(np.count_nonzero(self.category >= 0))

    @property
    def n_bytes(self) -> int:
        """The size of the arrays in bytes, without the names of the pieces."""
        return sum(values.nbytes for values in (self.first_child, self.piece, self.category, self._from_root))

    def __len__(self) -> int:
        return self.n_phrases

    def __repr__(self) -> str:
        return f"Lexicon({self.n_phrases} phrases, {len(self.categories)} categories)"

    def match(self, sentences: Sequence[Sequence[str]]) -> list[Ints]:
        """Return the category id of every token of every sentence.

        A token has the category of the longest phrase (in tokens) that covers it, the leftmost of several, and
        `UNKNOWN` (-1) if there is none. A phrase begins and ends where a token does; punctuation at the edges of a
        token does not matter.

        Parameters
        ----------
        sentences : sequence of sequences of str
            The tokens; a large batch is faster than many small ones.

        Returns
        -------
        list of int32 arrays
            One for each sentence, as long as it.
        """
        tokens = self._tokens(sentences)
        found = np.full(len(tokens.number), UNKNOWN, dtype=np.int32)
        match_kernel(*self._trie, *tokens, found)
        return [found[start:stop] for start, stop in pairwise(tokens.first.tolist())]

    def entries(self, sentences: Sequence[Sequence[str]], longest: int) -> tuple[Ints, Ints]:
        """Return which spans of tokens are phrases, and which phrases are interrupted by spans.

        Parameters
        ----------
        sentences : sequence of sequences of str
        longest : int
            The maximum number of tokens in a span.

        Returns
        -------
        whole, joined : int32 arrays of shape (n_tokens, longest)
            Element (t, l) is for the span of l + 1 tokens that begins with token t, counted through all sentences:
            the category of the phrase that is exactly this span, and that of the longest phrase (the leftmost of
            several) that the span interrupts, with at most ``longest`` tokens on each side. `UNKNOWN` if there is none.

        Examples
        --------
        >>> lexicon = Lexicon.from_entries([("gastric bleeding", "Finding"), ("ulcer", "Disease")])
        >>> whole, joined = lexicon.entries(["gastric ulcer bleeding".split()], 2)
        >>> whole.tolist(), joined.tolist()
        ([[-1, -1], [1, -1], [-1, -1]], [[-1, -1], [0, -1], [-1, -1]])
        """
        tokens = self._tokens(sentences)
        whole, joined = np.full((2, len(tokens.number), longest), UNKNOWN, dtype=np.int32)
        entries_kernel(*self._trie, *tokens, whole, joined)
        return whole, joined

    def entry_of(self, tokens: Sequence[str]) -> int:
        """Return the category of the phrase that is exactly these tokens, or `UNKNOWN`; `entries` does it for spans."""
        pieces: list[str] = []
        for number, (of_token, begin, end) in enumerate(map(_token_pieces, tokens)):
            is_first, is_last = number == 0, number == len(tokens) - 1
            if (is_first or is_last) and begin < 0:
                return UNKNOWN
            pieces += of_token[begin if is_first else 0 : end + 1 if is_last else None]
        node = 0
        for piece in pieces:
            children = self.piece[self.first_child[node] : self.first_child[node + 1]]
            place = int(np.searchsorted(children, self._piece_ids.get(piece, UNKNOWN)))
            if piece not in self._piece_ids or place == len(children) or children[place] != self._piece_ids[piece]:
                return UNKNOWN
            node = int(self.first_child[node]) + place
        return int(self.category[node]) if pieces else UNKNOWN

    def categories_of(self, tokens: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the category names of every token of one sentence, as tuples of one or none."""
        names = [(category,) for category in self.categories]
        return [names[number] if number != UNKNOWN else () for number in self.match([tokens])[0].tolist()]

    def _tokens(self, sentences: Sequence[Sequence[str]]) -> Tokens:
        """Return sentences as arrays for kernels."""
        first = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(sentence) for sentence in sentences], out=first[1:])
        ids: defaultdict[str, int] = defaultdict()
        ids.default_factory = ids.__len__  # a new token has the next number
        number = np.fromiter(map(ids.__getitem__, chain.from_iterable(sentences)), np.int64, int(first[-1]))
        return Tokens(first, number, *self._pieces_of(ids))

    @property
    def _trie(self) -> Trie:
        return Trie(self.first_child, self.piece, self.category, self._from_root)

    def _pieces_of(self, tokens: Iterable[str]) -> tuple[npt.NDArray[np.int64], Ints, Ints, Ints]:
        get = self._piece_ids.get
        first, flat, begins, ends = array("q", [0]), array("i"), array("i"), array("i")
        for token in tokens:
            if token.isascii() and token.isalpha():
                flat.append(get(_folded(token), UNKNOWN))
                first.append(len(flat))
                begins.append(0)
                ends.append(0)
                continue
            pieces, begin, end = _token_pieces(token)
            flat.extend([get(piece, UNKNOWN) for piece in pieces])
            first.append(len(flat))
            begins.append(begin)
            ends.append(end)
        return (
            np.array(first, dtype=np.int64),
            np.array(flat, dtype=np.int32),
            np.array(begins, dtype=np.int32),
            np.array(ends, dtype=np.int32),
        )

    def save(self, path: str | Path) -> None:
        """Write the lexicon to one file: arrays and JSON in NumPy's ``.npz`` form, compressed, without pickle."""
        with writing(Path(path)) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes, to be stored inside a model."""
        meta = {
            "format": _FORMAT,
            "version": _VERSION,
            "categories": self.categories,
            "n_dropped": self.n_dropped,
            "notes": self.notes,
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            meta=_as_bytes(json.dumps(meta)),
            pieces=_as_bytes("\n".join(self.pieces)),
            first_child=self.first_child,
            piece=self.piece,
            category=self.category,
        )
        return buffer.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        """Read what `save` wrote.

        Raises
        ------
        FeatureError
            If the file is missing, broken or not a lexicon.
        """
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise FeatureError(f"{path}: cannot be read: {error.strerror}") from None
        return cls.from_bytes(raw, str(path))

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "<lexicon>") -> Lexicon:
        """Read what `to_bytes` returned; ``name`` is the name of the file in messages."""
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                members = archive.infolist()
            size = sum(member.file_size for member in members)
            if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
                raise ValueError("its arrays are not compressed the way NumPy does")
            if size > LARGEST_LEXICON:
                raise ValueError(f"its arrays have {size:,} bytes, more than {LARGEST_LEXICON:,}")
            with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
                meta = json.loads(arrays["meta"].tobytes())
                if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
                    raise ValueError("it is not marked as one")
                if meta.get("version") != _VERSION:
                    raise ValueError(f"its version is {quoted(meta.get('version'))}, but this program reads {_VERSION}")
                text = arrays["pieces"].tobytes().decode("utf-8", "surrogatepass")
                categories = _texts(meta, "categories")
                pieces = tuple(text.split("\n")) if text else ()
                first_child, piece, category = _checked_trie(
                    arrays["first_child"],
                    arrays["piece"],
                    arrays["category"],
                    n_pieces=len(pieces),
                    n_categories=len(categories),
                )
                n_dropped, notes = int(meta.get("n_dropped", 0)), _texts(meta, "notes")
                return cls(categories, pieces, first_child, piece, category, n_dropped, notes)
        except (
            ValueError,
            KeyError,
            TypeError,
            EOFError,
            OSError,
            RuntimeError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise FeatureError(
                f"{name}: this is not a lexicon: {error}. Make one with 'hyperspan lexicon build'"
            ) from None


def _raw_pieces(text: str) -> list[str]:
    """Split a phrase into pieces, without its hyphens and the punctuation around it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    pieces = [piece for piece in _PIECE.findall(text) if piece not in _HYPHENS]
    while pieces and not pieces[-1].isalnum():
        pieces.pop()
    start = 0
    while start < len(pieces) and not pieces[start].isalnum():
        start += 1
    return pieces[start:]


@lru_cache(maxsize=1 << 17)
def _token_pieces(token: str) -> tuple[tuple[str, ...], int, int]:
    """Return the pieces of a token, and the first and last of them that are not punctuation, -1 if none."""
    if not token.isascii():
        token = unicodedata.normalize("NFKC", token)
    raw = [piece for piece in _PIECE.findall(token) if piece not in _HYPHENS]
    solid = [number for number, piece in enumerate(raw) if piece.isalnum()]
    begin, end = (solid[0], solid[-1]) if solid else (-1, -1)
    return tuple(map(_folded, raw)), begin, end


def _folded(piece: str) -> str:
    """Return a piece in lower case and in the singular, as far as a few rules of English and Greek go.

    Examples
    --------
    >>> [_folded(piece) for piece in ("Hernias", "biopsies", "masses", "virus", "AIDS", "diagnoses", "diagnosis")]
    ['hernia', 'biopsy', 'mass', 'virus', 'aids', 'diagnos', 'diagnos']
    """
    lower = piece.casefold()
    length = len(lower)
    if length < 4 or (length <= _LONGEST_ACRONYM and piece.isupper()):
        return lower
    if lower[-1] == "s":
        if length > 5 and lower.endswith(("ses", "sis")):
            return lower[:-2]
        if lower.endswith(("ss", "us", "is")):
            return lower
        if length > 4 and lower.endswith("ies"):
            return lower[:-3] + "y"
        if length > 4 and lower.endswith(("xes", "ches", "shes", "zes")):
            return lower[:-2]
        return lower[:-1]
    if length > 4 and lower.endswith("se"):
        return lower[:-1]
    return lower


def _trie(flat: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], of: Ints) -> tuple[Ints, Ints, Ints]:
    """Build the arrays of a `Lexicon` from the pieces of all phrases, one level of the trie after the other."""
    first = np.concatenate(([0], np.cumsum(lengths)))[:-1].astype(np.int64)
    n_pieces = int(flat.max()) + 1 if flat.size else 1
    node = np.zeros(len(lengths), dtype=np.int64)
    waiting = np.arange(len(lengths))
    parents, pieces = [np.zeros(0, dtype=np.int64)], [np.array([-1])]
    n_nodes, depth = 1, 0
    while waiting.size:
        keys = node[waiting] * n_pieces + flat[first[waiting] + depth]
        distinct, which = np.unique(keys, return_inverse=True)
        node[waiting] = n_nodes + which
        parents.append(distinct // n_pieces)
        pieces.append(distinct % n_pieces)
        n_nodes += len(distinct)
        depth += 1
        waiting = waiting[lengths[waiting] > depth]
    if n_nodes >= np.iinfo(np.int32).max:
        raise FeatureError(f"the phrases need {n_nodes:,} nodes; expected fewer than 2,147,483,647")
    first_child = np.searchsorted(np.concatenate(parents), np.arange(n_nodes + 1)) + 1
    category = np.full(n_nodes, UNKNOWN, dtype=np.int32)
    ends, given_first = np.unique(node, return_index=True)
    category[ends] = of[given_first]
    return first_child.astype(np.int32), np.concatenate(pieces).astype(np.int32), category


def _checked_trie(
    first_child: Any, piece: Any, category: Any, *, n_pieces: int, n_categories: int
) -> tuple[Ints, Ints, Ints]:
    """Return the arrays if no index in them is out of bounds, so that kernels can trust them."""
    n_nodes = len(piece)
    for name, values, length in (
        ("first_child", first_child, n_nodes + 1),
        ("piece", piece, n_nodes),
        ("category", category, n_nodes),
    ):
        if values.dtype != np.int32 or values.shape != (length,):
            raise ValueError(f"{name} is {values.dtype} of shape {values.shape}, expected int32 of ({length},)")
    after = np.arange(1, n_nodes + 1)
    inside = n_nodes > 0 and first_child[0] == 1 and first_child[-1] == n_nodes
    if not inside or (np.diff(first_child) < 0).any() or (first_child[:-1] < np.minimum(after, n_nodes)).any():
        raise ValueError("first_child does not describe a tree")
    if (piece[1:] < 0).any() or (piece >= n_pieces).any():
        raise ValueError(f"piece has a value outside 0..{n_pieces - 1}")
    if (category < UNKNOWN).any() or (category >= n_categories).any():
        raise ValueError(f"category has a value outside -1..{n_categories - 1}")
    return first_child, piece, category


def _as_bytes(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _texts(meta: dict[str, Any], key: str) -> tuple[str, ...]:
    values = meta[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is not a list of strings")
    return tuple(values)

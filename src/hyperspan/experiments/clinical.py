"""The clinical data of the paper: SemEval-2014 Task 7 and ShARe/CLEF 2013, and three types for them.

LARGE is the split of SemEval-2014. SMALL has the training documents of ShARe/CLEF 2013, of which a random fifth is held
out for development, and its test documents, which are the development documents of SemEval-2014.

The data with several types has three. A (entities) and B (events) are the two roots of the hierarchy of semantic types;
the UMLS table MRSTY maps concept codes to them. N is for mentions without a code, or with one that the table lacks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from hyperspan.corpora import Format, Item, find_items, stream_item
from hyperspan.corpora.files import stream_lines
from hyperspan.corpora.semeval import NO_CUI
from hyperspan.corpora.sidecars import TEXT_SUFFIXES, Folders, find_sidecar, is_pipe_file, stem_of
from hyperspan.corpora.splitting import assign_splits
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError, FormatError, UsageError
from hyperspan.mentions import Sentence, Unit
from hyperspan.text import as_sentences

ROOTS = ("A", "B")
NO_ROOT = "N"

TRAIN_SHARE = 80.0
"""The percentage of the training documents that SMALL trains on."""

_FOLDERS = ("train", "dev", "test")

_DISORDER = "disorder"
"""What the types of Task 1 have in their names; Task 2 of 2013 annotates abbreviations in the same reports."""

LEFT_OUT = ("no-disorder", "other-task")
"""The kinds of notes about annotations that are none of Task 1."""

_TASK_2 = re.compile(r"task[ _-]*2(?![0-9])", re.IGNORECASE)

_ARCHIVES = (".zip", ".bz2", ".gz", ".tar", ".tgz", ".7z")

_EXPECTED = (
    "pipe files (.pipe, .pipe.txt, or .txt such as Task1Gold_SN2012/Gold_SN2012/NAME.txt) or Knowtator XML "
    "(NAME.txt.knowtator.xml)"
)


def read_release(
    folder: Path, wanted: Sequence[str], format: str | None, diagnostics: Diagnostics
) -> dict[str, tuple[Sentence, ...]]:
    """Read the sentences of each split; the name of a folder above a file, or above its report, tells the split.

    Releases are read in their original layout: annotations and reports may be in different folders, training data in
    Knowtator XML and test data in pipe files. Annotations without a report, and reports without annotations, are
    reported to ``diagnostics``, and so are second annotations of a report. Only disorders are read, not the
    abbreviations of Task 2.

    Raises
    ------
    UsageError
        If a split that is needed is missing.
    """
    if folder.is_file():
        raise UsageError(f"{folder} is a file; expected the folder of a release, with annotations and reports in it")
    items: dict[str, dict[str, Item]] = {name: {} for name in (*_FOLDERS, "")}
    formats: dict[str, Format] = {}
    for found, item in _annotations(folder, format, diagnostics):
        split, report = split_of(item), _report_name(item.path)
        if split and formats.setdefault(split, found) is not found:  # use the first format that has the split
            continue
        if split and report in items[split]:
            _report_second(items[split][report], item, diagnostics)
        items[split][report] = replace(item, split=split)  # of Gold_SN2011 and Gold_SN2012, the later
    for name in _FOLDERS:
        if items[name] and name not in wanted:
            raise UsageError(
                f"{folder} has annotations for the split {name!r}, but the release of ShARe/CLEF 2013 has only "
                f"{' and '.join(wanted)}; the first: {next(iter(items[name].values())).path}. Name the folder of that "
                "release alone, and give SemEval-2014 with --semeval2014"
            )
    for one, other in combinations(_FOLDERS, 2):
        if twice := sorted(set(items[one]) & set(items[other])):
            places = " and ".join(str(items[name][twice[0]].path) for name in (one, other))
            raise UsageError(
                f"{folder} has {len(twice):,} reports in {one} and in {other}, such as {quoted(twice[0])}: {places}. "
                "Name the folder of one release alone"
            )
    placed = {report for split in _FOLDERS for report in items[split]}
    without_split = {report: item for report, item in items.pop("").items() if report not in placed}
    splits: dict[str, tuple[Sentence, ...]] = {}
    texts = _text_files(folder)
    for name in wanted:
        reports = _reports_without_annotations(folder, texts, name, items[name])
        units = [unit for item in items[name].values() for unit in stream_item(item, formats[name], diagnostics)]
        splits[name] = tuple(as_sentences(_of_disorders(units, diagnostics), diagnostics))
        if not splits[name]:
            what = _missing(folder, name, items[name], reports, without_split)
            raise UsageError(f"{folder} has nothing for the split {name!r}; {what}")
        for path in reports:
            diagnostics.report(
                "no-annotations", f"the {name} report has no annotations, so it is not read", path=str(path)
            )
    for report, item in without_split.items():
        diagnostics.report(
            "no-split",
            f"these annotations are not read: no folder above them, or above a report {quoted(report + '.txt')}, "
            f"has {', '.join(_FOLDERS[:-1])} or {_FOLDERS[-1]} in its name",
            path=str(item.path),
        )
    return splits


def _report_second(one: Item, other: Item, diagnostics: Diagnostics) -> None:
    diagnostics.report(
        "second-annotations",
        f"these annotations are not read: {other.path} is about the same report, and comes later by name",
        path=str(one.path),
    )


def _of_disorders(units: Sequence[Unit], diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the documents of a split with their disorders only; with everything if no type is named so."""
    if not any(_is_disorder(mention.type) for unit in units for mention in unit.mentions):
        yield from units
        return
    for unit in units:
        for mention in unit.mentions:
            if not _is_disorder(mention.type):
                diagnostics.note(
                    "no-disorder",
                    f"the mention {quoted(unit.text_of(mention))} has the type {quoted(mention.type)}; only disorders "
                    "are read, which Task 1 is about",
                    path=unit.place or unit.doc,
                )
        yield replace(
            unit,
            mentions=tuple(mention for mention in unit.mentions if _is_disorder(mention.type)),
            lost=tuple(lost for lost in unit.lost if not lost.type or _is_disorder(lost.type)),
        )


def _is_disorder(type: str) -> bool:
    return _DISORDER in type.lower()


def _reports_without_annotations(
    folder: Path, texts: Iterable[Path], split: str, annotated: Collection[str]
) -> list[Path]:
    """Return the reports in the folders of a split that no file of annotations is about."""
    return [
        path
        for path in texts
        if split_of_folders(folders := path.relative_to(folder).parts[:-1]) == split
        and not _is_of_task_2(folders)
        and stem_of(path.name) not in annotated
        and not is_pipe_file(path)
    ]


def _text_files(folder: Path) -> list[Path]:
    """Return the texts below a folder, without hidden files such as ``__MACOSX/._NAME.txt`` of unpacked archives."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in TEXT_SUFFIXES
        and not any(name.startswith(".") for name in path.relative_to(folder).parts)
        and path.is_file()
    )


def _annotations(folder: Path, format: str | None, diagnostics: Diagnostics) -> Iterator[tuple[Format, Item]]:
    """Yield the files of annotations: pipe files before Knowtator XML, because the official scores use pipe files."""
    any_found = False
    for name in ("semeval", "knowtator") if format is None else (format,):
        try:
            found, items = find_items(folder, name)
        except FormatError:
            if not folder.is_dir():
                raise
            continue
        for item in items:
            if _is_of_task_2(item.path.relative_to(folder).parts[:-1]):
                diagnostics.note(
                    "other-task",
                    "these annotations are in a folder of Task 2, so they are not read; only disorders are, which "
                    "Task 1 is about",
                    path=str(item.path),
                )
                continue
            any_found = True
            yield found, item
    if not any_found:
        raise UsageError(f"{folder} has no annotations; {_texts_seen(folder)}. Expected {_EXPECTED}")


def _is_of_task_2(folders: Sequence[str]) -> bool:
    """Return whether a folder is about abbreviations.

    Examples
    --------
    >>> _is_of_task_2(["Task2TrainSetGOLD"]), _is_of_task_2(["Task1Gold_SN2012"]), _is_of_task_2(["task 20"])
    (True, False, False)
    """
    return any(_TASK_2.search(name) for name in folders)


def split_of(item: Item) -> str:
    """Return the split of a file of annotations, from the name of a folder above it, or else above its report."""
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


def _missing(
    folder: Path,
    split: str,
    items: Mapping[str, Item],
    reports: Sequence[Path],
    without_split: Mapping[str, Item],
) -> str:
    """Describe what a split lacks: annotations, or their reports."""
    if reports and not items:
        return (
            f"there are {len(reports):,} reports in {reports[0].parent.relative_to(folder)}, but no annotations of "
            f"them; expected {_EXPECTED}"
        )
    if items or without_split:
        name, first = next(iter((items or without_split).items()))
        what = (
            f"there are annotations of {len(items or without_split):,} reports in "
            f"{first.path.parent.relative_to(folder)}"
        )
        if items:
            return f"{what}, but not their texts; expected {name}.txt in a folder such as {_corpus_folder(split)}"
        if texts := find_sidecar(f"{name}.txt", Folders(first.path, folder)):
            return (
                f"{what}, and their texts are in {texts[0].parent.resolve().relative_to(folder.resolve())}, but no "
                f"folder above either has {split} in its name; expected folders such as {_corpus_folder(split)}"
            )
        return (
            f"{what}, but not their texts, which would tell the split; expected {name}.txt in a folder such as "
            f"{_corpus_folder('test')} or {_corpus_folder('train')}, in the folder given"
        )
    return f"expected a folder with {split} in its name, for annotations or their reports; {_texts_seen(folder)}"


def _corpus_folder(split: str) -> str:
    return f"Task1{split.title()}SetCorpus/ALLREPORTS"


def _texts_seen(folder: Path) -> str:
    counts = Counter(path.parent.relative_to(folder).as_posix() for path in _text_files(folder))
    seen = ", ".join(f"{count:,} in {place}" for place, count in counts.most_common(5))
    if seen:
        return f"text files seen: {seen}"
    packed = sorted(path.name for path in folder.rglob("*") if path.suffix.lower() in _ARCHIVES)
    if packed:
        return f"there is no text file in it either, but there are archives to unpack, such as {packed[0]}"
    return "there is no text file in it either"


def split_of_folders(folders: Sequence[str]) -> str:
    """Return the split in the name of the innermost folder that names one.

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
    """Return SMALL: training documents split 80 to 20 at random, and test documents.

    The split depends on the names of the reports and the seed, not on their folders, so it is the same for both
    releases.
    """
    named = [(sentence.doc.rsplit("/", 1)[-1], sentence) for sentence in release["train"]]
    part = assign_splits((name for name, _ in named), (TRAIN_SHARE, 100.0 - TRAIN_SHARE, 0.0), seed)
    return {
        "train": tuple(sentence for name, sentence in named if part[name] == "train"),
        "dev": tuple(sentence for name, sentence in named if part[name] == "dev"),
        "test": release["test"],
    }


def large_setting(release: Mapping[str, tuple[Sentence, ...]]) -> dict[str, tuple[Sentence, ...]]:
    """Return LARGE: the splits of SemEval-2014."""
    return {name: release[name] for name in ("train", "dev", "test")}


def read_semantic_roots(path: Path, cuis: Iterable[str]) -> dict[str, str]:
    """Return the root, A or B, of concept codes, from the UMLS table MRSTY.

    The table has lines ``CUI|TUI|STN|STY|…``; the tree number STN begins with the root. A concept with several semantic
    types gets that of its first line.

    Raises
    ------
    CorpusError
        If the file is not such a table, or has none of the codes.
    """
    wanted = set(cuis) - {"", NO_CUI}
    roots: dict[str, str] = {}
    if not path.is_file():
        what = "this is a folder" if path.is_dir() else "there is no such file"
        raise CorpusError(f"{what}; expected the UMLS table MRSTY.RRF", path=str(path))
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
    if wanted and not roots:
        raise CorpusError(
            f"the table has none of the {len(wanted):,} concept codes of the corpus, such as {quoted(min(wanted))}; "
            "expected the UMLS table MRSTY.RRF of all concepts",
            path=str(path),
        )
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
        lost = tuple(lost._replace(type=NO_ROOT) for lost in sentence.lost)  # the codes of lost mentions are unknown
        yield replace(sentence, mentions=mentions, lost=lost)

"""The data of the paper, for those who have it: SemEval-2014 Task 7 and ShARe/CLEF 2013, and three types for them.

LARGE is the split of SemEval-2014. SMALL has the training documents of ShARe/CLEF 2013, of which a random fifth is held
out for development, and its test documents, which are the development documents of SemEval-2014.

The types of the data with several are the two roots of the hierarchy of semantic types, A (entities) and B (events),
which a concept code leads to through the UMLS table MRSTY, and N for mentions without a code or with one that the table
does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hyperspan.corpora import find_items, stream_item
from hyperspan.corpora.files import stream_lines
from hyperspan.corpora.splitting import assign_splits
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError, UsageError
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
    """Read the sentences of each split; a file belongs to the split that a folder above it has in its name.

    Raises
    ------
    UsageError
        If a split that is wanted is not there.
    """
    found, items = find_items(folder, format)
    splits: dict[str, list[Sentence]] = {name: [] for name in wanted}
    for item in items:
        split = split_of_folders(item.path.relative_to(item.root).parts[:-1]) or item.split
        if split in splits:
            units = stream_item(replace(item, split=split), found, diagnostics)
            splits[split].extend(as_sentences(units, diagnostics))
    for name, sentences in splits.items():
        if not sentences:
            raise UsageError(
                f"{folder} has nothing for the split {name!r}; expected folders with {' and '.join(wanted)} in their "
                "names, each with the reports and their .pipe files"
            )
    return {name: tuple(sentences) for name, sentences in splits.items()}


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

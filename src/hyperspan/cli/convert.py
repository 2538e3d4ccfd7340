"""``hyperspan convert``: from one format to another, cut into splits or to the discontiguous subset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from hyperspan import corpora
from hyperspan.cli.console import (
    CorpusArgument,
    DiscontiguousOption,
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    print_json,
    progress,
    say,
)
from hyperspan.errors import UsageError
from hyperspan.findings import Findings
from hyperspan.mentions import Document, Sentence, Unit


def convert(
    corpus: CorpusArgument,
    output: Annotated[Path, typer.Argument(help="The file or folder to write.", show_default=False)],
    format: FromOption = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format to write; taken from the output's suffix if not given.")
    ] = None,
    discontiguous_only: DiscontiguousOption = False,
    split: Annotated[
        str | None,
        typer.Option("--split", help="Cut into train, dev and test by document, in percent: 80,10,10."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Which documents go where under --split.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Write a corpus in another format, whole or not at all.

    Texts become tokenised sentences, and sentences texts, where the format to write asks for it. With --split, and
    where the corpus has splits and the output no suffix, the output is a folder with train, dev and test in it.

    Example: hyperspan convert notes/ notes.jsonl --on-error widen
    """
    from hyperspan.corpora.splitting import SPLITS, assign_splits, parse_shares
    from hyperspan.corpora.writing import format_of_output, write, write_splits
    from hyperspan.text import as_documents, as_sentences

    findings = Findings(on_error.value)
    chosen = to or format_of_output(output)
    target = corpora.format_named(chosen)
    shares = None if split is None else parse_shares(split)
    if shares is not None and output.suffix:
        raise UsageError(f"--split writes a folder, but {output.name!r} is the name of a file; leave out the suffix")

    def read(findings: Findings, doing: str) -> Iterator[Unit]:
        units = progress(corpora.stream(corpus, format=format, findings=findings), doing)
        return (unit for unit in units if not discontiguous_only or unit.is_discontiguous)

    counts = {"units": 0, "mentions": 0}

    def fitted(units: Iterable[Unit]) -> Iterator[Unit]:
        if target.units == (Sentence,):
            units = as_sentences(units, findings)
        elif target.units == (Document,):
            units = as_documents(units)
        for unit in units:
            counts["units"] += 1
            counts["mentions"] += len(unit.mentions)
            yield unit

    splits: dict[str, str] = {}
    if shares is not None or (not output.suffix and target.write_file is not None):
        # A first pass says which document goes where; then each split is read for itself, so that memory stays bounded.
        known = {unit.doc: unit.split or "all" for unit in read(findings, "Reading")}
        splits = known if shares is None else assign_splits(known, shares, seed)
        again = Findings("skip" if on_error is OnErrorChoice.error else on_error.value)
        parts = {
            name: fitted(unit for unit in read(again, f"Converting {name}") if splits[unit.doc] == name)
            for name in dict.fromkeys(name for name in (*SPLITS, *splits.values()) if name in splits.values())
        }
        write_splits(parts, output, format=chosen, overwrite=overwrite, findings=findings)
    else:
        write(fitted(read(findings, "Converting")), output, format=chosen, overwrite=overwrite, findings=findings)
    say.findings(findings)
    if json:
        print_json({"output": str(output), "format": chosen, **counts, "skipped": dict(findings.counts)})
    else:
        say.info(f"wrote {counts['units']:,} units with {counts['mentions']:,} mentions to {output} ({chosen})")

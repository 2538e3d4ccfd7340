"""``hyperspan convert``: convert a corpus to another format, optionally split or reduced to a subset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan import corpora
from hyperspan.cli.console import (
    CorpusArgument,
    DiscontiguousOption,
    ExpandOption,
    FromOption,
    JsonOption,
    OnErrorChoice,
    OnErrorOption,
    SingularOption,
    expander,
    notes_of,
    print_json,
    progress,
    say,
)
from hyperspan.cli.outputs import fitted, refuse_inputs
from hyperspan.corpora.format import Format, Item
from hyperspan.corpora.links import links_of
from hyperspan.corpora.reading import stream_noting
from hyperspan.diagnostics import Diagnostics, counted, quoted
from hyperspan.errors import UsageError
from hyperspan.files import is_stream
from hyperspan.mentions import Document, Sentence, Unit

if TYPE_CHECKING:
    from hyperspan.text import Expander


def convert(
    corpus: CorpusArgument,
    output: Annotated[Path, typer.Argument(help="The file or folder to write.", show_default=False)],
    format: FromOption = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The format to write; derived from the output's suffix if not given.")
    ] = None,
    discontiguous_only: DiscontiguousOption = False,
    split: Annotated[
        str | None,
        typer.Option("--split", help="Split into train, dev and test by document, in percent: 80,10,10."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Determines which documents go where with --split.")] = 0,
    expand: ExpandOption = False,
    singular: SingularOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is not empty.")] = False,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Write a corpus in another format, completely or not at all.

    Texts become tokenised sentences, or sentences texts, if the target format needs it. Notes report what it cannot
    hold. An output without a suffix is a folder, with train, dev and test in it if the corpus has them or --split makes
    them.

    Example: hyperspan convert notes/ notes.jsonl --on-error widen
    """
    diagnostics = Diagnostics(on_error.value)
    counts = convert_corpus(
        corpus,
        output,
        format=format,
        to=to,
        discontiguous_only=discontiguous_only,
        shares=split,
        seed=seed,
        expander=expander(expand, singular),
        overwrite=overwrite,
        diagnostics=diagnostics,
    )
    say.diagnostics(diagnostics)
    if json:
        read = {"skipped": diagnostics.skipped, "widened": diagnostics.n_widened}
        print_json({"output": str(output), **counts, **read, "notes": notes_of(diagnostics)})
        return
    splits = "".join(f", {name} {count:,}" for name, count in counts["splits"].items())
    units = counted(counts["units"], counts["unit"].removesuffix("s"))
    say.info(f"wrote {units} with {counted(counts['mentions'], 'mention')} to {output} ({counts['format']}{splits})")


def convert_corpus(
    corpus: Path,
    output: Path,
    *,
    format: str | None = None,
    to: str | None = None,
    discontiguous_only: bool = False,
    shares: str | None = None,
    seed: int = 0,
    expander: Expander | None = None,
    overwrite: bool = False,
    diagnostics: Diagnostics | None = None,
) -> dict[str, Any]:
    """Write a corpus in another format and return what was written, as plain data.

    The parameters are those of the command; ``shares`` is its ``--split``, ``expander`` its ``--expand``.
    """
    from hyperspan.corpora.splitting import parse_shares
    from hyperspan.corpora.writing import format_of_output, writable

    diagnostics = diagnostics if diagnostics is not None else Diagnostics()
    target = writable(to or format_of_output(output))
    percent = None if shares is None else parse_shares(shares)
    if percent is not None and output.suffix and not output.is_dir():
        raise UsageError(f"--split writes a folder, but {output.name!r} is the name of a file; leave out the suffix")
    refuse_inputs([corpus], output, overwrite=overwrite)
    source, items = corpora.find_items(corpus, format)
    job = _Job(source, target, discontiguous_only, diagnostics, expander)
    in_splits = any(item.split for item in items)
    if percent is not None:
        corpora.write_splits(
            job.new_splits(items, percent, seed),
            output,
            format=target.name,
            overwrite=overwrite,
            diagnostics=diagnostics,
        )
    elif not output.suffix and not is_stream(output) and (in_splits or target.write_file is not None):
        corpora.write_splits(
            job.old_splits(items), output, format=target.name, overwrite=overwrite, diagnostics=diagnostics
        )
    else:
        if in_splits:
            diagnostics.note(
                "splits-not-held", "train, dev and test are written together; leave out the suffix to keep them apart"
            )
        units = job.fitted(job.read(items, diagnostics, "Converting"))
        corpora.write(units, output, format=target.name, overwrite=overwrite, diagnostics=diagnostics)
    return {"format": target.name, **job.as_dict()}


class _Job:
    """Converts units to a form that a format can hold, and counts them."""

    def __init__(
        self,
        source: Format,
        target: Format,
        discontiguous_only: bool,
        diagnostics: Diagnostics,
        expander: Expander | None = None,
    ) -> None:
        self.expander = expander
        self.source = source
        self.target = target
        self.discontiguous_only = discontiguous_only
        self.diagnostics = diagnostics
        self.kinds: Counter[type[Unit]] = Counter()
        self.mentions = 0
        self.splits: Counter[str] = Counter()

    def read(self, items: Iterable[Item], diagnostics: Diagnostics, doing: str) -> Iterator[Unit]:
        """Yield the units to convert, unchanged."""
        units = chain.from_iterable(stream_noting(item, self.source, diagnostics) for item in items)
        return (unit for unit in progress(units, doing) if unit.is_discontiguous or not self.discontiguous_only)

    def fitted(self, units: Iterable[Unit], split: str | None = None) -> Iterator[Unit]:
        """Yield units in the form that the target needs."""
        units = fitted(self._noting_unsupported(units), self.target, self.diagnostics)
        if self.expander is not None:
            units = map(self.expander.expand, units)
        for unit in units:
            self.kinds[type(unit)] += 1
            self.mentions += len(unit.mentions)
            if split is not None:
                self.splits[split] += 1
            yield unit

    def old_splits(self, items: Sequence[Item]) -> dict[str, Iterator[Unit]]:
        """Return the units of each split of the corpus; ``all`` has those that belong to none."""
        from hyperspan.corpora.splitting import SPLITS

        names = dict.fromkeys((*SPLITS, *(item.split or "all" for item in items)))
        by_split = {name: [item for item in items if (item.split or "all") == name] for name in names}
        return {
            name: self.fitted(self.read(chosen, self.diagnostics, f"Converting {name}"), name)
            for name, chosen in by_split.items()
            if chosen
        }

    def new_splits(
        self, items: Sequence[Item], shares: tuple[float, float, float], seed: int
    ) -> dict[str, Iterator[Unit]]:
        """Return the units of each new split.

        A first pass assigns documents to splits; then each split is read separately, so that memory stays bounded.
        """
        from hyperspan.corpora.splitting import SPLITS, assign_splits

        names = dict.fromkeys(unit.doc for unit in self.read(items, self.diagnostics, "Reading"))
        if not names:
            raise UsageError("there is no document to split into train, dev and test")
        assigned = assign_splits(names, shares, seed)

        def part(name: str) -> Iterator[Unit]:
            # The first pass has already reported or raised all problems.
            again = Diagnostics("widen" if self.diagnostics.widens else "skip")
            units = self.read(items, again, f"Converting {name}")
            return self.fitted((unit for unit in units if assigned.get(unit.doc) == name), name)

        return {name: part(name) for name, share in zip(SPLITS, shares, strict=True) if share > 0}

    def _noting_unsupported(self, units: Iterable[Unit]) -> Iterator[Unit]:
        """Yield the units, and record notes about what only their original format can write."""
        further = self.source.further if self.source is not self.target else None
        for unit in units:
            held = self.target.holds_links if isinstance(unit, self.target.units) else ()
            links = links_of(unit)
            for kind in () if links is None else links.kinds():
                if kind not in held:
                    self._note_unsupported(kind, kind, unit)
            if further is not None and (what := further(unit)):
                self._note_unsupported("further", what, unit)
            yield unit

    def _note_unsupported(self, kind: str, what: str, unit: Unit) -> None:
        message = f"the format {self.target.name!r} holds no {what} (document {quoted(unit.doc)})"
        self.diagnostics.note(f"{kind}-not-held", message, path=unit.place or None)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        names = {Sentence: "sentences", Document: "documents"}
        kinds = [names[kind] for kind in self.kinds]
        return {
            "unit": kinds[0] if len(kinds) == 1 else "sentences and documents",
            "units": self.kinds.total(),
            "mentions": self.mentions,
            "splits": dict(self.splits),
        }

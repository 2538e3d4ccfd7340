"""``hyperspan brown``: compute Brown clusters of the words of a text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan import corpora
from hyperspan.cli.console import FromOption, JsonOption, OnErrorChoice, OnErrorOption, print_json, say
from hyperspan.cli.outputs import refuse_inputs
from hyperspan.corpora.files import stream_lines
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError
from hyperspan.files import check_file

if TYPE_CHECKING:
    from hyperspan.features.brown import Clusters, Progress


def brown(
    text: Annotated[
        Path, typer.Argument(help="A text with one sentence or paragraph per line, or a corpus.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of clusters to write.", show_default=False)],
    n_clusters: Annotated[int, typer.Option("--clusters", "-c", help="The number of clusters.", min=1)] = 1000,
    min_count: Annotated[int, typer.Option("--min-count", help="Leave out rarer words.", min=1)] = 1,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Cluster the words of a text by their contexts, for the Brown features of a model.

    Each line of the output is a bit string, a word and its count, separated by tabs. Words are neighbours only within a
    line of a text, or a sentence of a corpus.

    Example: hyperspan brown notes.txt -c 1000 -o clusters.tsv
    """
    diagnostics = Diagnostics(on_error.value)
    refuse_inputs([text], output)
    check_file(output)
    with _reporting() as report:
        clusters = cluster_words(
            text, n_clusters=n_clusters, min_count=min_count, format=format, diagnostics=diagnostics, on_progress=report
        )
    clusters.save(output)
    say.diagnostics(diagnostics)
    summary = summary_of(clusters)
    if json:
        print_json({"output": str(output), **summary})
    else:
        say.info(
            f"wrote {summary['words']:,} words in {summary['clusters']:,} clusters to {output}; "
            f"average mutual information {summary['average_mutual_information']:.4f} nats"
        )


def cluster_words(
    path: Path,
    *,
    n_clusters: int = 1000,
    min_count: int = 1,
    format: str | None = None,
    diagnostics: Diagnostics | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Clusters:
    """Cluster the words of a text file or corpus."""
    from hyperspan.features.brown import brown_clusters

    words = words_of(path, format=format, diagnostics=diagnostics or Diagnostics())
    return brown_clusters(words, n_clusters, min_count, on_progress)


def words_of(path: Path, *, format: str | None, diagnostics: Diagnostics) -> Iterator[list[str]]:
    """Yield the words of each sentence of a corpus, or of each line of a text file.

    A de-identification mark counts as the word for its category, as it does in features.
    """
    from hyperspan.corpora.reading import recognise
    from hyperspan.text import as_sentences, normal_form, tokenize

    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if path.is_file() and format is None and recognise(path) is None:
        for _, line in stream_lines(path, diagnostics):
            yield [normal_form(line[start:end]) for start, end in tokenize(line)]
        return
    for sentence in as_sentences(corpora.stream(path, format=format, diagnostics=diagnostics), diagnostics):
        yield [normal_form(token) for token in sentence.tokens]


def summary_of(clusters: Clusters) -> dict[str, Any]:
    """Return a summary as plain data."""
    return {
        "words": len(clusters),
        "tokens": int(clusters.counts.sum()),
        "clusters": clusters.n_clusters,
        "average_mutual_information": clusters.average_mutual_information,
    }


class _reporting:
    """Shows the progress of clustering: a bar on a terminal, nothing elsewhere."""

    def __enter__(self) -> Callable[[Progress], None] | None:
        self.bar: Any = None
        if say.quiet or not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.bar = Progress(
            TextColumn("Clustering"),
            BarColumn(),
            TextColumn("{task.completed:,} of {task.total:,} words, {task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.bar.start()
        self.task = self.bar.add_task("", total=None)
        return self._report

    def _report(self, progress: Progress) -> None:
        self.bar.update(
            self.task,
            completed=progress.word,
            total=progress.n_words,
            description=f"information {progress.mutual_information:.3f}, {progress.seconds_left:.0f} s left",
        )

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

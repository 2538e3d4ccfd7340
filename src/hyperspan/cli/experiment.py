"""``hyperspan experiment``: reproduce the tables of the paper, with the published numbers beside ours."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.console import (
    AnnotatorOption,
    ClustersOption,
    FeaturesOption,
    FromOption,
    JsonOption,
    LexiconOption,
    MaxComponentsOption,
    OnErrorChoice,
    OnErrorOption,
    ThreadsOption,
    print_json,
    printable,
    say,
)
from hyperspan.diagnostics import INSIDE_TOKEN, counted
from hyperspan.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from hyperspan.experiments import Experiment, Run
    from hyperspan.learning import Record

app = typer.Typer(help="Reproduce the tables of the paper on your data.", no_args_is_help=True)

ALL = "all"
_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_BEFORE_FIRST = 2.0


@app.command("list")
def list_experiments(json: JsonOption = False) -> None:
    """List the experiments, and the table of the paper that each of them reproduces.

    Example: hyperspan experiment list
    """
    from hyperspan.experiments import EXPERIMENTS

    rows: list[dict[str, Any]] = [
        {"name": one.name, "title": one.title, "table": one.table, "needs": list(one.needs)}
        for one in EXPERIMENTS.values()
    ]
    if json:
        print_json(rows)
        return
    for row in [{"name": "name", "table": "table", "title": "shows"}, *rows]:
        typer.echo(f"{row['name']:<18}{row['table'].split(':')[0]:<21}{row['title']}")


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="The name of an experiment, or all.", show_default=False)],
    data: Annotated[
        str | None, typer.Option("--data", help="demo, or a corpus with train, dev and test.", metavar="demo|CORPUS")
    ] = None,
    train: Annotated[Path | None, typer.Option("--train", help="Training data, in any format.")] = None,
    dev: Annotated[Path | None, typer.Option("--dev", help="Development data.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Test data.")] = None,
    semeval2014: Annotated[
        Path | None, typer.Option("--semeval2014", help="The folder of SemEval-2014 Task 7: the LARGE setting.")
    ] = None,
    shareclef2013: Annotated[
        Path | None, typer.Option("--shareclef2013", help="The folder of ShARe/CLEF 2013: the SMALL setting.")
    ] = None,
    mrsty: Annotated[
        Path | None, typer.Option("--mrsty", help="The UMLS table MRSTY.RRF, for the types A, B and N of these two.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A folder for the JSON, page and plot of each experiment; existing results are kept."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat experiments whose results the output folder already has.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use few sentences, iterations and penalties, as a quick check.")
    ] = False,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="The paper's setup: its features, annotations, clusters of all text, weights initialised to zero.",
        ),
    ] = False,
    types: Annotated[
        str | None, typer.Option("--types", help="Keep only mentions of these types, separated by commas.")
    ] = None,
    l2: Annotated[
        str | None,
        typer.Option("--l2", help="The penalties λ to choose from, such as 0.125,0.25,0.5,1,2 (the default)."),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations",
            min=1,
            help="The maximum number of iterations in each training; by default 100, or 12 with --quick.",
        ),
    ] = None,
    max_components: MaxComponentsOption = 3,
    features: FeaturesOption = "default",
    clusters: ClustersOption = None,
    lexicon: LexiconOption = None,
    annotator: AnnotatorOption = "none",
    seed: Annotated[int, typer.Option("--seed", min=0, help="The random seed.")] = 0,
    threads: ThreadsOption = 2,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.skip,
    json: JsonOption = False,
) -> None:
    """Run one or all experiments, and print their tables with the published numbers beside ours.

    The paper's conclusions are checked one by one. With -o, finished results are kept, so that an interrupted command
    can be continued. 'all' skips experiments that the data does not allow.

    Example: hyperspan experiment run all --data demo --quick -o results
    """
    from hyperspan.experiments import EXPERIMENTS, Data, Run, Settings, Source, experiment_named, load, parse_penalties

    chosen = list(EXPERIMENTS.values()) if name == ALL else [experiment_named(name)]
    settings = Settings.of(
        quick=quick,
        max_iterations=max_iterations,
        penalties=None if l2 is None else parse_penalties(l2),
        seed=seed,
        threads=threads,
        types=() if types is None else parse_types(types),
        max_components=max_components,
        features=features,
        annotator=annotator,
        clusters=None if clusters is None else str(clusters),
        lexicon=None if lexicon is None else str(lexicon),
        as_published=as_published,
    )
    source = Source(data, train, dev, test, semeval2014, shareclef2013, mrsty, format, on_error.value)
    if output is not None and output.is_file():
        raise UsageError(f"{output} is a file; expected the name of a folder to write results into")
    has_data = any(value is not None for value in (data, train, dev, test, semeval2014, shareclef2013, mrsty)) or any(
        one.needs for one in chosen
    )
    watch = Watch()
    with watch:
        loaded = load(source, settings) if has_data else Data()
        for kind, count in loaded.skipped.items():
            say.warning(f"skipped while reading: {count:,} {kind}; the first: {loaded.examples[kind]}")
        if loaded.widened:
            first = loaded.examples[INSIDE_TOKEN]
            say.warning(f"widened {counted(loaded.widened, 'mention')} to whole words; the first: {first}")
        given = {
            "--data": data,
            "--train": train,
            "--dev": dev,
            "--test": test,
            "--semeval2014": semeval2014,
            "--shareclef2013": shareclef2013,
            "--mrsty": mrsty,
            "--quick": quick,
            "--as-published": as_published,
            "--types": types,
            "--l2": l2,
            "--max-iterations": max_iterations,
            "--max-components": None if max_components == 3 else max_components,
            "--features": None if features == "default" else features,
            "--clusters": clusters,
            "--lexicon": lexicon,
            "--annotator": None if annotator == "none" else annotator,
            "--seed": seed or None,
            "--threads": None if threads == 2 else threads,
            "--from": format,
            "--on-error": None if on_error is OnErrorChoice.skip else on_error.value,
        }
        together = Run(loaded, settings, watch, output, again)
        documents, passed_over = run_all(chosen, together, given, prints=not json, goes_on=name == ALL)
    if json:
        print_json({"results": documents, "passed_over": passed_over} if name == ALL else documents[0])
    elif name == ALL:
        print_verdicts(documents)


def run_all(
    chosen: list[Experiment], run: Run, given: dict[str, Any], *, prints: bool, goes_on: bool
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Run experiments one after another; return their results, and the reasons for those skipped.

    Parameters
    ----------
    chosen : list of Experiment
    run : Run
    given : dict
        The options of the command by name, for the record; None or False if not given.
    prints : bool
        Whether to print the page of each as soon as it is done.
    goes_on : bool
        Whether to skip an experiment that the data does not allow instead of raising an error.
    """
    from hyperspan.experiments import NotPossible, page_of, write_document

    documents: list[dict[str, Any]] = []
    passed_over: dict[str, str] = {}
    can_plot = True
    for experiment in chosen:
        try:
            document, was_there = run.result_of(experiment, command_of(experiment.name, given))
        except NotPossible as error:
            if not goes_on:
                raise
            passed_over[experiment.name] = str(error)
            say.note(f"{experiment.name} is skipped: {error}")
            continue
        documents.append(document)
        if was_there:
            say.info(f"{experiment.name} has results already (--again repeats it)")
        elif run.folder is not None:
            try:
                written = write_document(document, experiment, run.folder)
                say.info(f"wrote {', '.join(map(str, written))}")
            except MissingExtraError as error:
                if can_plot:
                    say.note(f"no plots: {error}")
                can_plot = False
        if prints:
            typer.echo(printable(page_of(document)))
    return documents, passed_over


def print_verdicts(documents: list[dict[str, Any]]) -> None:
    """Print the verdicts on the conclusions of all experiments."""
    texts = {True: "hold", False: "do not hold here", None: "undecided"}
    verdicts = [conclusion["holds"] for document in documents for conclusion in document["conclusions"]]
    counts = ", ".join(f"{verdicts.count(verdict)} {text}" for verdict, text in texts.items())
    typer.echo(f"{len(verdicts)} conclusions in {len(documents)} experiments: {counts}")


def command_of(name: str, given: dict[str, Any]) -> str:
    """Return the command that reproduces a result.

    Examples
    --------
    >>> command_of("main", {"--data": "my corpus", "--quick": True, "--l2": None})
    "hyperspan experiment run main --data 'my corpus' --quick"
    """
    words = ["hyperspan", "experiment", "run", name]
    for option, value in given.items():
        if value is None or value is False:
            continue
        words += [option] if value is True else [option, str(value)]
    return shlex.join(words)


def parse_types(text: str) -> tuple[str, ...]:
    """Parse the names of types, separated by commas.

    Examples
    --------
    >>> parse_types("Condition, Drug")
    ('Condition', 'Drug')
    """
    types = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(types):
        raise UsageError(f"--types is {text!r}; expected names separated by commas, such as Condition,Drug")
    return types


class Watch:
    """Shows progress on stderr: one live line on a terminal, otherwise an occasional line."""

    def __init__(self) -> None:
        self._step = ""
        self._begin = self._said = time.monotonic()
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self._clear()

    def say(self, text: str) -> None:
        """Show the step that begins."""
        self._step = text
        self._begin = self._said = time.monotonic()
        if self._live:
            self._show(text)
        else:
            say.info(printable(text))

    def iteration(self, record: Record) -> None:
        """Show the progress of training, if wanted."""
        now = time.monotonic()
        if self._live:
            if now - self._begin >= _SECONDS_BEFORE_FIRST:
                self._show(f"{self._step}  [λ {record.l2:g}, iteration {record.iteration}, {now - self._begin:.0f} s]")
        elif now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            say.info(f"  λ {record.l2:g}, iteration {record.iteration}, {now - self._begin:.0f} s")

    def _show(self, text: str) -> None:
        if not say.quiet:
            sys.stderr.write(f"\r\x1b[2K{printable(text)}")
            sys.stderr.flush()

    def _clear(self) -> None:
        if self._live and not say.quiet:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()

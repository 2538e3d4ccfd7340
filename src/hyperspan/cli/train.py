"""``hyperspan train``: train a model on an annotated corpus."""

from __future__ import annotations

import json as json_module
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from hyperspan.cli.choices import DistributionOption, StructureOption
from hyperspan.cli.console import (
    AnnotatorOption,
    ClustersOption,
    CorpusArgument,
    FeaturesOption,
    FromOption,
    JsonOption,
    LexiconOption,
    MaxComponentsOption,
    OnErrorChoice,
    OnErrorOption,
    ThreadsOption,
    print_json,
    say,
    tell_of_compiling,
)
from hyperspan.cli.neural_options import (
    BatchSizeOption,
    ContextOption,
    DeviceOption,
    DropoutOption,
    EncoderLrOption,
    EncoderOption,
    EpochsOption,
    FreezeOption,
    HeadLrOption,
    LayersOption,
    PatienceOption,
    PrecisionOption,
    SavePrecisionOption,
    check_encoder_options,
)
from hyperspan.cli.outputs import refuse_inputs
from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.errors import UsageError
from hyperspan.files import check_file, is_stream, locked

if TYPE_CHECKING:
    from hyperspan.learning import Record
    from hyperspan.mentions import Sentence


class RescoreChoice(StrEnum):
    """Whether to train a second look at whole mentions."""

    auto = "auto"
    on = "on"
    off = "off"


def train(
    corpus: CorpusArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    dev: Annotated[
        Path | None, typer.Option("--dev", help="Development data, for the threshold and --l2 auto.")
    ] = None,
    structure: StructureOption = "shared",
    max_components: MaxComponentsOption = 3,
    l2: Annotated[str, typer.Option("--l2", help="The L2 penalty on weights: a number, or auto.")] = "1.0",
    distribution: DistributionOption = "encodings",
    max_iterations: Annotated[
        int, typer.Option("--max-iterations", min=1, help="The maximum number of iterations.")
    ] = 500,
    types: Annotated[
        str | None, typer.Option("--types", help="The types to learn, separated by commas; all if not given.")
    ] = None,
    features: FeaturesOption = "default",
    clusters: ClustersOption = None,
    lexicon: LexiconOption = None,
    annotator: AnnotatorOption = "none",
    threads: ThreadsOption = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The random seed.")] = 0,
    rescore: Annotated[
        RescoreChoice,
        typer.Option("--rescore", help="Train a second look at whole mentions; auto keeps it if it helps."),
    ] = RescoreChoice.off,
    dev_every: Annotated[
        int,
        typer.Option("--dev-every", min=0, help="Score the development data every N iterations; 0 for never."),
    ] = 0,
    log: Annotated[Path | None, typer.Option("--log", help="Write a JSON line for every iteration.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint of an earlier run.")] = False,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    longest_part: Annotated[
        int | None,
        typer.Option(
            "--longest-part", min=1, help="For segments: the most words of a part; from the data if not given."
        ),
    ] = None,
    longest_gap: Annotated[
        int | None,
        typer.Option("--longest-gap", min=1, help="For segments: the most words of a gap; from the data if not given."),
    ] = None,
    json: JsonOption = False,
    encoder: EncoderOption = None,
    device: DeviceOption = "auto",
    epochs: EpochsOption = 12,
    batch_size: BatchSizeOption = 16,
    encoder_lr: EncoderLrOption = 3e-5,
    head_lr: HeadLrOption = 1e-3,
    dropout: DropoutOption = 0.5,
    layers: LayersOption = 4,
    context_words: ContextOption = 0,
    patience: PatienceOption = 4,
    precision: PrecisionOption = "auto",
    freeze: FreezeOption = False,
    save_precision: SavePrecisionOption = "float32",
) -> None:
    """Train a model on an annotated corpus.

    A folder with train and dev files has its own development data. Ctrl-C and SIGTERM save a checkpoint; --resume
    continues.

    Example: hyperspan train notes/train.jsonl --dev notes/dev.jsonl -o notes.model
    """
    from hyperspan.features import Clusters, Lexicon
    from hyperspan.recognizer import Interrupted, Recognizer

    tell_of_compiling()
    options: dict[str, Any] = {
        "device": device,
        "epochs": epochs,
        "batch_size": batch_size,
        "encoder_lr": encoder_lr,
        "head_lr": head_lr,
        "dropout": dropout,
        "layers": layers,
        "context": context_words,
        "patience": patience,
        "precision": precision,
        "freeze": freeze,
        "save_precision": save_precision,
    }
    penalty = _penalty(l2)
    of_features = {
        "features": features,
        "clusters": clusters,
        "lexicon": lexicon,
        "annotator": annotator,
        "l2": penalty,
        "max_iterations": max_iterations,
    }
    check_encoder_options(encoder, options, of_features)
    refuse_inputs([corpus, dev, clusters, lexicon], output, log)
    _check_output(output)
    diagnostics = Diagnostics(on_error.value)
    sentences, own_dev = _read_training(corpus, format, diagnostics)
    development = own_dev if dev is None else _read(dev, format, diagnostics)
    say.diagnostics(diagnostics)
    if dev_every and not development:
        say.note("--dev-every has no effect: there is no development data")
    recognizer = Recognizer(
        structure=structure,
        max_components=max_components,
        distribution=distribution,
        l2=penalty,
        features=features,
        clusters=None if clusters is None else Clusters.load(clusters),
        lexicon=None if lexicon is None else Lexicon.load(lexicon),
        annotator=annotator,
        max_iterations=max_iterations,
        n_threads=threads,
        seed=seed,
        encoder=encoder,
        **options,
        rescore=rescore.value,
        longest_part=longest_part,
        longest_gap=longest_gap,
        types=None if types is None else [name.strip() for name in types.split(",") if name.strip()],
    )
    # A path that cannot be replaced, such as /dev/null, cannot have a checkpoint beside it either.
    checkpoint = None if is_stream(output) else output.with_name(f"{output.name}.checkpoint")
    goes_on = resume and checkpoint is not None and checkpoint.is_file()
    try:
        with locked(output), _progress(max_iterations, log, goes_on) as watch, _interruptible(watch):
            recognizer.fit(
                sentences,
                dev=development or None,
                on_iteration=watch,
                dev_every=dev_every,
                checkpoint=checkpoint,
                resume=resume,
            )
    except Interrupted as interrupted:
        if checkpoint is None:
            say.info(f"{interrupted}. Nothing was written: there cannot be a checkpoint beside {output}.")
        else:
            say.info(f"{interrupted}. Continue with the same command and --resume ({checkpoint} was written).")
        raise typer.Exit(128 + (watch.signal or signal.SIGINT)) from None
    recognizer.save(output)
    sizes = recognizer.scorer_.describe()
    summary: dict[str, Any] = {
        "model": str(output),
        "types": list(recognizer.types_),
        **{name: sizes[name] for name in SIZES if name in sizes},
        **recognizer.structure_.sizes,
        "l2": recognizer.l2_,
        "threshold": recognizer.threshold_,
        "threshold_tuned": bool(recognizer.summary()["threshold_curve"]),
        "iterations": recognizer.n_iter_,
        "stopped": recognizer.training_log_[-1]["stopped"],
        "left_out": recognizer.left_out_,
        "rescoring": recognizer.summary()["rescoring"],
        "dev": recognizer.dev_scores_,
    }
    if summary["dev"] and not development:
        say.note(
            "there is no development data: the penalty, the threshold and the dev scores come from a tenth of the "
            "training documents and a model trained on the others"
        )
    if json:
        print_json(summary)
    else:
        _say_summary(summary)


def _penalty(text: str) -> Any:
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--l2 is {text!r}; expected a number or 'auto'") from None


def _check_output(output: Path) -> None:
    """Check before training whether a model can be written there."""
    check_file(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}. Choose another location with -o") from None


def _read(path: Path, format: str | None, diagnostics: Diagnostics) -> list[Sentence]:
    from hyperspan import corpora
    from hyperspan.text import as_sentences

    return list(as_sentences(corpora.stream(path, format=format, diagnostics=diagnostics), diagnostics))


def _read_training(path: Path, format: str | None, diagnostics: Diagnostics) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and development sentences: those of a corpus with splits; otherwise all sentences and none."""
    sentences = _read(path, format, diagnostics)
    splits = {sentence.split for sentence in sentences}
    if path.is_dir() and "train" in splits:
        train = [sentence for sentence in sentences if sentence.split == "train"]
        return train, [sentence for sentence in sentences if sentence.split == "dev"]
    return sentences, []


def _say_summary(summary: dict[str, Any]) -> None:
    sizes = "".join(f"{summary[name]:,} {name}, " for name in ("features", "weights", "parameters") if name in summary)
    made = f"encoder {summary['encoder']}" if "encoder" in summary else f"l2 {summary['l2']:g}"
    types = counted(len(summary["types"]), "type")
    say.info(f"{summary['model']}: {types}, {sizes}{made}, threshold {summary['threshold']:g}")
    if "calibration_error" in summary:
        say.info(
            f"temperature {summary['temperature']:.2f}: the expected calibration error of dev probabilities went from "
            f"{summary['calibration_error_before']:.3f} to {summary['calibration_error']:.3f}"
        )
    if not summary["threshold_tuned"]:
        gold = summary["dev"].get("all", {"tp": 0, "fn": 0})
        reason, wanted = "there is no development data with mentions", "some"
        if gold["tp"] + gold["fn"]:
            reason, wanted = "nothing in the development data was found", "other"
        say.note(
            f"the threshold {summary['threshold']:g} is a fallback, because {reason}: give {wanted} with --dev, or "
            f"tune it later: hyperspan threshold {summary['model']} DEV --set"
        )
    say.info(f"{counted(summary['iterations'], 'iteration')}; {summary['stopped']}")
    if summary["left_out"]:
        say.info(f"{summary['left_out']:,} training mentions cannot be encoded in this structure and were left out")
    if summary["rescoring"]:
        for line in rescoring_lines(summary["rescoring"]):
            say.info(line)
    if summary["dev"]:
        scores = summary["dev"]
        for name in ("all", "discontiguous_sentences", "discontiguous_mentions"):
            score = scores[name]
            say.info(
                f"dev {name.replace('_', ' ')}: precision {score['precision']:.3f}, "
                f"recall {score['recall']:.3f}, F1 {score['f1']:.3f}"
            )


SIZES = (
    "features",
    "weights",
    "encoder",
    "parameters",
    "temperature",
    "calibration_error_before",
    "calibration_error",
)
"""The data of a scorer that is printed after training, if it has it."""


def rescoring_lines(rescoring: Mapping[str, Any]) -> Iterator[str]:
    """Describe what a second look changed, and how many of the mentions were candidates at all."""
    where = "dev" if rescoring["measured_on"] == "dev" else "training data, cross-validated"
    yield (
        f"second look {'kept' if rescoring['kept'] else 'not kept'}: F1 {rescoring['f1_without']:.3f} without it, "
        f"{rescoring['f1_with']:.3f} with it (standard error {rescoring['standard_error']:.3f}; {where})"
    )
    recall = (
        f"{each['recall']:.1%} of {each['gold']:,} with {parts} part{'' if parts == '1' else 's'}"
        for parts, each in rescoring["recall_by_parts"].items()
    )
    yield f"candidates, {rescoring['candidates']:,} in the training data, hold {', '.join(recall)}"


class Watch:
    """Receives the records of training: shows one live line, writes the log, and passes on a request to stop."""

    def __init__(self, max_iterations: int, log: IO[str] | None) -> None:
        self.wants_stop = False
        self.signal: int | None = None
        self._max_iterations = max_iterations
        self._log = log
        self._live = sys.stderr.isatty() and not say.quiet
        self._folds: dict[int, Record] = {}

    def __call__(self, record: Record) -> bool:
        if self._log is not None and record.is_complete:
            self._log.write(json_module.dumps(record.as_dict()) + "\n")
            self._log.flush()
        if self._live and record.fold:
            self._folds[record.fold] = record
            done = sum(bool(each.stopped) for each in self._folds.values())
            under_way = ", ".join(
                f"iteration {each.iteration} of fold {each.fold}" for each in self._folds.values() if not each.stopped
            )
            sys.stderr.write(f"\r\x1b[2Ksecond look: {done} of {record.n_folds} folds done  {under_way}")
            sys.stderr.flush()
        elif self._live:
            sys.stderr.write(f"\r\x1b[2K{record.line(self._max_iterations)}")
            sys.stderr.flush()
        return self.wants_stop

    def close(self) -> None:
        """Finish the live line."""
        if self._live:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


@contextmanager
def _progress(max_iterations: int, log: Path | None, goes_on: bool) -> Iterator[Watch]:
    """Yield what watches a training, which writes a new log or continues that of an earlier run."""
    with ExitStack() as stack:
        mode = "a" if goes_on else "w"
        file = None if log is None else stack.enter_context(open(log, mode, encoding="utf-8"))
        watch = Watch(max_iterations, file)
        stack.callback(watch.close)
        yield watch


@contextmanager
def _interruptible(watch: Watch) -> Iterator[None]:
    """Make the first Ctrl-C stop training after the current iteration, and the second at once.

    The same applies to the signals by which schedulers and containers stop a process, or when a terminal is closed,
    unless they are ignored (nohup).
    """

    def stop(number: int, frame: object) -> None:
        if watch.wants_stop:
            raise KeyboardInterrupt
        watch.wants_stop, watch.signal = True, number
        with suppress(OSError):  # the terminal may be gone
            say.info("\nstopping after this iteration (Ctrl-C again to stop at once)")

    caught = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        before = {each: signal.getsignal(each) for each in caught if signal.getsignal(each) is not signal.SIG_IGN}
        for each in before:
            signal.signal(each, stop)
    except ValueError:  # outside the main thread there are no signals
        yield
        return
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)

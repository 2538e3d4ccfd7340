"""``hyperspan adapt``: adapt an encoder to the text of a corpus."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperspan.cli.console import CorpusArgument, FromOption, JsonOption, OnErrorChoice, OnErrorOption, print_json, say
from hyperspan.diagnostics import Diagnostics

if TYPE_CHECKING:
    from hyperspan.neural.progress import EpochRecord


def adapt(
    corpus: CorpusArgument,
    encoder: Annotated[str, typer.Option("--encoder", help="The folder or name of an encoder.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.", show_default=False)],
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="The number of passes over the text.")] = 5,
    lr: Annotated[float, typer.Option("--lr", help="The peak learning rate.")] = 5e-5,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="The number of sentences per step.")] = 32,
    device: Annotated[str, typer.Option("--device", help="The device for training.", metavar="auto|cpu|cuda")] = "auto",
    seed: Annotated[int, typer.Option("--seed", min=0, help="The random seed.")] = 0,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Continue the pretraining of an encoder on the text of a corpus, by masking whole words.

    Mentions are not needed: unannotated text is enough. The output is an encoder for 'train --encoder'.

    Example: hyperspan adapt notes/ --encoder encoders/base -o encoders/notes
    """
    from hyperspan import corpora
    from hyperspan.scoring import scorer_class
    from hyperspan.text import as_sentences

    scorer_class("neural")  # raises an error that says what to install, if something is missing
    from hyperspan.neural.adaptation import adapt as learn

    diagnostics = Diagnostics(on_error.value)
    sentences = list(as_sentences(corpora.stream(corpus, format=format, diagnostics=diagnostics), diagnostics))
    say.diagnostics(diagnostics)
    live = sys.stderr.isatty() and not say.quiet

    def show(record: EpochRecord) -> None:
        if live:
            sys.stderr.write(f"\r\x1b[2K{record.line(epochs)}")
            sys.stderr.flush()

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, and removes partial output
    loss = learn(
        encoder,
        sentences,
        output,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        device=device,
        seed=seed,
        on_step=show,
    )
    if live:
        sys.stderr.write("\r\x1b[2K")
    n_words = sum(map(len, sentences))
    if json:
        print_json({"encoder": str(output), "words": n_words, "loss": loss})
    else:
        say.info(f"{output}: read {n_words:,} words {epochs} times; {loss:.3f} nats per masked piece in the last epoch")

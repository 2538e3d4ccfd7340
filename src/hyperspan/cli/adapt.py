"""``hyperspan adapt``: let an encoder read the text of a corpus."""

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
    encoder: Annotated[str, typer.Option("--encoder", help="Its folder, or its name.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.", show_default=False)],
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Read the text so often.")] = 5,
    lr: Annotated[float, typer.Option("--lr", help="The highest learning rate.")] = 5e-5,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Sentences of a step.")] = 32,
    device: Annotated[str, typer.Option("--device", help="Where it learns.", metavar="auto|cpu|cuda")] = "auto",
    seed: Annotated[int, typer.Option("--seed", help="For whatever is random.")] = 0,
    format: FromOption = None,
    on_error: OnErrorOption = OnErrorChoice.error,
    json: JsonOption = False,
) -> None:
    """Train a pretrained encoder further on the text of a corpus, by hiding whole words.

    Mentions play no part: text that nobody has annotated will do. What is written is an encoder for 'train --encoder'.

    Example: hyperspan adapt notes/ --encoder encoders/base -o encoders/notes
    """
    from hyperspan import corpora
    from hyperspan.scoring import scorer_class
    from hyperspan.text import as_sentences

    scorer_class("neural")  # says what to install, where something is missing
    from hyperspan.neural.adaptation import adapt as learn

    diagnostics = Diagnostics(on_error.value)
    sentences = list(as_sentences(corpora.stream(corpus, format=format, diagnostics=diagnostics), diagnostics))
    say.diagnostics(diagnostics)
    live = sys.stderr.isatty() and not say.quiet

    def show(record: EpochRecord) -> None:
        if live:
            sys.stderr.write(f"\r\x1b[2K{record.line(epochs)}")
            sys.stderr.flush()

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does, and removes what is half written
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
        say.info(f"{output}: read {n_words:,} words {epochs} times; {loss:.3f} nats a hidden piece in the last epoch")

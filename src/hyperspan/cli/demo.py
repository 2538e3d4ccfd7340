"""``hyperspan demo``: what discontiguous mentions look like, on the embedded corpus."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperspan.cli.console import JsonOption, print_json, say, stdout


def demo(
    documents: Annotated[int, typer.Option("--documents", min=1, help="How many reports to write.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Which reports.")] = 0,
    draw: Annotated[int, typer.Option("--draw", min=0, help="How many sentences to draw.")] = 5,
    json: JsonOption = False,
) -> None:
    """Write the embedded corpus (invented reports, no clinical data), count it and draw some sentences.

    Example: hyperspan demo --draw 10
    """
    from hyperspan.cli.stats import print_statistics
    from hyperspan.corpora import demo as corpus
    from hyperspan.corpora.statistics import statistics
    from hyperspan.render import draw_text
    from hyperspan.text import tokenize

    sentences = corpus.generate(documents, seed=seed, unit="sentences")
    table = statistics(sentences, tokenize).as_dict()
    table["splits"] = {name: statistics(sentences.split(name), tokenize).as_dict() for name in sentences.splits}
    if json:
        print_json(table)
        return
    say.info("The embedded corpus: reports written by a grammar, not by any hospital.\n")
    print_statistics(table)
    console = stdout()
    chosen = sorted(sentences.discontiguous(), key=lambda sentence: -len(sentence.mentions))[:draw]
    for sentence in chosen:
        console.print()
        console.print(
            draw_text(
                sentence,
                width=min(console.width, 120),
                types=sentences.types,
                ascii_only=not console.encoding.startswith("utf"),
            )
        )

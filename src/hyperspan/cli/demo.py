"""``hyperspan demo``: what discontiguous mentions look like, on the embedded corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from hyperspan.cli.console import JsonOption, print_json, say, stdout
from hyperspan.mentions import Sentence


def demo(
    documents: Annotated[int, typer.Option("--documents", min=1, help="How many reports to write.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Which reports.")] = 0,
    draw: Annotated[int, typer.Option("--draw", min=0, help="How many sentences to draw.")] = 5,
    json: JsonOption = False,
) -> None:
    """Write the embedded corpus (invented reports, no clinical data), count it and draw some sentences.

    Example: hyperspan demo --draw 10
    """
    from hyperspan.cli.stats import print_statistics, table_of
    from hyperspan.corpora import demo as corpus

    sentences = list(corpus.stream(documents, seed=seed, split=None, unit="sentences"))
    table = table_of(sentences)
    if json:
        print_json(table)
        return
    say.info("The embedded corpus: reports written by a grammar, not by any hospital.\n")
    print_statistics(table)
    draw_sentences(worth_seeing(sentences, draw), types=sorted(table["types"]))


def worth_seeing(sentences: Sequence[Sentence], n_wanted: int) -> list[Sentence]:
    """Choose sentences with discontiguous mentions, the most tangled first, no two of the same make."""
    chosen: dict[tuple[tuple[str, int], ...], Sentence] = {}
    for sentence in sorted(sentences, key=_interest, reverse=True):
        if not sentence.is_discontiguous or len(chosen) == n_wanted:
            break
        make = tuple(sorted((mention.type, len(mention.parts)) for mention in sentence.mentions))
        chosen.setdefault(make, sentence)
    return list(chosen.values())


def _interest(sentence: Sentence) -> tuple[int, int]:
    further_parts = sum(len(mention.parts) - 1 for mention in sentence.mentions)
    return further_parts, -len(sentence)


def draw_sentences(sentences: Sequence[Sentence], types: Sequence[str]) -> None:
    """Draw sentences with their mentions on lanes, as wide as the window allows."""
    from hyperspan.render import draw_text

    console = stdout()
    ascii_only = not console.encoding.lower().startswith("utf")
    for sentence in sentences:
        console.print()
        console.print(draw_text(sentence, width=min(console.width, 120), types=types, ascii_only=ascii_only))

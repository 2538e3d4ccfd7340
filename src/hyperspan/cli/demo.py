"""``hyperspan demo``: train, evaluate and draw on the embedded corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from hyperspan.cli.choices import StructureOption
from hyperspan.cli.console import JsonOption, print_json, say, stdout, tell_of_compiling
from hyperspan.cli.train import Watch
from hyperspan.corpora.splitting import SPLITS
from hyperspan.mentions import Sentence

MAX_ITERATIONS = 60
"""Enough to see what the model can do; real training continues until convergence."""


def demo(
    documents: Annotated[int, typer.Option("--documents", min=6, help="The number of reports to generate.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Determines which reports are generated.")] = 0,
    draw: Annotated[int, typer.Option("--draw", min=0, help="How many sentences to draw.")] = 5,
    structure: StructureOption = "shared",
    json: JsonOption = False,
) -> None:
    """Train on the embedded corpus (invented reports, no clinical data), score its test split and draw mentions.

    Example: hyperspan demo --draw 10
    """
    from hyperspan.cli.evaluate import print_evaluation
    from hyperspan.cli.stats import print_statistics, table_of
    from hyperspan.corpora import demo as corpus
    from hyperspan.evaluation import evaluate
    from hyperspan.recognizer import Recognizer

    tell_of_compiling()

    sentences = list(corpus.stream(documents, seed=seed, split=None, unit="sentences"))
    table = table_of(sentences)
    if not json:
        say.info("The embedded corpus: reports written by a grammar, not by any hospital.\n")
        print_statistics(table)
    train, dev, test = ([sentence for sentence in sentences if sentence.split == name] for name in SPLITS)
    watch = Watch(MAX_ITERATIONS, None)
    say.info(f"\nTraining {structure!r} on {len(train):,} sentences …")
    recognizer = Recognizer(structure=structure, max_iterations=MAX_ITERATIONS)
    recognizer.fit(train, dev=dev, on_iteration=watch)
    watch.close()
    found = [
        sentence.with_mentions(found.mentions) for sentence, found in zip(test, recognizer.find(test), strict=True)
    ]
    scores = evaluate(test, found)
    if json:
        print_json({**table, "scores": scores.as_dict()})
        return
    say.info("\nOn the test split, whose words and constructions are partly new:\n")
    print_evaluation(scores)
    say.info("\nWhat was found, with its probability:")
    draw_sentences(worth_seeing(found, draw), types=recognizer.types_)


def worth_seeing(sentences: Sequence[Sentence], n_wanted: int) -> list[Sentence]:
    """Choose sentences with discontiguous mentions, the most complex first, no two of the same construction."""
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
    """Draw sentences with their mentions on lanes, as wide as the window."""
    from hyperspan.render import draw_text

    console = stdout()
    ascii_only = not console.encoding.lower().startswith("utf")
    for sentence in sentences:
        console.print()
        console.print(draw_text(sentence, width=min(console.width, 120), types=types, ascii_only=ascii_only))

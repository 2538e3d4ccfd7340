"""From raw text to mentions with and without a second look at whole mentions: tokens per second.

Both have the same first look, and find the same mentions by ``enough`` before anything is timed. One document in ten is
held out, and its text is predicted as by ``hyperspan predict``. Times are CPU times of all cores, since the machine may
have other work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Literal

from benchmarks.data import as_written, first_tokens
from benchmarks.harness import Aim, Disagreement, Row, in_turns
from benchmarks.setting import Setting
from hyperspan.mentions import Document, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.folds import deal_out
from hyperspan.text import split_documents

STRUCTURES = ("linear", "shared")
LOOKS: tuple[Literal["off"], Literal["on"]] = ("off", "on")

TRAINING_TOKENS = 150_000
"""The maximum number of training tokens."""

DEAREST = 1.15
"""Prediction with a second look may take this many times as long."""

ONE_OF = 10

TOGETHER = 10
"""The number of sentences in a text, if documents have hardly more than one."""


def run(setting: Setting) -> Iterator[Row]:
    """Yield two rows for each structure: from text, and from sentences that are split already."""
    train, held_out = cut(first_tokens(setting.data.sentences, TRAINING_TOKENS), setting.seed)
    texts = texts_of(held_out)
    sentences = [sentence for found in split_documents(texts, compiled=True) for sentence in found]
    n_tokens = sum(map(len, sentences))
    rower = setting.rower("rescoring", "tokens a second")
    for structure in STRUCTURES:
        setting.say(f"training {structure} on {sum(map(len, train)):,} tokens, six times over")
        made = {rescore: fitted(structure, rescore, train, held_out, setting) for rescore in LOOKS}
        check_same_mentions(made["off"], made["on"], sentences)
        ways = {
            f"{rescore} from {given}": partial(_find, recognizer, given, texts, sentences)
            for given in ("text", "sentences")
            for rescore, recognizer in made.items()
        }
        seconds = in_turns(ways, setting.pick(3, 15), clock=time.process_time)
        for given in ("text", "sentences"):
            with_it, without = (seconds[f"{rescore} from {given}"] for rescore in ("on", "off"))
            yield rower(
                f"{structure}, second look, from {given}",
                with_it.rate(n_tokens),
                "without",
                without.rate(n_tokens),
                aim=Aim("ratio", "at least", round(1.0 / DEAREST, 2)) if given == "text" else None,
                note=f"{with_it.median / without.median:.2f} times as long, least {with_it.least / without.least:.2f}",
                more_is_better=True,
            )


def cut(sentences: Sequence[Sentence], seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return sentences for training, and those of one document in ten."""
    fold = deal_out([{sentence.doc for sentence in sentences}], ONE_OF, seed)
    kept = [[each for each in sentences if (fold[each.doc] == 0) == is_held_out] for is_held_out in (False, True)]
    return kept[0], kept[1]


def texts_of(sentences: Sequence[Sentence]) -> list[Document]:
    """Return documents with normal spacing, one sentence per line."""
    lines = [(sentence.doc, as_written(sentence.tokens)) for sentence in sentences]
    documents = [[line for _, line in group] for _, group in groupby(lines, key=lambda each: each[0])]
    if len(lines) < 2 * len(documents):
        flat = [line for _, line in lines]
        documents = [flat[begin : begin + TOGETHER] for begin in range(0, len(flat), TOGETHER)]
    return [Document(f"text {number}", "\n".join(group)) for number, group in enumerate(documents)]


def fitted(
    structure: str, rescore: Literal["off", "on"], train: Sequence[Sentence], dev: Sequence[Sentence], setting: Setting
) -> Recognizer:
    """Return a recognizer with or without a second look."""
    made = Recognizer(
        structure=structure, rescore=rescore, max_iterations=setting.pick(5, 60), n_threads=setting.threads
    )
    return made.fit(train, dev=dev)


def _find(recognizer: Recognizer, given: str, texts: Sequence[Document], sentences: Sequence[Sentence]) -> object:
    return list(recognizer.annotate(texts) if given == "text" else recognizer.find(sentences))


def check_same_mentions(without: Recognizer, with_it: Recognizer, sentences: Sequence[Sentence]) -> None:
    """Raise an error if a second look changes the mentions that ``enough`` chooses.

    Raises
    ------
    Disagreement
        If it does.
    """
    first, second = (
        [found.mentions for found in recognizer.find(sentences, decode="enough")] for recognizer in (without, with_it)
    )
    if first != second:
        raise Disagreement("a second look changed what 'enough' chooses; nothing was timed")

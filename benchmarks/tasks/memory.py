"""Peak memory of training and prediction, each in a separate process.

The memory after importing, and after the same work on a few sentences, is subtracted. The corpus, its features and
everything that training makes from them count. CRFsuite gets its feature strings sentence by sentence, so that only its
own memory counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.crfsuite import pycrfsuite
from benchmarks.harness import NOT_INSTALLED, Aim, Figure, Row
from benchmarks.process import ask
from benchmarks.setting import Setting
from hyperspan.errors import MissingExtraError

BYTES_A_WEIGHT = 300
BYTES_AN_OCCURRENCE = 24

_MEGABYTE = 1e6


def run(setting: Setting) -> Iterator[Row]:
    """Yield rows for training and one for prediction."""
    rower = setting.rower("memory", "megabytes")
    rounds = setting.pick(1, 2)
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "data": setting.where,
            "tokens": setting.data.most_tokens,
            "seed": setting.seed,
            "threads": setting.threads,
            "iterations": 9,
            "model": str(Path(folder) / "model"),
        }
        setting.say("training in processes of their own")
        chain = [ask({**request, "what": "train", "structure": "linear"}) for _ in range(rounds)]
        theirs, absent = None, ""
        try:
            pycrfsuite()
            theirs = _megabytes([ask({**request, "what": "crfsuite"}) for _ in range(rounds)])
        except MissingExtraError:
            absent = NOT_INSTALLED
        yield rower(
            "training linear, all mentions as one type",
            _megabytes(chain),
            "CRFsuite",
            theirs,
            note=absent or _note(chain[0]),
        )
        shared = [ask({**request, "what": "train", "structure": "shared"}) for _ in range(rounds)]
        yield rower("training shared", _megabytes(shared), note=_note(shared[0]))
        for name, seen in {"linear": chain, "shared": shared}.items():
            yield rower(
                f"training {name}, beyond {BYTES_A_WEIGHT} bytes a weight",
                Figure.of(
                    (each["peak"] - each["begin"] - BYTES_A_WEIGHT * each["n_weights"]) / each["n_occurrences"]
                    for each in seen
                ),
                unit="bytes a feature occurrence",
                aim=Aim("ours", "at most", BYTES_AN_OCCURRENCE),
            )
        predicting = [ask({**request, "what": "predict"}) for _ in range(rounds)]
        of_corpus_and_model = (predicting[0]["read"] - predicting[0]["begin"]) / _MEGABYTE
        yield rower(
            "predicting with shared, a stream of sentences",
            _megabytes(predicting),
            note=f"of which {of_corpus_and_model:,.0f} MB are corpus and model; "
            f"{predicting[0]['n_sentences']:,} sentences",
        )


def _megabytes(seen: list[dict[str, Any]]) -> Figure:
    return Figure.of((each["peak"] - each["begin"]) / _MEGABYTE for each in seen)


def _note(seen: dict[str, Any]) -> str:
    return (
        f"{seen['n_tokens']:,} tokens, {seen['n_occurrences']:,} feature occurrences, {seen['n_weights']:,} weights; "
        f"the corpus takes {(seen['read'] - seen['begin']) / _MEGABYTE:,.0f} MB of it"
    )

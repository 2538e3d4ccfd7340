"""Writes the models and checkpoints of ``golden/models``, which later versions must still read.

``python tests/golden_models.py 0.2-segments 0.2-second-look 0.2-checkpoint`` wrote three of them. Run it for
a new name only: a file that was once released is never written again. The files ``v1-*`` come from an earlier version,
whose inference was another.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hyperspan import Mention, Recognizer, Sentence
from hyperspan.features import TemplateSet
from hyperspan.recognizer import Interrupted

FOLDER = Path(__file__).parent / "golden" / "models"
LOWEST = 0.05
"""The threshold of what is recorded under ``probable``."""

CHECKPOINT_AFTER = 5
"""The iteration at which training stopped that left the checkpoint."""

TEMPLATES = """
[few]
here = "word[0]"
before = "word[-1]"
after = "word[1]"
suffix = "suffix2[0]"
"""
TRAIN = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])], doc="a"),
    Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])], doc="b"),
    Sentence(["blood", "and", "dark", "stool"], [Mention("Finding", [(0, 1), (3, 4)])], doc="c"),
    Sentence(["some", "aspirin", "was", "given"], [Mention("Drug", [(1, 2)])], doc="d"),
    Sentence(
        ["Infarctions", "either", "water", "shed", "or", "embolic"],
        [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])],
        doc="e",
    ),
    Sentence(["all", "is", "well"], doc="f"),
] * 3
SENTENCES = [
    Sentence(["blood", "in", "stool"]),
    Sentence(["Infarctions", "either", "embolic", "or", "water", "shed"]),
    Sentence(["no", "aspirin", "seen"]),
    Sentence(["dark", "blood", "and", "stool"]),
    Sentence([]),
    Sentence(["stomach", "is", "well"]),
]


def recognizer(name: str) -> Recognizer:
    """Return the untrained recognizer of a golden file."""
    options: dict[str, Any] = {
        "0.2-segments": {"structure": "segments", "l2": 0.1},
        "0.2-second-look": {"rescore": "on"},
        "0.2-checkpoint": {},
    }[name]
    settings = {"max_components": 2, "max_iterations": 40, "annotator": "none", "n_threads": 1, **options}
    return Recognizer(features=TemplateSet.parse(TEMPLATES, "few.toml"), **settings)


def plain(mentions: tuple[Mention, ...]) -> list[dict[str, Any]]:
    return [
        {"type": mention.type, "parts": [list(part) for part in mention.parts]}
        | ({} if mention.prob is None else {"prob": mention.prob})
        for mention in mentions
    ]


def predictions(recognizer: Recognizer) -> dict[str, Any]:
    """Return all that a recognizer says about the sentences, as plain data."""
    found = {
        "probable": list(recognizer.find(SENTENCES, decode="probable", threshold=LOWEST)),
        "enough": list(recognizer.find(SENTENCES, decode="enough", top=3)),
        "all": list(recognizer.find(SENTENCES, decode="all")),
    }
    return {
        "threshold": recognizer.threshold_,
        "sentences": [
            {
                "tokens": list(sentence.tokens),
                **{decode: plain(each[number].mentions) for decode, each in found.items()},
                "alternatives": [
                    {"prob": prob, "mentions": plain(mentions)}
                    for prob, mentions in found["enough"][number].alternatives
                ],
            }
            for number, sentence in enumerate(SENTENCES)
        ],
    }


def write(name: str) -> None:
    """Write one model with what it predicts, or one checkpoint."""
    made = recognizer(name)
    if name == "0.2-checkpoint":
        try:
            made.fit(
                TRAIN,
                checkpoint=FOLDER / f"{name}.checkpoint",
                on_iteration=lambda record: record.iteration == CHECKPOINT_AFTER,
            )
        except Interrupted:
            return
        raise AssertionError("training ended before the checkpoint was written")
    made.fit(TRAIN, dev=TRAIN).save(FOLDER / f"{name}.model")
    text = json.dumps(predictions(made), indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(each)

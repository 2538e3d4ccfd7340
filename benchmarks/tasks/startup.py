"""The start-up of the command line, in a new process every time: with and without compiled code in the cache.

The first rows use the cache of this checkout, which is warm. For the others, each round starts with an empty cache: the
first run of a command is cold, the second one warm. The last rows are the difference: how long a user waits once, after
installing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.commands import TEXT, Usage, first_commands, first_starts, run_hyperspan, run_python
from benchmarks.data import first_tokens
from benchmarks.harness import Aim, Figure, Row, in_turns
from benchmarks.problem import templates
from benchmarks.setting import Rower, Setting
from hyperspan import corpora
from hyperspan.recognizer import Recognizer

TRAINING_TOKENS = 20_000
FIRST_TOKENS = 2_000
"""The training tokens of the model, and of a user's first training."""

COMPILING = {"predict": 15.0, "train": 25.0}
"""The seconds that the first run of a command may take in addition to later ones, on two cores."""

NAMES = {"predict": "first predict, one sentence", "train": "first train, a small corpus"}

Starts = list[dict[str, dict[str, Usage]]]


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each command, then cold and warm rows for the first ones."""
    rower = setting.rower("startup", "seconds")
    sentences = first_tokens(setting.data.sentences, TRAINING_TOKENS)
    with tempfile.TemporaryDirectory() as folder:
        model, corpus = Path(folder) / "model", Path(folder) / "first.jsonl"
        Recognizer(features=templates(), max_iterations=setting.pick(3, 20), n_threads=setting.threads).fit(
            sentences
        ).save(model)
        corpora.write(first_tokens(sentences, FIRST_TOKENS), corpus)
        figures = in_turns(
            {
                "python -c pass": lambda: run_python("-c", "pass")[1].wall,
                "import hyperspan": lambda: run_python("-c", "import hyperspan")[1].wall,
                "hyperspan --help": lambda: run_hyperspan("--help").wall,
                "hyperspan predict, one sentence": lambda: run_hyperspan("predict", str(model), "-", text=TEXT).wall,
                "the same, CPU seconds": lambda: run_hyperspan("predict", str(model), "-", text=TEXT).cpu,
            },
            setting.pick(2, 9),
        )
        for name, figure in figures.items():
            is_prediction = "predict," in name
            yield rower(
                name,
                figure,
                aim=Aim("ours", "at most", 1.5) if is_prediction else None,
                note=f"a model of {model.stat().st_size / 1e6:.1f} MB" if is_prediction else "",
            )
        setting.say("first runs, with an empty cache of compiled code")
        commands = first_commands(model, corpus, setting.threads)
        yield from first_rows(rower, [first_starts(commands) for _ in range(setting.pick(1, 3))])


def first_rows(rower: Rower, rounds: Starts) -> Iterator[Row]:
    """Yield the rows of first runs: cold, warm, and compiling."""
    for command, name in NAMES.items():
        cold = [found[command]["cold"] for found in rounds]
        warm = [found[command]["warm"] for found in rounds]
        for state, seen in (("cold", cold), ("warm", warm)):
            yield rower(f"{name}, {state} cache", Figure.of(usage.wall for usage in seen))
            yield rower(f"{name}, {state} cache, CPU seconds", Figure.of(usage.cpu for usage in seen))
        yield rower(
            f"{name}, compiling",
            Figure.of(first.wall - second.wall for first, second in zip(cold, warm, strict=True)),
            aim=Aim("ours", "at most", COMPILING[command]),
            note="cold less warm",
        )

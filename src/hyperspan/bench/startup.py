"""The command line from a cold start, with compiled code already cached: a process of its own every time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hyperspan.bench.data import first_tokens
from hyperspan.bench.harness import Aim, Disagreement, Row, in_turns
from hyperspan.bench.problem import templates
from hyperspan.bench.setting import Setting
from hyperspan.recognizer import Recognizer

TEXT = "Left and right kidneys are enlarged.\n"

TRAINING_TOKENS = 20_000


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each command."""
    rower = setting.rower("startup", "seconds")
    sentences = first_tokens(setting.data.sentences, TRAINING_TOKENS)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        Recognizer(features=templates(), max_iterations=setting.pick(3, 20), n_threads=setting.threads).fit(
            sentences
        ).save(model)
        figures = in_turns(
            {
                "python -c pass": lambda: _python("-c", "pass"),
                "import hyperspan": lambda: _python("-c", "import hyperspan"),
                "hyperspan --help": lambda: _hyperspan("--help"),
                "hyperspan predict, one sentence": lambda: _hyperspan("predict", str(model), "-", text=TEXT),
                "the same, processor time": lambda: _processor_time("predict", str(model), "-", text=TEXT),
            },
            setting.pick(2, 9),
        )
        size = model.stat().st_size
    for name, figure in figures.items():
        is_prediction = "predict," in name
        yield rower(
            name,
            figure,
            aim=Aim("ours", "at most", 1.5) if is_prediction else None,
            note=f"a model of {size / 1e6:.1f} MB" if is_prediction else "",
        )


def _hyperspan(*arguments: str, text: str = "") -> None:
    _python("-c", "from hyperspan.cli import main; main()", *arguments, text=text)


def _processor_time(*arguments: str, text: str) -> float:
    before = os.times()
    _hyperspan(*arguments, text=text)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _python(*arguments: str, text: str = "") -> None:
    done = subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(f"{' '.join(arguments)} ended with exit code {done.returncode}: {done.stderr.strip()}")

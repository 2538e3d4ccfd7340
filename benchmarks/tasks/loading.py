"""Loading a model from its file, beside CRFsuite's with the same features and tags."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.crfsuite import Crfsuite, pycrfsuite
from benchmarks.data import as_one_type, first_tokens
from benchmarks.harness import NOT_INSTALLED, Row, in_turns
from benchmarks.problem import SEEN_ONLY, problem, templates
from benchmarks.setting import Setting
from hyperspan.errors import MissingExtraError
from hyperspan.recognizer import Recognizer

MOST_TOKENS = 150_000

CRFSUITE = "CRFsuite"


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for the chain and one for ``shared``."""
    rower = setting.rower("loading", "milliseconds")
    sentences = as_one_type(first_tokens(setting.data.sentences, MOST_TOKENS))
    timed: dict[str, Callable[[], object]] = {}
    sizes: dict[str, int] = {}
    absent = ""
    with tempfile.TemporaryDirectory() as folder:
        for structure in ("linear", "shared"):
            path = Path(folder) / structure
            Recognizer(
                structure=structure,
                features=templates(),
                frequent=SEEN_ONLY,
                max_iterations=3,
                n_threads=setting.threads,
            ).fit(sentences).save(path)
            timed[structure] = partial(Recognizer.load, path)
            sizes[structure] = path.stat().st_size
        try:
            model = Path(folder) / "crfsuite"
            chain = problem(sentences, "linear", frequent=SEEN_ONLY, threads=setting.threads)
            Crfsuite(chain, sentences, setting.say).train(3, model)
            timed[CRFSUITE] = partial(_open, str(model))
            sizes[CRFSUITE] = model.stat().st_size
        except MissingExtraError:
            absent = NOT_INSTALLED
        figures = {name: figure.per(1e-3) for name, figure in in_turns(timed, setting.pick(3, 10)).items()}
    for structure in ("linear", "shared"):
        note = f"{sizes[structure] / 1e6:.1f} MB, read, checked and copied"
        if not absent:
            note += f"; CRFsuite's {sizes[CRFSUITE] / 1e6:.1f} MB are mapped, and read when they are needed"
        yield rower(structure, figures[structure], CRFSUITE, figures.get(CRFSUITE), note=absent or note)


def _open(model: str) -> None:
    tagger = pycrfsuite().Tagger()
    tagger.open(model)
    tagger.close()

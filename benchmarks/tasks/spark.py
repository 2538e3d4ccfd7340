"""The same texts under Spark in local mode, with one and two executors, beside ``--workers``: tokens per second.

All find the same mentions, and use one thread per process. Starting Spark and loading the model are not timed. The last
row checks that nothing is lost: among many notes some are invalid, and each must come back, invalid ones as errors.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.commands import run_python
from benchmarks.data import first_tokens
from benchmarks.harness import Disagreement, Figure, Row, in_turns
from benchmarks.setting import Setting
from hyperspan.errors import install_command
from hyperspan.mentions import Document
from hyperspan.recognizer import Recognizer
from hyperspan.text import split_document

TRAINING_TOKENS = 50_000
LONGEST = 100_000
"""The maximum number of characters in a note; notes that are meant to be too long have more."""

BAD_EVERY = 500
"""One in this many notes has no text, and one is too long."""

ROOT = Path(__file__).parents[2]


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each number of executors, and one about loss."""
    rower = setting.rower("spark", "tokens a second")
    # Names and texts are all that a table of notes has.
    texts = [Document(text.doc, text.text) for text in setting.data.texts(setting.pick(2_000, 300_000))]
    rounds = setting.pick(1, 3)
    absent = _absent()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        train = first_tokens(setting.data.sentences, TRAINING_TOKENS)
        setting.say(f"training on {sum(map(len, train)):,} tokens")
        Recognizer(max_iterations=setting.pick(5, 20), n_threads=1).fit(train).save(model)
        recognizer = Recognizer.load(model, n_threads=1)
        n_mentions = sum(len(unit.mentions) for unit in recognizer.annotate(texts))
        workers = in_turns({str(n): _annotating(recognizer, texts, n) for n in (1, 2)}, rounds)
        n_tokens = sum(len(sentence) for text in texts for sentence in split_document(text))
        processor = in_turns({"1": _annotating(recognizer, texts, 1)}, rounds, clock=time.process_time)["1"]
        note = f"{n_tokens:,} tokens in {len(texts):,} texts, one thread"
        yield rower("one process, processor time", processor.rate(n_tokens), note=note, more_is_better=True)
        for n in (1, 2):
            beside = f"--workers {n}"
            if absent:
                yield rower(beside, workers[str(n)].rate(n_tokens), note=absent, more_is_better=True)
                continue
            setting.say(f"Spark with {n} executors")
            made = _under_spark(folder, model, [(text.doc, text.text) for text in texts], n, rounds)
            _check("mentions", made["mentions"], n_mentions)
            _check("rows", made["rows"], len({text.doc for text in texts}))
            ours = Figure.of(made["seconds"]).rate(n_tokens)
            note = f"{n_tokens:,} tokens in {len(texts):,} texts; Spark's start and loading the model are not counted"
            name = f"local[{n}]"
            yield rower(name, ours, beside, workers[str(n)].rate(n_tokens), note=note, more_is_better=True)
        if not absent:
            yield _loss(setting, folder, model)


def _loss(setting: Setting, folder: str, model: Path) -> Row:
    """Return the speed for many short notes, and check that none is lost."""
    n_notes = setting.pick(1_000, 100_000)
    setting.say(f"{n_notes:,} notes with bad ones among them")
    notes = planted(setting.data.texts(setting.pick(2_000, 100_000)), n_notes)
    n_bad = sum(text is None or len(text) > LONGEST for _, text in notes)
    made = _under_spark(folder, model, notes, 2, 1)
    _check("rows", made["rows"], n_notes)
    _check("errors", made["errors"], n_bad)
    rower = setting.rower("spark", "notes a second")
    rate = Figure.of(made["seconds"]).rate(n_notes)
    note = f"{n_notes:,} notes, {n_bad:,} of them bad: every one came back, the bad ones as errors"
    return rower("local[2], one sentence a note", rate, note=note, more_is_better=True)


def planted(texts: Sequence[Document], n_notes: int) -> list[tuple[str, str | None]]:
    """Return notes of one sentence each, with some that have no text and some that are too long.

    Examples
    --------
    >>> notes = planted([Document("a", "No fever. No pain.")], 501)
    >>> [name for name, text in notes if text is None], [name for name, text in notes if len(text or "") > LONGEST]
    (['0', '500'], ['1'])
    """
    lines = [
        text.text[offsets[0][0] : offsets[-1][1]]
        for text in texts
        for sentence in split_document(text)
        if (offsets := sentence.offsets)
    ]
    bad: dict[int, str | None] = {0: None, 1: "x " * LONGEST}
    return [(str(n), bad[n % BAD_EVERY] if n % BAD_EVERY in bad else lines[n % len(lines)]) for n in range(n_notes)]


def _annotating(recognizer: Recognizer, texts: Sequence[Document], n_workers: int) -> Callable[[], object]:
    return lambda: list(recognizer.annotate(texts, n_workers=n_workers))


def _under_spark(
    folder: str, model: Path, notes: Sequence[tuple[str, str | None]], executors: int, rounds: int
) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet

    path = Path(folder) / "notes.parquet"
    names, texts = zip(*notes, strict=True)
    table = pa.table({"doc": pa.array(names, pa.string()), "text": pa.array(texts, pa.string())})
    pyarrow.parquet.write_table(table, path, row_group_size=10_000)
    asked = {"model": str(model), "texts": str(path), "executors": executors, "rounds": rounds, "longest": LONGEST}
    known = os.environ.get("PYTHONPATH")
    environment = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *([known] if known else [])]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": folder,
    }
    printed, _ = run_python("-m", "benchmarks.spark_process", json.dumps(asked), environment=environment)
    made: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return made


def _absent() -> str:
    """Return what is missing to run Spark, if anything."""
    try:
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        return f"not installed: {install_command('spark')}"
    has_java = shutil.which("java") or os.environ.get("JAVA_HOME")
    return "" if has_java else "there is no Java, which Spark runs on (apt-get install default-jre-headless)"


def _check(what: str, seen: int, expected: int) -> None:
    if seen != expected:
        raise Disagreement(f"Spark gave {seen:,} {what}; expected {expected:,}. Nothing is reported")

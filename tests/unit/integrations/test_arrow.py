"""Mentions in Arrow record batches, with pyarrow itself and with Spark in local mode."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install 'hyperspan[arrow]')")

from hyperspan import Document, Mention, Recognizer, Sentence  # noqa: E402
from hyperspan.arrow import finder  # noqa: E402
from hyperspan.errors import ModelError, UsageError  # noqa: E402
from hyperspan.integrations import arrow  # noqa: E402

TEXTS = ["Blood in stomach. No fever.", "Blood seen in mouth. 🙂 No fever.", ""]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "notes.model"
    sentences = [
        Sentence(["Blood", "in", "stomach", "."], [Mention("Finding", [(0, 3)])]),
        Sentence(["Blood", "seen", "in", "mouth", "."], [Mention("Finding", [(0, 1), (2, 4)])]),
        Sentence(["No", "fever", "."], [Mention("Finding", [(1, 2)])]),
    ]
    Recognizer(max_components=2).fit(sentences * 10).save(path)
    return path


def batch_of(texts, docs=None, *, type=None):
    docs = list(range(len(texts))) if docs is None else docs
    return pa.record_batch([pa.array(docs), pa.array(texts, type=type or pa.string())], names=["doc", "text"])


def test_a_row_for_every_row(model):
    find = finder(model)
    made = find(batch_of(TEXTS))
    assert made.schema == find.schema
    rows = made.to_pylist()
    assert [row["doc"] for row in rows] == ["0", "1", "2"]
    assert [row["error"] for row in rows] == [None] * 3
    expected = list(Recognizer.load(model).annotate([Document(str(n), text) for n, text in enumerate(TEXTS)]))
    for row, document in zip(rows, expected, strict=True):
        assert [
            (mention["type"], tuple((span["start"], span["end"]) for span in mention["spans"]), mention["prob"])
            for mention in row["mentions"]
        ] == [(mention.type, mention.parts, mention.prob) for mention in document.mentions]
    assert "Blood … in mouth" in [mention["text"] for mention in rows[1]["mentions"]]


def test_offsets_are_code_points(model):
    (row,) = finder(model)(batch_of(TEXTS[1:2])).to_pylist()
    assert "fever" in [mention["text"] for mention in row["mentions"]]
    for mention in row["mentions"]:
        parts = [TEXTS[1][span["start"] : span["end"]] for span in mention["spans"]]
        assert " … ".join(parts) == mention["text"]


def test_batches_tables_and_iterators(model):
    find = finder(model)
    batch = batch_of(TEXTS)
    alone = find(batch)
    assert find(pa.table(batch)).to_batches()[0] == alone
    assert list(find(iter([batch, batch]))) == [alone, alone]
    assert find(pa.table({"doc": [], "text": pa.array([], pa.string())})).num_rows == 0


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_texts_of_every_kind(model, type):
    assert finder(model)(batch_of(TEXTS, type=type)) == finder(model)(batch_of(TEXTS))


def test_other_names_of_columns_and_none(model):
    batch = pa.record_batch([pa.array(TEXTS)], names=["note_text"])
    rows = finder(model, "note_text", None)(batch).to_pylist()
    assert [row["doc"] for row in rows] == [None] * 3
    with pytest.raises(UsageError, match="the record batch has no column 'text', but 'note_text'; name it with text="):
        finder(model, doc=None)(batch)


def test_one_bad_text_becomes_its_error(model, monkeypatch):
    places = pa.array([0, 9, 10, 19], pa.int32()).buffers()[1]
    broken = pa.Array.from_buffers(pa.string(), 3, [None, places, pa.py_buffer(b"No fever.\xffNo fever.")])
    batch = pa.record_batch([pa.array(["a", "b", "c"]), broken], names=["doc", "text"])
    rows = finder(model)(batch).to_pylist()
    assert [row["error"] for row in rows] == [None, "the text is not UTF-8: byte 0 (invalid start byte)", None]
    assert [row["mentions"] is None for row in rows] == [False, True, False]
    rows = finder(model, longest=30)(batch_of(["No fever.", None, "x" * 31, "No fever."])).to_pylist()
    assert [row["error"] for row in rows] == [
        None,
        "the text is None; expected a string",
        "the text has 31 characters; expected at most 30",
        None,
    ]
    annotate = Recognizer.annotate

    def failing(self, units, **options):
        for unit in units:
            if "poison" in unit.text:
                raise MemoryError("too much")
            yield from annotate(self, [unit], **options)

    monkeypatch.setattr(Recognizer, "annotate", failing)
    rows = finder(model)(batch_of(["No fever."] * 20 + ["poison"] + ["No fever."] * 7)).to_pylist()
    assert [row["error"] for row in rows] == [None] * 20 + ["MemoryError: too much"] + [None] * 7
    assert sum(len(row["mentions"] or ()) for row in rows) == 27


def test_options_are_those_of_find(model):
    assert finder(model, threshold=1.0)(batch_of(TEXTS)).to_pylist()[0]["mentions"] == []
    with pytest.raises(UsageError, match="there is no option 'workers' here; expected one of decode, threshold"):
        finder(model, workers=2)
    with pytest.raises(UsageError, match="threshold is 3; expected a number above 0"):
        finder(model, threshold=3)(batch_of(TEXTS))


def test_it_is_sent_without_its_model_and_each_process_loads_once(model, monkeypatch):
    find = finder(model, threshold=0.2)
    find(batch_of(TEXTS))
    sent = pickle.dumps(find)
    assert len(sent) < 1_000
    again = pickle.loads(sent)
    assert repr(again) == repr(find)
    assert again(batch_of(TEXTS)) == find(batch_of(TEXTS))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    loaded = []

    def load(path, n_threads, load=Recognizer.load):
        loaded.append(n_threads)
        return load(path, n_threads=n_threads)

    monkeypatch.setattr(Recognizer, "load", load)
    find(batch_of(TEXTS))
    find(batch_of(TEXTS))
    assert loaded == [1]


def test_a_model_that_is_not_there_is_told():
    with pytest.raises(ModelError, match="there is no model file 'nowhere' on this machine; put it where every worker"):
        finder("nowhere")(batch_of(TEXTS))


def test_compiled_code_finds_a_folder(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    arrow._make_cache_writable()
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setattr(arrow, "_is_writable", lambda folder: False)
    arrow._make_cache_writable()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()
    monkeypatch.delenv("NUMBA_CACHE_DIR")


SPARK = """
import json, sys
from pyspark.sql import SparkSession
from hyperspan.arrow import finder
model, n, shipped = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "shipped"
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
         .getOrCreate())
if shipped:
    spark.sparkContext.addFile(model)
    model = model.rsplit("/", 1)[-1]
rows = [(i, None if i % 97 == 5 else "x " * 400 if i % 97 == 6 else "Blood in stomach. No fever.") for i in range(n)]
notes = spark.createDataFrame(rows, "id int, note string").repartition(4)
find = finder(model, "note", "id", longest=500)
found = notes.mapInArrow(find, find.spark_schema)
assert found.schema.simpleString() == (
    "struct<doc:string,mentions:array<struct<type:string,spans:array<struct<start:int,end:int>>,text:string,prob:double>>,"
    "error:string>"), found.schema.simpleString()
out = found.collect()
print(json.dumps({
    "docs": sorted(int(row.doc) for row in out),
    "errors": sorted([int(row.doc), row.error] for row in out if row.error),
    "mentions": sum(len(row.mentions) for row in out if row.mentions is not None),
    "text": next(row.mentions[0].text for row in out if row.mentions),
}))
spark.stop()
"""


@pytest.mark.parametrize("how", ["path", "shipped"])
def test_spark_loses_nothing(model, tmp_path, how):
    pytest.importorskip("pyspark", reason="pyspark is not installed (pip install 'hyperspan[spark]')")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java, which Spark runs on (apt-get install default-jre-headless)")
    (tmp_path / "job.py").write_text(SPARK)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "job.py", str(model), "300", how],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    none, long = "the text is None; expected a string", "the text has 800 characters; expected at most 500"
    bad = {number: none if number % 97 == 5 else long for number in range(300) if number % 97 in (5, 6)}
    assert found["docs"] == list(range(300))
    assert found["errors"] == [[number, message] for number, message in bad.items()]
    assert found["mentions"] == 2 * (300 - len(bad))
    assert found["text"] == "Blood in stomach"

"""``hyperspan train``, ``predict`` and ``show``, from files to files."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.cli import main
from hyperspan.corpora import demo
from hyperspan.files import locked
from hyperspan.inference.registry import _tell_old_name
from hyperspan.recognizer import Recognizer

CORPUS = demo.generate(10, unit="sentences")
DOCUMENTS = demo.generate(4, unit="documents")
QUICK = ("--max-components", "2", "--max-iterations", "12")

Run = Callable[..., tuple[int, str, str]]

SLOWLY = """
import sys, time
from hyperspan.recognizer import checkpoint
from hyperspan.cli import main, train
checkpoint.PERIOD = checkpoint.FIRST = 0.0
report = train.Watch.__call__
def slow(self, record):
    time.sleep(0.03)
    return report(self, record)
train.Watch.__call__ = slow
main()
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command; return exit code, results and what is said to the person."""

    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hyperspan", *map(str, arguments)])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape"))))
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capfdbinary.readouterr()
        return int(caught.value.code or 0), captured.out.decode(), captured.err.decode()

    return run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus in several formats and a model of it."""
    folder = tmp_path_factory.mktemp("data")
    for split in ("train", "dev", "test"):
        corpora.write(CORPUS.split(split).units, folder / f"{split}.jsonl")
    corpora.write(DOCUMENTS.units, folder / "notes", format="brat")
    corpora.write(DOCUMENTS.units, folder / "documents.jsonl")
    (folder / "note.txt").write_text(DOCUMENTS.units[0].text, encoding="utf-8")  # type: ignore[union-attr]
    recognizer = Recognizer(max_components=2, max_iterations=12)
    recognizer.fit(CORPUS.split("train").units, dev=CORPUS.split("dev").units).save(folder / "model")
    return folder


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def keyed(units: object) -> list[tuple[str, list[tuple[str, tuple[tuple[int, int], ...]]]]]:
    return [(unit.doc, [(mention.type, mention.parts) for mention in unit.mentions]) for unit in units]  # type: ignore[attr-defined]


# Training


def test_training_from_files_gives_the_model_that_python_gives(run: Run, data: Path, tmp_path: Path):
    code, out, err = run(
        "train", data / "train.jsonl", "--dev", data / "dev.jsonl", "-o", tmp_path / "m", *QUICK, "--threads", 1
    )
    assert (code, out) == (0, "")
    assert (tmp_path / "m").read_bytes() == (data / "model").read_bytes()
    assert "4 types" in err
    assert "stopped after 12 iterations" in err
    assert "Raise max_iterations" in err
    assert "dev all: precision" in err
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_folder_brings_its_own_development_data(run: Run, data: Path, tmp_path: Path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"{split}.jsonl").write_bytes((data / f"{split}.jsonl").read_bytes())
    assert run("train", folder, "-o", tmp_path / "m", *QUICK)[0] == 0
    assert (tmp_path / "m").read_bytes() == (data / "model").read_bytes()


def test_json_is_exactly_one_document(run: Run, data: Path, tmp_path: Path):
    code, out, err = run("-q", "train", data / "train.jsonl", "-o", tmp_path / "m", *QUICK, "--json")
    summary = json.loads(out)
    assert (code, err) == (0, "")
    assert summary["types"] == ["Anatomy", "Drug", "Finding", "Procedure"]
    assert summary["threshold"] == 0.3
    assert summary["iterations"] == 12
    assert summary["dev"] == {}


def test_the_log_has_a_line_for_every_iteration(run: Run, data: Path, tmp_path: Path):
    log = tmp_path / "log.jsonl"
    train = ("train", data / "train.jsonl", "--dev", data / "dev.jsonl", "-o", tmp_path / "m", *QUICK)
    assert run(*train, "--log", log, "--dev-every", 5)[0] == 0
    lines = records(log.read_text())
    assert [line["iteration"] for line in lines] == list(range(1, 13))
    assert [line["iteration"] for line in lines if "dev_f1" in line] == [5, 10, 12]
    assert all({"l2", "objective", "gradient_norm", "evaluations", "seconds"} <= line.keys() for line in lines)
    assert [line for line in lines if "stopped" in line] == lines[-1:]
    alone = ("train", data / "train.jsonl", "-o", tmp_path / "m", *QUICK)
    code, _, err = run(*alone, "--log", log, "--dev-every", 5, "--resume")
    assert code == 0
    assert "note: --dev-every has no effect: there is no development data" in err
    assert len(records(log.read_text())) == 12, "there was nothing to resume, so the log is new"


@pytest.mark.parametrize("with_dev", [True, False])
def test_the_penalty_is_searched_for(run: Run, data: Path, tmp_path: Path, with_dev: bool):
    dev = ("--dev", data / "dev.jsonl") if with_dev else ()
    log = tmp_path / "log.jsonl"
    code, out, err = run(
        "train", data / "train.jsonl", *dev, "-o", tmp_path / "m", *QUICK, "--l2", "auto", "--log", log, "--json"
    )
    assert ("the dev scores come from a tenth of the training documents" in err) == (not with_dev)
    summary = json.loads(out)
    assert code == 0
    assert summary["l2"] in (0.125, 0.25, 0.5, 1.0, 2.0)
    assert summary["dev"]["all"]["f1"] > 0.0
    ends = [line["l2"] for line in records(log.read_text()) if "stopped" in line]
    assert ends == [2.0, 1.0, 0.5, 0.25, 0.125] + ([] if with_dev else [summary["l2"]])


def test_a_brat_folder_with_defects_is_refused_or_skipped_as_asked(run: Run, data: Path, tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for path in (data / "notes").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    first = sorted(folder.glob("*.ann"))[0]
    first.write_text(first.read_text(encoding="utf-8") + "T999\tFinding 5 2\tx\n", encoding="utf-8")
    code, _, err = run("train", folder, "-o", tmp_path / "m", *QUICK)
    assert code == 2
    assert f"{first}:" in err
    assert "--on-error skip" in err
    assert not (tmp_path / "m").exists()
    code, _, err = run("train", folder, "-o", tmp_path / "m", *QUICK, "--on-error", "skip")
    assert code == 0
    assert "1 problem" in err
    assert (tmp_path / "m").is_file()


def test_the_structure_says_what_it_cannot_write(run: Run, data: Path, tmp_path: Path):
    code, _, err = run("train", data / "train.jsonl", "-o", tmp_path / "m", "--structure", "mention", *QUICK)
    assert code == 0
    assert "training mentions cannot be encoded in this structure and were left out" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--l2", "much"), "--l2 is 'much'; expected a number or 'auto'"),
        (("--l2", "-1"), "l2 is -1.0; expected a number that is not negative"),
        (("--structure", "linear", "--distribution", "derivations"), "'linear' has no distribution 'derivations'"),
        (("--features", "nowhere.toml"), "nowhere.toml"),
        (("--clusters", "nowhere.paths"), "nowhere.paths"),
        (("--lexicon", "nowhere.lexicon"), "nowhere.lexicon"),
        (("--annotator", "oracle"), "there is no annotator 'oracle'"),
        (("--dev", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--from", "parchment"), "parchment"),
    ],
)
def test_mistakes_end_with_a_sentence(run: Run, data: Path, tmp_path: Path, arguments, message):
    code, out, err = run("train", data / "train.jsonl", "-o", tmp_path / "m", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_the_old_name_of_a_distribution_is_taken_and_told(run: Run, data: Path, tmp_path: Path):
    _tell_old_name.cache_clear()
    code, _, err = run("train", data / "train.jsonl", "-o", tmp_path / "m", "--distribution", "published", *QUICK)
    assert code == 0
    assert err.count("the distribution 'published' is now called 'derivations'") == 1
    assert json.loads(run("show", tmp_path / "m", "--json")[1])["distribution"] == "derivations"


def test_nothing_to_learn_from_is_a_sentence(run: Run, tmp_path: Path):
    (tmp_path / "empty.jsonl").write_text('{"doc": "a", "tokens": ["well"], "mentions": []}\n')
    code, _, err = run("train", tmp_path / "empty.jsonl", "-o", tmp_path / "m")
    assert code == 2
    assert "there is no mention in the 1 training sentences" in err


def test_where_no_model_can_be_written_is_found_out_before_training(run: Run, data: Path, tmp_path: Path):
    code, _, err = run("train", tmp_path / "not-even-read.jsonl", "-o", tmp_path)
    assert code == 2
    assert f"{tmp_path} is a folder; expected the name of a file to write" in err
    (tmp_path / "file").write_text("x")
    code, _, err = run("train", tmp_path / "not-even-read.jsonl", "-o", tmp_path / "file" / "m")
    assert code == 2
    assert "cannot write" in err
    assert "Choose another location with -o" in err


# Surviving


def start(data: Path, output: Path, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start training in a process of its own that saves after every iteration and takes its time."""
    command = [sys.executable, "-c", SLOWLY, "train", str(data / "train.jsonl"), "--dev", str(data / "dev.jsonl")]
    return subprocess.Popen(
        [*command, "-o", str(output), *QUICK, "--log", str(log), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for_lines(process: subprocess.Popen[bytes], log: Path, n_lines: int) -> None:
    for _ in range(12_000):
        if process.poll() is not None or (log.exists() and log.read_bytes().count(b"\n") >= n_lines):
            return
        time.sleep(0.01)
    process.kill()
    pytest.fail("training did not begin within two minutes")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_at_any_moment_and_resumed_gives_the_same_model(run: Run, data: Path, tmp_path: Path):
    output, log = tmp_path / "m", tmp_path / "log.jsonl"
    for number, n_lines in enumerate((3, 7, 11)):
        process = start(data, output, log, *(["--resume"] if number else []))
        wait_for_lines(process, log, n_lines)
        time.sleep(0.007 * number)
        process.kill()
        process.communicate()
        assert not output.exists() or output.read_bytes() == (data / "model").read_bytes()
    train = ("train", data / "train.jsonl", "--dev", data / "dev.jsonl", "-o", output, *QUICK)
    code, _, err = run(*train, "--log", log, "--resume")
    assert code == 0, err
    assert output.read_bytes() == (data / "model").read_bytes()
    assert records(log.read_text())[0]["iteration"] == 1, "the log of the first run is gone"
    assert not (tmp_path / "m.checkpoint").exists()
    assert run("predict", output, data / "test.jsonl")[1] == run("predict", data / "model", data / "test.jsonl")[1]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent otherwise here")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupt_saves_and_says_how_to_go_on(run: Run, data: Path, tmp_path: Path, number: int, code: int):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run under nohup, which is passed on")
    output, log = tmp_path / "m", tmp_path / "log.jsonl"
    process = start(data, output, log)
    wait_for_lines(process, log, 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert b"stopping after this iteration" in err
    assert b"training was stopped after iteration" in err
    assert b"Continue with the same command and --resume" in err
    assert b"Traceback" not in err
    assert (tmp_path / "m.checkpoint").is_file()
    assert not output.exists()
    code, _, _ = run("train", data / "train.jsonl", "--dev", data / "dev.jsonl", "-o", output, *QUICK, "--resume")
    assert code == 0
    assert output.read_bytes() == (data / "model").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="files are locked otherwise here")
def test_a_second_training_for_the_same_model_is_refused(data: Path, tmp_path: Path):
    with locked(tmp_path / "m"):
        second = start(data, tmp_path / "m", tmp_path / "log.jsonl")
        _, err = second.communicate(timeout=120)
    assert second.returncode == 2
    assert b"another process is at work on" in err


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_run_leaves_nothing_behind_for_ever(run: Run, data: Path, tmp_path: Path):
    output, log = tmp_path / "m", tmp_path / "log.jsonl"
    process = start(data, output, log)
    wait_for_lines(process, log, 2)
    process.kill()
    process.communicate()
    for name in ("m", "m.checkpoint"):  # as if it had been writing
        (tmp_path / f".{name}.{'0' * 16}.part").touch()
    train = ("train", data / "train.jsonl", "--dev", data / "dev.jsonl", "-o", output, *QUICK)
    assert run(*train)[0] == 0
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"m", "m.checkpoint", "log.jsonl", f".m.checkpoint.{'0' * 16}.part"}
    assert run(*train, "--resume")[0] == 0


def test_what_cannot_be_replaced_is_written_to(run: Run, data: Path):
    before = os.stat("/dev/null").st_rdev
    assert run("train", data / "train.jsonl", "-o", "/dev/null", *QUICK)[0] == 0
    assert run("predict", data / "model", data / "test.jsonl", "-o", "/dev/null")[0] == 0
    assert os.stat("/dev/null").st_rdev == before
    assert not Path("/dev/null.checkpoint").exists()


def test_a_checkpoint_of_something_else_is_refused(run: Run, data: Path, tmp_path: Path, monkeypatch):
    output = tmp_path / "m"
    monkeypatch.setattr("hyperspan.cli.train.Watch.__call__", lambda self, record: record.iteration == 3)
    assert run("train", data / "train.jsonl", "-o", output, *QUICK)[0] == 130
    monkeypatch.undo()
    code = main_code("train", data / "train.jsonl", "-o", output, *QUICK, "--l2", "2", "--resume")
    assert code == 2
    assert (tmp_path / "m.checkpoint").is_file()


def main_code(*arguments: object) -> int:
    argv, sys.argv = sys.argv, ["hyperspan", *map(str, arguments)]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = argv
    return 0


def test_a_full_disk_is_a_sentence_and_nothing_is_lost(run: Run, data: Path, tmp_path: Path, monkeypatch):
    output = tmp_path / "m"
    output.write_bytes((data / "model").read_bytes())
    monkeypatch.setattr("hyperspan.recognizer.checkpoint.PERIOD", 0.0)
    monkeypatch.setattr("hyperspan.recognizer.checkpoint.FIRST", 0.0)

    def full(*arguments: object) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("hyperspan.recognizer.model_file.save", full)
        code, out, err = run("train", data / "train.jsonl", "-o", output, *QUICK)
    assert (code, out) == (2, "")
    assert "Training continues without a checkpoint" in err
    assert f"error: cannot write the model {output}: No space left on device" in err
    assert "Traceback" not in err
    assert output.read_bytes() == (data / "model").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


# Prediction


def test_predictions_are_those_of_python(run: Run, data: Path, tmp_path: Path):
    recognizer = Recognizer.load(data / "model")
    code, out, err = run("predict", data / "model", data / "test.jsonl")
    assert (code, err) == (0, "")
    (tmp_path / "out.jsonl").write_text(out, encoding="utf-8")
    found = corpora.read(tmp_path / "out.jsonl").units
    expected = list(recognizer.annotate(corpora.read(data / "test.jsonl").units))
    assert keyed(found) == keyed(expected)
    assert [unit.tokens for unit in found] == [unit.tokens for unit in CORPUS.split("test").units]  # type: ignore[union-attr]
    probs = [[mention.prob for unit in units for mention in unit.mentions] for units in (found, expected)]
    assert probs[0]
    assert probs[0] == probs[1]
    assert run("predict", data / "model", data / "test.jsonl", "-o", tmp_path / "file.jsonl")[0] == 0
    assert (tmp_path / "file.jsonl").read_text(encoding="utf-8") == out


@pytest.mark.parametrize("decode", ["probable", "enough", "all"])
def test_every_way_to_decode(run: Run, data: Path, decode: str):
    recognizer = Recognizer.load(data / "model")
    _, out, _ = run("predict", data / "model", data / "test.jsonl", "--decode", decode, "--threshold", 0.4)
    expected = recognizer.annotate(CORPUS.split("test").units, decode=decode, threshold=0.4)  # type: ignore[arg-type]
    assert [len(record["mentions"]) for record in records(out)] == [len(unit.mentions) for unit in expected]  # type: ignore[arg-type]


def test_text_from_stdin_and_from_a_file(run: Run, data: Path):
    text = DOCUMENTS.units[0].text  # type: ignore[union-attr]
    code, out, _ = run("predict", data / "model", "-", stdin=text)
    (record,) = records(out)
    assert code == 0
    assert record["doc"] == "stdin"
    assert record["text"] == text
    mentions = record["mentions"]
    assert isinstance(mentions, list)
    assert mentions
    (from_file,) = records(run("predict", data / "model", data / "note.txt")[1])
    assert from_file["doc"] == "note"
    assert from_file["mentions"] == mentions
    code, _, err = run("predict", data / "model", "-", "--from", "brat", stdin=text)
    assert code == 2
    assert "stdin is read as plain text or as JSON lines, not as 'brat'; name a file, or leave --from out" in err


@pytest.mark.parametrize("name", ["test.jsonl", "documents.jsonl"])
@pytest.mark.parametrize("options", [(), ("--from", "jsonl"), ("--workers", 2)], ids=str)
def test_json_lines_from_stdin_are_what_they_are_in_a_file(run: Run, data: Path, name: str, options: tuple):
    lines = (data / name).read_text(encoding="utf-8")
    code, expected, _ = run("predict", data / "model", data / name)
    assert code == 0
    for begin in ("", "\ufeff", "\n  \n"):
        code, out, err = run("predict", data / "model", "-", *options, stdin=begin + lines)
        assert code == 0, err
        assert out == expected


def test_json_lines_from_stdin_are_told_from_text_and_checked(run: Run, data: Path):
    text = "{not ours}\nBlood in his mouth.\n"
    code, out, _ = run("predict", data / "model", "-", stdin=text)
    assert code == 0
    assert [record["text"] for record in records(out)] == [text]
    lines = '{"tokens": ["no", "fever"]}\n\n{"text": "Blood."}\n'
    code, out, _ = run("predict", data / "model", "-", stdin=lines)
    assert code == 0
    assert [record["doc"] for record in records(out)] == ["stdin-00001", "stdin-00003"]
    code, _, err = run("predict", data / "model", "-", stdin=lines + "half a line")
    assert code == 2
    assert "stdin:4: the line is not JSON" in err
    code, out, err = run("predict", data / "model", "-", "--on-error", "skip", stdin=lines + "half a line")
    assert code == 0
    assert len(records(out)) == 2
    code, _, err = run("predict", data / "model", "-", "--from", "jsonl", stdin="Blood.")
    assert code == 2
    assert "stdin:1: the line is not JSON" in err


def test_json_lines_from_stdin_are_read_as_they_come(monkeypatch: pytest.MonkeyPatch):
    from hyperspan.cli.inputs import standard_input
    from hyperspan.diagnostics import Diagnostics

    class Endless(io.RawIOBase):
        n_lines = 0

        def readline(self, limit: int | None = -1, /) -> bytes:
            self.n_lines += 1
            return b'{"tokens": ["fever"]}\n'

        def read(self, size: int = -1, /) -> bytes:
            raise AssertionError("there is no end to read to")

    endless = Endless()
    units = standard_input(endless, None, Diagnostics())  # type: ignore[arg-type]
    assert [next(units).doc for _ in range(3)] == ["stdin-00001", "stdin-00002", "stdin-00003"]
    assert endless.n_lines == 3


def test_no_text_gives_no_mentions(run: Run, data: Path):
    code, out, _ = run("predict", data / "model", "-", stdin="")
    assert code == 0
    assert records(out) == [{"doc": "stdin", "text": "", "mentions": []}]


def test_text_that_is_not_utf_8_is_a_sentence(run: Run, data: Path, tmp_path: Path):
    (tmp_path / "x.txt").write_bytes(b"caf\xe9")
    code, _, err = run("predict", data / "model", tmp_path / "x.txt")
    assert code == 2
    assert "is not UTF-8" in err


def test_brat_comes_out_beside_the_text(run: Run, data: Path, tmp_path: Path):
    code, _, err = run("predict", data / "model", data / "notes", "--format", "brat", "-o", tmp_path / "found")
    assert code == 0, err
    found = corpora.read(tmp_path / "found", format="brat").units
    expected = list(Recognizer.load(data / "model").annotate(corpora.read(data / "notes").units))
    assert sorted(keyed(found)) == sorted(keyed(expected))
    texts = {unit.doc: unit.text for unit in DOCUMENTS.units}  # type: ignore[union-attr]
    assert {unit.doc: unit.text for unit in found} == texts  # type: ignore[union-attr]
    assert all(mention.prob is not None for unit in found for mention in unit.mentions)
    names = {path.suffix for path in (tmp_path / "found").iterdir()}
    assert {".ann", ".txt"} <= names
    code, out, err = run("predict", data / "model", data / "notes", "--format", "brat")
    assert (code, out) == (2, "")
    assert "brat writes a folder with two files a document; name it with -o FOLDER" in err
    code, _, err = run("predict", data / "model", data / "notes", "--format", "brat", "-o", tmp_path / "found")
    assert code == 2
    assert "is not empty" in err


def test_tokens_become_brat_documents_too(run: Run, data: Path, tmp_path: Path):
    code, _, err = run("predict", data / "model", data / "test.jsonl", "--format", "brat", "-o", tmp_path / "found")
    assert code == 0, err
    found = corpora.read(tmp_path / "found", format="brat").units
    assert {unit.doc for unit in found} == {unit.doc for unit in CORPUS.split("test").units}


def test_text_draws_lanes(run: Run, data: Path, tmp_path: Path):
    code, out, _ = run("predict", data / "model", data / "test.jsonl", "--format", "text")
    assert code == 0
    assert "━" in out
    assert CORPUS.split("test").units[0].tokens[0] in out  # type: ignore[union-attr]
    assert "\x1b" not in out
    run("predict", data / "model", data / "test.jsonl", "--format", "text", "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == out


def test_html_is_a_page(run: Run, data: Path, tmp_path: Path):
    (tmp_path / "x.txt").write_text("Blood <script>alert(1)</script> in stomach & more.", encoding="utf-8")
    code, out, _ = run("predict", data / "model", tmp_path / "x.txt", "--format", "html")
    assert code == 0
    assert out.startswith("<!doctype html>")
    assert out.rstrip().endswith("</html>")
    assert "<script>" not in out
    assert run("predict", data / "model", data / "test.jsonl", "--format", "html", "-o", tmp_path / "x.html")[0] == 0
    assert "Finding" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_alternatives(run: Run, data: Path):
    _, out, _ = run("predict", data / "model", data / "test.jsonl", "--top", 3)
    for record in records(out):
        alternatives = record["alternatives"]
        assert isinstance(alternatives, list)
        probs = [alternative["prob"] for alternative in alternatives]
        assert len(probs) == 3
        assert probs == sorted(probs, reverse=True)
    (record,) = records(run("predict", data / "model", data / "note.txt", "--top", 2)[1])
    alternatives = record["alternatives"]
    assert isinstance(alternatives, list)
    assert len(alternatives) > 3  # a list for every sentence
    text = str(record["text"])
    options = [option for of_sentence in alternatives for option in of_sentence]
    spans = [span for option in options for mention in option["mentions"] for span in mention["spans"]]
    assert spans
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)


def test_several_processes_give_the_same(run: Run, data: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("hyperspan.recognizer.model.BATCH_WORDS", 100)
    for source, options in ((data / "test.jsonl", ("--top", 2)), (data / "notes", ())):
        alone = run("predict", data / "model", source, *options)
        assert alone[0] == 0
        assert run("predict", data / "model", source, *options, "--workers", 2) == alone


def test_what_a_file_says_of_its_own_mentions_is_not_predicted(run: Run, data: Path, tmp_path: Path):
    sentence = next(unit for unit in CORPUS.split("train").units if unit.mentions)
    mention = {"type": sentence.mentions[0].type, "spans": sentence.mentions[0].parts, "checked_by": "gold"}
    record = {"doc": "a", "tokens": sentence.tokens, "mentions": [mention], "ward": 7}  # type: ignore[union-attr]
    (tmp_path / "x.jsonl").write_text(json.dumps(record) + "\n")
    _, out, _ = run("predict", data / "model", tmp_path / "x.jsonl")
    (found,) = records(out)
    assert found["ward"] == 7
    assert found["mentions"]
    assert "checked_by" not in out


def test_defects_of_the_input_are_counted(run: Run, data: Path, tmp_path: Path):
    good = (data / "test.jsonl").read_text(encoding="utf-8")
    (tmp_path / "x.jsonl").write_text("{nonsense\n" + good, encoding="utf-8")
    code, _, err = run("predict", data / "model", tmp_path / "x.jsonl", "--from", "jsonl", "-o", tmp_path / "out.jsonl")
    assert code == 2
    assert "x.jsonl:1" in err
    assert not (tmp_path / "out.jsonl").exists()
    code, out, err = run("predict", data / "model", tmp_path / "x.jsonl", "--from", "jsonl", "--on-error", "skip")
    assert code == 0
    assert len(records(out)) == len(good.splitlines())
    assert "1 problem" in err


def test_models_that_are_none(run: Run, data: Path, tmp_path: Path):
    for command in (("predict", tmp_path / "nothing", data / "test.jsonl"), ("show", tmp_path / "nothing")):
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert "there is no model file" in err
    (tmp_path / "text").write_text("no model")
    code, _, err = run("predict", tmp_path / "text", data / "test.jsonl")
    assert code == 2
    assert "is not a model file, or it is damaged" in err
    code, _, err = run("predict", data / "model", tmp_path / "nothing.jsonl")
    assert code == 2
    assert "nothing.jsonl" in err
    code, _, err = run("predict", data / "model", data / "test.jsonl", "--threshold", 0)
    assert code == 2
    assert "threshold is 0.0; expected a number above 0 and up to 1" in err


def test_very_long_sentences_are_read(run: Run, data: Path, tmp_path: Path):
    corpora.write([Sentence(["blood", "in", "stomach", "."] * 12_500, doc="long")], tmp_path / "long.jsonl")
    code, out, _ = run("predict", data / "model", tmp_path / "long.jsonl", "--threshold", 0.9)
    assert code == 0
    assert len(records(out)) == 1
    corpora.write([Sentence(["x"] * 50_000, [Mention("Finding", [(0, 1)])], doc="long")], tmp_path / "long-train.jsonl")
    code, _, err = run("train", tmp_path / "long-train.jsonl", "-o", tmp_path / "m")
    assert code == 2
    assert "long-train.jsonl:1: a sentence has 50,000 words; expected at most 20,000" in err


def test_documents_of_json_lines_keep_their_text(run: Run, data: Path):
    _, out, _ = run("predict", data / "model", data / "documents.jsonl")
    for record, unit in zip(records(out), DOCUMENTS.units, strict=True):
        assert isinstance(unit, Document)
        assert (record["doc"], record["text"]) == (unit.doc, unit.text)


# Showing


def test_a_model_shows_what_it_is(run: Run, data: Path):
    code, out, err = run("show", data / "model", "--top", 2)
    assert code == 0
    assert "shared" in out
    assert "Anatomy, Drug, Finding, Procedure" in out
    assert "dev all" in out
    assert "threshold curve" not in out  # hundreds of numbers: 'hyperspan threshold' draws them
    assert "Finding T→B0" in out
    assert "=" in out.split("Finding T→B0")[1]
    assert "#" not in out.split("Finding T→B0")[1]
    assert err == ""
    code, out, err = run("show", data / "model", "--top", 40)
    assert "some features are shown by their hash; name them with --names-from and the training data" in err
    assert "#" in out.split("Finding T→B0")[1]
    code, out, err = run("show", data / "model", "--top", 40, "--names-from", data / "train.jsonl")
    assert (code, err) == (0, "")
    assert "#" not in out.split("Finding T→B0")[1]
    assert "Finding T→B0" not in run("show", data / "model", "--top", 0)[1]


def test_showing_as_json(run: Run, data: Path):
    code, out, _ = run("show", data / "model", "--json", "--top", 1, "--names-from", data / "train.jsonl")
    shown = json.loads(out)
    assert code == 0
    assert shown["iterations"] == 12
    assert len(shown["training_log"]) == 12
    assert shown["dev_scores"]["all"]["f1"] > 0.0
    assert all(len(features) == 1 for features in shown["strongest"].values())


def test_an_object_with_other_keys_on_stdin_is_no_text(run: Run, data: Path):
    code, out, err = run("predict", data / "model", "-", stdin='{"sentence": "No fever."}\n')
    assert (code, out) == (2, "")
    assert "stdin:1: the object has neither 'tokens' nor 'text', but 'sentence'; expected one of them" in err


def test_an_empty_file_is_noted(run: Run, data: Path, tmp_path: Path):
    (tmp_path / "none.jsonl").write_text("")
    code, out, err = run("predict", data / "model", tmp_path / "none.jsonl")
    assert (code, out) == (0, "")
    assert err == f"note: there is nothing in {tmp_path / 'none.jsonl'}\n"


@pytest.mark.parametrize("command", [("predict", "model", "a.jsonl"), ("train", "a.jsonl")])
def test_an_input_is_not_overwritten(run: Run, data: Path, tmp_path: Path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    corpora.write(CORPUS.split("test"), "a.jsonl")
    before = Path("a.jsonl").read_bytes()
    code, _, err = run(*command, "-o", "a.jsonl")
    assert code == 2
    assert err == "error: a.jsonl is an input and would be overwritten; choose another name\n"
    assert Path("a.jsonl").read_bytes() == before


def test_a_folder_is_replaced_if_asked_for_and_brat_is_told_the_types(run: Run, data: Path, tmp_path: Path):
    corpora.write(CORPUS.split("test"), tmp_path / "test.jsonl")
    options = ("predict", data / "model", tmp_path / "test.jsonl", "--format", "brat", "-o", tmp_path / "brat")
    assert run(*options)[0] == 0
    code, _, err = run(*options)
    assert code == 2
    assert "is not empty; choose another, or replace it with --overwrite" in err
    assert run(*options, "--overwrite")[0] == 0
    types = (tmp_path / "brat" / "annotation.conf").read_text().split("[relations]")[0].split()
    assert types[0] == "[entities]"
    assert set(types[1:]) <= set(Recognizer.load(data / "model").types_)
    assert list(corpora.read(tmp_path / "brat"))


def test_training_without_development_data_says_that_the_threshold_is_a_fallback(run: Run, data: Path, tmp_path: Path):
    corpora.write(CORPUS.split("train"), tmp_path / "alone.jsonl")
    code, _, err = run("train", tmp_path / "alone.jsonl", "-o", tmp_path / "m", *QUICK)
    assert code == 0
    expected = "because there is no development data with mentions: give some with --dev"
    assert f"note: the threshold 0.3 is a fallback, {expected}" in err
    assert f"hyperspan threshold {tmp_path / 'm'} DEV --set" in err
    assert err.count("templates are skipped") == 1
    assert "warning" not in err
    corpora.write([Sentence(["nothing"], [Mention("Unknown", [(0, 1)])])], tmp_path / "other.jsonl")
    _, _, err = run("train", tmp_path / "alone.jsonl", "--dev", tmp_path / "other.jsonl", "-o", tmp_path / "m", *QUICK)
    assert "is a fallback, because nothing in the development data was found: give other with --dev" in err
    corpora.write(CORPUS.split("dev"), tmp_path / "dev.jsonl")
    code, _, err = run("train", tmp_path / "alone.jsonl", "--dev", tmp_path / "dev.jsonl", "-o", tmp_path / "m", *QUICK)
    assert "fallback" not in err
    assert len(Recognizer.load(tmp_path / "m").summary()["threshold_curve"]) == 90


def test_reasons_are_given_in_words(run: Run, data: Path):
    code, out, err = run("explain", data / "model", "Left and right kidneys are enlarged.", "--threshold", "0.02")
    assert (code, err) == (0, "")
    assert "Left and right kidneys are enlarged ." in out
    assert re.search(r"^   [+-]\d\.\d{3} █+ +at ‘\S+’ the \w+ (word )?", out, re.MULTILINE)
    assert "[0]=" not in out
    told = json.loads(
        run("explain", data / "model", "-", "--json", "--threshold", "0.02", stdin="No fever. Left and right kidneys.")[
            1
        ]
    )
    assert len(told["sentences"]) == 2
    reasons = [reason for each in told["sentences"] for mention in each["mentions"] for reason in mention["reasons"]]
    assert {"word", "feature", "in_words", "is_bias", "amount", "look"} == set(reasons[0])
    code, out, _ = run("explain", data / "model", "No fever.", "--threshold", "1")
    assert (code, out.splitlines()[-1]) == (0, "No mention was found.")
    code, _, err = run("explain", data / "model", "  ")
    assert code == 2
    assert "there is no word in the text; expected a sentence" in err
    code, _, err = run("explain", data / "model", "-", stdin="caf\udce9")
    assert code == 2
    assert "error: <stdin>:1: byte 0xe9 at position 3 is not UTF-8" in err


def test_a_second_look_from_training_to_explaining(run, tmp_path):
    """``--rescore`` goes through train, show, predict in several processes, threshold and explain."""
    reports = demo.generate(40, unit="sentences")
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev")}
    for name, path in paths.items():
        corpora.write(reports.split(name), path, format="jsonl")
    model = tmp_path / "a.model"
    log = tmp_path / "log.jsonl"
    learn = ("train", paths["train"], "--dev", paths["dev"], "--rescore", "on", "--max-iterations", 5, "--log", log)
    code, out, _ = run(*learn, "-o", model, "--json")
    assert code == 0
    assert json.loads(out)["rescoring"]["kept"] is True
    folds = [json.loads(line).get("fold", 0) for line in log.read_text(encoding="utf-8").splitlines()]
    assert set(folds) == {0, 1, 2, 3, 4, 5}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.model", "dev.jsonl", "log.jsonl", "train.jsonl"]
    code, out, _ = run("show", model, "--top", 0)
    assert code == 0
    assert re.search(r"second look kept: F1 0\.\d+ without it, 0\.\d+ with it \(standard error 0\.\d+; dev\)", out)
    assert re.search(r"candidates, [\d,]+ in the training data, hold [\d.]+% of [\d,]+ with 1 part, ", out)
    found = []
    for workers in (1, 2):
        code, out, _ = run("predict", model, paths["dev"], "-o", "-", "--format", "jsonl", "--workers", workers)
        assert code == 0
        found.append(out)
    assert found[0] == found[1]
    code, out, _ = run("threshold", model, paths["dev"], "--set", "--json")
    assert code == 0
    assert json.loads(out)["chosen"] == json.loads(out)["own"]
    code, out, _ = run("explain", model, "There are erosions in the antrum and duodenum.", "--threshold", 0.1)
    assert code == 0
    assert "the mention as a whole, by its log odds:" in out
    assert "its words, by the log probability of the first look:" in out


def test_an_unknown_way_to_rescore(run, tmp_path):
    code, _, err = run("train", tmp_path / "x.jsonl", "-o", tmp_path / "a.model", "--rescore", "maybe")
    assert code == 2
    assert "'maybe' is not one of 'auto', 'on', 'off'" in " ".join(err.replace("│", " ").split())

"""An encoder through the command line: train, kill, resume, predict, evaluate, show, explain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hyperspan.corpora import demo, write
from tiny_encoder import make_tiny_encoder

pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")
pytest.importorskip("transformers", reason="the neural scorer needs transformers: pip install 'hyperspan[neural]'")

OPTIONS = ["--encoder-lr", "2e-3", "--head-lr", "3e-3", "--dropout", "0.1", "--layers", "1", "--batch-size", "8"]
OPTIONS += ["--device", "cpu", "--threads", "1"]


def hyperspan(*words: object, hash_seed: int = 1) -> subprocess.CompletedProcess[str]:
    where = environment(hash_seed)
    return subprocess.run(command(*words), capture_output=True, text=True, check=False, timeout=300, env=where)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "hyperspan", *map(str, words)]


def environment(hash_seed: int) -> dict[str, str]:
    """Return an environment in which sets of strings have an order of their own, as they have in every process."""
    return {**os.environ, "PYTHONHASHSEED": str(hash_seed)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neural")
    sentences = [each for each in demo.generate(40, unit="sentences", split="train") if each.mentions]
    make_tiny_encoder(folder / "tiny", (word for each in sentences for word in each.tokens))
    write(sentences[:80], folder / "train.jsonl")
    write(sentences[80:120], folder / "dev.jsonl")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    words = ["train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "-o", folder / "a.model", "--epochs", 6]
    words += ["--rescore", "on"]
    done = hyperspan(*words, "--encoder", folder / "tiny", *OPTIONS, "--log", folder / "log.jsonl")
    assert done.returncode == 0, done.stderr
    assert "parameters, encoder tiny, threshold" in done.stderr
    assert "the expected calibration error of dev probabilities went from" in done.stderr
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in log] == list(range(1, len(log) + 1))
    assert {"loss", "dev_f1", "seconds"} <= log[0].keys()
    return folder / "a.model"


def test_a_model_predicts_is_scored_shown_and_explained(run, model, folder):
    code, _, said = run("predict", model, folder / "dev.jsonl", "-o", folder / "found.jsonl")
    assert code == 0, said
    again = hyperspan("predict", model, folder / "dev.jsonl", "-o", folder / "again.jsonl", "--workers", 2)
    assert again.returncode == 0, again.stderr
    assert (folder / "found.jsonl").read_bytes() == (folder / "again.jsonl").read_bytes()
    _, scored, _ = run("evaluate", folder / "dev.jsonl", folder / "found.jsonl", "--json")
    assert json.loads(scored)["all"]["f1"] > 0.2
    _, shown, _ = run("show", model)
    assert "tiny" in shown
    assert "temperature" in shown
    code, _, said = run("explain", model, "No fever today .", "--threshold", 0.01)
    assert code == 0, said


def test_training_that_was_killed_is_resumed(model, folder):
    words = ["train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "-o", folder / "b.model", "--epochs", 6]
    words += ["--rescore", "on", "--encoder", folder / "tiny", *OPTIONS]
    log = folder / "killed.jsonl"
    running = subprocess.Popen(
        command(*words, "--log", log), env=environment(2), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    limit = time.monotonic() + 120
    while (
        time.monotonic() < limit and running.poll() is None and not (log.exists() and log.read_text().count("\n") >= 2)
    ):
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=120)
    if running.returncode == 0:
        pytest.skip("it was done before it was killed")
    assert running.returncode == 128 + signal.SIGTERM, said
    assert "Continue with the same command and --resume" in said
    assert (folder / "b.model.checkpoint").exists()
    resumed = hyperspan(*words, "--resume", hash_seed=3)
    assert resumed.returncode == 0, resumed.stderr
    assert not (folder / "b.model.checkpoint").exists()
    assert (folder / "b.model").read_bytes() == model.read_bytes()


def test_options_of_an_encoder_need_one(run, folder):
    code, _, said = run("train", folder / "train.jsonl", "-o", folder / "c.model", "--epochs", 3)
    assert code == 2
    assert "--epochs needs --encoder: it has no effect with features" in said
    code, _, said = run("train", folder / "train.jsonl", "-o", folder / "c.model", "--encoder", "x", "--l2", "auto")
    assert code == 2
    assert "--l2 has no effect with --encoder; leave one of them out" in said
    code, _, said = run("train", folder / "train.jsonl", "-o", folder / "c.model", "--encoder", "./nowhere")
    assert code == 2
    assert "there is no folder './nowhere'; expected an encoder with config.json and tokenizer.json" in said

"""``hyperspan serve`` as a process: it says when it is ready, holds many clients, and ends when told to."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load import load, memory_of
from hyperspan import Recognizer
from hyperspan.corpora import demo
from hyperspan.errors import install_command

RUN = "from hyperspan.cli import main; main()"
SMALL_DEMO = "from hyperspan.cli import demo, main, serve; demo.MAX_ITERATIONS = 3; serve._DEMO_DOCUMENTS = 12; main()"
TEXT = "Left and right kidneys are enlarged. No fever."
MINUTE = 60

posix = pytest.mark.skipif(os.name != "posix", reason="signals are sent differently here")


class Server:
    """A server of our own, on a free port of this machine."""

    def __init__(self, folder: Path, *arguments: str, code: str = RUN) -> None:
        command = [sys.executable, "-c", code, "serve", *arguments, "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
        assert self.process.stderr is not None
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("Serving "):
                break
        else:
            pytest.fail("".join(self.said))
        self.port = int(line.rstrip("/\n").rsplit(":", 1)[1])

    def ask(self, path: str, data: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=MINUTE)
        try:
            if data is None:
                connection.request("GET", path, headers=headers or {})
            else:
                kind = {"Content-Type": "application/json"}
                connection.request("POST", path, json.dumps(data), kind | (headers or {}))
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(MINUTE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(MINUTE)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "notes.model"
    reports = demo.generate(12, unit="sentences")
    Recognizer(max_components=2, max_iterations=5).fit(reports.split("train")).save(path)
    return path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    servers: list[Server] = []

    def start(*arguments: str | Path, code: str = RUN) -> Server:
        folder = tmp_path / "empty"
        folder.mkdir(exist_ok=True)
        servers.append(Server(folder, *map(str, arguments), code=code))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two models, for those who do not stop it."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "other.model").write_bytes(model.read_bytes())
    server = Server(folder, str(model), "other.model")
    yield server
    server.close()


def failed(*arguments: str | Path, code: str = RUN) -> str:
    """Return what a command says that ends with exit code 2."""
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=MINUTE,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@posix
def test_it_serves_ends_when_told_to_and_writes_nothing(start, model, tmp_path):
    server = start(model)
    assert server.said == [f"Serving notes at http://127.0.0.1:{server.port}/\n"]
    assert server.ask("/healthz") == (200, {"status": "ok", "models": ["notes"]})
    status, data = server.ask("/api/predict", {"text": TEXT})
    assert (status, len(data["sentences"])) == (200, 2)
    assert server.stop(signal.SIGINT) == 0
    assert server.process.stderr.read() == ""
    assert list((tmp_path / "empty").iterdir()) == []


@posix
def test_it_ends_while_a_request_is_under_way(start, model):
    server = start(model)
    outcome: list[Any] = []
    asking = threading.Thread(
        target=lambda: outcome.append(server.ask("/api/predict", {"text": TEXT * 20_000, "candidates": True}))
    )
    asking.start()
    while server.process.poll() is None and server.ask("/healthz")[0] != 200:
        pass
    assert server.stop(signal.SIGTERM) == 0
    asking.join(MINUTE)
    ((status, data),) = outcome
    assert status == 200 or (status, data["error"]) == (503, "the server is stopping and abandoned the work")


def test_several_models_at_once(server):
    status, data = server.ask("/api/model")
    assert (status, data["default"]) == (200, "notes")
    assert [each["name"] for each in data["models"]] == ["notes", "other"]
    assert server.ask("/api/predict", {"text": TEXT, "model": "other"})[1]["model"] == "other"


def test_pages_of_other_sites_cannot_ask_a_local_server(server):
    status, data = server.ask("/api/model", headers={"Host": "rebound.example"})
    assert status == 421
    assert data["error"].startswith("this server is not 'rebound.example'")


def test_without_a_model_one_is_trained_first(start):
    server = start(code=SMALL_DEMO)
    assert re.match(
        r"No model was given: training one on the embedded corpus, [\d,]+ invented sentences", server.said[0]
    )
    assert server.ask("/healthz")[1]["models"] == ["demo"]


def test_limits_are_options(start, model):
    sizes = ("--max-words", "300", "--max-explained", "3", "--max-body", "5000")
    server = start(model, *sizes, "--max-seconds", "20", "--threads", "1", "--queue", "2")
    assert server.ask("/api/predict", {"text": "x" * 5000})[0] == 413
    assert server.ask("/api/predict", {"tokens": ["x"] * 301})[1]["error"].startswith("sentence 1 has 301 words")
    assert server.ask("/api/explain", {"tokens": ["x"] * 4})[1]["error"].startswith("sentence 1 has 4 words")
    outcome = asyncio.run(load(server.port, 60, 2, [TEXT * 50]))
    assert set(outcome.statuses) == {"200", "503"}
    assert asyncio.run(load(server.port, 1, 3)).statuses == {"200": 3}


def test_a_taken_port_is_said(model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen at port {port} of 127.0.0.1: " in failed(model, "--port", str(port))


def test_what_is_no_model_is_said(tmp_path, model):
    (tmp_path / "text.model").write_text("no model")
    assert "text.model" in failed(tmp_path / "text.model", "--port", "0")
    assert "would both be called" in failed(model, model)


def test_without_the_extra_it_says_what_to_install(model):
    code = "import sys; sys.modules['fastapi'] = None; " + RUN
    message = f"The server needs the package 'fastapi'. Install it with: {install_command('serve')}"
    assert message in failed(model, code=code)


def test_many_clients_at_once_get_their_answers(server):
    warm = asyncio.run(load(server.port, 100, 2))
    before = memory_of(server.process.pid)
    outcome = asyncio.run(load(server.port, 200, 3))
    after = memory_of(server.process.pid)
    assert warm.statuses == {"200": 200}
    assert outcome.statuses == {"200": 600}
    if before is not None:
        assert after < before + 50

"""The server keeps to its own OpenAPI description, as far as schemathesis can tell."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from hyperspan import Recognizer
from hyperspan.corpora import demo
from hyperspan.server import create_app, open_socket
from hyperspan.server.running import address_of

CONFIG = """
[checks]
# What a schema cannot say is told with 422: that there are as many lists of mentions as sentences, for example.
positive_data_acceptance.expected-statuses = ["2xx", 404, 422]
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    reports = demo.generate(12, unit="sentences")
    recognizer = Recognizer(max_components=2, max_iterations=5, n_threads=1).fit(reports.split("train"))
    opened = open_socket(port=0)
    server = uvicorn.Server(uvicorn.Config(create_app({"notes": recognizer}), log_level="error", access_log=False))
    running = threading.Thread(target=lambda: asyncio.run(server.serve([opened])))
    running.start()
    yield address_of(opened)
    server.should_exit = True
    running.join(60)
    assert not running.is_alive()


def test_schemathesis_finds_nothing(address: str, tmp_path: Path):
    (tmp_path / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    options = ("--max-examples", "10", "--generation-deterministic", "--no-color", "--wait-for-schema", "30")
    program = "from schemathesis.cli import schemathesis; schemathesis()"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", f"{address}openapi.json", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    assert "7 selected / 7 total" in done.stdout
    assert "No issues found" in done.stdout

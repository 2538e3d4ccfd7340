"""docs/serve.md says what the server does."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hyperspan.cli.serve import serve
from hyperspan.server import Limits
from hyperspan.server.documentation import page

PAGE = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")
SHOWN = [shlex.split(line) for line in PAGE.splitlines() if line.startswith("curl ")]


@pytest.mark.parametrize("words", SHOWN, ids=lambda words: words[words.index("-d") + 1][:40])
def test_what_is_shown_is_answered(client, words):
    headers = dict(word.split(": ", 1) for before, word in pairwise(words) if before == "-H")
    (address,) = (word for word in words if word.startswith("localhost"))
    data = json.loads(words[words.index("-d") + 1])
    response = client.post(urlsplit(f"http://{address}").path, data, headers=headers)
    assert response.status_code == 200, response.text


def test_every_route_is_documented(client):
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in PAGE


def test_limits_are_documented_with_their_defaults():
    options = {
        "body": "--max-body",
        "words": "--max-words",
        "explained_words": "--max-explained",
        "queue": "--queue",
        "seconds": "--max-seconds",
        "connections": "--max-connections",
    }
    assert {field.name for field in fields(Limits)} == {*options, "threads", "memory"}
    for name, option in options.items():
        assert re.search(rf"`{option}` \({getattr(Limits(), name):,.0f}[ )]", PAGE), option
    assert "`--threads`" in PAGE
    assert f"`--max-memory` ({Limits().memory // 1_000_000:,} MB" in PAGE


def test_the_options_have_the_same_defaults():
    defaults = {name: parameter.default for name, parameter in inspect.signature(serve).parameters.items()}
    limits = Limits()
    assert [defaults[f"max_{name}"] for name in ("body", "words", "explained", "seconds")] == [
        limits.body,
        limits.words,
        limits.explained_words,
        limits.seconds,
    ]
    assert defaults["queue"] == limits.queue
    assert defaults["max_connections"] == limits.connections
    assert defaults["max_memory"] * 1_000_000 == limits.memory


def test_fields_and_kinds_are_listed(client):
    shown = page(client.get("/openapi.json").json())
    assert "<td><code>candidates</code></td><td>boolean</td>" in shown
    assert "&quot;probable&quot; | &quot;enough&quot; | &quot;all&quot; | null" in shown
    assert "list of list of string | null" in shown


def test_what_stands_in_backticks_is_code(client):
    shown = page(client.get("/openapi.json").json())
    assert "`" not in shown
    assert "<code>Accept: application/x-ndjson</code>" in shown

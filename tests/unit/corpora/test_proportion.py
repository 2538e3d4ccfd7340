"""The memory that reading takes is in proportion to the input, whatever the input is."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from hyperspan import corpora

BYTES_PER_BYTE = 300
"""Objects of Python are large, but not without bound."""

AT_LEAST = 20_000_000
"""For what does not depend on the input; a document of BioC may have gaps of a million characters."""

N = 20_000


def bioc(passages: list[dict[str, object]]) -> bytes:
    return json.dumps({"documents": [{"id": "1", "passages": passages}]}).encode()


def xml(inside: str) -> bytes:
    return f"<collection><document><id>1</id>{inside}</document></collection>".encode()


HOSTILE: dict[str, tuple[str, dict[str, bytes]]] = {
    "gaps": ("bioc", {"a.json": bioc([{"offset": n * 1_000_000, "text": "a"} for n in range(N // 10)])}),
    "gaps that grow": ("bioc", {"a.json": bioc([{"offset": n * n, "text": "a"} for n in range(N // 10)])}),
    "many documents with gaps": (
        "bioc",
        {"a.jsonl": (json.dumps({"passages": [{"offset": 999_999, "text": "a"}]}) + "\n").encode() * 2_000},
    ),
    "empty passages": ("bioc", {"a.xml": xml("<passage/>" * N)}),
    "deep lists": ("bioc", {"a.json": b"[" * 50_000 + b"]" * 50_000}),
    "annotations of nothing": (
        "bioc",
        {"a.xml": xml("<passage><offset>0</offset><text>a</text>" + "<annotation/>" * N + "</passage>")},
    ),
    "mentions of everything": (
        "brat",
        {"a.ann": b"".join(b"T%d\tX 0 %d\tx\n" % (n, 2 * N) for n in range(N // 10)), "a.txt": b"a " * N},
    ),
    "one mention of many parts": (
        "brat",
        {
            "a.txt": b"a " * N,
            "a.ann": b"T1\tX " + b";".join(b"%d %d" % (2 * n, 2 * n + 1) for n in range(N)) + b"\tx\n",
        },
    ),
    "notes on nothing": ("brat", {"a.ann": b"A1\tx T9\n" * N, "a.txt": b""}),
    "small tokens": ("jsonl", {"a.jsonl": b'{"tokens": [' + b'"a",' * N + b'"a"]}\n'}),
    "spans far away": (
        "jsonl",
        {"a.jsonl": b'{"text": "a", "mentions": [' + b'{"type": "X", "spans": [[0, 1000000000000]]},' * N + b"{}]}\n"},
    ),
    "empty lines": ("jsonl", {"a.jsonl": b"\n" * N * 10}),
    "bars": ("semeval", {"a.pipe": b"a.text" + b"||1" * N + b"\n", "a.text": b"a"}),
    "many reports": ("semeval", {"a.pipe": b"".join(b"r%d||X||C||0||1\n" % n for n in range(N // 10)), "a.text": b"a"}),
    "columns": ("cupt", {"a.cupt": b"# global.columns = ID FORM PARSEME:MWE\n1\ta\t" + b"1:X;" * N + b"\n\n"}),
    "brackets": ("inline", {"a.inline": b"[" * N + b"\n"}),
    "elements": (
        "knowtator",
        {"a.txt": b"a", "a.txt.knowtator.xml": b"<annotations>" + b"<a/>" * N + b"</annotations>"},
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_memory_is_in_proportion_to_the_input(tmp_path: Path, name: str) -> None:
    format, files = HOSTILE[name]
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    corpora.format_named(format)  # loaded before anything is measured
    tracemalloc.start()
    try:
        corpora.read(tmp_path / next(iter(files)), format=format, on_error="skip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < AT_LEAST + BYTES_PER_BYTE * sum(map(len, files.values()))

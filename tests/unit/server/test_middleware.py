"""Bodies that are too large or too slow, readers that do not read, hosts that are not ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from hyperspan.server import Limits
from hyperspan.server.errors import ApiError
from hyperspan.server.middleware import HEADERS, Middleware, ReaderGoneError, host_of

SMALL = Limits(body=10, seconds=0.1)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its whole body and sends it back."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def ask(
    chunks: Iterable[bytes] = (b"",),
    headers: dict[str, str] | None = None,
    *,
    hosts: Iterable[str] | None = None,
    is_slow: bool = False,
    reads: bool = True,
    path: str = "/api/predict",
) -> list[dict[str, Any]]:
    """Return the messages of the answer to one request."""
    sent: list[dict[str, Any]] = []
    waiting = list(chunks)

    async def receive() -> dict[str, Any]:
        if not waiting and is_slow:
            await asyncio.Event().wait()
        body = waiting.pop(0) if waiting else b""
        return {"type": "http.request", "body": body, "more_body": bool(waiting) or is_slow}

    async def send(message: dict[str, Any]) -> None:
        if not reads:
            await asyncio.Event().wait()
        sent.append(message)

    raw = [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": "POST", "path": path, "headers": raw}
    guard = Middleware(echo, SMALL, None if hosts is None else list(hosts))
    asyncio.run(guard(scope, receive, send))
    return sent


def test_what_is_small_and_quick_goes_through_with_the_headers_of_all():
    start, body = ask([b"01234", b"56789"])
    assert (start["status"], body["body"]) == (200, b"0123456789")
    assert set(start["headers"]) == {*HEADERS, (b"cache-control", b"no-store")}
    policy = dict(HEADERS)[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_pages_may_be_kept_if_they_are_asked_for_again():
    assert (b"cache-control", b"no-cache") in ask(path="/")[0]["headers"]


@pytest.mark.parametrize("length", ["11", "99999999999999999999999", "-1", "x", "²"])
def test_a_length_that_is_too_large_is_refused_before_anything_is_read(length):
    start, body = ask([b"0"], {"content-length": length})
    assert start["status"] == 413
    assert orjson.loads(body["body"]) == {
        "error": "the body has more than 10 bytes, the maximum; send the text in smaller pieces",
        "details": [],
    }


def test_a_body_without_a_length_is_counted():
    with pytest.raises(ApiError, match="more than 10 bytes") as refused:
        ask([b"012345", b"6789ab", b"cd"])
    assert refused.value.status_code == 413


def test_an_endless_body_is_not_read_to_its_end():
    chunks = iter([b"x" * 8] * 10_000)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    async def run() -> None:
        scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
        with pytest.raises(ApiError, match="more than 10 bytes"):
            await Middleware(echo, SMALL)(scope, receive, None)  # type: ignore[arg-type]

    asyncio.run(run())
    assert sum(1 for _ in chunks) > 9_900


def test_a_body_that_does_not_arrive_is_not_waited_for():
    with pytest.raises(ApiError, match=r"the body did not arrive within 0\.1 seconds") as refused:
        ask([b"0"], is_slow=True)
    assert refused.value.status_code == 408


def test_a_reader_who_does_not_read_is_left_alone():
    assert ask(reads=False) == []


def test_the_application_learns_that_the_reader_is_gone():
    learned = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await echo(scope, receive, send)
        except ReaderGoneError:
            learned.append(True)
            raise

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    asyncio.run(Middleware(app, SMALL)(scope, receive, send))
    assert learned == [True]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8765", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8765", 200),
        ("evil.example", 421),
        ("localhost.evil.example:8765", 421),
        ("", 421),
    ],
)
def test_a_local_server_answers_to_local_names(host, status):
    start, body = ask(headers={"host": host}, hosts=["localhost", "127.0.0.1", "::1"])
    assert start["status"] == status
    if status == 421:
        assert orjson.loads(body["body"])["error"] == (
            f"this server is not {host_of(host)!r}; expected to be addressed as 127.0.0.1, ::1, localhost"
        )


def test_what_is_no_request_passes():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    seen: list[str] = []
    asyncio.run(Middleware(app, SMALL)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


@pytest.mark.parametrize("has_begun", [False, True])
def test_who_waits_when_the_server_ends_is_told(has_begun):
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if has_begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        waiting.set()
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
        task = asyncio.create_task(Middleware(app, SMALL)(scope, None, send))  # type: ignore[arg-type]
        await waiting.wait()
        task.cancel()
        await task

    waiting = asyncio.Event()
    asyncio.run(run())
    assert sent[0]["status"] == (200 if has_begun else 503)
    if not has_begun:
        assert orjson.loads(sent[1]["body"])["error"] == "the server is stopping and abandoned the work"

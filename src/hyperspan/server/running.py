"""Run the application: a socket, a warm start, and a clean end."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import orjson
import uvicorn

from hyperspan.errors import UsageError
from hyperspan.mentions import Sentence
from hyperspan.recognizer import DECODE, Recognizer
from hyperspan.server.app import create_app
from hyperspan.server.errors import ApiError
from hyperspan.server.export import export
from hyperspan.server.inputs import input_of
from hyperspan.server.limits import Limits
from hyperspan.server.models import Model
from hyperspan.server.predicting import How, explanation_answer, find, sentence_answer
from hyperspan.server.schemas import PredictRequest

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

GRACE_SECONDS = 5
"""How long requests that are under way may take to end when the server is stopped."""

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_WARM_UP = "Left and right kidneys are enlarged, with blood in the stomach. No fever."


def open_socket(host: str = "127.0.0.1", port: int = 8765) -> socket.socket:
    """Return a socket that is bound, so that a taken port is known before any work is done.

    Parameters
    ----------
    host : str
        A name or address.
    port : int
        0 takes any port that is free.

    Raises
    ------
    UsageError
        If the host is not this machine, or the port is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the host {host!r} is not known: {getattr(error, 'strerror', None) or error}") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        opened.close()
        raise UsageError(
            f"cannot listen at port {port} of {host}: {error.strerror}. "
            "Choose another port with --port, or any that is free with --port 0"
        ) from None
    return opened


def address_of(opened: socket.socket) -> str:
    """Return the address of a bound socket as a browser takes it."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_local(opened: socket.socket) -> bool:
    """Say whether only this machine can reach a socket."""
    return ipaddress.ip_address(opened.getsockname()[0]).is_loopback


def serve(
    models: Mapping[str, Recognizer],
    opened: socket.socket,
    *,
    limits: Limits | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve models until the process is told to stop.

    Parameters
    ----------
    models : mapping of str to Recognizer
    opened : socket
        By `open_socket`. If only this machine can reach it, requests must name it so.
    limits : Limits, optional
    on_ready : callable, optional
        Gets the address when the first request would be answered.
    """
    names = {*_LOCAL_NAMES, opened.getsockname()[0]} if is_local(opened) else None
    app = create_app(models, limits=limits, hosts=names)
    for name, recognizer in models.items():
        warm_up(Model(name, recognizer))
    asyncio.run(ask(app, "/api/predict", {"text": _WARM_UP}))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=1024,
    )
    with opened, _ended_by_signals():
        _Server(config, lambda: on_ready and on_ready(address_of(opened))).run(sockets=[opened])


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._on_ready()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Take the signals that uvicorn raises again after a clean end: it was asked for, and is no failure."""
    stopping = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, lambda *_: None) for number in stopping}
    except ValueError:  # not in the main thread: none arrive
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def warm_up(model: Model) -> None:
    """Do once what requests ask for, so that the first one finds everything compiled and loaded."""
    given = PredictRequest(text=_WARM_UP)
    read = input_of(given, Limits())
    sentences: list[Sentence] = []
    for decode in DECODE:
        how = How.of(model.recognizer, decode, None)
        for wants_candidates in (False, True):
            answers = find(model, read.sentences, how, wants_candidates=wants_candidates)
            sentences = [
                sentence.with_mentions(answer.found.mentions)
                for sentence, answer in zip(read.sentences, answers, strict=True)
            ]
            for sentence, answer in zip(read.sentences, answers, strict=True):
                sentence_answer(sentence, answer)
        explanation_answer(model, read.sentences[0], how)
    for format in ("svg", "html", "brat", "jsonl"):
        with suppress(ApiError):  # brat does not hold every type
            export(format, read, sentences, model.recognizer.types_, "text")


async def ask(app: ASGIApp, path: str, data: Any) -> int:
    """Send one request to an application without any network, and return the status of its answer."""
    body: list[Message] = [{"type": "http.request", "body": orjson.dumps(data), "more_body": False}]
    statuses: list[int] = []

    async def receive() -> Message:
        if not body:
            await asyncio.Event().wait()
        return body.pop()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        "state": {},
    }
    await app(scope, receive, send)
    return statuses[0]

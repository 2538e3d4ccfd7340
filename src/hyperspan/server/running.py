"""Run the application: open a socket, warm up, and shut down cleanly."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
import uvicorn

from hyperspan.errors import UsageError
from hyperspan.recognizer import Recognizer
from hyperspan.server.app import create_app
from hyperspan.server.authentication import Token
from hyperspan.server.limits import Limits
from hyperspan.server.protocol import most_connections, protocol
from hyperspan.server.warming import TEXT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

_log = logging.getLogger(__name__)

GRACE_SECONDS = 1
"""Seconds that running requests have to finish when the server stops."""

_LOG_SECONDS = 60.0
_MOST_MESSAGES = 100

_BACKLOG = 100
"""Connections that the system queues until they are accepted."""

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def open_socket(host: str = "127.0.0.1", port: int = 8765) -> socket.socket:
    """Return a bound socket, so that a taken port is detected before any work is done.

    Parameters
    ----------
    host : str
        A name or address.
    port : int
        The port; 0 for any free port.

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
    """Return the URL of a bound socket."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_local(opened: socket.socket) -> bool:
    """Return whether only this machine can reach a socket."""
    return ipaddress.ip_address(opened.getsockname()[0]).is_loopback


def serve(
    models: Mapping[str, Recognizer],
    opened: socket.socket,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve models until the process is told to stop.

    Parameters
    ----------
    models : mapping of str to Recognizer
    opened : socket
        From `open_socket`. If only this machine can reach it, requests must use a local host name.
    limits : Limits, optional
    token : str, optional
        The token that every request must present. Without one, anyone who can reach the socket can use the models.
    on_ready : callable, optional
        Called with the URL when the server is ready for requests.
    """
    names = {*_LOCAL_NAMES, opened.getsockname()[0]} if is_local(opened) else None
    limits = limits or Limits()
    shown = None if token is None else Token(token)
    app = create_app(models, limits=limits, hosts=names, token=shown)
    asyncio.run(ask(app, "/api/predict", {"text": TEXT}, token))  # loads, compiles and forks before the first request
    config = uvicorn.Config(
        app,
        http=protocol(most_connections(limits.connections)),
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=_BACKLOG,
    )
    with opened, _ended_by_signals():
        _Server(config, lambda: on_ready and on_ready(address_of(opened))).run(sockets=[opened])


class _Server(uvicorn.Server):
    """A server that reports when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_Once())
        await super().startup(sockets=sockets)
        self._on_ready()


class _Once:
    """Handles errors outside of any request: each is logged at most once a minute."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        message = str(context.get("message"))
        now = loop.time()
        if now - self._last.get(message, -math.inf) >= _LOG_SECONDS:
            self._last = {message: now} if len(self._last) > _MOST_MESSAGES else {**self._last, message: now}
            _log.error("%s: %r", message, context.get("exception"))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Catch the signals that uvicorn raises again after a clean shutdown, which is not a failure."""
    stopping = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, lambda *_: None) for number in stopping}
    except ValueError:  # outside the main thread there are no signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def ask(app: ASGIApp, path: str, data: Any, token: str | None = None) -> int:
    """Send one request to an application without a network, and return the status of the response."""
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
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
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

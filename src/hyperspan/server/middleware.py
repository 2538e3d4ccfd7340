"""Middleware between the network and the application: sizes, times, hosts and the headers of every response."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

from hyperspan.diagnostics import quoted
from hyperspan.server.authentication import LARGEST_FORM, LOGIN, Token, login_page, login_style, not_shown
from hyperspan.server.errors import ApiError, error_response, too_large
from hyperspan.server.limits import Limits

if TYPE_CHECKING:
    from fastapi import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

_STOPPING = ApiError(503, "the server is stopping and abandoned the work", headers={"Connection": "close"})

DEADLINE = "hyperspan.deadline"
"""The key in a request's scope for its deadline, by the loop's clock."""

_LAST_WORD_SECONDS = 1.0
"""Extra time for a response that reports a timeout, or was ready just in time."""

_DRAINED_BODIES = 4
_DRAIN_SECONDS = 2.0


class ReaderGoneError(Exception):
    """The client does not read the response."""


class Middleware:
    """An ASGI application around another one.

    Parameters
    ----------
    app : ASGI application
    limits : Limits
        Used are ``body``, and ``seconds`` for receiving the body, the work and sending the response.
    hosts : collection of str, optional
        The lower-case names under which the server may be addressed; any if not given. Local names keep web pages of
        other sites from reaching a local server through a name of their own (DNS rebinding).
    token : Token, optional
        The token that every request must present.
    """

    def __init__(
        self, app: ASGIApp, limits: Limits, hosts: Collection[str] | None = None, token: Token | None = None
    ) -> None:
        self._app = app
        self._limits = limits
        self._hosts = None if hosts is None else frozenset(hosts)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        scope[DEADLINE] = deadline
        sender = _Sender(scope, send, deadline)
        receiver = _Receiver(receive, self._limits, deadline)
        try:
            rejection = self._rejection(scope)
            if rejection is not None:
                await receiver.drain()
                await _response(rejection)(scope, receiver, sender)
            elif self._token is not None and not self._token.is_shown(dict(scope["headers"])):
                await (await _to_strangers(self._token, scope, receiver))(scope, receiver, sender)
            else:
                await self._app(scope, receiver, sender)
        except ReaderGoneError:
            return
        except asyncio.CancelledError:  # only when the server stops
            if not sender.has_begun:
                await _response(_STOPPING)(scope, receiver, sender)

    def _rejection(self, scope: Scope) -> ApiError | None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self._limits.body:
            return too_large(self._limits.body)
        if self._hosts is not None:
            host = host_of(headers.get(b"host", b"").decode("latin-1"))
            if host not in self._hosts:
                known = ", ".join(sorted(self._hosts))
                return ApiError(421, f"this server is not {quoted(host)}; expected to be addressed as {known}")
        return None


async def _to_strangers(token: Token, scope: Scope, receiver: _Receiver) -> Response:
    """Answer a request without the token: people get the login page, programs an error."""
    path, is_post = scope["path"], scope["method"] == "POST"
    if path == f"{LOGIN}/style.css":
        return login_style()
    if path == LOGIN and is_post:
        return token.login(await receiver.body(LARGEST_FORM))
    if path == LOGIN or (path in ("/", "/docs") and not is_post):
        return login_page()
    await receiver.drain()
    return _response(not_shown())


def _response(rejection: ApiError) -> Response:
    return error_response(rejection.status_code, rejection.detail, rejection.details, rejection.headers)


def host_of(header: str) -> str:
    """Return the host that a ``Host`` header names, without its port.

    Examples
    --------
    >>> host_of("LocalHost:8765"), host_of("[::1]:80"), host_of("::1")
    ('localhost', '::1', '::1')
    """
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text if text.count(":") > 1 else text.partition(":")[0]


class _Receiver:
    """Reads a body within limits of size and time."""

    def __init__(self, receive: Receive, limits: Limits, deadline: float) -> None:
        self._receive = receive
        self._limits = limits
        self._deadline = deadline
        self._n_bytes = 0
        self._has_ended = False

    async def __call__(self) -> Message:
        if self._has_ended:
            return await self._receive()
        message = await self._in_time()
        if self._n_bytes > self._limits.body:
            await self.drain()
            raise too_large(self._limits.body)
        return message

    async def _in_time(self) -> Message:
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            sentence = f"the body did not arrive within {self._limits.seconds:g} seconds"
            raise ApiError(408, sentence, headers={"Connection": "close"}) from None
        self._n_bytes += len(message.get("body", b""))
        self._has_ended = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def body(self, most: int) -> bytes:
        """Return a whole body, truncated to at most ``most`` bytes."""
        pieces = []
        while not self._has_ended and self._n_bytes <= most:
            pieces.append((await self()).get("body", b""))
        return b"".join(pieces)[:most]

    async def drain(self) -> None:
        """Read a little more of the body: most clients read no response before they have sent everything."""
        enough = self._n_bytes + _DRAINED_BODIES * self._limits.body
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while not self._has_ended and self._n_bytes <= enough:
                    await self._in_time()
        except (TimeoutError, ApiError):
            return


class _Sender:
    """Sends a response with the common headers; gives up on clients that do not read it."""

    def __init__(self, scope: Scope, send: Send, deadline: float) -> None:
        self._is_data = scope["path"].startswith(("/api/", "/healthz"))
        self._send = send
        self._deadline = deadline
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            caching = (b"cache-control", b"no-store" if self._is_data else b"no-cache")
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS, caching]}
        if not self.has_begun:
            self._deadline = max(self._deadline, asyncio.get_running_loop().time() + _LAST_WORD_SECONDS)
        self.has_begun = True
        try:
            async with asyncio.timeout_at(self._deadline):
                await self._send(message)
        except TimeoutError:
            raise ReaderGoneError from None

"""Connections: limit their number, and the time to send the headers."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Seconds for all headers of a request to arrive, from the connection or its first byte."""

_SPARE_FILES = 64
"""File descriptors that the process needs besides its connections."""

_FULL = (
    b'{"error": "there are too many connections; try again in a second", "details": []}',
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n",
)


def most_connections(wanted: int) -> int:
    """Return how many connections are possible without running out of file descriptors."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    room = wanted if soft == resource.RLIM_INFINITY else max(soft - _SPARE_FILES, soft // 4)
    return max(1, min(wanted, room))


def protocol(limit: int) -> type[H11Protocol]:
    """Return the class of connections, limited to this many."""

    class Connection(H11Protocol):
        """One client: rejected if there are too many, and closed if it does not send its headers in time."""

        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limit:
                content, head = _FULL
                transport.write(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)
                transport.close()
            else:
                self._await_headers()

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_waiting()
            elif self._waiting is None:
                self._await_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            self._stop_waiting()
            super().on_response_complete()

        def _await_headers(self) -> None:
            self._waiting = self.loop.call_later(HEADER_SECONDS, self._give_up)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            self._waiting = None
            if not self.transport.is_closing():
                self.transport.close()

    return Connection

"""Responses that are streamed line by line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.responses import StreamingResponse

from hyperspan.server.executor import Slot

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LINES = "application/x-ndjson"


def wants_lines(request: Request) -> bool:
    """Return whether a response should be streamed line by line."""
    return any(each.split(";")[0].strip().lower() == LINES for each in request.headers.get("accept", "").split(","))


class Streamed(StreamingResponse):
    """Lines of JSON; the slot of the request is freed when they are sent, or when the client disconnects."""

    def __init__(self, lines: AsyncIterator[bytes], slot: Slot) -> None:
        super().__init__(lines, media_type=LINES)
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._slot.leave()

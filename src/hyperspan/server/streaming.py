"""Answers that come line by line."""

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
    """Say whether an answer is asked for line by line."""
    return any(each.split(";")[0].strip().lower() == LINES for each in request.headers.get("accept", "").split(","))


class Streamed(StreamingResponse):
    """Lines of JSON; the place of the request is given back when they are sent, or when the reader is gone."""

    def __init__(self, lines: AsyncIterator[bytes], slot: Slot) -> None:
        super().__init__(lines, media_type=LINES)
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._slot.leave()

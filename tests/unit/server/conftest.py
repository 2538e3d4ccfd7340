"""Small models to serve, and a client that needs no network."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from hyperspan import Recognizer
from hyperspan.corpora import demo
from hyperspan.server import Limits, create_app


class Client:
    """Asks an application one thing at a time."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(self, method: str, path: str, **what: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, **what)

        return asyncio.run(ask())

    def get(self, path: str, **what: Any) -> httpx.Response:
        return self.request("GET", path, **what)

    def post(self, path: str, data: Any, **what: Any) -> httpx.Response:
        return self.request("POST", path, json=data, **what)


@pytest.fixture(scope="session")
def recognizer() -> Recognizer:
    reports = demo.generate(40, unit="sentences")
    return Recognizer(max_components=2, max_iterations=15, n_threads=1).fit(
        reports.split("train"), dev=reports.split("dev")
    )


@pytest.fixture(scope="session")
def linear() -> Recognizer:
    reports = demo.generate(12, unit="sentences")
    return Recognizer(structure="linear", max_iterations=5, n_threads=1).fit(reports.split("train"))


@pytest.fixture(scope="session")
def client(recognizer: Recognizer, linear: Recognizer) -> Client:
    limits = Limits(body=100_000, words=300, explained_words=40)
    return Client(create_app({"small": recognizer, "tags": linear}, limits=limits))


@pytest.fixture(scope="session")
def client_of() -> type[Client]:
    return Client

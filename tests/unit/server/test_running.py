"""Sockets, and a start that leaves nothing to be done for the first request."""

from __future__ import annotations

import asyncio
import socket

import pytest

from hyperspan.errors import UsageError
from hyperspan.server import create_app, open_socket
from hyperspan.server.models import Model
from hyperspan.server.running import address_of, ask, is_local
from hyperspan.server.warming import warm_up


def test_any_free_port():
    with open_socket(port=0) as opened:
        port = opened.getsockname()[1]
        assert port > 0
        assert address_of(opened) == f"http://127.0.0.1:{port}/"
        assert is_local(opened)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_addresses_with_colons():
    try:
        opened = open_socket("::1", 0)
    except UsageError:
        pytest.skip("this machine has no IPv6 address of its own")
    with opened:
        assert address_of(opened) == f"http://[::1]:{opened.getsockname()[1]}/"
        assert is_local(opened)


def test_others_can_reach_what_is_not_local():
    with open_socket("0.0.0.0", 0) as opened:
        assert not is_local(opened)


def test_a_taken_port_is_said():
    with open_socket(port=0) as opened:
        opened.listen()
        port = opened.getsockname()[1]
        with pytest.raises(UsageError, match=rf"^cannot listen at port {port} of 127\.0\.0\.1: .*--port 0$"):
            open_socket(port=port)


@pytest.mark.parametrize("host", ["no such host.invalid", "a" * 300, "\ud800"])
def test_an_unknown_host_is_said(host):
    with pytest.raises(UsageError, match=r"^the host '.*' is not known: "):
        open_socket(host, 0)


@pytest.mark.parametrize("which", ["recognizer", "linear"])
def test_warm_up_works_for_every_structure(which, request):
    warm_up([Model("a", request.getfixturevalue(which))])


def test_a_request_without_a_network(recognizer):
    app = create_app({"a": recognizer})
    assert asyncio.run(ask(app, "/api/predict", {"text": "No fever."})) == 200
    assert asyncio.run(ask(app, "/api/predict", {})) == 422

"""brat's tagger protocol, asked for as brat's server asks, on a real socket."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from hyperspan import Mention, Recognizer, Sentence
from hyperspan.server import Limits, create_app
from hyperspan.server.tagger import tagger_answer

TEXT = "Blood seen in\r\n mouth and on tongue 🙂.\n\nNo fever. "


@pytest.fixture(scope="module")
def tagger() -> Recognizer:
    sentences = [
        Sentence(["Blood", "seen", "in", "mouth", "and", "on", "tongue", "."], [Mention("Finding", [(0, 1), (2, 4)])]),
        Sentence(["No", "fever", "."], [Mention("Finding", [(1, 2)])]),
    ]
    return Recognizer(max_components=2, n_threads=1).fit(sentences * 12)


@pytest.fixture(scope="module")
def app(tagger):
    return create_app({"notes": tagger}, limits=Limits(body=10_000, words=100))


def ask(client: Any, text: str | bytes, path: str = "/api/brat", kind: str = "text/plain; charset=utf-8"):
    content = text.encode() if isinstance(text, str) else text
    return client.request("POST", path, content=content, headers={"Content-Type": kind})


def check_contract(answer: Any, text: str) -> None:
    """What brat's server asserts of an answer, and what its annotations must be like."""
    assert isinstance(answer, dict)
    for mention in answer.values():
        assert set(mention) == {"type", "offsets", "texts"}
        assert len(mention["offsets"]) == len(mention["texts"]) > 0
        assert mention["type"].split() == [mention["type"]]
        for (start, end), covered in zip(mention["offsets"], mention["texts"], strict=True):
            assert text[start:end] == covered == covered.strip() != ""
            assert "\n" not in covered
        assert mention["offsets"] == sorted(mention["offsets"])


def test_a_text_is_tagged(app, client_of, tagger):
    response = ask(client_of(app), TEXT)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    check_contract(answer, TEXT)
    assert list(answer) == [f"T{number}" for number in range(1, len(answer) + 1)]
    texts = [mention["texts"] for mention in answer.values()]
    assert ["fever"] in texts
    assert len(answer) == len(tagger.predict([TEXT])[0])


def test_nothing_to_tag(app, client_of):
    for text in ("", "\n\n", "🙂"):
        response = ask(client_of(app), text)
        assert response.status_code == 200
        check_contract(response.json(), text)


def test_model_and_threshold_are_in_the_address(app, client_of):
    client = client_of(app)
    assert ask(client, TEXT, "/api/brat?model=notes&threshold=1").json() == {}
    assert ask(client, TEXT, "/api/brat?model=other").status_code == 404
    assert ask(client, TEXT, "/api/brat?threshold=7").status_code == 422


def test_what_is_refused(app, client_of):
    client = client_of(app)
    response = ask(client, "{}", kind="application/json")
    assert (response.status_code, response.json()["error"]) == (
        415,
        "the content type is 'application/json'; expected 'text/plain'",
    )
    response = ask(client, b"caf\xe9")
    assert (response.status_code, response.json()["error"]) == (
        400,
        "the body is not UTF-8: byte 3 (unexpected end of data)",
    )
    assert ask(client, "x" * 10_001).status_code == 413
    response = ask(client, "x " * 101)
    assert response.status_code == 422
    assert "sentence 1 has 101 words; expected at most 100" in response.json()["error"]


def test_parts_end_with_the_line():
    text = "high \r\n  fever\nand cough"
    places = [(0, 4), (9, 14), (15, 18), (19, 24)]
    sentence = Sentence(["high", "fever", "and", "cough"], [Mention("F", [(0, 2), (3, 4)])], offsets=places)
    answer = tagger_answer(text, [sentence])
    check_contract(answer, text)
    assert answer["T1"]["texts"] == ["high", "fever", "cough"]


def test_types_with_blanks_are_one_word():
    sentence = Sentence(["fever"], [Mention("Sign or symptom", [(0, 1)])], offsets=[(0, 5)])
    assert tagger_answer("fever", [sentence])["T1"]["type"] == "Sign_or_symptom"


def test_over_a_socket_as_brat_does(app):
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        address = urlsplit(f"http://127.0.0.1:{port}/api/brat?model=notes")
        connection = HTTPConnection(address.netloc)
        data = TEXT.encode()
        headers = {
            "Content-type": "text/plain; charset=utf-8",
            "Accept": "application/json",
            "Content-length": str(len(data)),
        }
        connection.request("POST", f"{address.path}?{address.query}", data, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200
        check_contract(json.loads(answer.read()), TEXT)
        connection.close()
    finally:
        server.should_exit = True
        thread.join()

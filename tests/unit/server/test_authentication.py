"""Whoever has no token gets nothing but the page to enter it."""

from __future__ import annotations

import pytest

from hyperspan.errors import UsageError
from hyperspan.server import create_app
from hyperspan.server.authentication import LARGEST_FORM, Token, new_token

TEXT = "correct-horse-battery"
ASKED = {"text": "No fever."}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def guarded(client_of, recognizer):
    return client_of(create_app({"small": recognizer}, token=Token(TEXT)))


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_a_program_shows_the_token(guarded):
    assert guarded.post("/api/predict", ASKED, headers=bearer(TEXT)).status_code == 200
    assert guarded.get("/healthz", headers={"authorization": f"bearer  {TEXT} "}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer(""),
        bearer(TEXT[:-1]),
        bearer(TEXT + "x"),
        bearer("\xff" * 20),
        {"Authorization": TEXT},
        {"Authorization": f"Basic {TEXT}"},
        {"Cookie": f"hyperspan={TEXT}"},
        {"Cookie": "hyperspan="},
        {"Cookie": "hyperspan=\xff; ]=["},
    ],
)
@pytest.mark.parametrize("path", ["/api/model", "/healthz", "/openapi.json", "/static/style.css", "/no-such-path"])
def test_strangers_get_a_sentence(guarded, headers, path):
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    response = guarded.get(path, headers=encoded)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json() == {
        "error": "this server requires a token; send it as 'Authorization: Bearer TOKEN', or enter it at /login",
        "details": [],
    }
    assert guarded.post("/api/predict", ASKED, headers=encoded).status_code == 401


@pytest.mark.parametrize("path", ["/", "/docs", "/login"])
def test_people_get_a_page_to_enter_it(guarded, path):
    response = guarded.get(path)
    assert response.status_code == 401
    assert '<label for="token">Token</label>' in response.text
    assert "form-action 'self'" in response.headers["content-security-policy"]
    assert "script" not in response.text
    assert guarded.get("/login/style.css").headers["content-type"].startswith("text/css")


def test_the_token_is_exchanged_for_a_cookie(guarded):
    response = guarded.request("POST", "/login", content=f"token=+{TEXT}+", headers=FORM)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert TEXT not in cookie
    shown = {"Cookie": f"other=1; {cookie.split(';')[0]}"}
    assert guarded.get("/", headers=shown).status_code == 200
    assert guarded.post("/api/predict", ASKED, headers=shown).status_code == 200
    assert guarded.get("/login", headers=shown).headers["location"] == "/"


def test_malformed_cookies_of_other_servers_do_no_harm(guarded):
    cookie = guarded.request("POST", "/login", content=f"token={TEXT}", headers=FORM).headers["set-cookie"]
    for other in ('choices={"dark": true}', "a b=c", "=", "naïve=1"):
        shown = {"Cookie": f"{other}; {cookie.split(';')[0]}".encode("latin-1")}
        assert guarded.get("/", headers=shown).status_code == 200


@pytest.mark.parametrize(
    "form",
    [
        "",
        "token=",
        "token=wrong",
        f"other={TEXT}",
        "a=1&b=2&c=3&d=4",
        "x" * 10_000,
        f"{'x' * LARGEST_FORM}&token={TEXT}",
    ],
)
def test_another_token_is_not_taken(guarded, form):
    response = guarded.request("POST", "/login", content=form, headers=FORM)
    assert response.status_code == 401
    assert '<p role="alert">This is not the token.' in response.text
    assert "set-cookie" not in response.headers


def test_forms_with_too_many_fields_are_not_taken(guarded):
    response = guarded.request("POST", "/login", content="a=1&" * 5 + f"token={TEXT}", headers=FORM)
    assert response.status_code == 401


@pytest.mark.parametrize(
    "text", ["", "fifteen-letters", "with blanks in it anyway", "ümlaut-in-the-token", "a" * 20 + "\n"]
)
def test_tokens_that_can_be_guessed_or_not_be_sent_are_refused(text):
    with pytest.raises(UsageError, match=rf"the token has {len(text)} characters; expected at least 16"):
        Token(text)


def test_new_tokens_are_tokens():
    made = {new_token() for _ in range(20)}
    assert len(made) == 20
    for text in made:
        Token(text)


def test_without_a_token_nothing_is_asked_for(client):
    assert client.get("/login").headers["location"] == "/"
    assert client.get("/healthz").status_code == 200

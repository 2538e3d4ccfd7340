"""Authentication: a token for programs, and a login page for people."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from fastapi import Response
from starlette.requests import cookie_parser

from hyperspan.errors import UsageError
from hyperspan.server.documentation import STYLE
from hyperspan.server.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGIN = "/login"
SHORTEST = 16
"""The minimum number of characters in a token: shorter ones can be guessed."""

LARGEST_FORM = 4_096
"""The maximum number of bytes in a login form."""

_COOKIE = "hyperspan"


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)


class Token:
    """The token that a client must present: as ``Authorization: Bearer …``, or by the cookie from the login page.

    Parameters
    ----------
    text : str
        At least `SHORTEST` visible ASCII characters.

    Examples
    --------
    >>> token = Token("correct horse battery".replace(" ", "-"))
    >>> token.is_shown({b"authorization": b"Bearer correct-horse-battery"}), token.is_shown({})
    (True, False)
    >>> Token("short")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: the token has 5 characters; expected at least 16, ...
    """

    def __init__(self, text: str) -> None:
        if len(text) < SHORTEST or not all("!" <= character <= "~" for character in text):
            raise UsageError(
                f"the token has {len(text)} characters; expected at least {SHORTEST}, all of them visible ASCII "
                "characters. Leave it out to have one made"
            )
        self._text = text.encode()
        # The cookie does not reveal the token, and is invalid for another token.
        self._cookie = hmac.new(self._text, b"hyperspan cookie", hashlib.sha256).hexdigest().encode()

    def is_shown(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether the headers of a request, with lower-case names, have the token or the cookie."""
        kind, _, shown = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer" and hmac.compare_digest(shown.strip(), self._text):
            return True
        return hmac.compare_digest(_cookie_in(headers.get(b"cookie", b"")), self._cookie)

    def login(self, form: bytes) -> Response:
        """Return the response to a login form: the cookie, or the page again."""
        try:
            given = parse_qs(form.decode("utf-8", "replace"), max_num_fields=4).get("token", [""])[0]
        except ValueError:  # too many fields
            given = ""
        if not hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._text):
            return login_page("This is not the token. It was printed, or given, where the server was started.")
        cookie = f"{_COOKIE}={self._cookie.decode()}; Path=/; HttpOnly; SameSite=Strict"
        return Response(status_code=303, headers={"Location": "/", "Set-Cookie": cookie})


def _cookie_in(header: bytes) -> bytes:
    # Not parsed by `SimpleCookie`: it drops all cookies if one is malformed, and other local servers may set such.
    return cookie_parser(header.decode("latin-1")).get(_COOKIE, "").encode("utf-8", "replace")


def not_shown() -> ApiError:
    """Return the error for a request without the token."""
    return ApiError(
        401,
        "this server requires a token; send it as 'Authorization: Bearer TOKEN', or enter it at /login",
        headers={"WWW-Authenticate": "Bearer"},
    )


def login_page(problem: str = "") -> Response:
    """Return the login page, which needs no script."""
    said = f'<p role="alert">{problem}</p>' if problem else ""
    described = ' aria-invalid="true"' if problem else ""
    html = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>hyperspan: log in</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="stylesheet" href="/login/style.css">\n</head>\n<body>\n<main>\n<h1>hyperspan</h1>\n'
        f'{said}\n<form method="post" action="{LOGIN}">\n<label for="token">Token</label>\n'
        '<input id="token" name="token" type="password" autocomplete="current-password" required autofocus'
        f"{described}>\n"
        "<button>Log in</button>\n</form>\n"
        "<p>The token was printed, or given, where the server was started.</p>\n</main>\n</body>\n</html>\n"
    )
    return Response(html, 401, media_type="text/html")


def login_style() -> Response:
    """Return the style of the page."""
    return Response(STYLE + "input,button{font:inherit;padding:.3rem .6rem;margin-inline:.4rem}", media_type="text/css")

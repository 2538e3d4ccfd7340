"""Errors in one format: ``{"error": a sentence, "details": [...]}`` with the matching status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from hyperspan.diagnostics import quoted
from hyperspan.errors import HyperspanError

MOST_DETAILS = 20

OUR_FAULT = "something went wrong on our side; the server's log has the details. Please report it"


class ApiError(HTTPException):
    """An error response with a sentence.

    Parameters
    ----------
    status : int
    sentence : str
        What was found, what was expected and what to do.
    details : sequence of str
        One for each problem.
    headers : mapping, optional
    """

    def __init__(
        self, status: int, sentence: str, details: Sequence[str] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, sentence, None if headers is None else dict(headers))
        self.details = list(details)


def too_large(limit: int) -> ApiError:
    """Return the error for a body that is too large."""
    sentence = f"the body has more than {limit:,} bytes, the maximum; send the text in smaller pieces"
    return ApiError(413, sentence, headers={"Connection": "close"})


def too_slow(seconds: float) -> ApiError:
    """Return the error for work that takes too long."""
    sentence = f"the work was not done within {seconds:g} seconds and was given up; send less text at a time"
    return ApiError(503, sentence, headers={"Retry-After": "5"})


def too_large_for_memory(memory: int) -> ApiError:
    """Return the error for work that needs too much memory."""
    sentence = f"the work takes more than {memory // 1_000_000:,} MB and was given up; send less text at a time"
    return ApiError(503, sentence, headers={"Retry-After": "5"})


def broken() -> ApiError:
    """Return the error for a fault of the server."""
    return ApiError(500, OUR_FAULT, headers={"Connection": "close"})


def too_many(places: int) -> ApiError:
    """Return the error for a full queue."""
    sentence = f"{places:,} requests are in progress, the maximum at a time; try again in a second"
    return ApiError(503, sentence, headers={"Retry-After": "1"})


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return plain data as a JSON response."""
    return Response(orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY), status, headers, "application/json")


def error_data(sentence: str, details: Sequence[str] = ()) -> dict[str, Any]:
    """Return the common format of errors; characters that JSON cannot hold are escaped."""
    return {"error": _holdable(sentence), "details": [_holdable(detail) for detail in details]}


def error_response(
    status: int, sentence: str, details: Sequence[str] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error as a response."""
    return json_response(error_data(sentence, details), status, headers)


def _holdable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def add_handlers(app: FastAPI) -> None:
    """Make an application return every error in the common format."""
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HyperspanError, _ours)
    app.add_exception_handler(Exception, _unexpected)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, ApiError):
        return error_response(error.status_code, error.detail, error.details, error.headers)
    path = quoted(request.url.path)
    if error.status_code == 404:
        sentence = f"there is nothing at {path}; /docs lists what there is"
    elif error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        sentence = f"{path} does not take {quoted(request.method)}; expected {allowed or 'another method'}"
    else:
        sentence = f"the request cannot be answered: {error.detail or HTTPStatus(error.status_code).phrase}"
    return error_response(error.status_code, sentence, headers=error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    details = [_detail(each) for each in found[:MOST_DETAILS]]
    if len(found) > MOST_DETAILS:
        details.append(f"and {len(found) - MOST_DETAILS:,} more")
    return error_response(422, "the request is not valid; details say where", details)


def _detail(found: Mapping[str, Any]) -> str:
    """Describe where and what is wrong, without the value, which may be a whole text."""
    place = ".".join(quoted(part)[1:-1] if isinstance(part, str) else str(part) for part in found["loc"])
    return f"{place}: {found['msg']}"


async def _ours(request: Request, error: Exception) -> Response:
    return error_response(422, str(error))


async def _unexpected(request: Request, error: Exception) -> Response:
    return error_response(500, OUR_FAULT, headers={"Connection": "close"})

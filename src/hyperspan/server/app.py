"""The application: its routes and their responses."""

# No `from __future__ import annotations` here: FastAPI reads the annotations of the routes.

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from hyperspan import __version__
from hyperspan.diagnostics import quoted
from hyperspan.errors import HyperspanError
from hyperspan.recognizer import Recognizer
from hyperspan.render import html_style
from hyperspan.render.picture import svg_style
from hyperspan.server import tasks
from hyperspan.server.authentication import LOGIN, Token
from hyperspan.server.documentation import STYLE, page
from hyperspan.server.errors import OUR_FAULT, ApiError, add_handlers, error_data, json_response
from hyperspan.server.executor import Executor, Slot
from hyperspan.server.export import File
from hyperspan.server.limits import Limits
from hyperspan.server.middleware import DEADLINE, Middleware
from hyperspan.server.models import Model, Models
from hyperspan.server.predicting import How
from hyperspan.server.schemas import (
    BratAnswer,
    BratRequest,
    ErrorAnswer,
    ExplainAnswer,
    ExplainRequest,
    ExportRequest,
    HealthAnswer,
    ModelsAnswer,
    OneModelAnswer,
    PredictAnswer,
    PredictRequest,
    TaggedMention,
)
from hyperspan.server.streaming import LINES, Streamed, wants_lines
from hyperspan.server.tasks import Begun
from hyperspan.server.warming import warm_up

STATIC = Path(__file__).parent / "static"

_log = logging.getLogger(__name__)


class JsonRequest(Request):
    """A request whose body is strict JSON."""

    async def json(self) -> Any:
        """Return the body as plain data.

        Raises
        ------
        ApiError
            With status 400, if it is not JSON.
        """
        try:
            return orjson.loads(await self.body())
        except orjson.JSONDecodeError as error:
            raise ApiError(400, f"the body is not JSON in UTF-8: {error}") from None


class JsonRoute(APIRoute):
    """A route that takes JSON and nothing else."""

    takes = "application/json"

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            if request.method == "POST":
                request.app.state.executor.check_room()  # before any of the body is read
                kind = request.headers.get("content-type", "")
                if kind.split(";")[0].strip().lower() != self.takes:
                    seen = quoted(kind) if kind else "not given"
                    raise ApiError(415, f"the content type is {seen}; expected {self.takes!r}")
            return await handle(JsonRequest(request.scope, request.receive))

        return checked


class TextRoute(JsonRoute):
    """A route that takes plain text."""

    takes = "text/plain"


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    meanings = {
        400: "The body is not JSON, or not UTF-8.",
        404: "There is no model of that name.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The content type is not the expected one.",
        422: "A field is invalid, or a sentence is too long.",
        503: "Too much to do, or it took too long; try again later.",
    }
    return {status: {"model": ErrorAnswer, "description": meanings[status]} for status in statuses}


_OF_BODIES = (400, 408, 413, 415, 422, 503)


def create_app(
    models: Mapping[str, Recognizer],
    *,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
    token: Token | None = None,
) -> FastAPI:
    """Return the application that serves models.

    Parameters
    ----------
    models : mapping of str to Recognizer
        The models by name; the first is the default.
    limits : Limits, optional
    hosts : collection of str, optional
        The host names under which it may be addressed; any if not given.
    token : Token, optional
        The token that every request must present; none if not given.
    """
    limits = limits or Limits()
    served = Models(models)
    executor = Executor(limits, served, partial(warm_up, served))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        executor.start()
        yield
        executor.close()

    app = FastAPI(
        title="hyperspan",
        version=__version__,
        description="Find mentions whose words need not be adjacent and may overlap.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.executor = executor
    app.add_middleware(Middleware, limits=limits, hosts=hosts, token=token)
    add_handlers(app)
    app.include_router(_interface(served, executor, limits))
    app.include_router(_tagger(served, executor, limits))
    _add_pages(app)
    return app


def _interface(models: Models, executor: Executor, limits: Limits) -> APIRouter:
    router = APIRouter(route_class=JsonRoute)

    @router.get("/healthz", responses={200: {"model": HealthAnswer}})
    async def healthz() -> Response:
        """Report that the server is running."""
        return json_response({"status": "ok", "models": models.names})

    @router.get("/api/model", responses={200: {"model": ModelsAnswer | OneModelAnswer}, **_errors(404, 422)})
    async def model(
        model: str | None = Query(None, description="One model, with all its data."),
    ) -> Response:
        """Describe the models."""
        if model is not None:
            return json_response(models.named(model).summary)
        return json_response({"default": models.default.name, "models": [each.brief for each in models]})

    @router.post("/api/predict", responses={200: _predict_answers(), **_errors(404, *_OF_BODIES)})
    async def predict(given: PredictRequest, request: Request) -> Response:
        """Find mentions. With ``Accept: application/x-ndjson``, the response is streamed line by line: first the
        settings, then each sentence, and finally ``{"done": true, …}``."""
        prediction = _Prediction(models.named(given.model), given, limits)
        slot = executor.slot(_deadline(request))
        try:
            await prediction.begin(slot)
            if wants_lines(request):
                return Streamed(prediction.stream(slot), slot)
            await prediction.finish(slot, request)
            slot.leave()
            return _json(prediction.as_json())
        except BaseException:
            slot.leave()
            raise

    @router.post("/api/explain", responses={200: {"model": ExplainAnswer}, **_errors(404, *_OF_BODIES)})
    async def explain(given: ExplainRequest, request: Request) -> Response:
        """Explain the mentions of one sentence, and draw the hypergraph of a type."""
        how = How.of(models.named(given.model).recognizer, given.decode, given.threshold)
        with executor.slot(_deadline(request)) as slot:
            return _json(await slot.run(tasks.explained, given, how, limits))

    @router.post("/api/export", responses={200: _files(), **_errors(404, *_OF_BODIES)})
    async def export(given: ExportRequest, request: Request) -> Response:
        """Write mentions as a file: a zip with a text and its annotations for brat, JSON lines, SVG or HTML."""
        chosen = models.named(given.model)
        with executor.slot(_deadline(request)) as slot:
            file = await _exported(chosen, given, limits, slot)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.content, headers=headers, media_type=file.media_type)

    @router.post("/api/read-brat", responses={200: {"model": BratAnswer}, **_errors(*_OF_BODIES)})
    async def read_brat(given: BratRequest, request: Request) -> Response:
        """Read a text and its annotations in brat's format; annotations with problems are listed and left out."""
        with executor.slot(_deadline(request)) as slot:
            return _json(await slot.run(tasks.read_brat, given))

    return router


def _tagger(models: Models, executor: Executor, limits: Limits) -> APIRouter:
    router = APIRouter(route_class=TextRoute)
    body = {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}

    @router.post(
        "/api/brat",
        responses={200: {"model": dict[str, TaggedMention]}, **_errors(404, *_OF_BODIES)},
        openapi_extra={"requestBody": body},
    )
    async def tag(
        request: Request,
        model: str | None = Query(None, description="Which model; the first, if not given."),
        threshold: float | None = Query(None, gt=0.0, le=1.0, description="The minimum probability of a mention."),
    ) -> Response:
        """Find mentions in a plain text for brat, which calls this as one of its taggers."""
        try:
            text = (await request.body()).decode()
        except UnicodeDecodeError as error:
            raise ApiError(400, f"the body is not UTF-8: byte {error.start} ({error.reason})") from None
        chosen = models.named(model)
        how = How.of(chosen.recognizer, None, threshold)
        given = ExportRequest(text=text, model=model, format="jsonl")
        with executor.slot(_deadline(request)) as slot:
            pieces, _ = await slot.run(tasks.read_for_export, given, limits)
            found = [await slot.run(tasks.find_for_export, model, piece, how) for piece in pieces]
            return _json(await slot.run(tasks.tagged, text, found))

    return router


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _predict_answers() -> dict[str, Any]:
    line = {"schema": {"type": "string", "description": "Lines of JSON."}}
    return {"model": PredictAnswer, "description": "What was found.", "content": {LINES: line}}


def _files() -> dict[str, Any]:
    kinds = ("application/zip", LINES, "image/svg+xml", "text/html; charset=utf-8")
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {"description": "The file.", "content": content}


class _Prediction:
    """One request to find mentions, processed in pieces."""

    def __init__(self, model: Model, given: PredictRequest, limits: Limits) -> None:
        self._model = model
        self._given = given
        self._limits = limits
        self._how = How.of(model.recognizer, given.decode, given.threshold)
        self._begun = Begun(0, [], [], False, [])
        self._rest: deque[bytes] = deque()
        self._lines: list[bytes] = []
        self._truncated = False

    async def begin(self, slot: Slot) -> None:
        """Read the request and process the first piece, which for most requests is the only one."""
        self._begun = await slot.run(tasks.begin, self._given, self._how, self._limits)
        self._rest.extend(self._begun.rest)
        self._lines, self._truncated = self._begun.lines, self._begun.truncated

    async def _next(self, slot: Slot) -> list[bytes]:
        """Process one more piece."""
        candidates = self._given.candidates
        lines: list[bytes]
        lines, truncated = await slot.run(tasks.go_on, self._given.model, self._rest.popleft(), self._how, candidates)
        self._truncated |= truncated
        return lines

    async def finish(self, slot: Slot, request: Request) -> None:
        """Process the remaining pieces, unless the client disconnects."""
        while self._rest and not await request.is_disconnected():
            self._lines += await self._next(slot)

    def _head(self) -> dict[str, Any]:
        head = {"model": self._model.name, **self._how.as_dict()}
        return head if self._given.gold is None else head | {"findings": self._begun.findings}

    def as_json(self) -> bytes:
        """Return the whole response; the sentences are already JSON."""
        head = orjson.dumps(self._head() | {"truncated": self._truncated})
        return b'%b,"sentences":[%b]}' % (head[:-1], b",".join(self._lines))

    async def stream(self, slot: Slot) -> AsyncIterator[bytes]:
        """Yield the response line by line."""
        yield orjson.dumps(self._head(), option=orjson.OPT_APPEND_NEWLINE)
        lines = self._lines
        try:
            while lines:
                yield b"\n".join((*lines, b""))
                lines = await self._next(slot) if self._rest else []
            last: dict[str, Any] = {"done": True, "sentences": self._begun.n_sentences, "truncated": self._truncated}
        except HTTPException as error:
            last = error_data(error.detail, error.details if isinstance(error, ApiError) else ())
        except HyperspanError as error:
            last = error_data(str(error))
        except Exception:
            _log.exception("a stream broke off")
            last = error_data(OUR_FAULT)
        yield orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE)


async def _exported(model: Model, given: ExportRequest, limits: Limits, slot: Slot) -> File:
    pieces, have_mentions = await slot.run(tasks.read_for_export, given, limits)
    if not have_mentions:
        how = How.of(model.recognizer, given.decode, given.threshold)
        pieces = [await slot.run(tasks.find_for_export, given.model, piece, how) for piece in pieces]
    file: File = await slot.run(tasks.exported, given, pieces)
    return file


def _deadline(request: Request) -> float | None:
    """Return the deadline of a request, set by the middleware."""
    deadline: float | None = request.scope.get(DEADLINE)
    return deadline


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def start() -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    @app.get("/docs", include_in_schema=False)
    async def documentation() -> Response:
        return Response(page(app.openapi()), media_type="text/html")

    @app.get("/docs/style.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css")

    @app.get("/static/render.css", include_in_schema=False)
    async def style_of_drawings() -> Response:
        return Response(html_style() + svg_style(), media_type="text/css")

    @app.get(LOGIN, include_in_schema=False)
    async def logged_in() -> Response:
        return RedirectResponse("/", 303)  # a request that gets here has presented the token, or needs none

    app.mount("/static", StaticFiles(directory=STATIC), name="static")

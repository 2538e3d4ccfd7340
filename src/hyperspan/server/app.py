"""The application: which routes there are, and what they answer."""

# No `from __future__ import annotations` here: FastAPI reads the annotations of the routes.

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import FileResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from hyperspan import __version__
from hyperspan.corpora.brat import document_of
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import HyperspanError
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Found, Recognizer
from hyperspan.render import html_style
from hyperspan.render.picture import svg_style
from hyperspan.server.documentation import STYLE, page
from hyperspan.server.errors import ApiError, add_handlers, error_data, json_response
from hyperspan.server.executor import Executor, Slot
from hyperspan.server.export import File, export
from hyperspan.server.inputs import Input, diagnostics_of, input_of, with_given
from hyperspan.server.limits import Limits
from hyperspan.server.middleware import Middleware
from hyperspan.server.models import Model, Models
from hyperspan.server.predicting import Answer, How, explanation_answer, find, sentence_answer
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
)
from hyperspan.server.streaming import LINES, Streamed, wants_lines

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

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            if request.method == "POST":
                request.app.state.executor.check_room()  # before any of the body is read
                kind = request.headers.get("content-type", "")
                if kind.split(";")[0].strip().lower() != "application/json":
                    seen = quoted(kind) if kind else "not given"
                    raise ApiError(415, f"the content type is {seen}; expected 'application/json'")
            return await handle(JsonRequest(request.scope, request.receive))

        return checked


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    meanings = {
        400: "The body is not JSON.",
        404: "There is no model of that name.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The content type is not JSON.",
        422: "The content is not what is expected.",
        503: "Too much to do, or it took too long; try again later.",
    }
    return {status: {"model": ErrorAnswer, "description": meanings[status]} for status in statuses}


_OF_BODIES = (400, 408, 413, 415, 422, 503)


def create_app(
    models: Mapping[str, Recognizer], *, limits: Limits | None = None, hosts: Collection[str] | None = None
) -> FastAPI:
    """Return the application that serves some models.

    Parameters
    ----------
    models : mapping of str to Recognizer
        By name; the first is taken where a request names none.
    limits : Limits, optional
    hosts : collection of str, optional
        The host names under which it may be addressed; any, if not given.
    """
    limits = limits or Limits()
    served = Models(models)
    executor = Executor(limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
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
    app.add_middleware(Middleware, limits=limits, hosts=hosts)
    add_handlers(app)
    app.include_router(_interface(served, executor, limits))
    _add_pages(app)
    return app


def _interface(models: Models, executor: Executor, limits: Limits) -> APIRouter:
    router = APIRouter(route_class=JsonRoute)

    @router.get("/healthz", responses={200: {"model": HealthAnswer}})
    async def healthz() -> Response:
        """Say that the server is there."""
        return json_response({"status": "ok", "models": models.names})

    @router.get("/api/model", responses={200: {"model": ModelsAnswer | OneModelAnswer}, **_errors(404, 422)})
    async def model(
        model: str | None = Query(None, description="One model, with all that is known of it."),
    ) -> Response:
        """Say what the models are."""
        if model is not None:
            return json_response(models.named(model).summary)
        return json_response({"default": models.default.name, "models": [each.brief for each in models]})

    @router.post("/api/predict", responses={200: _predict_answers(), **_errors(404, *_OF_BODIES)})
    async def predict(given: PredictRequest, request: Request) -> Response:
        """Find mentions. With ``Accept: application/x-ndjson`` the answer comes line by line: first what was asked
        for, then each sentence, at last ``{"done": true, …}``."""
        prediction = _Prediction(models.named(given.model), given, limits)
        slot = executor.slot()
        try:
            await slot.run(prediction.begin)
            if wants_lines(request):
                return Streamed(prediction.stream(slot), slot)
            await prediction.finish(slot, request)
            slot.leave()
            return Response(prediction.as_json(), media_type="application/json")
        except BaseException:
            slot.leave()
            raise

    @router.post("/api/explain", responses={200: {"model": ExplainAnswer}, **_errors(404, *_OF_BODIES)})
    async def explain(given: ExplainRequest) -> Response:
        """Explain what is found in one sentence, and draw the hypergraph of a type."""
        chosen = models.named(given.model)
        with executor.slot() as slot:
            return await slot.run(_explained, chosen, given, limits)

    @router.post("/api/export", responses={200: _files(), **_errors(404, *_OF_BODIES)})
    async def export(given: ExportRequest, request: Request) -> Response:
        """Write mentions as a file: a zip with a text and its annotations for brat, JSON lines, SVG or HTML."""
        chosen = models.named(given.model)
        with executor.slot() as slot:
            file = await _exported(chosen, given, limits, slot)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.content, headers=headers, media_type=file.media_type)

    @router.post("/api/read-brat", responses={200: {"model": BratAnswer}, **_errors(*_OF_BODIES)})
    async def read_brat(given: BratRequest) -> Response:
        """Read a text and its annotations as brat writes them; what is wrong with them is listed, and left out."""
        with executor.slot() as slot:
            return await slot.run(_read_brat, given)

    return router


def _predict_answers() -> dict[str, Any]:
    line = {"schema": {"type": "string", "description": "Lines of JSON."}}
    return {"model": PredictAnswer, "description": "What was found.", "content": {LINES: line}}


def _files() -> dict[str, Any]:
    kinds = ("application/zip", LINES, "image/svg+xml", "text/html; charset=utf-8")
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {"description": "The file.", "content": content}


class _Prediction:
    """What becomes of one request to find mentions, piece by piece."""

    def __init__(self, model: Model, given: PredictRequest, limits: Limits) -> None:
        self._model = model
        self._given = given
        self._limits = limits
        self._how = How.of(model.recognizer, given.decode, given.threshold)
        self._input = Input([])
        self._pieces: deque[slice] = deque()
        self._lines: list[bytes] = []
        self._truncated = False

    def begin(self) -> None:
        """Read the request, and do the first piece: for most there is no other."""
        self._input = input_of(self._given, self._limits)
        self._pieces.extend(self._input.pieces())
        if self._pieces:
            self._lines = self._next()

    def _next(self) -> list[bytes]:
        """Do one more piece."""
        piece = self._pieces.popleft()
        sentences = self._input.sentences[piece]
        errors = [self._input.too_long.get(number) for number in range(piece.start, piece.stop)]
        read = [sentence for sentence, error in zip(sentences, errors, strict=True) if error is None]
        found = iter(find(self._model, read, self._how, wants_candidates=self._given.candidates))
        answers = [next(found) if error is None else Answer(Found(()), ()) for error in errors]
        self._truncated |= any(answer.found.truncated for answer in answers)
        gold = self._input.gold[piece] or repeat(None, len(sentences))
        return [
            orjson.dumps(sentence_answer(sentence, answer, of_sentence) | ({} if error is None else {"skipped": error}))
            for sentence, answer, of_sentence, error in zip(sentences, answers, gold, errors, strict=True)
        ]

    async def finish(self, slot: Slot, request: Request) -> None:
        """Do all that is left, as long as there is somebody to read it."""
        while self._pieces and not await request.is_disconnected():
            self._lines += await slot.run(self._next)

    def _head(self) -> dict[str, Any]:
        head = {"model": self._model.name, **self._how.as_dict()}
        return head if self._given.gold is None else head | {"findings": self._input.findings}

    def as_json(self) -> bytes:
        """Return the whole answer; the sentences are JSON already."""
        head = orjson.dumps(self._head() | {"truncated": self._truncated})
        return b'%b,"sentences":[%b]}' % (head[:-1], b",".join(self._lines))

    async def stream(self, slot: Slot) -> AsyncIterator[bytes]:
        """Yield the answer line by line."""
        yield orjson.dumps(self._head(), option=orjson.OPT_APPEND_NEWLINE)
        lines = self._lines
        try:
            while lines:
                yield b"\n".join((*lines, b""))
                lines = await slot.run(self._next) if self._pieces else []
            n_sentences = len(self._input.sentences)
            last: dict[str, Any] = {"done": True, "sentences": n_sentences, "truncated": self._truncated}
        except HTTPException as error:
            last = error_data(error.detail, error.details if isinstance(error, ApiError) else ())
        except HyperspanError as error:
            last = error_data(str(error))
        except Exception:
            _log.exception("a stream broke off")
            last = error_data("something went wrong on our side; the server's log has the details. Please report it")
        yield orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE)


def _explained(model: Model, given: ExplainRequest, limits: Limits) -> Response:
    read = input_of(given, limits)
    if len(read.sentences) != 1:
        raise ApiError(422, f"the text has {len(read.sentences):,} sentences; expected one. Explain them one by one")
    how = How.of(model.recognizer, given.decode, given.threshold)
    (sentence,) = read.sentences
    if given.mention is not None:
        (sentence,) = with_given([sentence], [[given.mention]])
    return json_response(explanation_answer(model, sentence, how, given.type))


async def _exported(model: Model, given: ExportRequest, limits: Limits, slot: Slot) -> File:
    read = await slot.run(input_of, given, limits)
    if given.mentions is not None:
        sentences = await slot.run(with_given, read.sentences, given.mentions)
    else:
        how = How.of(model.recognizer, given.decode, given.threshold)
        sentences = []
        for piece in read.pieces():
            sentences += await slot.run(_with_found, model, read.sentences[piece], how)
    return await slot.run(export, given.format, read, sentences, model.recognizer.types_, given.doc)


def _with_found(model: Model, sentences: list[Sentence], how: How) -> list[Sentence]:
    answers = find(model, sentences, how)
    return [sentence.with_mentions(answer.found.mentions) for sentence, answer in zip(sentences, answers, strict=True)]


def _read_brat(given: BratRequest) -> Response:
    diagnostics = Diagnostics("skip")
    document = document_of("", given.text, given.ann, diagnostics)
    gold = [{"type": mention.type, "spans": mention.parts} for mention in document.mentions]
    return json_response({"text": given.text, "gold": gold, "findings": diagnostics_of(diagnostics)})


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

    app.mount("/static", StaticFiles(directory=STATIC), name="static")

"""The HTTP interface of an index: read-only, one generation an answer (docs/reference/http.md)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from indexes.wiring import Readers
from schemas.errors import SitegraphError
from schemas.records import to_record
from schemas.settings import LICENCE, install_line
from sitegraph.service import answers
from sitegraph.service.contract import (
    ALLOWED,
    AS_OF,
    CHUNK_ID,
    DOCUMENT_ID,
    NUMBER_MAX,
    VERSION,
    RetrieveRequest,
    Uses,
    answer_schemas,
    at,
    build_question,
    reference,
)
from sitegraph.service.figures import draw_figure
from sitegraph.service.files import PREFIX, files_endpoint
from sitegraph.service.guard import MCP_PATH
from sitegraph.service.metrics import count_as_question
from sitegraph.service.pages.frame import Pages
from sitegraph.service.pages.site import add_pages
from sitegraph.service.parts import Parts
from sitegraph.service.problems import MEDIA_TYPE, HttpProblem, first_fault, problem_of
from sitegraph.service.readers import refuse_allow
from sitegraph.service.source import NAME, PATH, source_archive

PAGE, PAGE_MAX = 100, 1000
ENTRIES, ENTRIES_MAX = 10_000, 100_000


class Png(Response):
    """A picture."""

    media_type = "image/png"


class Archive(Response):
    """A tar file, packed."""

    media_type = "application/gzip"


class Api(FastAPI):
    """The application; its OpenAPI document has the schemas of its answers, its licence and its source."""

    source_url: str = PATH

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            found = get_openapi(
                title="sitegraph",
                version=VERSION,
                routes=self.routes,
                summary="Evidence with citations.",
                license_info={"name": LICENCE, "identifier": LICENCE},
            )
            found["externalDocs"] = {"description": "The source of this version", "url": self.source_url}
            components = found.setdefault("components", {})
            components.setdefault("schemas", {}).update(answer_schemas())
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            self.openapi_schema = {**found, "security": [{"token": []}, {}]}
        return self.openapi_schema


class _Route(APIRoute):
    """Answers HEAD as GET; the server leaves out the body. The contract names GET alone."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(_as_get(scope))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().handle(_as_get(scope), receive, send)


def _as_get(scope: Scope) -> Scope:
    return {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope


def build_app(parts: Parts, pages: Pages, *, mcp: ASGIApp | None = None) -> Api:
    """Return the application, *pages* for browsers included; nothing is opened before the first request.

    Args: mcp: what answers at /mcp, which is no part of the OpenAPI document; None: it is not installed.
    """
    # The pages that FastAPI draws of the contract would fetch their scripts from elsewhere.
    app = Api(docs_url=None, redoc_url=None)
    app.router.route_class = _Route
    app.source_url = parts.source_url or PATH
    app.state.parts = parts
    _add_problems(app, parts, pages)
    _add_retrieve(app, parts)
    _add_chunks(app)
    _add_documents(app)
    _add_changes(app)
    _add_health(app, parts)
    _add_source(app, parts)
    give = files_endpoint(parts)
    app.router.routes.append(Route(f"{PREFIX}/{{path:path}}", give, include_in_schema=False))
    app.router.routes.append(Route(MCP_PATH, mcp or _NoMcp(), include_in_schema=False))
    add_pages(app, pages)
    return app


class _NoMcp:
    """Stands at /mcp where the library is not installed."""

    async def __call__(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
        raise HttpProblem(501, f"MCP is not installed here; run: {install_line('mcp')}", "NotInstalled")


AllowQuery = Annotated[Uses | None, Query(description=ALLOWED)]


async def _narrowed(request: Request, allow: AllowQuery = None) -> Parts:
    """What a request is answered from."""
    parts: Parts = request.app.state.parts
    return await asyncio.to_thread(parts.narrowed, allow) if allow else parts


_Narrowed = Annotated[Parts, Depends(_narrowed)]


def _add_retrieve(app: Api, parts: Parts) -> None:
    @app.post("/retrieve", responses=_answers("ContextBundle", 404), operation_id="retrieve")
    async def retrieve(body: RetrieveRequest, request: Request, allow: AllowQuery = None) -> Response:
        """Return the evidence that answers a question, best first, with its citations."""
        question, tell_found = build_question(body), count_as_question(request.scope)

        def work() -> dict[str, Any]:
            narrowed = parts.narrowed([*(allow or ()), *(body.allow or ())])
            result = narrowed.retriever.walk(question, as_of=at(narrowed, body.as_of))
            narrowed.log(result, False)
            tell_found(bool(result.bundle.evidence))
            return to_record(result.bundle)

        return JSONResponse(await parts.threads.run(work))


def _add_chunks(app: Api) -> None:
    chunk_id = Annotated[str, Path(pattern=CHUNK_ID, alias="id")]

    @app.get("/chunks/{id}", responses=_answers("ChunkAnswer", 404), operation_id="chunk")
    async def chunk(
        parts: _Narrowed, id_: chunk_id, as_of: Annotated[str | None, Query(pattern=AS_OF)] = None
    ) -> Response:
        """Return one chunk, its citation, and its section with the passage between » and «."""
        return await _read(parts, lambda readers: answers.describe_chunk(readers, id_), as_of=as_of)

    @app.get("/chunks/{id}/history", responses=_answers("HistoryAnswer", 404), operation_id="chunk_history")
    async def chunk_history(parts: _Narrowed, id_: chunk_id) -> Response:
        """Return since when a chunk says each of its sentences, and what it said before."""
        return await _read(parts, lambda readers: answers.describe_history(readers, parts.archive, id_))

    @app.get(
        "/chunks/{id}/page.png",
        responses=_problems(404),
        response_class=Png,
        operation_id="page_picture",
    )
    async def picture(parts: _Narrowed, id_: chunk_id) -> Response:
        """Draw the page of a PDF that a chunk stands on, with its box in red."""

        def work(readers: Readers) -> bytes:
            return parts.picture(readers, answers.chunk_of_generation(readers, id_))

        return Png(await parts.threads.run(lambda: parts.retriever.read(work)))

    @app.get(
        "/chunks/{id}/figure.png",
        responses=_problems(404),
        response_class=Png,
        operation_id="figure_picture",
    )
    async def figure(parts: _Narrowed, id_: chunk_id) -> Response:
        """Draw the figure of a PDF that a chunk is the caption of, or stands in, without its page."""

        def work(readers: Readers) -> bytes:
            return draw_figure(parts, readers, id_)

        return Png(await parts.threads.run(lambda: parts.retriever.read(work)))


def _add_documents(app: Api) -> None:
    @app.get("/documents/{id}", responses=_answers("DocumentAnswer", 404), operation_id="document")
    async def document(
        parts: _Narrowed,
        id_: Annotated[str, Path(pattern=DOCUMENT_ID, alias="id")],
        offset: Annotated[int, Query(ge=0, le=NUMBER_MAX)] = 0,
        limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = PAGE,
    ) -> Response:
        """Return one document and its chunks in reading order, a page of them."""
        return await _read(
            parts, lambda readers: answers.describe_document(readers, id_, offset=offset, limit=limit)
        )


def _add_changes(app: Api) -> None:
    number = Annotated[int, Query(ge=0, le=NUMBER_MAX)]

    @app.get("/changes", responses=_answers("Feed", 404, 410), operation_id="changes")
    async def changes(
        parts: _Narrowed,
        since: number,
        until: Annotated[int | None, Query(ge=0, le=NUMBER_MAX)] = None,
        source: Annotated[str | None, Query(max_length=200)] = None,
        limit: Annotated[int, Query(ge=1, le=ENTRIES_MAX)] = ENTRIES,
    ) -> Response:
        """Return what changed after a generation, whole generations of it; go on with `until` as `since`."""

        def work() -> dict[str, Any]:
            feed = answers.read_feed(parts, since=since, until=until, source=source)
            return to_record(answers.cut_feed(feed, limit=limit))

        return JSONResponse(await parts.threads.run(work))


def _add_health(app: Api, parts: Parts) -> None:
    @app.get("/healthz", responses=_answers("Alive"), operation_id="alive")
    async def alive() -> Response:
        """Say that the process answers; looks at nothing."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", responses=_answers("Ready"), operation_id="ready")
    async def ready(_: Annotated[None, Depends(refuse_allow)]) -> Response:
        """Say which generation is read now, and what of it is missing."""
        # Not in line with questions: a busy worker is well, too.
        return JSONResponse(await asyncio.to_thread(parts.retriever.read, answers.describe_readers))


def _add_source(app: Api, parts: Parts) -> None:
    elsewhere: dict[int | str, dict[str, Any]] = {
        307: {"description": "The source is elsewhere", "headers": {"Location": _LOCATION}}
    }

    @app.get(PATH, responses={**_problems(), **elsewhere}, response_class=Archive, operation_id="source")
    async def source() -> Response:
        """Return the source of the version that answers, under its licence (AGPL-3.0, section 13)."""
        if parts.source_url is not None:
            return Response(status_code=307, headers={"Location": parts.source_url})
        packed = await parts.threads.run(source_archive)
        return Archive(packed, headers={"Content-Disposition": f'attachment; filename="{NAME}"'})


_LOCATION = {"schema": {"type": "string"}, "required": False}


def _read(
    parts: Parts, ask: Callable[[Readers], dict[str, Any]], *, as_of: str | None = None
) -> Awaitable[Response]:
    async def answer() -> Response:
        def work() -> dict[str, Any]:
            return parts.retriever.read(ask, as_of=at(parts, as_of))

        return JSONResponse(await parts.threads.run(work))

    return answer()


def _answers(schema: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    good = {"description": "OK", "content": {"application/json": {"schema": reference(schema)}}}
    return {200: good, **_problems(*statuses)}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What any request may be answered, and *statuses*."""
    content = {MEDIA_TYPE: {"schema": reference("Problem")}}
    every = sorted({401, 403, 413, 421, 422, 500, 503, 504, *statuses})
    return {status: {"description": "A problem", "content": content} for status in every}


def _add_problems(app: Api, parts: Parts, pages: Pages) -> None:
    @app.exception_handler(HttpProblem)
    async def problem(request: Request, error: HttpProblem) -> Response:
        return pages.problem(request.scope, error)

    @app.exception_handler(SitegraphError)
    async def ours(request: Request, error: SitegraphError) -> Response:
        problem = problem_of(error)
        if problem.status >= 500:
            parts.warn(f"sitegraph: {error}")
        return pages.problem(request.scope, problem)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        fault = first_fault(error.errors())
        return pages.problem(request.scope, HttpProblem(422, fault, "InvalidRequest"))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        # 400 is what FastAPI says of a body that is no UTF-8; a body that is no JSON is 422.
        status = 422 if error.status_code == 400 else error.status_code
        return pages.problem(request.scope, HttpProblem(status, str(error.detail), "Refused", error.headers))

    @app.exception_handler(Exception)
    async def failed(request: Request, _: Exception) -> Response:
        failure = HttpProblem(500, "internal failure; the server's log says where", "InternalError")
        return pages.problem(request.scope, failure)

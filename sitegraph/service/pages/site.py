"""All pages of the service, a line each."""

from fastapi import FastAPI
from starlette.responses import Response

from sitegraph.service.pages.answer import add_answer
from sitegraph.service.pages.assets import find_asset
from sitegraph.service.pages.cite import add_cite
from sitegraph.service.pages.doc import add_doc
from sitegraph.service.pages.frame import Pages
from sitegraph.service.pages.login import add_login
from sitegraph.service.pages.near import add_near
from sitegraph.service.pages.runs import add_runs
from sitegraph.service.pages.search import add_search
from sitegraph.service.problems import HttpProblem
from sitegraph.service.sessions import STATIC

_FOR_EVER = "public, max-age=31536000, immutable"


def add_pages(app: FastAPI, pages: Pages) -> None:
    """Add every page, and the files they load."""
    add_search(app, pages)
    add_answer(app, pages)
    add_cite(app, pages)
    add_doc(app, pages)
    add_near(app, pages)
    add_runs(app, pages)
    add_login(app, pages)
    _add_files(app)


def _add_files(app: FastAPI) -> None:
    @app.get(f"{STATIC}{{name}}", include_in_schema=False)
    async def file(name: str) -> Response:
        found = find_asset(name)
        if found is None:
            raise HttpProblem(404, "no such file", "NotFound")
        return Response(found.data, headers={"Cache-Control": _FOR_EVER}, media_type=found.media_type)

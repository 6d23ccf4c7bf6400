"""The page that one begins on."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from sitegraph.service.pages.frame import Pages


def add_search(app: FastAPI, pages: Pages) -> None:
    """Add the search."""

    @pages.get(app, "/")
    @pages.get(app, "/search")
    async def search(request: Request) -> Response:
        values = {"q": request.query_params.get("q", "")}
        return await pages.show(request, "search.html", lambda _: values)

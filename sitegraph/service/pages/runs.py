"""Runs and health."""

from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from indexes.wiring import Readers
from sitegraph.service.pages.frame import Pages
from sitegraph.service.viewer.runs import read_health


def add_runs(app: FastAPI, pages: Pages) -> None:
    """Add the page of runs and health."""

    @pages.get(app, "/runs")
    async def runs(request: Request) -> Response:
        def work(readers: Readers) -> dict[str, Any]:
            return {"health": read_health(readers, pages.parts.archive), "degraded": readers.degraded}

        return await pages.show(request, "runs.html", work)

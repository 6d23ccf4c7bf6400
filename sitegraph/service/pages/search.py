"""Search: the form, and passages by document."""

import threading
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from indexes.wiring import Readers
from retrieval.bundle.annotations import read_titles
from retrieval.evidence import absence_in
from schemas.errors import ConfigError, FilterError
from schemas.evidence import ContextBundle
from sitegraph.service.guard import is_cross_site
from sitegraph.service.metrics import count_as_question
from sitegraph.service.pages.frame import Pages
from sitegraph.service.pages.results import (
    TOKENS,
    Asked,
    group_results,
    query_of,
    read_asked,
    read_facets,
    read_topics,
    tidy_address,
)

NOTHING: Mapping[str, Any] = {
    "groups": (),
    "found": 0,
    "spelled": {},
    "degraded": (),
    "relations": (),
    "doc_types": (),
    "wrong": None,
    "looked_at": {},
    "topics": (),
}


def add_search(app: FastAPI, pages: Pages) -> None:
    """Add the search; with `typing=1` it returns the results alone, for what is typed so far."""
    archive, reading = pages.parts.archive, threading.Lock()
    kept: dict[str, Any] = {}

    def show_index(readers: Readers, asked: Asked) -> dict[str, Any]:
        """What a page shows before anything is asked: sources, when they were looked at, their topics.

        The stores are read once a minute, whatever comes of it, while others show what was read before: a
        ledger that does not answer holds one thread.
        """
        minute = (readers.generation, archive.now()[: len("2026-03-31T12:00")])
        if reading.acquire(blocking=not kept):
            try:
                if kept.get("minute") != minute:
                    looked_at = archive.past(readers, lambda past: past.ledger.documents.looked_at()) or {}
                    kept["read"] = {"looked_at": looked_at, "topics": read_topics(readers)}
                    kept["minute"] = minute
            finally:
                reading.release()
        return {**show_form(readers, asked), **kept["read"]}

    @pages.get(app, "/")
    @pages.get(app, "/search")
    async def search(request: Request) -> Response:
        asked = read_asked(request.query_params)
        typing = "typing" in request.query_params
        if not typing and (tidy := tidy_address(request)):
            return RedirectResponse(tidy, status_code=307)
        template = "results.html" if typing else "search.html"
        if not asked.q:
            return await pages.show(request, template, lambda readers: show_index(readers, asked))
        try:
            # The cross-encoder takes longer than all else together: too long for each key that is typed.
            rerank = False if typing else None
            query = query_of(asked, top_k=asked.top_k, token_budget=TOKENS, rerank=rerank, by="page")
        except (ConfigError, FilterError) as error:
            wrong = {"wrong": f"{error.subject}: {error.message}"}
            return await pages.show(
                request, template, lambda readers: {**show_form(readers, asked), **wrong}, status=422
            )
        # What is typed so far is no question yet, and a link of another site is not one of our users.
        uncounted = typing or is_cross_site(request.headers)
        tell_found = None if uncounted else count_as_question(request.scope)

        def work(readers: Readers) -> dict[str, Any]:
            # Of a word that is typed in part nothing says that it stands nowhere.
            walk = pages.parts.retriever.walk_over(readers, query, judge=not typing)
            if tell_found is not None:
                pages.parts.log(walk, False)
                tell_found(bool(walk.bundle.evidence))
            types = {one.chunk.doc_type for one in walk.candidates} - {None}
            shown = show_bundle(readers, walk.bundle)
            return {**show_form(readers, asked), **shown, "doc_types": sorted(types)}

        return await pages.show(request, template, work)


def show_form(readers: Readers, asked: Asked) -> dict[str, Any]:
    """Return what the form takes, and no results."""
    return {**NOTHING, "asked": asked, "facets": read_facets(readers)}


def show_bundle(readers: Readers, bundle: ContextBundle) -> dict[str, Any]:
    """Return what a page shows of a bundle."""
    docs, absence = [one.doc for one in bundle.evidence], absence_in(bundle)
    return {
        "groups": group_results(bundle, read_titles(readers.graph, docs)),
        "found": len(bundle.evidence),
        "spelled": absence.spelled if absence else {},
        "degraded": bundle.degraded,
        "relations": bundle.relations,
    }

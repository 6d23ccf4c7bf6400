"""An answer in sentences, each beside the passage that it is quoted from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from indexes.wiring import Readers
from retrieval.answering.answerable import measure_evidence
from retrieval.answering.answered import Answered
from retrieval.answering.answering import Answerer
from retrieval.bundle.annotations import read_titles
from retrieval.bundle.render import Piece, mark_quote
from retrieval.evidence import state_absence
from retrieval.question.query import ASK_TOP_K, TOKEN_BUDGET
from retrieval.retriever import RetrievalResult
from schemas.errors import ConfigError, FilterError, SitegraphError
from schemas.evidence import ContextBundle, Evidence, Query
from schemas.health import Absence, Coverage
from sitegraph.service.guard import is_cross_site
from sitegraph.service.metrics import count_as_question
from sitegraph.service.pages.frame import Pages
from sitegraph.service.pages.results import (
    Asked,
    Group,
    Result,
    group_results,
    query_of,
    read_asked,
    show_result,
    tidy_address,
)
from sitegraph.service.pages.search import show_form

_NO_ANSWER: Mapping[str, Any] = {"rows": None, "not_found": None, "by": "", "chains": (), "notes": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassage:
    """A passage beside what is quoted from it."""

    result: Result
    text: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """Sentences in a row that rest on the same passages; a quotation with its own line breaks."""

    text: str
    sources: tuple[QuotedPassage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """What was searched in vain, and the passages that came nearest."""

    absence: Absence
    nearest: tuple[Group, ...]


def add_answer(app: FastAPI, pages: Pages) -> None:
    """Add the answer."""

    @pages.get(app, "/answer")
    async def answer(request: Request) -> Response:
        asked = read_asked(request.query_params)
        if tidy := tidy_address(request):
            return RedirectResponse(tidy, status_code=307)
        if not asked.q:
            return await pages.show(
                request, "answer.html", lambda readers: {**show_form(readers, asked), **_NO_ANSWER}
            )
        try:
            query = query_of(asked, top_k=ASK_TOP_K, token_budget=TOKEN_BUDGET)
        except (ConfigError, FilterError) as error:
            wrong = {**_NO_ANSWER, "wrong": f"{error.subject}: {error.message}"}
            return await pages.show(
                request, "answer.html", lambda readers: {**show_form(readers, asked), **wrong}, status=422
            )
        tell_found = None if is_cross_site(request.headers) else count_as_question(request.scope)
        return await pages.show(
            request, "answer.html", lambda readers: _answer(pages, readers, asked, query, tell_found)
        )


def _answer(
    pages: Pages, readers: Readers, asked: Asked, query: Query, tell_found: Callable[[bool], None] | None
) -> dict[str, Any]:
    walk = pages.parts.retriever.walk_over(readers, query, judge=False)
    bundle = walk.bundle
    answered = Answerer(
        complete=None,
        reranker=readers.reranker,
        judge=False,
        log=lambda _: None,
        measure=lambda bundle: measure_evidence(bundle, readers.chunks, readers.encoder),
    ).answer(bundle)
    if tell_found is not None:
        pages.parts.log(walk, answered.not_found)
        tell_found(not answered.not_found)
    return {
        **show_form(readers, asked),
        "degraded": bundle.degraded,
        "rows": answer_rows(answered, bundle),
        "by": answered.by.value,
        "chains": chains_of(answered, bundle),
        "notes": answered.notes,
        "not_found": _not_found(pages, readers, walk, answered) if answered.not_found else None,
    }


def answer_rows(answered: Answered, bundle: ContextBundle) -> tuple[AnswerRow, ...]:
    """Return the sentences of an answer, those of one passage together, with the passages they rest on."""
    by_label = {one.S: one for one in bundle.evidence}
    rows = []
    for labels, run in groupby(answered.sentences, lambda one: one.labels):
        said = [one.text for one in run]
        found = [by_label[label] for label in labels if label in by_label]
        sources = tuple(_source(one, said, bundle.query) for one in found)
        quoted = (text for source in sources for text, is_marked in source.text if is_marked)
        rows.append(AnswerRow(text=next(quoted, " ".join(said)), sources=sources))
    return tuple(rows)


def chains_of(answered: Answered, bundle: ContextBundle) -> tuple[str, ...]:
    """Return the chains of edges that an answer tells of, a line each."""
    told = {one.text for one in answered.sentences}
    return tuple(dict.fromkeys(chain for one in bundle.relations if one.text in told for chain in one.chains))


def _source(one: Evidence, said: list[str], question: str) -> QuotedPassage:
    return QuotedPassage(result=show_result(one, question), text=mark_quote(one.text, " ".join(said)))


def _not_found(pages: Pages, readers: Readers, walk: RetrievalResult, answered: Answered) -> NotFound:
    bundle = walk.bundle
    near = tuple(one for one in bundle.evidence if one.S in answered.nearest)
    only_near = replace(bundle, evidence=near)
    return NotFound(
        absence=state_absence(
            readers, walk.query, bundle, answered=answered, coverage=lambda: _coverage(pages)
        ),
        nearest=group_results(only_near, read_titles(readers.graph, [one.doc for one in near])),
    )


def _coverage(pages: Pages) -> Coverage:
    """A ledger that cannot be read here costs only what it would say, and a line for the operator."""
    try:
        return pages.parts.coverage()
    except SitegraphError as error:
        pages.parts.warn(f"sitegraph: warning: answering without the ledger: {error}")
        raise

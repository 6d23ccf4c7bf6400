"""What an audience may see of a source, against what it has: rows, and files of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from flows.audiences.narrowest import Closing, Place, find_closings
from flows.audiences.visible import VisibleRows, plan_visible
from flows.run.fragments import load_fragment
from flows.run.index import Index
from flows.run.resources import Resources
from ingest.plan.access import asked_of, may_see, why_closed
from ingest.urls import is_tools_url
from schemas.access import Groups, SourceAccess
from schemas.documents import KnownDocument, LiveDocument
from schemas.fragment import GraphFragment
from schemas.report import Problem
from schemas.source import Source

Closings = Mapping[Place, Closing]


def closings_of(whole: Index) -> Closings:
    """Return what is asked of readers of each document of the whole index, where anything is."""
    sources = whole.ledger.sources.all()
    rows = [row for name in sources for row in whole.ledger.documents.of_source(name)]
    stated = whole.ledger.access.of_fragments({row.fragment_sha for row in rows if row.fragment_sha})
    return find_closings(rows, sources, stated)


def plan_rows_of(
    whole: Index, index: Index, groups: Groups, source: Source, closings: Closings
) -> VisibleRows:
    """Choose the rows of a source that readers of *groups* may have; *index* is that of their audience."""
    known = whole.ledger.documents.of_source(source.name)
    held = {document.uri: document for document in index.ledger.documents.of_source(source.name)}
    return plan_visible(known, held, may_see=partial(_may_see, groups, closings))


def plan_narrowed(index: Index, groups: Groups, source: Source, closings: Closings) -> VisibleRows:
    """Choose what readers of *groups* have of a source and may see no more; the rest names none of it."""
    if not any(name == source.name for name, _ in closings):
        return VisibleRows(rows=(), save=(), bring=(), remove=(), hidden=(), changes=False)
    held = {document.uri: document for document in index.ledger.documents.of_source(source.name)}
    return plan_visible(tuple(held.values()), held, may_see=partial(_may_see, groups, closings))


def problems_of_closings(source: Source, closings: Closings) -> tuple[Problem, ...]:
    """Say which documents of a source are closed by more than its source file says of them as written."""
    of_source = {uri: closing for (name, uri), closing in closings.items() if name == source.name}
    told = {
        uri: why_closed(source, uri, closing.asked) or _as_of(closing) for uri, closing in of_source.items()
    }
    return tuple(Problem(url=uri, reason=why) for uri, why in told.items() if why is not None)


def _as_of(closing: Closing) -> str | None:
    if closing.as_of is None:
        return None
    return f"only for those who may see {closing.as_of}, which is or was the same document"


def _may_see(groups: Groups, closings: Closings, document: KnownDocument) -> bool:
    closing = closings.get((document.source, document.uri))
    return closing is None or may_see(groups, *closing.asked)


def shown_source(source: Source) -> Source:
    """Return a source as an audience knows it: not whom else it shows what."""
    return replace(source, access=SourceAccess(), checks=None)


def tools_seen(whole: Resources, source: Source, groups: Groups) -> tuple[GraphFragment, ...]:
    """The files of tools of a source that an audience may see: as its run read them, or as readers do."""
    if source.name == whole.source.name:
        found = whole.tools()
    else:
        live = _live_tools(whole.index, source)
        found = tuple(load_fragment(whole.index, one.fragment_sha) for one in live)
    return tuple(one for one in found if may_see(groups, *asked_of(source, one.uri)))


def tools_differ(index: Index, source: Source, tools: Sequence[GraphFragment]) -> bool:
    """Whether readers of an audience see other files of tools than these."""
    held = {one.doc: one.content_hash for one in _live_tools(index, source)}
    return held != {one.doc: one.content_hash for one in tools}


def has_hidden_tools(index: Index, source: Source, groups: Groups) -> bool:
    """Whether readers of an audience see a file of tools that they may see no more."""
    return not all(may_see(groups, *asked_of(source, one.uri)) for one in _live_tools(index, source))


def _live_tools(index: Index, source: Source) -> tuple[LiveDocument, ...]:
    live = index.ledger.generations.live(index.current(), source=source.name).values()
    return tuple(one for one in live if is_tools_url(one.uri))

"""What an audience may see of a source, against what it has: rows, and files of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from flows.audiences.visible import VisibleRows, plan_visible
from flows.run.fragments import load_fragment
from flows.run.index import Index
from flows.run.resources import Resources
from ingest.plan.access import groups_of, may_see
from ingest.urls import is_tools_url
from schemas.access import Groups, SourceAccess
from schemas.documents import KnownDocument, LiveDocument
from schemas.fragment import GraphFragment
from schemas.source import Source


def plan_rows_of(whole: Index, index: Index, groups: Groups, source: Source) -> VisibleRows:
    """Choose the rows of a source that readers of *groups* may have; *index* is that of their audience."""
    known = whole.ledger.documents.of_source(source.name)
    stated = whole.ledger.access.of_fragments({d.fragment_sha for d in known if d.fragment_sha})
    held = {document.uri: document for document in index.ledger.documents.of_source(source.name)}
    return plan_visible(known, held, may_see=partial(_may_see, groups, source, stated))


def _may_see(groups: Groups, source: Source, stated: Mapping[str, Groups], document: KnownDocument) -> bool:
    asked = stated.get(document.fragment_sha or "", frozenset())
    return may_see(groups, groups_of(source, document.uri), asked)


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
    return tuple(one for one in found if may_see(groups, groups_of(source, one.uri)))


def tools_differ(index: Index, source: Source, tools: Sequence[GraphFragment]) -> bool:
    """Whether readers of an audience see other files of tools than these."""
    held = {one.doc: one.content_hash for one in _live_tools(index, source)}
    return held != {one.doc: one.content_hash for one in tools}


def has_hidden_tools(index: Index, source: Source, groups: Groups) -> bool:
    """Whether readers of an audience see a file of tools that they may see no more."""
    return not all(may_see(groups, groups_of(source, one.uri)) for one in _live_tools(index, source))


def _live_tools(index: Index, source: Source) -> tuple[LiveDocument, ...]:
    live = index.ledger.generations.live(index.current(), source=source.name).values()
    return tuple(one for one in live if is_tools_url(one.uri))

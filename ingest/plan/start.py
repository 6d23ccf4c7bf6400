"""Where a run starts: what the source file, sitemaps and folders make of the rows that are known."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ingest.plan.frontier import Frontier, plan_targets, site_of
from ingest.plan.schedule import distrusted_sites, is_look_due, with_claim
from ingest.plan.scope import Variant, scope_refusal, seed_urls, variants_refusal
from ingest.urls import path_of_variant
from schemas.documents import READABLE, REMOVED, DocumentState, KnownDocument
from schemas.fragment import FormsBy
from schemas.source import Source

Rows = Mapping[str, KnownDocument]
"""Ledger rows of one source by URI."""


def plan_rescope(source: Source, known: Rows, *, run_id: str) -> Rows:
    """Rows whose place in or out of the scope is another than the source file now says."""
    variants = _variants_asleep(known)
    changed = {}
    for uri, document in known.items():
        refusal = scope_refusal(uri, source, depth=document.depth)
        is_out = document.state is DocumentState.OUT_OF_SCOPE
        if refusal and not is_out:
            state = DocumentState.OUT_OF_SCOPE
            changed[uri] = replace(document, state=state, reason=refusal, run_id=run_id)
        elif not refusal and is_out and not _is_refused_variant(uri, variants):
            changed[uri] = replace(document, state=DocumentState.NEW, reason="", run_id=None)
    return changed


def plan_revival(
    known: Rows, named: Collection[str], *, at_once: Collection[str], run_id: str, due_by: str | None
) -> Rows:
    """Rows of gone documents that are worth another look.

    Those that something names, when they are due; those *at_once* whether due or not.
    """
    return {
        uri: replace(document, state=DocumentState.NEW)
        for uri, document in known.items()
        if document.state is DocumentState.GONE
        and document.run_id != run_id
        and (uri in at_once or (uri in named and is_look_due(document, due_by)))
    }


def plan_claims(known: Rows, starts: Mapping[str, str | None]) -> Rows:
    """Rows of which the sitemaps claim something else than before; sites that told lies are not heard."""
    distrusted = distrusted_sites(known.values())
    heard = {
        uri: with_claim(document, _claim(uri, starts, distrusted))
        for uri, document in known.items()
        if document.lastmod is not None or starts.get(uri) is not None
    }
    return {uri: document for uri, document in heard.items() if document is not known[uri]}


def plan_starts(source: Source, known: Rows, starts: Mapping[str, str | None]) -> Frontier:
    """What seeds and listings, with the date each claims, add: seeds first, then the latest change first.

    What is known at depth 0 already adds nothing.
    """
    fresh = {uri for uri in starts if uri not in known or known[uri].depth > 0}
    seeds = frozenset(seed_urls(source))
    distrusted = distrusted_sites(known.values())
    found = plan_targets(source, fresh, depth=0, found_by=None)
    claimed = [with_claim(document, _claim(document.uri, starts, distrusted)) for document in found.documents]
    claimed.sort(key=lambda document: document.lastmod or "", reverse=True)
    claimed.sort(key=lambda document: document.uri not in seeds)
    return Frontier(documents=tuple(claimed), stopped=found.stopped)


def plan_translations(
    held: Mapping[str, FormsBy], now: Mapping[str, tuple[str, ...]], *, by: str, whole: bool
) -> Mapping[str, FormsBy]:
    """What is said of translations where that is another than before: *now* for all that was said *by* it.

    Not *whole*: of addresses that are not named now it stays.
    """
    found: dict[str, FormsBy] = {}
    for uri in held.keys() | now.keys() if whole else now.keys():
        others = {one: named for one, named in held.get(uri, {}).items() if one != by}
        found[uri] = {**others, by: now[uri]} if now.get(uri) else others
    return {uri: said for uri, said in found.items() if said != held.get(uri, {})}


def _claim(uri: str, starts: Mapping[str, str | None], distrusted: Collection[str]) -> str | None:
    return None if distrusted and site_of(uri) in distrusted else starts.get(uri)


def _variants_asleep(known: Rows) -> Mapping[str, tuple[Variant, ...]]:
    """Variants of the paths of which some are out of scope: what says whether those may come back."""
    asleep = (document.uri for document in known.values() if document.state is DocumentState.OUT_OF_SCOPE)
    paths = {path for uri in asleep if (path := path_of_variant(uri)) is not None}
    variants: defaultdict[str, list[Variant]] = defaultdict(list)
    for document in known.values() if paths else ():
        path = path_of_variant(document.uri) or document.uri
        if path in paths:
            variants[path].append(_variant(document))
    return {path: tuple(members) for path, members in variants.items()}


def _is_refused_variant(uri: str, variants: Mapping[str, Iterable[Variant]]) -> bool:
    path = path_of_variant(uri)
    return path is not None and variants_refusal(uri, tuple(variants.get(path, ()))) is not None


def _variant(known: KnownDocument) -> Variant:
    return Variant(uri=known.uri, content_hash=known.content_hash, fetched_at=known.fetched_at)


_DUE = "due"


class Action(StrEnum):
    """What a run would do with a document."""

    FETCH = "fetch"
    PARSE = "parse"
    PUBLISH = "publish"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """One document a run would touch, and the reason; `detail` is what differs from document to document."""

    action: Action
    uri: str
    reason: str
    detail: str = ""


def plan_actions(
    source: Source,
    known: Sequence[KnownDocument],
    starts: Iterable[str],
    *,
    pipeline_versions: Collection[str],
    due_by: str | None,
    lists_all: bool = False,
) -> tuple[PlannedAction, ...]:
    """Return what a run would do, ordered by action and URI; *due_by* keeps back what is not due yet.

    *lists_all*: what *starts* does not name is not there.
    """
    there = frozenset(starts)
    back = plan_rescope(source, {document.uri: document for document in known}, run_id="")
    actions = [
        action
        for document in known
        if document.state is not DocumentState.OUT_OF_SCOPE or document.uri in back
        for action in _actions(document, source, there, pipeline_versions, due_by, lists_all)
    ]
    new = there - {document.uri for document in known}
    actions += [
        PlannedAction(action=Action.FETCH, uri=uri, reason="new")
        for uri in new
        if scope_refusal(uri, source) is None
    ]
    return tuple(sorted(actions, key=lambda action: (action.action, action.uri)))


def _actions(
    document: KnownDocument,
    source: Source,
    there: frozenset[str],
    versions: Collection[str],
    due_by: str | None,
    lists_all: bool,
) -> Iterable[PlannedAction]:
    refusal = scope_refusal(document.uri, source, depth=document.depth)
    if refusal:
        if document.state not in REMOVED:
            yield PlannedAction(action=Action.REMOVE, uri=document.uri, reason=refusal)
        return
    if lists_all and document.uri not in there:
        if document.state not in REMOVED:
            yield PlannedAction(action=Action.REMOVE, uri=document.uri, reason="file deleted")
        return
    is_old = document.state in READABLE and document.pipeline_version not in (None, *versions)
    is_named = document.uri in there and (lists_all or is_look_due(document, due_by))
    reason = _why_fetch(document, due_by, is_named=is_named)
    if is_old and document.is_withheld:
        reason = "its bytes held secrets and were not kept"
    if reason:
        since = f"since {document.next_due}" if reason == _DUE and document.next_due else ""
        yield PlannedAction(action=Action.FETCH, uri=document.uri, reason=reason, detail=since)
    if is_old:
        yield PlannedAction(action=Action.PARSE, uri=document.uri, reason="parsed by another version")


def _why_fetch(document: KnownDocument, due_by: str | None, *, is_named: bool) -> str | None:
    if document.state is DocumentState.OUT_OF_SCOPE:
        return "back in scope"
    if document.state is DocumentState.GONE:
        return "was gone" if is_named else None
    if document.state is DocumentState.NEW:
        return "new"
    if due_by is not None:
        return _DUE if is_look_due(document, due_by) else None
    return "known" if document.state in READABLE else f"{document.state.value} before"

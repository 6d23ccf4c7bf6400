"""What a run would begin with, and why."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ingest.plan.schedule import is_due
from ingest.plan.scope import scope_refusal
from ingest.plan.start import plan_rescope
from schemas.documents import READABLE, REMOVED, DocumentState, KnownDocument
from schemas.source import Source

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
    is_named = document.uri in there and (lists_all or is_due(document, due_by))
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
        return _DUE if is_due(document, due_by) else None
    return "known" if document.state in READABLE else f"{document.state.value} before"

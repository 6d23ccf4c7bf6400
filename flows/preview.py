"""What a run would do, from the source file, the ledger and the vector cache alone; sends no request."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from flows.run.contexts import load_fragment, said_in
from flows.run.index import Index, model_of
from flows.run.opening import open_described
from flows.run.versions import find_model, is_same, names_of_change, pipeline_version
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.pending import vector_texts
from indexes.embed.weights import ModelSpec, model_key, token_dim
from indexes.layout import IndexLayout
from indexes.places import place_of
from indexes.publish.current import held_since
from indexes.publish.generation import load_generation
from ingest.diff.documents import diff_documents, diff_tools, without_tools
from ingest.diff.guard import removal_refusal
from ingest.parse.formats.registry import document_versions
from ingest.plan.scope import is_inside, seed_urls
from ingest.plan.start import Action, PlannedAction, plan_actions
from ingest.sources.registry import kind_named
from runtime.clock import SystemClock
from runtime.source_file import load_source, load_tools, tools_documents
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import KnownDocument, LiveDocument
from schemas.records import to_record
from schemas.settings import Settings
from schemas.source import Source
from schemas.source_kinds import SourceEntry, SourceListing


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is there before a run: the ledger's rows, what readers see, and what differs between them."""

    known: Sequence[KnownDocument] = ()
    live: Mapping[str, LiveDocument] = field(default_factory=dict)
    changes: Sequence[DocumentChange] = ()
    generation: int = 0


def plan_run(path: Path, settings: Settings, *, due: bool) -> dict[str, Any]:
    """Return what a run would begin with, why, and what the guard would say; links may lead it to more.

    Raises: ConfigError, SchemaMismatch, GuardRefused: what a run would be refused with at once.
    """
    source = load_source(path)
    tools = tools_documents(load_tools(source, path))
    if not IndexLayout(place_of(settings)).manifest.exists():
        nothing, model = Preview(changes=diff_tools(tools, {})), find_model(settings)
        listing = _listing(source, settings)
        actions = _actions(source, listing, nothing, model, due_by=None)
        return {**_plan(source, nothing, actions), **_left_out(listing)}
    index = open_described(settings)
    try:
        model, preview = model_of(index, other=True), _preview(index, source, tools)
        listing = _listing(source, settings)
        actions = _actions(source, listing, preview, model, due_by=index.now() if due else None)
        embed = count_texts(index, source.name, preview, actions, model)
        change = plan_model(index, model, preview.generation)
        planned = {**_plan(source, preview, actions), "embed": embed, "model": change}
        return {**planned, **_left_out(listing), "held_since": held_since(index.layout)}
    finally:
        index.close()


def _preview(index: Index, source: Source, tools: Iterable[LiveDocument] = ()) -> Preview:
    """Read the ledger; changes are what the next run would publish if no site said anything new.

    *tools* are the files of tools that the source file names, as they are now.
    """
    known, base = index.ledger.documents.of_source(source.name), index.current()
    everything = index.ledger.generations.live(base)
    held = {doc: document for doc, document in everything.items() if document.source == source.name}
    live = without_tools(held)
    owners = {doc: document.source for doc, document in everything.items()}
    changes = diff_documents(
        known, live, owners, in_scope=partial(is_inside, source), says=partial(said_in, index)
    )
    changes = (*changes, *diff_tools(tools, held))
    return Preview(known=known, live=live, changes=changes, generation=base)


def plan_publication(
    actions: Sequence[PlannedAction], changes: Iterable[DocumentChange]
) -> tuple[PlannedAction, ...]:
    """Add documents that were looked at but are not as readers see them, as after a rollback."""
    taken = {action.uri for action in actions if action.action in (Action.PARSE, Action.REMOVE)}
    waiting = [_publication(change) for change in changes if change.uri not in taken]
    return tuple(sorted([*actions, *waiting], key=lambda action: (action.action, action.uri)))


def _publication(change: DocumentChange) -> PlannedAction:
    if change.kind is ChangeKind.REMOVED:
        return PlannedAction(action=Action.REMOVE, uri=change.uri, reason=change.reason)
    reason = f"{change.kind.value}, not published yet"
    return PlannedAction(action=Action.PUBLISH, uri=change.uri, reason=reason)


def guard_on(actions: Iterable[PlannedAction], preview: Preview) -> str | None:
    """Say what the guard would object to if nothing more were removed than is known to be."""
    leaving = {action.uri for action in actions if action.action is Action.REMOVE}
    decided = {change.doc: change for change in preview.changes if change.kind is ChangeKind.REMOVED}
    removals = [
        decided.get(doc) or DocumentChange(kind=ChangeKind.REMOVED, old=document, new=None)
        for doc, document in preview.live.items()
        if document.uri in leaving
    ]
    return removal_refusal(removals, live=len(preview.live))


def count_texts(
    index: Index, source: str, preview: Preview, actions: Sequence[PlannedAction], model: ModelSpec
) -> dict[str, int]:
    """Count the texts without a vector of what is parsed, and the passages of what would be parsed again.

    What pages to fetch will bring nobody knows.
    """
    uris = {action.uri for action in actions if action.action is Action.PUBLISH}
    shas = {c.new.fragment_sha for c in preview.changes if c.new and c.uri in uris}
    fragments = (load_fragment(index, sha) for sha in shas if index.fragments.has(sha))
    texts = {text for one in fragments for chunk in one.chunks for text in vector_texts(chunk)}
    parsing = any(action.action is Action.PARSE for action in actions)
    counts = load_generation(index.layout, preview.generation).sources.get(source, {}) if parsing else {}
    up_to = sum(counts.get("chunks", {}).values())
    return {"texts": _without_vector(index, texts, model), "passages_up_to": up_to}


def plan_model(index: Index, model: ModelSpec, generation: int) -> dict[str, Any] | None:
    """What a change to *model*, or to its dtype, would cost, all passages in its vectors; None where none."""
    held = index.chunks.space(generation).model
    if is_same(held, model):
        return None
    chunks, texts = 0, set[str]()
    for chunk in index.chunks.at(generation).scan():
        chunks += 1
        texts.update(vector_texts(chunk))
    missing = _without_vector(index, texts, model)
    before, after = names_of_change(held, model)
    return {"from": before, "to": after, "passages": chunks, "texts": missing}


def _actions(
    source: Source, listing: SourceListing, preview: Preview, model: ModelSpec, *, due_by: str | None
) -> tuple[PlannedAction, ...]:
    versions, kind = document_versions(pipeline_version(model, source)), kind_named(source.kind)
    actions = plan_actions(
        source,
        preview.known,
        [entry.uri for entry in listing.entries],
        pipeline_versions=versions,
        due_by=due_by,
        lists_all=kind.lists_all and not kind.reaches_out(source),
    )
    return plan_publication(actions, preview.changes)


def _plan(source: Source, preview: Preview, actions: Sequence[PlannedAction]) -> dict[str, Any]:
    reasons: dict[str, Counter[str]] = {}
    for action in actions:
        reasons.setdefault(action.action.value, Counter())[action.reason] += 1
    return {
        "source": source.name,
        "generation": preview.generation,
        "known": len(preview.known),
        "counts": {action: count.total() for action, count in sorted(reasons.items())},
        "reasons": {action: dict(count.most_common()) for action, count in sorted(reasons.items())},
        "embed": {"texts": 0, "passages_up_to": 0},
        "model": None,
        "guard": guard_on(actions, preview),
        "held_since": None,
        "documents": [_record(action) for action in actions],
    }


def _listing(source: Source, settings: Settings) -> SourceListing:
    """Where a run would start, and what of a source that sends no request would be left out."""
    if kind_named(source.kind).reaches_out(source):
        return SourceListing(entries=tuple(SourceEntry(uri=uri) for uri in seed_urls(source)))
    from flows.run.sources import open_source

    with open_source(source, settings, clock=SystemClock()) as opened:
        return opened.discover(should_stop=lambda: False)


def _left_out(listing: SourceListing) -> dict[str, Any]:
    return {"left_out": [to_record(problem) for problem in listing.problems]}


def _without_vector(index: Index, texts: set[str], model: ModelSpec) -> int:
    if not index.vectors.exists():
        return len(texts)
    cache = SqliteVectorCache(index.vectors, model_key=model_key(model), token_dim=token_dim(model))
    try:
        return len(cache.missing(texts))
    finally:
        cache.close()


def _record(action: PlannedAction) -> Mapping[str, Any]:
    record = to_record(action)
    return {"url": record.pop("uri"), **record}

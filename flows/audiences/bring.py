"""What an audience may see of a source, brought into its own index and published there."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from flows.audiences.visible import Closing, Place, VisibleRows, bytes_to_bring, find_closings, plan_visible
from flows.commit.publish import prune_generations
from flows.commit.recover import finish_interrupted, publish_rows
from flows.commit.report import record_run
from flows.crawl.quarantine import duplicate_rows
from flows.derive.diff import diff_source, is_to_publish
from flows.derive.embed import embed_fragments
from flows.derive.freeze import plan_rows
from flows.run.contexts import load_fragment
from flows.run.index import Index
from flows.run.resources import Given, Resources
from flows.run.values import Crawled, Difference, Run
from indexes.layout import FILES
from indexes.ports import RawStore
from indexes.stores.ledger.fragment_rows import copy_fragment_rows
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from indexes.stores.raw import place_by_hash
from ingest.diff.documents import without_tools
from ingest.plan.access import asked_of, may_see, why_closed
from ingest.sources.registry import kind_named
from ingest.urls import is_tools_url
from runtime.cost import METER
from schemas.access import Groups, SourceAccess, refusal_of
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import KnownDocument, LiveDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.report import Problem
from schemas.source import Source


def bring_rows(whole: Index, index: Index, planned: VisibleRows, source: Source) -> None:
    """Give an audience the rows of a source that it may have, and their files before them."""
    ledger = index.ledger
    raw, fragments = bytes_to_bring(planned.bring)
    bring_fragments(whole, index, raw=raw, fragments=fragments)
    if planned.remove:
        ledger.documents.remove(source.name, planned.remove)
    if planned.save:
        ledger.documents.save(planned.save)
        uris = [row.uri for row in planned.save]
        ledger.uses.save(source.name, whole.ledger.uses.of(source.name, uris))
        ledger.translations.save(source.name, whole.ledger.translations.of(source.name, uris))
    if planned.rows and ledger.sources.all().get(source.name) != source:
        ledger.sources.save(source)


def bring_fragments(whole: Index, index: Index, *, raw: Collection[str], fragments: Collection[str]) -> None:
    """Bring files that the audience lacks, and what the ledger has of the parsed documents."""
    linked = whole.manifest.raw == index.manifest.raw == FILES
    here, there = index.layout, whole.layout
    _bring(whole.fragments, index.fragments, fragments, (there.fragments, here.fragments) if linked else None)
    _bring(whole.raw, index.raw, raw, (there.raw, here.raw) if linked else None)
    copy_fragment_rows(whole.ledger, index.ledger, fragments)
    origins = whole.ledger.origins.of_fragments(fragments)
    index.ledger.origins.save(origins)
    drawn = {sha for sha in origins.values() if sha is not None}
    _bring(whole.raw, index.raw, drawn - {*raw}, (there.raw, here.raw) if linked else None)


def _bring(
    source: RawStore, target: RawStore, hashes: Collection[str], folders: tuple[Path, Path] | None
) -> None:
    for sha256 in sorted(hashes):
        if target.has(sha256) or (folders is not None and _link(*folders, sha256) and target.has(sha256)):
            continue
        try:
            target.put(source.get(sha256))
        except DamageFound:
            continue  # a run of the whole index fetches or parses it again


def _link(source: Path, target: Path, sha256: str) -> bool:
    """Give a file a second name, which takes no room: both stores write a file once, under its hash."""
    name = target / place_by_hash(sha256)
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.unlink(missing_ok=True)
        os.link(source / place_by_hash(sha256), name)
    except OSError:
        return False  # of another file system, or without such names: it is copied
    return True


Closings = Mapping[Place, Closing]


def closings_of(whole: Index) -> Closings:
    """Return what is asked of readers of each document of the whole index, where anything is."""
    sources = whole.ledger.sources.all()
    rows = [row for name in sources for row in whole.ledger.documents.of_source(name)]
    shas = {row.fragment_sha for row in rows if row.fragment_sha}
    groups = whole.ledger.access.of_fragments(shas)
    refused = whole.ledger.refusals.of_fragments(shas, now=whole.now())
    stated = {
        sha: frozenset({*([groups[sha]] if sha in groups else []), *map(refusal_of, refused.get(sha, ()))})
        for sha in groups.keys() | refused.keys()
    }
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


def resources_for(
    whole: Resources, index: Index, source: Source, *, run_id: str, tools: Sequence[GraphFragment]
) -> Resources:
    """Return the parts with which an audience is brought up to date: vectors and encoder of the whole run.

    Nothing in them can send a request.
    """
    run = Run(index=str(index.layout.root), source=source.name, run_id=run_id, may_change_model=True)
    given = Given(
        vectors=whole.vectors,
        encoder=whole.encoder,
        pipeline_version=whole.pipeline_version,
        tools=tuple(tools),
    )
    return Resources(run, index=index, source=source, progress=whole.progress, stop=whole.stop, given=given)


def publish_source(part: Resources, *, lease: Lease) -> Generation | None:
    """Publish what the ledger of an audience has of a source; None where its readers see just that."""
    began, costs = part.index.clock.monotonic(), METER.read()
    run, index = part.indexing(), part.index
    finish_interrupted(run, lease=lease)
    _deduplicate(index, part.source)
    difference = _as_left(diff_source(run, accept=True), part.source)
    made = None
    if is_to_publish(run, difference):
        made = _publish(part, difference, lease=lease)
    record_run(run, difference, Crawled(), seconds={}, began=began, costs=costs, encoded=part.encoded)
    return made


def _publish(part: Resources, difference: Difference, *, lease: Lease) -> Generation:
    run, as_of = part.indexing(), part.index.now()
    part.export_encoder()
    fragments = [change.new.fragment_sha for change in difference.changes if change.new]
    embedded = embed_fragments(run, fragments)
    planned = plan_rows(run, difference, as_of=as_of)
    made = publish_rows(part, difference, planned, lease=lease, as_of=as_of, embedded=embedded)
    prune_generations(part.index, source=part.source.name)
    return made


def _deduplicate(index: Index, source: Source) -> None:
    """Of several addresses with the same content, the one that stands for all is of those that are seen."""
    if kind_named(source.kind).by_path:
        return  # where a file went is said by the row it was given
    ledger = index.ledger
    everything = without_tools(ledger.generations.live(index.current(), source=source.name)).values()
    live = {document.uri: document for document in everything}
    ledger.documents.save(duplicate_rows(index, source, ledger.documents.of_source(source.name), live))


def _as_left(difference: Difference, source: Source) -> Difference:
    """Tell of what is not to be seen any more no more than of what is gone."""
    why = "file deleted" if kind_named(source.kind).by_path else "gone"
    changes = tuple(_gone(change, why) for change in difference.changes)
    return replace(difference, changes=changes, guard=None)


def _gone(change: DocumentChange, why: str) -> DocumentChange:
    left = change.kind is ChangeKind.REMOVED and change.reason == NO_LONGER
    return replace(change, reason=why) if left else change


NO_LONGER = "no longer part of the source"

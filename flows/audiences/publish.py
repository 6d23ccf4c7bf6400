"""One source of an audience: compared with what its readers see, and published where anything differs."""

from collections.abc import Sequence
from dataclasses import replace

from flows.commit.publish import prune, publish_generation
from flows.commit.recover import recover
from flows.commit.report import record_run
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.crawl.quarantine import find_duplicates
from flows.derive.diff import diff_source
from flows.derive.embed import embed_fragments
from flows.derive.families import families_differ
from flows.derive.freeze import freeze, plan_rows
from flows.derive.link import redirects_matter
from flows.run.index import Index
from flows.run.resources import Given, Resources
from flows.run.values import Crawled, Difference, Run
from flows.run.vector_space import changes_model
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from ingest.diff.tools import without_tools
from ingest.sources.registry import kind_named
from runtime.cost.meter import METER
from schemas.changes import ChangeKind, DocumentChange
from schemas.fragment import GraphFragment
from schemas.source import Source


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
    deriving, committing, index = part.deriving(), part.committing(), part.index
    recover(committing, lease=lease)
    _deduplicate(index, part.source)
    difference = _as_left(diff_source(deriving, accept=True), part.source)
    made = None
    renamed = difference.live and families_differ(index, part.source, base=difference.base)
    if difference.changes or renamed or redirects_matter(deriving, difference) or changes_model(deriving):
        made = _publish(part, difference, lease=lease)
    record_run(committing, difference, Crawled(), seconds={}, began=began, costs=costs, encoded=part.encoded)
    return made


def _publish(part: Resources, difference: Difference, *, lease: Lease) -> Generation:
    deriving, committing, as_of = part.deriving(), part.committing(), part.index.now()
    part.export_encoder()
    fragments = [change.new.fragment_sha for change in difference.changes if change.new]
    embedded = embed_fragments(deriving, fragments)
    planned = plan_rows(deriving, difference, as_of=as_of)
    made = freeze(deriving, difference, planned, lease=lease, as_of=as_of, embedded=embedded + planned.texts)
    staged = write_plan(committing, made, lease=lease)
    verify_generation(committing, made, staged)
    publish_generation(committing, made, staged, lease=lease)
    prune(part.index, source=part.source.name)
    return made


def _deduplicate(index: Index, source: Source) -> None:
    """Of several addresses with the same content, the one that stands for all is of those that are seen."""
    if kind_named(source.kind).by_path:
        return  # where a file went is said by the row it was given
    ledger = index.ledger
    everything = without_tools(ledger.generations.live(index.current(), source=source.name)).values()
    live = {document.uri: document for document in everything}
    ledger.documents.save(find_duplicates(index, source, ledger.documents.of_source(source.name), live))


def _as_left(difference: Difference, source: Source) -> Difference:
    """Tell of what is not to be seen any more no more than of what is gone."""
    why = "file deleted" if kind_named(source.kind).by_path else "gone"
    changes = tuple(_gone(change, why) for change in difference.changes)
    return replace(difference, changes=changes, guard=None)


def _gone(change: DocumentChange, why: str) -> DocumentChange:
    left = change.kind is ChangeKind.REMOVED and change.reason == NO_LONGER
    return replace(change, reason=why) if left else change


NO_LONGER = "no longer part of the source"

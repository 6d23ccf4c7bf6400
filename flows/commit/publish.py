"""Step 9: `CURRENT` names the new generation, and what none needs any more is deleted."""

import logging
import os
import threading
from collections.abc import Callable, Collection
from functools import partial

from flows.derive.neighbours import known_links, similar_file
from flows.run.contexts import IndexContext
from flows.run.generations import (
    COLLECTION,
    kept_generations,
    links_file,
    planned_families,
    require_current,
    sign,
)
from flows.run.index import Index
from indexes.chunk_tables import drop_encoders
from indexes.frozen_plan import Plan, StagedState, plan_sha256
from indexes.places import is_in_bucket
from indexes.ports import RawStore
from indexes.publish.current import prepare_current, write_current
from indexes.publish.files import Stamps, files_of_generation, stamp_encoder, stamp_files
from indexes.publish.generation import (
    GenerationManifest,
    dump_generation,
    generation_numbers,
    generation_text,
    load_generation,
    signature_of,
    store_record,
)
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.leases import Lease
from indexes.stores.ledger.retention import FileKind
from ingest.link.authority import weigh_documents
from retrieval.learning.usage_log import CLICK_FILE, count_clicks
from runtime.progress import StageProgress
from schemas.cost import Cause, caused_by
from schemas.errors import DamageFound, StoreUnavailable
from schemas.report import Problem


def compute_authority(index: Index, generation: Generation) -> None:
    """Keep the authority of every page and PDF beside a generation that is about to be published.

    Pages that are no content (indexes, lists of changes ...) have none and give none. Never in rows nor in
    their hashes: one new link moves every value. Clicks count from the log as it is now.
    """
    number = generation.generation
    clicks = count_clicks(index.layout.root)
    if clicks.unreadable:
        reason = f"{clicks.unreadable} lines are not clicks and were left out"
        index.ledger.runs.add_problems(generation.run_id, [Problem(url=CLICK_FILE, reason=reason)])
    index.authority.put(number, weigh_documents(known_links(index, number), clicks.by_document))


def show_current(index: Index) -> None:
    """Let people see the current generation; no work where they do, or where there is nothing to see.

    Raises: StoreUnavailable: the store cannot be reached; the next run shows it.
    """
    current = index.current()
    written = partial(written_chunks, index, current)
    index.graph.show(current, lambda: index.chunks.at(current), written=written)


def written_chunks(index: Index, number: int, base: int) -> frozenset[str] | None:
    """Ids of the chunks that a generation wrote on *base*; None if on another, or if its plan is gone."""
    generation = index.ledger.generations.get(number)
    if generation is None or generation.base != base:
        return None
    payloads = index.ledger.generations.payloads(number)
    if plan_sha256(payloads, base=base, source=generation.source) != generation.plan_sha:
        return None
    try:
        return Plan(store=index.outbox, payloads=payloads).chunk_ids()
    except DamageFound:
        return None


def show_missed(run: IndexContext) -> None:
    """Let people see what readers see; a crash came before that, or a rollback without the server."""
    try:
        show_current(run.index)
    except StoreUnavailable as error:
        run.progress.say(f"the Neo4j view is not updated yet: {error}")


def collect_garbage(index: Index, *, source: str) -> int:
    """Delete files that were replaced and that no document and no kept generation needs; give how many.

    For a run of *source* that holds the index lease and has done its crawl. Only what lost a name since the
    last time is looked at, and everything after a crawl that broke off. Where another source is being crawled
    nothing is deleted: its files, and its encoder, are written before anything names them.
    """
    due = index.ledger.retention.is_sweep_due()
    return _alone(index, _drop_unnamed if due else _drop_replaced, beside=source)


def sweep(index: Index) -> int:
    """Delete every file that no document and no kept generation needs, by listing all; give how many went.

    For maintenance: whoever calls it holds the index lease and no lease of a source. It also finds what no
    run can, files that a killed process wrote before anything named them, and costs in proportion to all
    there is. Done twice, or cut off and done again, it gives the same. While a source is being crawled it
    deletes nothing.

    Raises: DamageFound: what readers see is not known, so nothing is deleted.
    """
    require_current(index)
    return _alone(index, _drop_unnamed)


def _alone(index: Index, drop: Callable[[Index], int], *, beside: str = "") -> int:
    """Drop files while nobody crawls but the run of *beside*, which has done so."""
    with index.hold(COLLECTION, progress=StageProgress(quiet=True), stop=threading.Event()):
        now = index.clock.now().isoformat(timespec="milliseconds")
        if index.ledger.leases.held(now=now) - {"index", COLLECTION, f"source:{beside}"}:
            return 0
        dropped = drop(index)
        drop_encoders(index.layout, index.manifest)
        return dropped


def _drop_replaced(index: Index) -> int:
    # Files first: cut off in between, the next run finds them noted still.
    dropped = _drop_of_kind(index, FileKind.RAW, index.raw)
    index.crash_point("collect.midway")
    return dropped + _drop_of_kind(index, FileKind.FRAGMENT, index.fragments)


def _drop_of_kind(index: Index, kind: FileKind, store: RawStore) -> int:
    retention = index.ledger.retention
    replaced = retention.replaced(kind)
    unneeded = retention.unneeded(kind, replaced)
    for sha256 in sorted(unneeded):
        store.drop(sha256)
    retention.forget(kind, replaced, deleted=unneeded)
    return len(unneeded)


def _drop_unnamed(index: Index) -> int:
    retention = index.ledger.retention
    dropped = index.raw.drop_all_but(retention.needed(FileKind.RAW))
    index.crash_point("collect.midway")
    dropped += index.fragments.drop_all_but(retention.needed(FileKind.FRAGMENT))
    retention.drop_facts()
    retention.swept()
    return dropped


_log = logging.getLogger(__name__)


def publish_generation(
    run: IndexContext, generation: Generation, staged: StagedState, *, lease: Lease
) -> None:
    """Let readers see a verified generation.

    Raises: StaleLease: another run has taken over; nothing is published.
    """
    index = run.index
    with caused_by(Cause.AUTHORITY):
        compute_authority(index, generation)
    if not is_in_bucket(index.layout.root):
        # LanceDB never calls fsync: without this a power cut could publish rows that are not on disk.
        os.sync()
    run.crash_point("manifest.before_rename")
    manifest = _describe_generation(index, generation, staged)
    index.ledger.manifests.save(generation.generation, generation_text(manifest))
    dump_generation(index.layout, manifest)
    sign(index, generation.generation)
    run.crash_point("current.before_rename")
    prepared = prepare_current(index.layout.root)
    with index.ledger.leases.locked(lease):
        run.crash_point("current.locked")
        write_current(index.layout.root, generation.generation, prepared=prepared)
    _log.info("generation %d published: readers see it from their next question on", generation.generation)
    run.crash_point("current.not_recorded")
    index.ledger.generations.mark(generation.generation, GenerationState.PUBLISHED)
    run.crash_point("current.not_shown")
    show_current(index)


def prune_generations(index: Index, *, source: str, keep: Collection[str] = ()) -> int:
    """Drop generations beyond the ones kept for readers and rollback, and the files that go with them.

    *keep* are hashes of what the run still reads in the outbox. Returns how many files went.
    Raises: DamageFound: what readers see is not known, so nothing is deleted.
    """
    require_current(index)
    kept = kept_generations(index)
    # Manifests first: what has one may be rolled back to, and the stores must still hold it then.
    for number in generation_numbers(index.layout):
        if number not in kept:
            index.layout.generation(number).unlink()
            signature_of(index.layout, number).unlink(missing_ok=True)
    with caused_by(Cause.INDEXES):
        index.chunks.writer().prune(keep=kept)
        index.crash_point("prune.midway")
        index.graph.writer().prune(keep=kept)
    index.ledger.manifests.forget_before(min(kept, default=0))
    last = kept[-index.settings.keep_generations :]
    needed = index.ledger.generations.forget_before(min(kept, default=0), plans_from=min(last, default=0))
    index.outbox.drop_all_but({*needed, *keep})
    generations = [row for number in kept if (row := index.ledger.generations.get(number)) is not None]
    index.similar.drop_all_but({state for row in generations if (state := similar_file(row))})
    index.links.drop_all_but({links for row in generations if (links := links_file(row))})
    index.authority.prune(keep=kept)
    return collect_garbage(index, source=source)


def _describe_generation(index: Index, generation: Generation, staged: StagedState) -> GenerationManifest:
    """Say what a generation holds, with the hash of every file that its readers open."""
    space = index.chunks.space(generation.generation)
    # A store that is held in memory has no files.
    on_disk = index.layout.lance.is_dir()
    paths = files_of_generation(index.layout, index.manifest, generation.generation, space) if on_disk else ()
    return GenerationManifest(
        generation=generation.generation,
        base=generation.base,
        as_of=generation.as_of,
        source=generation.source,
        run_id=generation.run_id,
        plan_sha=generation.plan_sha or "",
        sources=generation.details["sources"],
        space=space,
        stores={name: store_record(state) for name, state in staged.named().items()},
        files=stamp_files(index.layout.root, paths, known=_stamps(index, generation.base)),
        encoder=stamp_encoder(index.layout.root, space.encoder),
        pdfs=_pdfs(index, generation.generation),
        index=index.manifest,
        families=planned_families(generation.details),
        pages=index.ledger.pages.of_generation(generation.generation),
    )


def _pdfs(index: Index, generation: int) -> dict[str, str]:
    """Bytes of the PDFs whose pages are shown, by node id, but for those that were not kept."""
    return {
        doc: raw for doc, raw in index.ledger.origins.of_generation(generation).items() if raw is not None
    }


def _stamps(index: Index, number: int) -> Stamps:
    """What is known of the base's files, of which most stay, but for what a replay may write again."""
    try:
        held = load_generation(index.layout, number).files
    except DamageFound:
        return {}
    # Named at random when they are made: rows and texts are `.lance`, vector indexes `.idx`.
    return {path: stamp for path, stamp in held.items() if path.endswith((".lance", ".idx"))}

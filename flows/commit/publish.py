"""Step 9: `CURRENT` names the new generation; only this step changes what readers see."""

import logging
import os
from collections.abc import Collection

from flows.commit.authority import compute_authority
from flows.commit.garbage_collect import collect
from flows.commit.show import show_current
from flows.derive.similar_to import state_of
from flows.run.contexts import CommitContext
from flows.run.index import Index
from flows.run.kept_generations import kept_generations, links_file, require_current
from flows.run.planned_families import planned_families
from flows.run.signing import sign
from indexes.places import is_in_bucket
from indexes.publish.current import prepare_current, write_current
from indexes.publish.files import Stamps, files_of_generation, stamp_encoder, stamp_files
from indexes.publish.generation import (
    GenerationManifest,
    dump_generation,
    generation_numbers,
    generation_text,
    load_generation,
    store_record,
)
from indexes.publish.signatures import signature_of
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.leases import Lease
from indexes.write.apply import StagedState
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import DamageFound

_log = logging.getLogger(__name__)


def publish_generation(
    run: CommitContext, generation: Generation, staged: StagedState, *, lease: Lease
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
    manifest = describe(index, generation, staged)
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


def prune(index: Index, *, source: str, keep: Collection[str] = ()) -> int:
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
    index.similar.drop_all_but({state for row in generations if (state := state_of(row))})
    index.links.drop_all_but({links for row in generations if (links := links_file(row))})
    index.authority.prune(keep=kept)
    return collect(index, source=source)


def describe(index: Index, generation: Generation, staged: StagedState) -> GenerationManifest:
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

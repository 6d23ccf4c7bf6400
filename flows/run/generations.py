"""Generations as a run sees them: which are kept, where the next has its vectors, how it is read, signed."""

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from flows.run.contexts import IndexContext
from flows.run.index import Index, encoder_folder, fetch_encoder
from flows.run.versions import is_same, manifest_of
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.families import Families
from indexes.layout import VectorSpace, remedy, table_begun_by
from indexes.places import is_in_bucket, write_durably
from indexes.publish.files import parse_keep, plan_kept
from indexes.publish.generation import Signer, load_generation, read_signature, signature_of
from indexes.reader_parts import load_weights, open_reranker
from indexes.stores.ledger.generations import Generation
from indexes.wiring import Readers
from runtime.progress import StageProgress
from schemas.errors import DamageFound, SchemaMismatch
from schemas.families import SourceFamily
from schemas.records import from_record
from schemas.settings import CopySettings


def kept_generations(index: Index) -> tuple[int, ...]:
    """The current generation and those that led to it, as the settings keep them, oldest first.

    One that is gone stays gone: its manifest goes first and names what stores still hold.
    Raises: ConfigError: the settings say no rule.
    """
    policy = parse_keep(index.settings.keep, last=index.settings.keep_generations)
    line = index.ledger.lineage.of(index.current())
    return plan_kept([one for one in line if index.layout.generation(one.generation).exists()], policy)


def links_file(generation: Generation) -> str | None:
    """Hash of what is known of a generation's links; None where nobody wrote it down."""
    named: str | None = generation.details.get("links")
    return named


def lost_links(index: Index, number: int) -> str | None:
    """Name what a generation knows of its links, if that is missing or damaged."""
    generation = index.ledger.generations.get(number)
    named = links_file(generation) if generation else None
    return f"links/{named[:12]}" if named and not index.links.has(named) else None


def require_current(index: Index) -> None:
    """Make sure that what readers see is known before anything is deleted that nothing names.

    Raises: DamageFound: the ledger, or the manifest, of the current generation is lost or older.
    """
    number = index.current()
    load_generation(index.layout, number)
    if number and index.ledger.generations.get(number) is None:
        raise DamageFound(
            f"does not know generation {number}, which readers see; {remedy(index.layout.root)}",
            subject="ledger",
        )


def check_signing_key(settings: CopySettings) -> None:
    """Raise ConfigError at once where generations cannot be signed, and not when one is to be published."""
    if settings.signing_key:
        Signer(Path(settings.signing_key))


def sign(index: Index, generation: int) -> None:
    """Sign a generation before readers are led to it; one of a number used before loses its signature."""
    if not index.settings.signing_key:
        signature_of(index.layout, generation).unlink(missing_ok=True)
        return
    manifest = index.layout.generation(generation).read_bytes()
    signature = Signer(Path(index.settings.signing_key)).sign(manifest)
    write_durably(signature_of(index.layout, generation), signature)


def sign_current(index: Index) -> None:
    """Sign what readers see if it has no signature, and is what the ledger knows as published."""
    generation = index.current()
    if not index.settings.signing_key or not generation or read_signature(index.layout, generation):
        return
    if index.ledger.manifests.get(generation) == index.layout.generation(generation).read_text():
        sign(index, generation)


def planned_families(details: Mapping[str, Any]) -> tuple[SourceFamily, ...]:
    """Return which sources have versions of a manual, from the details that are frozen with a plan."""
    return tuple(from_record(SourceFamily, one) for one in details.get("families", ()))


def readers_at(index: Index, number: int, as_of: str, *, base: int) -> Readers:
    """Open a generation, published or not, as readers would, but for its authority: that is of *base*."""
    space, chunks = index.chunks.space(number), index.chunks.at(number)
    folder = index.local / space.encoder
    if is_in_bucket(index.layout.root):
        fetch_encoder(index.layout.root / space.encoder, folder)
    return Readers(
        index=index.layout.root,
        manifest=index.manifest,
        generation=number,
        as_of=as_of,
        chunks=chunks,
        graph=index.graph.at(number),
        authority=index.authority.at(base),
        encoder=OnnxEncoder(folder),
        reranker=open_reranker(),
        weights=load_weights(index.layout.root),
        families=Families(families_at(index, number), chunks),
    )


def families_at(index: Index, number: int) -> tuple[SourceFamily, ...]:
    """Which sources have versions of a manual, by the plan of a generation, else by its manifest."""
    row = index.ledger.generations.get(number)
    if row is None or not row.details:
        return load_generation(index.layout, number).families
    return planned_families(row.details)


def changes_model(run: IndexContext) -> bool:
    """Whether what readers see now has vectors of another model than the run's, or of another dtype.

    Raises: SchemaMismatch: it has since the run began, and that was not accepted.
    """
    held = run.index.model()
    differs = not is_same(held, run.model)
    if differs and not run.may_change_model:
        raise SchemaMismatch(
            f"another run has changed the model to {held.name} ({held.dtype}); run again",
            subject=str(run.index.layout.root),
        )
    return differs


def space_for(run: IndexContext, generation: int) -> VectorSpace:
    """Where a generation that this run makes has its vectors: where readers see them now, or a new table."""
    index = run.index
    if not changes_model(run):
        return index.chunks.space(index.current())
    return VectorSpace(
        model=manifest_of(run.model),
        table=table_begun_by(generation),
        encoder=encoder_folder(index, run.model).name,
    )


def repair_vectors(index: Index) -> None:
    """Drop vectors that do not match their checksum, or all where the file is broken."""
    path = index.vectors
    if not path.exists():
        return
    try:
        with closing(SqliteVectorCache(path, model_key="")) as vectors:
            vectors.drop_damaged()
    except DamageFound:
        for part in path.parent.glob(f"{path.name}*"):
            part.unlink()


COLLECTION = "collection"
"""Lease of whoever deletes files; a run waits for it once, after it took its source's lease."""


def wait_for_collection(index: Index, *, progress: StageProgress, stop: threading.Event) -> None:
    """Let a deletion that has begun come to its end; one that begins later sees the caller's own lease."""
    with index.hold(COLLECTION, progress=progress, stop=stop):
        pass

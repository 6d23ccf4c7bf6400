"""What is repaired in its place: a name that is a hash, or a manifest, says what it must be."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace

import numpy as np

from flows.commit.publish import compute_authority
from flows.commit.restore import documents_of, restore_from_graph
from flows.crawl.parse import parse_as_kept
from flows.derive.neighbours import read_document_links, similar_file
from flows.repair.compare import fragments_of
from flows.repair.rows import ComparedAgain
from flows.run.damage import IndexPart
from flows.run.generations import links_file, repair_vectors
from flows.run.resources import Resources
from flows.run.versions import pipeline_version
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.pending import anchor_inputs, caption_inputs, heading_input, text_input, vector_texts
from indexes.embed.weights import model_key
from indexes.layout import FILES
from indexes.ports import ChunkVectors, Vector
from indexes.publish.files import Damage, FileCheck
from indexes.publish.generation import generation_numbers, generation_text, load_generation
from indexes.stores.ledger.fragment_rows import damaged_fragment_rows, rewrite_fragment_rows
from ingest.link.authority import dump_links
from runtime.settings import THREADS
from schemas.batches import batched
from schemas.changes import RowChanges
from schemas.errors import DamageFound, ParseError, SitegraphError, UnsupportedMedia
from schemas.ids import sha256_hex
from schemas.nodes import Chunk, is_document

OTHER_ROWS = "the ledger has other links or names of it than it states"

_CHUNKS = 500
_UNREADABLE = (SitegraphError, ValueError, LookupError, TypeError)


def more_damage(resources: Resources, *, tables_are_whole: bool) -> Mapping[IndexPart, tuple[Damage, ...]]:
    """What only a repair looks for, since a run makes it again by itself: nothing that an answer rests on.

    Args: tables_are_whole: as published. Of others nothing is read: there is damage that ends whoever does.
    """
    index, generation = resources.index, resources.index.current()
    row = index.ledger.generations.get(generation) if generation else None
    if row is None:
        return {}
    state = similar_file(row) if tables_are_whole else None
    uris = {one.fragment_sha: one.uri for one in index.ledger.generations.live(generation).values()}
    others = {
        sha
        for part in fragments_of(resources.index, resources.index.current(), resources.progress)
        for sha in damaged_fragment_rows(index.ledger, part)
    }
    lost = _texts_without_vector(resources) if tables_are_whole else 0
    found = {
        IndexPart.SIMILAR: [f"similar/{state[:12]}"] if state and not index.similar.has(state) else [],
        IndexPart.LEDGER_ROWS: [uris[sha] for sha in sorted(others)],
        IndexPart.VECTORS: [index.vectors.name] if lost else [],
    }
    said = {
        IndexPart.SIMILAR: "is missing or damaged",
        IndexPart.LEDGER_ROWS: OTHER_ROWS,
        IndexPart.VECTORS: f"{lost} texts of passages have no vector in it",
    }
    return {part: tuple((name, said[part]) for name in names) for part, names in found.items() if names}


def _texts_without_vector(resources: Resources) -> int:
    """Count the texts that the chunk store has a vector of and the cache has not; of a broken file nothing is
    said here, and a cache that is not in the index is none of its parts.
    """
    index = resources.index
    if not _has_own_cache(resources):
        return 0
    try:
        lost = set[str]()
        with _cache(resources) as cache:
            for part in batched(index.chunks.at(index.current()).scan(), _CHUNKS):
                lost.update(cache.missing(text for chunk in part for text in vector_texts(chunk)))
        return len(lost)
    except _UNREADABLE:
        return 0


def _has_own_cache(resources: Resources) -> bool:
    index = resources.index
    shared = index.settings.task_runner != THREADS and index.manifest.raw != FILES
    return index.local == index.layout.root and not shared and not resources.model.token_vectors


def _cache(resources: Resources) -> AbstractContextManager[SqliteVectorCache]:
    return closing(SqliteVectorCache(resources.index.vectors, model_key=model_key(resources.model)))


def restore_documents(resources: Resources) -> None:
    """Tell the ledger of documents that readers see and it has forgotten."""
    index, current = resources.index, resources.index.current()
    known = index.ledger.generations.live(current)
    nodes = [n for n in index.graph.at(current).scan_nodes() if is_document(n) and n.id not in known]
    index.ledger.generations.remember(current, documents_of(index, nodes))


def restore_ledger_of(resources: Resources) -> None:
    """Tell a ledger that was lost what readers see, and keep the manifests in it that it repeats."""
    index = resources.index
    index.claim_ledger()
    restore_from_graph(index)
    for number in generation_numbers(index.layout):
        try:
            manifest = load_generation(index.layout, number)
        except DamageFound:
            continue
        index.ledger.manifests.save(number, generation_text(manifest))


def restore_fragments(resources: Resources) -> None:
    """Parse documents again whose parsed form is lost, where their bytes give the very same."""
    index = resources.index
    live = index.ledger.generations.live(index.current()).values()
    sources = index.ledger.sources.all()
    for one in resources.progress.over("parse", live, total=len(live)):
        known = index.ledger.documents.get(one.source, [one.uri]).get(one.uri)
        if index.fragments.has(one.fragment_sha) or known is None or one.source not in sources:
            continue
        source = sources[one.source]
        version = pipeline_version(resources.model, source)
        context = replace(resources.crawling(), source=source, pipeline_version=version)
        try:
            record = parse_as_kept(context, known)
        except (DamageFound, ParseError, UnsupportedMedia):
            continue  # what is left is told
        if sha256_hex(record) == one.fragment_sha:
            index.fragments.put(record)


def restore_fragment_rows(resources: Resources) -> None:
    """Let the ledger have the links and names of the documents that readers see."""
    for part in fragments_of(resources.index, resources.index.current(), resources.progress):
        damaged = damaged_fragment_rows(resources.index.ledger, part)
        rewrite_fragment_rows(resources.index.ledger, {sha: part[sha] for sha in damaged})


def restore_vectors(resources: Resources, *, tables_are_whole: bool) -> None:
    """Drop vectors that do not match their checksum; those that the chunk store has are taken from there.

    Vectors of tokens are encoded again when they are needed: the store keeps them rounded.

    Args: tables_are_whole: as published; beside others the texts are encoded again when rows are written.
    """
    index = resources.index
    repair_vectors(index)
    if not tables_are_whole or not _has_own_cache(resources):
        return
    try:
        reader = index.chunks.at(index.current())
        with _cache(resources) as cache:
            for part in batched(reader.scan(), _CHUNKS):
                held = reader.vectors([chunk.id for chunk in part])
                texts = {text: v for chunk in part for text, v in _texts(chunk, held[chunk.id])}
                missing = cache.missing(texts)
                cache.put(missing, _stacked([texts[text] for text in missing]))
    except _UNREADABLE:
        return


def _texts(chunk: Chunk, held: ChunkVectors) -> Iterator[tuple[str, Vector]]:
    yield text_input(chunk), held.text
    yield heading_input(chunk), held.heading
    yield from zip(anchor_inputs(chunk), held.anchors, strict=True)
    yield from zip(caption_inputs(chunk), held.captions, strict=True)


def _stacked(vectors: list[Vector]) -> Vector:
    return np.stack(vectors) if vectors else np.zeros((0, 0), np.float32)


def restore_links(resources: Resources) -> bool:
    """Read from the graph what documents link to; whether that gives the very file, else a generation names
    another, or none.
    """
    index = resources.index
    row = index.ledger.generations.get(index.current())
    again = index.links.put(dump_links(read_document_links(index, index.current())))
    return row is not None and again == links_file(row)


def restore_authority(resources: Resources) -> bool:
    """Weigh documents again; whether that gives the file that was published, else a generation needs it."""
    index, current = resources.index, resources.index.current()
    row = index.ledger.generations.get(current)
    if row is None:
        return False
    compute_authority(index, row)
    path = index.layout.authority_of(current).relative_to(index.layout.root).as_posix()
    stamp = load_generation(index.layout, current).files.get(path)
    return stamp is not None and not FileCheck(index.layout.root).damaged({path: stamp})


def restore_similar(resources: Resources) -> bool:
    """Compare all passages again; whether that gives the very file, else a generation names another.

    Edges that the graph has otherwise are rows, which are looked at by themselves.
    """
    index = resources.index
    row = index.ledger.generations.get(index.current())
    again = ComparedAgain(
        run=resources.indexing(), base=index.current(), select=lambda _edges: RowChanges()
    ).decide()
    return row is not None and again.state == similar_file(row)

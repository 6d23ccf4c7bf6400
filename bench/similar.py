"""What joining similar passages costs: all of an index at once, and after one passage in a hundred changed.

    python -m bench.similar [--chunks 40000]

The vectors are random: bundles of forty around a topic, some tight and some loose, a fiftieth of them equal
to another. They lie in LanceDB and in the cache as a run leaves them; timed is the stage that decides the
edges, with all it reads and keeps, in CPU seconds of this process. The edges after the change are held
against those of an index that never saw it. Then the comparison alone: all vectors with all, in turn by
products of float32 and screened by 8-bit integers. Prints one JSON object, and ends with 1 where an aim is
missed, or edges or neighbours differ.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from bench.comparison import Figures, Limit, conclude, judge
from flows.derive.neighbours import SimilarPlan, SimilarRows
from flows.run.index import Index
from flows.run.resources import Given, Resources
from flows.run.values import Run
from indexes.embed.screen import open_screen
from indexes.embed.weights import ModelSpec
from indexes.frozen_plan import load_payload
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.ports import ChunkVectors, Vector
from indexes.publish.current import write_current
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.ledger.generations import GenerationState
from ingest.link.chunk_columns import encoded_text_of
from ingest.link.nearest import SCALE, Corpus, NearestChunks, join, no_neighbours
from ingest.link.similarity import SPARE
from runtime.progress import StageProgress
from runtime.readings import peak_rss_mb
from schemas.changes import RowChanges
from schemas.edges import Edge
from schemas.ids import chunk_id, page_id, section_id, sha256_hex
from schemas.nodes import Chunk, DocumentKind
from schemas.settings import Settings
from schemas.source import Source
from tests.fakes.memory_stores import MemoryGraphStore, MemoryVectorCache
from tests.fakes.plain_run import open_encoding

DIM = 384
PER_TOPIC, PER_DOCUMENT, PER_SECTION = 40, 20, 2
LIMITS = (
    Limit("ratio", "of the full build for a change of one passage in a hundred", 0.2),
    Limit("screened_ratio", "of the comparison by float32 for the screened one", 0.4, reached=0.6),
)
"""The screen took .25 on an EPYC and .49 to .56 on a Xeon; what is pinned is the dearest and a tenth."""
ROUNDS = 3

Edges = dict[str, Edge]


def main() -> None:
    """Build, change one in a hundred, build again from nothing; compare."""
    parser = argparse.ArgumentParser(description="Time joining similar passages.")
    parser.add_argument("--chunks", type=int, default=40_000)
    count = parser.parse_args().chunks
    with tempfile.TemporaryDirectory() as scratch:
        figures = measure(Path(scratch), count)
    figures |= compare_products(count)
    missed, short = judge(figures, LIMITS)
    missed += [] if figures["equal_to_rebuild"] else ["the edges differ from a rebuild's"]
    missed += [] if figures["equal_neighbours"] else ["the screen changes the neighbours"]
    conclude(figures, missed, short)


def measure(work: Path, count: int) -> Figures:
    """The figures of one index."""
    rng = np.random.default_rng(0)
    changed = sorted(rng.choice(count, count // 100, replace=False).tolist())
    vectors = make_vectors(rng, count + len(changed))
    before = [make_chunk(place, "first") for place in range(count)]
    after = [make_chunk(place, "second") for place in changed]
    with_vectors = dict(zip((encoded_text_of(chunk) for chunk in before + after), vectors, strict=True))
    resources = open_run(work / "index", with_vectors)
    gone = tuple(before[place].id for place in changed)
    full, built = decide(resources, 0, RowChanges(chunks=tuple(before)))
    publish(resources, built, before, with_vectors)
    edges = apply({}, resources, built)
    some, grown = decide(resources, 1, RowChanges(chunks=tuple(after), chunk_deletes=gone))
    peak = peak_rss_mb()
    edges = apply(edges, resources, grown)
    kept = [chunk for chunk in before if chunk.id not in set(gone)]
    _, again = decide(resources, 0, RowChanges(chunks=(*kept, *after)))
    return {
        "chunks": count,
        "changed": len(changed),
        "edges": len(edges),
        "full_cpu_seconds": round(full, 3),
        "change_cpu_seconds": round(some, 3),
        "ratio": round(some / full, 4),
        "searched": grown.counts.searched,
        "searched_again": grown.counts.searched_again,
        "peak_rss_mb": round(peak, 1),
        "equal_to_rebuild": edges == apply({}, resources, again),
    }


def compare_products(count: int) -> Figures:
    """The least CPU seconds of some rounds, each way in turn, and whether both find the same."""
    vectors, places = make_vectors(np.random.default_rng(1), count), np.arange(count)
    everything = Corpus(places=places, vectors=vectors, sections=(places // PER_SECTION).astype(np.uint64))
    least = round(Settings().similar_score * SCALE)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    found: dict[bool, NearestChunks] = {}
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(ROUNDS):
            for screened, taken in seconds.items():
                found[screened] = no_neighbours(count, width=SPARE * Settings().similar_count)
                start = time.process_time()
                screen = open_screen() if screened else None
                join(found[screened], everything, (), least=least, screen=screen)
                taken.append(time.process_time() - start)
    return {
        "float32_cpu_seconds": round(min(seconds[False]), 3),
        "screened_cpu_seconds": round(min(seconds[True]), 3),
        "screened_ratio": round(min(seconds[True]) / min(seconds[False]), 3),
        "equal_neighbours": bool((found[False].known == found[True].known).all()),
    }


def make_vectors(rng: np.random.Generator, count: int) -> Vector:
    """Unit vectors around topics, some of them equal."""
    topics = rng.normal(size=(count // PER_TOPIC + 1, DIM)).astype(np.float32)
    loose = rng.uniform(0.3, 1.5, size=(count, 1)).astype(np.float32)
    vectors = topics[rng.integers(0, len(topics), count)]
    vectors += loose * rng.normal(size=(count, DIM)).astype(np.float32)
    vectors[rng.integers(0, count, count // 50)] = vectors[rng.integers(0, count, count // 50)]
    lengths: Vector = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def make_chunk(place: int, version: str) -> Chunk:
    """A passage of a page of twenty."""
    doc, text = page_id(f"https://bench.test/{place // PER_DOCUMENT}"), f"passage {place}, {version} version"
    heading_path = (f"Section {place % PER_DOCUMENT // PER_SECTION}",)
    return Chunk(
        id=chunk_id(doc, heading_path, text, 0),
        kind=DocumentKind.HTML,
        source="bench",
        doc=doc,
        text=text,
        content_hash=sha256_hex(text),
        ordinal=place % PER_DOCUMENT,
        offsets=(0, len(text)),
        token_count=4,
        heading_path=heading_path,
        section_id=section_id(doc, heading_path, 0),
    )


def open_run(folder: Path, vectors: Mapping[str, Vector]) -> Resources:
    """An empty index with its chunks in LanceDB, and every text encoded."""
    model = ModelManifest(name="bench", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="bench", graph="lance", model=model)
    index = Index(layout=IndexLayout(folder), manifest=manifest, settings=Settings())
    LanceChunkStore.create(index.layout.lance, dim=DIM).close()
    index.opened_graph = MemoryGraphStore()
    write_current(folder, 0)
    source = Source(name="bench", kind="files")
    cache = MemoryVectorCache()
    cache.put(tuple(vectors), np.stack(list(vectors.values())))
    run = Run(index=str(folder), source=source.name, run_id="run")
    given = Given(vectors=cache, encoding=open_encoding(cache))
    resources = Resources(run, index=index, source=source, progress=StageProgress(quiet=True), given=given)
    resources.model = ModelSpec(name="bench", path=folder, sha256=model.sha256, dim=DIM, max_tokens=256)
    return resources


def decide(resources: Resources, base: int, rows: RowChanges) -> tuple[float, SimilarRows]:
    """Decide the edges on top of a generation, a hundred documents at a time; give the CPU seconds too."""
    parts = iter(rows.chunks)
    start = time.process_time()
    plan = SimilarPlan(run=resources.indexing(), base=base)
    while part := tuple(islice(parts, 100 * PER_DOCUMENT)):
        plan.add(RowChanges(chunks=part))
    plan.add(RowChanges(chunk_deletes=rows.chunk_deletes))
    decided = plan.decide()
    return time.process_time() - start, decided


def publish(
    resources: Resources, decided: SimilarRows, chunks: Sequence[Chunk], vectors: Mapping[str, Vector]
) -> None:
    """Make generation 1 of the chunks."""
    generations, writer = resources.index.ledger.generations, resources.index.chunks.writer()
    number = generations.begin(
        base=0, source="bench", run_id="run", token=1, as_of="2026-01-01T00:00:00+00:00"
    )
    generations.freeze(
        number, payloads=(), plan_sha="0" * 64, changes=(), details={"similar": decided.details}
    )
    generations.mark(number, GenerationState.PUBLISHED)
    writer.stage(number, base=0)
    none = np.zeros((0, DIM), np.float32)
    rows = ((chunk, vectors[encoded_text_of(chunk)]) for chunk in chunks)
    writer.apply(
        ((chunk, ChunkVectors(text=text, heading=text, anchors=none, captions=none)) for chunk, text in rows),
        (),
    )
    writer.finish(number)


def apply(edges: Edges, resources: Resources, decided: SimilarRows) -> Edges:
    """The edges of a store after the payloads."""
    for payload in decided.payloads:
        rows = load_payload(resources.index.outbox, payload)
        edges = {id_: edge for id_, edge in edges.items() if id_ not in set(rows.edge_deletes)}
        edges |= {edge.id: edge for edge in rows.edges}
    return edges


if __name__ == "__main__":
    main()

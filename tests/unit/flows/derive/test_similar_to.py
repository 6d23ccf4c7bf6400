"""Edges between similar passages as runs decide them: one after another, and where what was known is lost."""

import shutil
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flows.commit.publish import prune_generations
from flows.derive import neighbours
from flows.derive.neighbours import SimilarPlan, SimilarRows, similar_file
from flows.run.index import Index
from flows.run.resources import Given, Resources
from flows.run.values import Run
from indexes.embed.weights import ModelSpec
from indexes.frozen_plan import load_payload
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.ports import ChunkReader, ChunkVectors, Vector
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.ledger.generations import GenerationState
from ingest.link.chunk_columns import encoded_text_of
from runtime.progress import StageProgress
from schemas.changes import RowChanges
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, ChunkNode
from schemas.settings import Settings
from schemas.source import Source
from tests.fakes.encoder import HashEncoder
from tests.fakes.graph_samples import make_chunk
from tests.fakes.ledger_rows import begin, freeze
from tests.fakes.memory_stores import MemoryGraphStore, MemoryVectorCache
from tests.fakes.memory_tables import MemoryTables
from tests.fakes.plain_run import PlainRun, open_encoding

DIM = 32
ENCODER = HashEncoder(DIM)
STALLS = "Guards stand at the gate and count who comes and who goes"


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[PlainRun]:
    """An empty index with its stores in memory."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path), manifest=manifest, settings=Settings(keep_generations=2))
    write_current(tmp_path, 0)
    index.opened_chunks, index.opened_graph = MemoryTables(model), MemoryGraphStore()
    source = Source(name="site", kind="files")
    cache = MemoryVectorCache()
    given = Given(vectors=cache, encoding=open_encoding(cache, ENCODER))
    run = Run(index=str(tmp_path), source="site", run_id="run")
    resources = Resources(run, index=index, source=source, progress=StageProgress(quiet=True), given=given)
    resources.model = ModelSpec(
        name=model.name, path=tmp_path, sha256=model.sha256, dim=DIM, max_tokens=model.max_tokens
    )
    yield PlainRun(resources, given)
    resources.encoding().close()
    index.close()


def passage(text: str, page: str = "one", source: str = "site") -> Chunk:
    """A passage of a page, under no heading, in a section of its own."""
    uri = f"https://{source}.test/{page}"
    return make_chunk(text, uri=uri, source=source, heading_path=(), section_id=f"section:{uri} {text}")


def run(
    plain: PlainRun, *chunks: Chunk, base: int = 0, gone: Collection[Chunk] = ()
) -> tuple[int, SimilarRows]:
    """Make the next generation on top of *base*: what comes, and what goes."""
    texts = {encoded_text_of(chunk): ENCODER.encode_query(encoded_text_of(chunk)) for chunk in chunks}
    if texts:
        plain.resources.vectors.put(tuple(texts), np.stack(list(texts.values())))
    deletes = tuple(chunk.id for chunk in gone)
    plan = SimilarPlan(run=plain.indexing, base=base)
    for chunk in chunks:
        plan.add(RowChanges(chunks=(chunk,)))
    plan.add(RowChanges(chunk_deletes=deletes))
    decided = plan.decide()
    number = begin(plain.index.ledger, base=base)
    freeze(plain.indexing.index.ledger, number, (), details={"similar": decided.details})
    write(plain.index, number, base, chunks, deletes, decided)
    plain.index.ledger.generations.mark(number, GenerationState.PUBLISHED)
    dump_generation(plain.index.layout, manifest_of(number, base))
    write_current(plain.index.layout.root, number)
    return number, decided


def manifest_of(number: int, base: int) -> GenerationManifest:
    """What a generation says of itself."""
    return GenerationManifest(
        generation=number, base=base, as_of="2026-03-01", source="site", run_id="run", plan_sha="p"
    )


def write(
    index: Index,
    number: int,
    base: int,
    chunks: Collection[Chunk],
    gone: Collection[str],
    decided: SimilarRows,
) -> None:
    """Take chunks, their nodes and the decided edges into the stores."""
    writer, joiner = index.chunks.writer(), index.graph.writer()
    none = np.zeros((0, DIM), np.float32)
    rows = []
    for chunk in chunks:
        text = ENCODER.encode_query(encoded_text_of(chunk))
        rows.append((chunk, ChunkVectors(text=text, heading=text, anchors=none, captions=none)))
    writer.stage(number, base=base)
    writer.apply(rows, gone)
    writer.finish(number)
    joiner.stage(number, base=base)
    nodes = [ChunkNode(id=c.id, doc=c.doc, source=c.source, content_hash=c.content_hash) for c in chunks]
    joiner.apply_nodes(nodes, gone)
    for payload in decided.payloads:
        part = load_payload(index.outbox, payload)
        joiner.apply_edges(part.edges, part.edge_deletes)
    joiner.finish(number)


def edges(plain: PlainRun, generation: int) -> tuple[Edge, ...]:
    """What the graph holds."""
    return tuple(plain.index.graph.at(generation).scan_edges())


def ends(plain: PlainRun, generation: int) -> set[tuple[str, str]]:
    """Both ends of each edge."""
    return {(edge.src, edge.dst) for edge in edges(plain, generation)}


def clean(plain: PlainRun, *chunks: Chunk) -> tuple[Edge, ...]:
    """The edges of an index that holds nothing but these."""
    number, _ = run(plain, *chunks)
    return edges(plain, number)


ONE = passage(STALLS)
TWO = passage(f"{STALLS} at night", "two")
THREE = passage("Ropes are kept in the tower, dry and coiled", "three")
FOUR = passage(f"{STALLS} by day", "four", source="wiki")


def test_a_passage_that_comes_is_joined_both_ways_to_those_that_are_there(plain: PlainRun) -> None:
    first, _ = run(plain, ONE, THREE)
    assert ends(plain, first) == set()

    second, decided = run(plain, TWO, FOUR, base=first)

    assert edges(plain, second) == clean(plain, ONE, TWO, THREE, FOUR)
    assert (TWO.id, ONE.id) in ends(plain, second)
    assert (decided.counts.searched, decided.counts.searched_again) == (2, 0)
    assert {source: counts["edges"]["similar_to"] for source, counts in decided.growth.items()} == {
        "site": 4,
        "wiki": 2,
    }


def test_what_goes_takes_its_edges_of_both_directions_without_a_search(plain: PlainRun) -> None:
    first, _ = run(plain, ONE, TWO, THREE, FOUR)

    second, decided = run(plain, base=first, gone=[FOUR])

    assert edges(plain, second) == clean(plain, ONE, TWO, THREE)
    assert decided.counts.searched == decided.counts.searched_again == 0
    assert decided.growth["wiki"] == {"edges": {"similar_to": -2}}


def test_nothing_is_written_where_no_edge_changes(plain: PlainRun) -> None:
    first, _ = run(plain, ONE, TWO)
    _, decided = run(plain, THREE, base=first)
    assert (decided.payloads, decided.growth) == ((), {})


def test_the_generation_a_run_builds_on_is_the_one_that_counts(plain: PlainRun) -> None:
    """After a rollback what the later generation knew is of no use."""
    first, _ = run(plain, ONE, THREE)
    run(plain, TWO, base=first)
    plain.index.ledger.generations.roll_back(above=first)

    third, decided = run(plain, FOUR, base=first)

    assert edges(plain, third) == clean(plain, ONE, THREE, FOUR)
    assert decided.counts.searched == 1


@pytest.mark.parametrize("harm", ["lost", "damaged", "forgotten"])
def test_where_what_was_known_is_lost_everything_is_compared_again(plain: PlainRun, harm: str) -> None:
    first, _ = run(plain, ONE, TWO, THREE)
    folder = plain.index.layout.similar
    if harm == "lost":
        shutil.rmtree(folder)
    elif harm == "damaged":
        (file,) = [path for path in folder.rglob("*") if path.is_file()]
        file.write_bytes(b"damaged")
    else:
        row = plain.index.ledger.generations.get(first)
        assert row is not None
        plain.index.ledger.generations.restore([replace(row, details={})], [])

    second, decided = run(plain, FOUR, base=first)

    assert edges(plain, second) == clean(plain, ONE, TWO, THREE, FOUR)
    assert decided.counts.searched == 4
    written = [load_payload(plain.index.outbox, sha) for sha in decided.payloads]
    assert {edge.id for part in written for edge in part.edges} == {
        edge.id for edge in edges(plain, second) if FOUR.id in (edge.src, edge.dst)
    }, "edges that are right already are left alone"


def test_another_threshold_holds_from_the_next_generation_on(plain: PlainRun) -> None:
    first, _ = run(plain, ONE, TWO, FOUR)
    assert len(edges(plain, first)) == 6
    plain.index.settings = Settings(similar_score=0.99)

    second, decided = run(plain, THREE, base=first)

    assert (edges(plain, second), decided.counts.searched) == ((), 4)


def test_copies_of_a_site_give_each_passage_no_more_than_five_edges(plain: PlainRun) -> None:
    copies = [passage(STALLS, f"{version}", source=f"v{version}") for version in range(40)]

    number, decided = run(plain, *copies)

    joined = edges(plain, number)
    lowest = sorted(chunk.id for chunk in copies)
    assert len(joined) == decided.counts.near_duplicates == 5 * 40
    assert {edge.score for edge in joined} == {1.0}
    assert {edge.dst for edge in joined} == set(lowest[:6])


@pytest.mark.parametrize("codes_are_lost", [True, False])
def test_where_a_model_differs_in_its_tokens_alone_new_passages_meet_those_that_stay(
    plain: PlainRun, codes_are_lost: bool
) -> None:
    first, _ = run(plain, ONE, TWO, *MANY)
    if codes_are_lost:
        shutil.rmtree(plain.index.codes)
    plain.resources.model = replace(plain.resources.model, token_vectors=True)
    plain.resources.run = replace(plain.resources.run, may_change_model=True)
    plan = SimilarPlan(run=plain.indexing, base=first)
    plain.resources.vectors.put((encoded_text_of(FOUR),), ENCODER.encode_query(encoded_text_of(FOUR))[None])
    plan.add(RowChanges(chunks=(FOUR,)))
    plan.add(RowChanges(chunks=(ONE, TWO, *MANY)))

    decided = plan.decide()

    written = [load_payload(plain.index.outbox, sha) for sha in decided.payloads]
    found = {(edge.src, edge.dst) for part in written for edge in part.edges}
    assert {(FOUR.id, ONE.id), (ONE.id, FOUR.id), (FOUR.id, TWO.id), (TWO.id, FOUR.id)} <= found


MANY = tuple(passage(f"Verse {number} of {number * 7919}, sung once", f"{number}") for number in range(40))
"""Passages of which none is like another."""


def remember_reads(
    monkeypatch: pytest.MonkeyPatch, reader: type[ChunkReader], read: list[Collection[str]]
) -> None:
    """Note which vectors are asked for; all of them at once is an error."""
    as_it_is = reader.text_vectors

    def text_vectors(
        of: ChunkReader, ids: Collection[str] | None = None
    ) -> Iterator[tuple[tuple[str, ...], Vector]]:
        assert ids is not None, "all vectors are read"
        read.append(ids)
        return as_it_is(of, ids)

    monkeypatch.setattr(reader, "text_vectors", text_vectors)


def test_to_compare_a_few_with_many_few_vectors_are_read(
    plain: PlainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = run(plain, ONE, THREE, *MANY)
    read = list[Collection[str]]()
    remember_reads(monkeypatch, type(plain.index.chunks.at(first)), read)

    second, _ = run(plain, TWO, FOUR, base=first)
    third, decided = run(plain, base=second, gone=[ONE])

    monkeypatch.undo()
    assert read == [[ONE.id]]
    assert edges(plain, second) == clean(plain, ONE, TWO, THREE, FOUR, *MANY)
    assert edges(plain, third) == clean(plain, TWO, THREE, FOUR, *MANY)
    assert decided.counts.searched == 0


@pytest.mark.parametrize("harm", ["lost", "damaged", "of another run"])
def test_where_codes_are_lost_the_edges_are_the_same(plain: PlainRun, harm: str) -> None:
    first, _ = run(plain, ONE, THREE, *MANY)
    (codes,) = plain.index.codes.iterdir()
    whole = codes.read_bytes()
    codes.write_bytes(
        {"lost": b"", "damaged": bytes(len(whole)), "of another run": whole[: len(whole) // 2]}[harm]
    )

    second, _ = run(plain, TWO, FOUR, base=first)

    assert edges(plain, second) == clean(plain, ONE, TWO, THREE, FOUR, *MANY)


def test_many_edges_are_many_payloads(plain: PlainRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "EDGES_PER_PAYLOAD", 4)
    number, decided = run(plain, ONE, TWO, FOUR)
    assert (len(decided.payloads), len(edges(plain, number))) == (2, 6)


def test_what_is_known_goes_with_its_generation(plain: PlainRun) -> None:
    numbers = [run(plain, ONE)[0]]
    for chunk in (TWO, THREE, FOUR):
        numbers.append(run(plain, chunk, base=numbers[-1])[0])
    taken = plain.index.ledger.leases.acquire("index", holder="me", now="2026", expires_at="9999")
    assert taken is not None

    prune_generations(plain.index, source="site")

    rows = [plain.index.ledger.generations.get(number) for number in numbers]
    states = [similar_file(row) for row in rows if row is not None]
    assert [plain.index.similar.has(state or "") for state in states] == [False, False, True, True]


def test_edges_say_their_kind_and_how_sure_they_are(plain: PlainRun) -> None:
    number, _ = run(plain, ONE, TWO)
    for edge in edges(plain, number):
        assert (edge.kind, edge.confidence) == (EdgeKind.SIMILAR_TO, edge.score)
        assert edge.score == round(edge.score or 0, 4) >= 0.7


@pytest.mark.parametrize(
    ("details", "state"),
    [({"similar": {"state": "old"}}, "old"), ({"similar": {"neighbours": "new"}}, "new"), ({}, None)],
)
def test_the_hash_that_an_earlier_version_noted_is_found(
    plain: PlainRun, details: dict[str, dict[str, str]], state: str | None
) -> None:
    ledger = plain.indexing.index.ledger
    freeze(ledger, begin(ledger, base=0), (), details=details)
    (row,) = ledger.generations.unfinished()
    assert similar_file(row) == state

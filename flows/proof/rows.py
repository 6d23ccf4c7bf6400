"""Rows of some documents linked again, against those that both stores have of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flows.derive.link import DECIDED_ELSEWHERE, NextGeneration, link_documents
from flows.proof.compare import Deviation, Record, compare_rows
from flows.proof.parse import stable_node
from flows.proof.scratch import Scratch
from flows.proof.vectors import compare_vectors
from indexes.embed.texts import chunk_vectors, vector_texts
from schemas.changes import ChangeKind, DocumentChange, RowChanges
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.nodes import Chunk, Entity
from schemas.records import to_record
from schemas.stable_record import stable_record


def from_nothing(scratch: Scratch, live: Mapping[str, LiveDocument], *, as_of: str) -> NextGeneration:
    """Return the generation as one that adds every document to an empty index."""
    return NextGeneration(run=scratch.resources.deriving(), base=0, changes=additions(live), as_of=as_of)


def additions(live: Mapping[str, LiveDocument]) -> dict[str, DocumentChange]:
    """Every document as one that is added."""
    return {
        doc: DocumentChange(kind=ChangeKind.ADDED, old=None, new=one) for doc, one in sorted(live.items())
    }


def compare_linked(scratch: Scratch, generation: NextGeneration, docs: Sequence[str]) -> Iterator[Deviation]:
    """Link documents again, and yield the rows and vectors of them that differ from those of the stores."""
    rows = link_documents(generation, docs).rows
    graph, store = scratch.held.graph.at(scratch.generation), scratch.held.chunks.at(scratch.generation)
    held_chunks = sorted(store.of_documents(docs), key=lambda chunk: chunk.id)
    entities = [node for node in rows.nodes if isinstance(node, Entity)]
    nodes = [node for node in rows.nodes if not isinstance(node, Entity)]
    held_nodes = (*graph.nodes_of(docs), *graph.nodes([entity.id for entity in entities]))
    yield from compare_rows("nodes", _sorted(map(stable_node, held_nodes)), _nodes(nodes, entities))
    held_edges = (edge for edge in graph.edges_of(docs) if edge.kind not in DECIDED_ELSEWHERE)
    yield from compare_rows("edges", _records(held_edges), _records(rows.edges))
    yield from compare_rows("chunks", _records(held_chunks), _records(rows.chunks))
    yield from _vectors(scratch, rows)


def _vectors(scratch: Scratch, rows: RowChanges) -> Iterator[Deviation]:
    if not rows.chunks:
        return
    resources = scratch.resources
    resources.encoding().wait()
    texts = {text for chunk in rows.chunks for text in vector_texts(chunk)}
    encoded = scratch.vectors.fresh.get(texts)
    dim = resources.model.dim
    derived = {chunk.id: chunk_vectors(chunk, encoded, dim) for chunk in rows.chunks}
    held = scratch.held.chunks.at(scratch.generation).vectors(derived)
    yield from compare_vectors(rows.chunks, held, derived)


def _nodes(nodes: Iterable[object], entities: Iterable[object]) -> list[Record]:
    return _sorted(stable_node(node) for node in (*nodes, *entities))  # type: ignore[arg-type]


def _records(rows: Iterable[Edge | Chunk]) -> list[Record]:
    return _sorted(stable_record(to_record(row)) for row in rows)


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record["id"])

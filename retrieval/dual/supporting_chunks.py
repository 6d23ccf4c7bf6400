"""The chunks behind edges: where an edge was read, or what its document says that comes nearest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexes.filters import passes
from indexes.ports import ChunkReader
from schemas.edges import Edge, EdgeKind
from schemas.evidence import Filter, Query, SearchField
from schemas.nodes import Chunk

_LOOK_UP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingChunks:
    """Chunks by id, and one for each document whose edges were not read from text; all pass the filters."""

    by_id: Mapping[str, Chunk]
    of_doc: Mapping[str, Chunk]

    def behind(self, edge: Edge) -> Chunk | None:
        """Return the chunk that shows an edge; None where the filters keep it out."""
        read_in = support_of(edge)
        return self.by_id.get(read_in) if read_in else self.of_doc.get(edge.doc)

    def texts(self) -> Mapping[str, str]:
        """Texts by id."""
        return {id_: chunk.text for id_, chunk in self.by_id.items()}


def support_of(edge: Edge) -> str | None:
    """Return the id of the chunk an edge was read from; None for front matter and links around the text."""
    ends = {EdgeKind.MENTIONS: edge.src, EdgeKind.EXPLAINED_BY: edge.dst}
    end = ends.get(edge.kind, "")
    return edge.chunk or (end if end.startswith("chunk:") else None)


def read_supporting_chunks(chunks: ChunkReader, edges: Collection[Edge], query: Query) -> SupportingChunks:
    """Read what stands behind *edges*, in at most three calls.

    Of a document whose front matter or links say so, it is the chunk that shares most words with the
    question, else its first. Raises: StoreUnavailable: the store is gone.
    """
    read_in = sorted({id_ for edge in edges if (id_ := support_of(edge))})
    docs = sorted({edge.doc for edge in edges if support_of(edge) is None})
    of_doc = _nearest(chunks, docs, query)
    for chunk in chunks.of_documents([doc for doc in docs if doc not in of_doc]):
        if passes(chunk, query.conditions):
            of_doc.setdefault(chunk.doc, chunk)
    found = (chunk for chunk in chunks.get(read_in) if passes(chunk, query.conditions))
    return SupportingChunks(by_id={chunk.id: chunk for chunk in found}, of_doc=of_doc)


def _nearest(chunks: ChunkReader, docs: list[str], query: Query) -> dict[str, Chunk]:
    if not docs:
        return {}
    only = (*query.conditions, Filter(field="doc", values=tuple(docs)))
    best: dict[str, str] = {}
    for hit in chunks.search_text(SearchField.TEXT, query.text, top_k=_LOOK_UP, filters=only):
        best.setdefault(hit.doc, hit.chunk_id)
    return {chunk.doc: chunk for chunk in chunks.get(sorted(best.values()))}

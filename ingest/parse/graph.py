"""The nodes and edges of one document while they are gathered."""

from dataclasses import dataclass, field

from schemas.edges import Edge, EdgeKind, plain_edge
from schemas.fragment import ParseRequest
from schemas.nodes import Chunk, ChunkNode


@dataclass(slots=True, kw_only=True)
class DocumentGraph:
    """What every kind of document gathers: chunks, and edges between its own nodes."""

    request: ParseRequest
    doc: str
    chunks: list[Chunk] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def join(self, kind: EdgeKind, src: str, dst: str) -> None:
        """Add an edge that says no more than its kind."""
        self.edges.append(plain_edge(kind, src, dst, doc=self.doc, source=self.request.source))

    def add_chunk(self, chunk: Chunk, *, cut_from: str) -> None:
        """Add a chunk below the node that it was cut from."""
        self.chunks.append(chunk)
        self.join(EdgeKind.CONTAINS, cut_from, chunk.id)
        self.join(EdgeKind.MATERIALIZED_FROM, chunk.id, cut_from)

    def chunk_nodes(self) -> tuple[ChunkNode, ...]:
        """Return the graph's side of the chunks."""
        return tuple(
            ChunkNode(
                id=chunk.id,
                doc=chunk.doc,
                source=chunk.source,
                content_hash=chunk.content_hash,
                heading_path=chunk.heading_path,
            )
            for chunk in self.chunks
        )

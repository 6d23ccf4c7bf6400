"""The neighbourhood of nodes, ready to be shown (docs/reference/neighbourhood.md)."""

import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexes.ports import ChunkReader, GraphReader
from retrieval.bundle.render import show_line
from retrieval.graph.neighbourhood import Neighbourhood, OmittedNodes, walk_neighbourhood
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, ChunkNode, Node, PdfPage, kind_of
from schemas.records import node_to_record

VERSION = 1

_NAMED_BY = ("title", "name", "heading", "caption", "text")
_LABEL_WIDTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node with what a person knows it by; `place` is its URL, or the path of its file."""

    id: str
    kind: str
    hop: int
    label: str
    place: str | None
    doc: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGraph:
    """A neighbourhood and what was asked for; `start` are the nodes at hop 0, `kinds` null for all."""

    version: int
    generation: int
    start: tuple[str, ...]
    hops: int
    limit: int
    kinds: tuple[EdgeKind, ...] | None
    nodes: tuple[ShownNode, ...]
    edges: tuple[Edge, ...]
    left_out: tuple[OmittedNodes, ...]


def show_around(
    start: tuple[str, ...],
    *,
    graph: GraphReader,
    chunks: ChunkReader,
    generation: int,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] = (),
) -> ShownGraph:
    """Walk from *start* in one *generation*, which *graph* and *chunks* read; no *kinds* are all kinds."""
    wanted = tuple(sorted(set(kinds))) or None
    found = walk_neighbourhood(graph, start, hops=hops, limit=limit, kinds=wanted)
    return ShownGraph(
        version=VERSION,
        generation=generation,
        start=start,
        hops=hops,
        limit=limit,
        kinds=wanted,
        nodes=_shown_nodes(found, _chunks(chunks, found)),
        edges=found.edges,
        left_out=found.left_out,
    )


def _chunks(chunks: ChunkReader, found: Neighbourhood) -> Mapping[str, Chunk]:
    ids = [node.id for node in found.nodes if isinstance(node, ChunkNode)]
    return {chunk.id: chunk for chunk in chunks.get(ids)} if ids else {}


def _shown_nodes(found: Neighbourhood, chunks: Mapping[str, Chunk]) -> tuple[ShownNode, ...]:
    return tuple(_shown(node, found.hops[node.id], chunks.get(node.id)) for node in found.nodes)


def _shown(node: Node, hop: int, chunk: Chunk | None) -> ShownNode:
    return ShownNode(
        id=node.id,
        kind=kind_of(node).value,
        hop=hop,
        label=label_of(node, chunk),
        place=_place(node, chunk),
        doc=node.doc,
        source=node.source,
    )


def label_of(node: Node, chunk: Chunk | None = None) -> str:
    """Return one line that a person knows a node by: its title, name or heading, else how its text begins."""
    record = node_to_record(node)
    texts = [record.get(name) for name in _NAMED_BY]
    if isinstance(node, PdfPage):
        texts = [f"page {node.page_label or node.page_no}"]
    if isinstance(node, ChunkNode):
        texts = [chunk.text if chunk else None, " > ".join(node.heading_path)]
    named = next((text for text in texts if isinstance(text, str) and text.strip()), node.id)
    return textwrap.shorten(show_line(named), _LABEL_WIDTH, placeholder="…") or node.id


def _place(node: Node, chunk: Chunk | None) -> str | None:
    record = node_to_record(node)
    at = record if chunk is None else {"url": chunk.url, "path": chunk.file_path, "fragment": chunk.fragment}
    base = at.get("url") or at.get("path")
    return f"{base}#{at['fragment']}" if base and at.get("fragment") else base

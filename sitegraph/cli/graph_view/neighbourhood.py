"""The neighbourhood of what somebody typed, ready to be shown (docs/reference/neighbourhood.md)."""

import shlex
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from flows.run.index import Index
from indexes.ports import GraphReader
from retrieval.bundle.render import show_line
from retrieval.graph.neighbourhood import Neighbourhood, OmittedNodes, walk_neighbourhood
from retrieval.node_ids import resolve_node_id, states_kind
from schemas.documents import KnownDocument
from schemas.edges import Edge, EdgeKind
from schemas.errors import ConfigError
from schemas.nodes import Chunk, ChunkNode, Node, PdfPage, kind_of
from schemas.records import node_to_record
from sitegraph.cli.documents.find import find_documents

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


def show_neighbourhood(
    index: Index,
    name: str,
    *,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] = (),
    source: str | None = None,
) -> ShownGraph:
    """Walk from what *name* means, a node id or whatever `find_documents` takes; no *kinds* are all kinds.

    Raises: ConfigError: nothing of that name, or nothing of it in what readers see.
    """
    generation = index.current()
    graph = index.graph.at(generation)
    start = _find_start(index, graph, name, source)
    wanted = tuple(sorted(set(kinds))) or None
    found = walk_neighbourhood(graph, start, hops=hops, limit=limit, kinds=wanted)
    return ShownGraph(
        version=VERSION,
        generation=generation,
        start=start,
        hops=hops,
        limit=limit,
        kinds=wanted,
        nodes=_shown_nodes(found, _chunks(index, generation, found)),
        edges=found.edges,
        left_out=found.left_out,
    )


def _find_start(index: Index, graph: GraphReader, name: str, source: str | None) -> tuple[str, ...]:
    if states_kind(name):
        return (resolve_node_id(graph, name),)
    known = find_documents(index, name, source=source)
    docs = {document.doc for document in known if document.doc} | _led_to(index, known)
    found = tuple(node.id for node in graph.nodes(docs))
    if not found:
        states = ", ".join(sorted({document.state.value for document in known}))
        raise ConfigError(
            f"is not in this generation ({states}); ask: sitegraph why {shlex.quote(name)}", subject=name
        )
    return found


def _led_to(index: Index, known: Collection[KnownDocument]) -> set[str]:
    """Documents that an address leads to: it is theirs, but they do not bear it."""
    places = [document.location for document in known if document.location]
    return {document.doc for document in index.ledger.lookup.by_uris(places) if document.doc}


def _chunks(index: Index, generation: int, found: Neighbourhood) -> Mapping[str, Chunk]:
    ids = [node.id for node in found.nodes if isinstance(node, ChunkNode)]
    return {chunk.id: chunk for chunk in index.chunks.at(generation).get(ids)} if ids else {}


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

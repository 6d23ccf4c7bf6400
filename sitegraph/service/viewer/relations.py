"""What stands around a document: what links to it, what says something alike, what it defines."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexes.ports import GraphReader
from indexes.wiring import Readers
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, EvidenceRole, LinkPosition
from schemas.nodes import Chunk, Entity, Page, Tool
from sitegraph.service.viewer.places import titles_of

LINKS_MAX, SIMILAR_MAX, DEFINED_MAX = 50, 20, 50
_CHUNKS_MAX = 2000
"""Passages of a document whose neighbours are asked for: a book of more is told by its first ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """A document that leads here: by links, with their words, or by a relation that it states.

    `chunk` is the passage that the first of them stands in.
    """

    doc: str
    title: str
    kind: EdgeKind
    words: tuple[str, ...]
    chunk: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A passage here and one elsewhere that says something alike, with their cosine."""

    here: Chunk
    there: Chunk
    title: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """A tool, or a name, and the passage here that defines it; where not `defines`, it is only explained."""

    node: str
    name: str
    kind: str
    chunk: str | None
    defines: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What stands around a document; `navigation` counts those that link here only where every page does."""

    linking: tuple[Linking, ...]
    more_linking: int
    navigation: int
    alike: tuple[Alike, ...]
    defined: tuple[Defined, ...]


def read_relations(readers: Readers, doc: str, chunks: Collection[Chunk]) -> Relations | None:
    """Return what stands around a document, whose passages are *chunks*; None without the graph."""
    graph = readers.graph
    if graph is None:
        return None
    own = {chunk.id: chunk for chunk in list(chunks)[:_CHUNKS_MAX]}
    linking, navigation = _linking(readers, graph, doc)
    return Relations(
        linking=linking[:LINKS_MAX],
        more_linking=len(linking[LINKS_MAX:]),
        navigation=navigation,
        alike=_alike(readers, graph, own),
        defined=_defined(graph, doc, own)[:DEFINED_MAX],
    )


def _linking(readers: Readers, graph: GraphReader, doc: str) -> tuple[tuple[Linking, ...], int]:
    edges = graph.edges_to([doc, *_chapters(graph, doc)], kinds={EdgeKind.LINKS_TO, *FRONT_MATTER_KINDS})
    from_elsewhere = [edge for edge in edges if edge.doc != doc]
    told = [edge for edge in from_elsewhere if edge.position in (None, LinkPosition.BODY)]
    by_document: dict[tuple[str, EdgeKind], list[Edge]] = {}
    for edge in told:
        by_document.setdefault((edge.doc, edge.kind), []).append(edge)
    titles = titles_of(readers, {doc for doc, _ in by_document})
    found = (
        Linking(
            doc=source,
            title=titles.get(source, source),
            kind=kind,
            words=tuple(dict.fromkeys(edge.anchor_text for edge in group if edge.anchor_text)),
            chunk=next((edge.chunk for edge in group if edge.chunk), None),
        )
        for (source, kind), group in by_document.items()
    )
    ordered = sorted(found, key=lambda one: (one.kind is EdgeKind.LINKS_TO, one.title.casefold(), one.doc))
    return tuple(ordered), len({edge.doc for edge in from_elsewhere} - {edge.doc for edge in told})


def _chapters(graph: GraphReader, doc: str) -> list[str]:
    """Chapters of a book: links to one of them lead to it."""
    inside = [edge.dst for edge in graph.edges_from([doc], kinds={EdgeKind.CONTAINS})]
    pages = [id_ for id_ in inside if id_.startswith("page:")]
    return [node.id for node in graph.nodes(pages) if isinstance(node, Page)]


def _alike(readers: Readers, graph: GraphReader, own: Mapping[str, Chunk]) -> tuple[Alike, ...]:
    best: dict[str, tuple[float, str]] = {}
    for edge in (
        *graph.edges_from(own, kinds={EdgeKind.SIMILAR_TO}),
        *graph.edges_to(own, kinds={EdgeKind.SIMILAR_TO}),
    ):
        here, there = (edge.src, edge.dst) if edge.src in own else (edge.dst, edge.src)
        score = edge.score or edge.confidence
        if there not in own and score > best.get(there, (0.0, ""))[0]:
            best[there] = (score, here)
    first = sorted(best, key=lambda there: (-best[there][0], there))[:SIMILAR_MAX]
    chunks = {chunk.id: chunk for chunk in readers.chunks.get(first)}
    titles = titles_of(readers, {chunk.doc for chunk in chunks.values()})
    return tuple(
        Alike(
            here=own[best[there][1]],
            there=chunks[there],
            title=titles.get(chunks[there].doc, chunks[there].doc),
            score=best[there][0],
        )
        for there in first
        if there in chunks
    )


def _defined(graph: GraphReader, doc: str, own: Mapping[str, Chunk]) -> tuple[Defined, ...]:
    sections = {chunk.section_id: chunk.id for chunk in reversed(list(own.values())) if chunk.section_id}
    explained = graph.edges_to([*own, *sections], kinds={EdgeKind.EXPLAINED_BY})
    named = graph.edges_to([doc, *sections], kinds={EdgeKind.NAMES})
    nodes = {node.id: node for node in graph.nodes({edge.src for edge in (*explained, *named)})}
    found: dict[str, Defined] = {}
    for edge in sorted(
        (*explained, *named), key=lambda edge: (edge.role is not EvidenceRole.DEFINES, edge.id)
    ):
        node = nodes.get(edge.src)
        if isinstance(node, Tool | Entity) and edge.src not in found:
            found[edge.src] = Defined(
                node=edge.src,
                name=node.name,
                kind=node.tool_type if isinstance(node, Tool) else node.entity_type.value,
                chunk=edge.chunk or (edge.dst if edge.dst in own else sections.get(edge.dst)),
                defines=edge.kind is EdgeKind.NAMES or edge.role is EvidenceRole.DEFINES,
            )
    return tuple(sorted(found.values(), key=lambda one: (not one.defines, one.name.casefold(), one.node)))

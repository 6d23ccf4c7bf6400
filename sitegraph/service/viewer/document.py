"""A document opened: what it is, its outline, what stands around it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from indexes.ports import GraphReader
from indexes.wiring import Readers
from retrieval.question.ids import resolve_node_id
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, EvidenceRole, LinkPosition
from schemas.errors import ConfigError
from schemas.nodes import Chunk, Entity, NodeKind, Page, PdfDoc, Tool
from sitegraph.actions.archive import LedgerArchive
from sitegraph.actions.neighbourhood import ShownGraph, ShownNode, show_around
from sitegraph.service.problems import HttpProblem
from sitegraph.service.viewer.citation import document_of, name_of, titles_of
from sitegraph.service.viewer.history import DocumentHistory, read_history


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """A heading, from level 1; `chunk` is None where nothing but other headings stands right under it.

    `passages` counts those under it and under no deeper heading.
    """

    text: str
    level: int
    chunk: str | None = None
    passages: int = 0
    page_no: int | None = None


def outline_of(chunks: Iterable[Chunk]) -> tuple[OutlineEntry, ...]:
    """Return the headings of passages in reading order; one that has no passage of its own comes without."""
    found: list[OutlineEntry] = []
    before: tuple[str, ...] | None = None
    for chunk in chunks:
        path = chunk.heading_path
        if path == before:
            last = found[-1]
            found[-1] = replace(last, passages=last.passages + 1)
            continue
        shared = _shared(before or (), path)
        found += [OutlineEntry(text=path[depth], level=depth + 1) for depth in range(shared, len(path) - 1)]
        text = path[-1] if path else ""
        found.append(
            OutlineEntry(
                text=text, level=max(1, len(path)), chunk=chunk.id, passages=1, page_no=chunk.page_no
            )
        )
        before = path
    return tuple(found)


def _shared(before: tuple[str, ...], path: tuple[str, ...]) -> int:
    """How many headings, from the top, two paths have in common."""
    return next(
        (at for at, (one, other) in enumerate(zip(before, path, strict=False)) if one != other),
        min(len(before), len(path)),
    )


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


HEADINGS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedDocument:
    """A document; `node` is None where it is not in the generation that is read, or the graph is not there.

    `relations` are None without the graph, `history` without the ledger. `outline` are `HEADINGS_MAX` of
    `headings` from `offset`.
    """

    id: str
    title: str
    node: Page | PdfDoc | None
    first: Chunk | None
    passages: int
    outline: tuple[OutlineEntry, ...]
    headings: int
    offset: int
    relations: Relations | None
    history: DocumentHistory | None


def open_document(readers: Readers, archive: LedgerArchive, doc: str, *, offset: int) -> OpenedDocument:
    """Return a document, also one that is in the index no more but whose history is known.

    Raises: HttpProblem: nothing is known of it.
    """
    node = document_of(readers, doc)
    chunks = readers.chunks.of_documents([doc])
    history = read_history(readers, archive, doc)
    if node is None and not chunks and not (history and (history.standings or history.revisions)):
        raise HttpProblem(404, f"generation {readers.generation} has no {doc}", "NotFound")
    headings = outline_of(chunks)
    return OpenedDocument(
        id=doc,
        title=name_of(node) if node else doc,
        node=node,
        first=next(iter(chunks), None),
        passages=len(chunks),
        outline=headings[offset : offset + HEADINGS_MAX],
        headings=len(headings),
        offset=offset,
        relations=read_relations(readers, doc, chunks) if node else None,
        history=history,
    )


NODES_MAX = 24
HOPS = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEdge:
    """An edge as it is seen from the node in the middle of a page: to whom it leads, or from whom it comes.

    `leaving` is None for an edge between two others, which `beside` is the beginning of.
    """

    kind: EdgeKind
    node: ShownNode
    leaving: bool | None
    beside: ShownNode | None
    words: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A neighbourhood of one node; `kinds` are those of its edges, whichever are followed."""

    start: ShownNode
    graph: ShownGraph
    steps: tuple[SeenEdge, ...]
    kinds: tuple[EdgeKind, ...]
    left_out: int


def open_near(readers: Readers, node_id: str, *, hops: int, kind: EdgeKind | None) -> Near:
    """Return what stands around a node, at most `NODES_MAX` of it.

    Raises: HttpProblem: no such node, or the graph is not there.
    """
    if readers.graph is None:
        raise HttpProblem(503, "the graph of this index is not available now; try again later", "NoGraph")
    try:
        start = resolve_node_id(readers.graph, node_id)
    except ConfigError as error:
        raise HttpProblem(404, f"generation {readers.generation}: {error}", "NotFound") from error
    graph = show_around(
        (start,),
        graph=readers.graph,
        chunks=readers.chunks,
        generation=readers.generation,
        hops=hops,
        limit=NODES_MAX,
        kinds=(kind,) if kind else (),
    )
    edges = (*readers.graph.edges_from([start]), *readers.graph.edges_to([start]))
    return Near(
        start=next(node for node in graph.nodes if node.hop == 0),
        graph=graph,
        steps=tuple(steps_of(graph, start)),
        kinds=tuple(sorted({edge.kind for edge in edges})),
        left_out=sum(one.nodes for one in graph.left_out),
    )


def steps_of(graph: ShownGraph, start: str) -> Iterator[SeenEdge]:
    """Give each edge as a step: those of *start* first, equal ones once, by kind and what they lead to."""
    nodes = {node.id: node for node in graph.nodes}
    counted: dict[tuple[bool, str, str, str, str], list[Edge]] = {}
    for edge in graph.edges:
        far = nodes[edge.src if edge.dst == start else edge.dst]
        key = (start not in (edge.src, edge.dst), edge.kind.value, far.label.casefold(), edge.src, edge.dst)
        counted.setdefault(key, []).append(edge)
    for (apart, _, _, src, dst), edges in sorted(counted.items()):
        leaving = src == start
        words = next((edge.anchor_text or edge.predicate for edge in edges), None)
        yield SeenEdge(
            kind=edges[0].kind,
            node=nodes[dst] if apart or leaving else nodes[src],
            leaving=None if apart else leaving,
            beside=nodes[src] if apart else None,
            words=words,
            count=len(edges),
        )


def page_of_node(node: ShownNode) -> str | None:
    """Return the page of ours that shows a node itself, None where only its surroundings can be shown."""
    kind = NodeKind(node.kind)
    if kind is NodeKind.CHUNK:
        return f"/cite/{node.id}#passage"
    return f"/doc/{node.id}" if kind in (NodeKind.PAGE, NodeKind.PDF_DOC) and node.id == node.doc else None

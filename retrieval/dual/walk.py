"""From the names in a question to their nodes, and along sure edges to what stands around them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from indexes.ports import ChunkReader, GraphReader
from retrieval.bundle.annotations import called, node_names
from retrieval.graph.surroundings import edges_at, says_something
from retrieval.question.route import entities_of
from retrieval.question.words import fold
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind
from schemas.evidence import SearchField
from schemas.ids import entity_id
from schemas.names import leading_code
from schemas.nodes import ChunkNode, Entity, Node, Page, PdfDoc, Section

CONFIDENCE_MIN = 0.6
"""Of an edge that the walk follows."""
FRONT_MAX = 50
"""Nodes of a hop that lead to the next."""


def extract_entities(
    question: str, *, known: Collection[str], acronyms: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Return the names of at most three entities, those of the catalogue first.

    The names of one begin as the question has it, then what that is short for, or its acronym.

    Args: known: names of the catalogue. acronyms: acronym > what it is short for.
    """
    short = {fold(long): acronym for acronym, long in sorted(acronyms.items(), reverse=True)}
    # Long forms that the question uses, whatever its capitals.
    written = [long for long in acronyms.values() if f" {fold(long)} " in f" {fold(question)} "]
    found: dict[str, tuple[str, ...]] = {}
    for name in entities_of(question, [*known, *written]):
        other = acronyms.get(name) or short.get(fold(name))
        names = (name, other) if other else (name,)
        if not any(fold(one) in found for one in names):
            found[fold(name)] = names
    return tuple(found.values())


def _names(node: Node) -> tuple[str, ...]:
    """Return the names of a node; the code that a document's own id begins with is one."""
    code = leading_code(node.doc_id or "") if isinstance(node, Page | PdfDoc) else None
    return (*node_names(node), *([code] if code else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """Nodes by id; a chunk, and a section without a heading, are called by their document."""

    nodes: Mapping[str, Node]

    def names(self, id_: str) -> tuple[str, ...]:
        """All names of a node, folded to none where it has no words."""
        node = self.nodes.get(id_)
        if node is None:
            return ()
        own = tuple(name for name in _names(node) if fold(name))
        return own or (self.names(node.doc) if node.doc != id_ else ())

    def is_told_apart(self, id_: str) -> bool:
        """Whether a node is an entity with what tells it from others of its name."""
        node = self.nodes.get(id_)
        return isinstance(node, Entity) and bool(node.disambiguation)

    def called(self, id_: str) -> str:
        """The name to show; of homonyms with what tells them apart."""
        node = self.nodes.get(id_)
        if isinstance(node, Entity) and node.disambiguation:
            return f"{node.name} ({node.disambiguation})"
        own = called(node) if node else ""
        return own or (self.called(node.doc) if node and node.doc != id_ else "")


def read_things(graph: GraphReader, ids: Iterable[str]) -> Things:
    """Read nodes, and for chunks among them the documents they are of, in two calls."""
    nodes = {node.id: node for node in graph.nodes(sorted(set(ids)))}
    docs = {node.doc for node in nodes.values() if isinstance(node, ChunkNode | Section)}
    return Things(nodes=nodes | {node.id: node for node in graph.nodes(sorted(docs - nodes.keys()))})


_PLACES = (SearchField.HEADING, SearchField.TEXT, SearchField.CODES)
HITS = 10
"""Chunks of each field in which a name is looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedEntity:
    """An entity as a question names it, and its nodes: an entity, the document it names, a tool."""

    name: str
    nodes: tuple[str, ...]


def resolve_entities(
    chunks: ChunkReader, graph: GraphReader, entities: Collection[tuple[str, ...]]
) -> tuple[LinkedEntity, ...]:
    """Find the nodes that have one of the names of each entity; entities without any are left out.

    Names are compared without case and punctuation. The chunks that a search for the name finds say whom
    it may mean: what they mention, what names their documents, the tools they explain. The graph is asked
    three times, however many names there are.
    Raises: StoreUnavailable: a store is gone.
    """
    names = tuple(name for one in entities for name in one)
    nodes = _nodes_near(chunks, graph, names) if names else ()
    whole = (node for node in nodes if not isinstance(node, Section))
    called = {node.id: {fold(name) for name in _names(node)} for node in whole}
    return tuple(
        LinkedEntity(name=one[0], nodes=found)
        for one in entities
        if (found := tuple(sorted(id_ for id_, own in called.items() if own & set(map(fold, one)))))
    )


def _nodes_near(chunks: ChunkReader, graph: GraphReader, names: Collection[str]) -> tuple[Node, ...]:
    hits = [hit for name in names for field in _PLACES for hit in chunks.search_text(field, name, top_k=HITS)]
    found = sorted({hit.chunk_id for hit in hits})
    docs = sorted({hit.doc for hit in hits})
    said = graph.edges_from(found, kinds={EdgeKind.MENTIONS})
    into = graph.edges_to([*docs, *found], kinds={EdgeKind.NAMES, EdgeKind.EXPLAINED_BY})
    own = {entity_id(name) for name in names}
    return graph.nodes(sorted({*own, *docs, *(edge.dst for edge in said), *(edge.src for edge in into)}))


KINDS = frozenset(
    {*FRONT_MATTER_KINDS, EdgeKind.RELATED, EdgeKind.MENTIONS, EdgeKind.LINKS_TO, EdgeKind.EXPLAINED_BY}
)
"""What leads from one thing to another; `names` leads to the same thing, and the tree to its parts."""

Ways = Mapping[str, tuple[tuple[Edge, str], ...]]
"""Node > edges at it, each with the node at its other end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedNode:
    """A node on the best path from one entity of the question: fewest hops, then surest, then ids.

    `confidence` is the product of the edges'. A document and the entity of its name are no hop apart.
    """

    node: str
    origin: str
    hop: int
    confidence: float
    path: tuple[Edge, ...]

    @property
    def order(self) -> tuple[int, float, tuple[str, ...], str, str]:
        """Total order, best first."""
        edges = tuple(edge.id for edge in self.path)
        return (self.hop, -round(self.confidence, 6), edges, self.node, self.origin)


Reached = dict[tuple[str, str], ReachedNode]
"""What was reached so far, each node once from each entity."""


def walk_from(graph: GraphReader, start: Collection[LinkedEntity], *, depth: int) -> tuple[ReachedNode, ...]:
    """Walk *depth* hops over sure edges from all entities at once, and return what was reached, best first.

    A hop costs two calls, out and in, and two that pass between documents and their names, for any number
    of nodes. The best nodes of a hop are kept and lead on.
    Raises: StoreUnavailable: the graph is gone.
    """
    reached: Reached = {}
    own = ((one.name, node) for one in start for node in one.nodes)
    front = _add(
        reached, (ReachedNode(node=node, origin=name, hop=0, confidence=1.0, path=()) for name, node in own)
    )
    for hop in range(1, depth + 1):
        front += _add(reached, _pass_names(front, _ways(graph, front, frozenset({EdgeKind.NAMES}))))
        front = _add(reached, _go_on(front, _ways(graph, front, KINDS), hop), limit=FRONT_MAX)
    return tuple(sorted((one for one in reached.values() if one.hop), key=lambda one: one.order))


def _add(reached: Reached, found: Iterable[ReachedNode], *, limit: int | None = None) -> list[ReachedNode]:
    """Keep the best *limit* of what is new, and give it in order."""
    best: Reached = {}
    for one in sorted(found, key=lambda one: one.order):
        if (one.origin, one.node) not in reached:
            best.setdefault((one.origin, one.node), one)
    new = list(best.values())[:limit]
    reached.update({(one.origin, one.node): one for one in new})
    return new


def _ways(graph: GraphReader, front: Collection[ReachedNode], kinds: Collection[EdgeKind]) -> Ways:
    ids = sorted({one.node for one in front})
    ways: dict[str, list[tuple[Edge, str]]] = {}
    for edge in edges_at(graph, ids, kinds=kinds):
        if edge.confidence >= CONFIDENCE_MIN and says_something(edge) and edge.src != edge.dst:
            ways.setdefault(edge.src, []).append((edge, edge.dst))
            ways.setdefault(edge.dst, []).append((edge, edge.src))
    return {node: tuple(found) for node, found in ways.items()}


def _pass_names(front: Iterable[ReachedNode], ways: Ways) -> Iterator[ReachedNode]:
    return (replace(one, node=end) for one in front for _, end in ways.get(one.node, ()))


def _go_on(front: Iterable[ReachedNode], ways: Ways, hop: int) -> Iterator[ReachedNode]:
    for one in front:
        for edge, end in ways.get(one.node, ()):
            yield ReachedNode(
                node=end,
                origin=one.origin,
                hop=hop,
                confidence=one.confidence * edge.confidence,
                path=(*one.path, edge),
            )

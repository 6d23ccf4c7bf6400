"""A small index about services that need each other: entities, statements, typed edges."""

from indexes.ports import GraphReader
from schemas.edges import Edge, EdgeKind
from schemas.ids import edge_id, entity_id
from schemas.nodes import Chunk, Entity, EntityType
from tests.fakes.small_index import SOURCE, Document, SmallIndex, build_index, page, typed

ENTITIES = {
    "Session API": (),
    "Redis": ("RDS", "Remote Dictionary Server"),
    "Night Crew": (),
    "Backup Guide": (),
    "Mail Relay": (),
}
"""Names of documents, each with its aliases."""


def services_index(*more: Edge) -> SmallIndex:
    """Make the index; *more* joins its edges."""
    documents, edges = services_documents()
    return build_index(documents, (*edges, *more))


def services_documents() -> tuple[tuple[Document, ...], tuple[Edge, ...]]:
    """Documents and edges of the index.

    By sentences the Session API depends on Redis, and Redis is kept by the Night Crew; by front matter an ADR
    depends on the Session API; the Backup Guide mentions Redis by its acronym; a doubtful edge, of .5, leads
    from the Session API to the Mail Relay.
    """
    named = {
        "Session API": page("session", {"Session API": "The Session API depends on Redis for every login."}),
        "Redis": page("redis", {"Redis": "Remote Dictionary Server (RDS) holds keys in memory."}),
        "Night Crew": page("crew", {"Night Crew": "Whoever wakes rings. Redis is kept by the Night Crew."}),
        "Backup Guide": page("backup", {"Backup Guide": "Copy the snapshot of RDS to tape at dawn."}),
        "Mail Relay": page("mail", {"Mail Relay": "Letters leave at noon."}),
    }
    adr = page("adr-0031", {"One door": "Logins go through one door."}, doc_id="ADR-0031", doc_type="adr")
    garden = page("garden", {"Garden plan": "Roses are cut in March and watered in June."})
    first = {name: found[1][0] for name, found in named.items()}
    entities = tuple(
        Entity(
            id=entity_id(name), doc=entity_id(name), name=name, entity_type=EntityType.DOCUMENT, aliases=also
        )
        for name, also in ENTITIES.items()
    )
    session, crew = first["Session API"], first["Night Crew"]
    edges = (
        *(names(name, chunk) for name, chunk in first.items()),
        typed(EdgeKind.DEPENDS_ON, adr[1][0], session),
        related("Session API", "depends on", "Redis", session, session.text),
        related(
            "Redis", "is kept by", "Night Crew", crew, "Redis is kept by the Night Crew.", confidence=0.8
        ),
        related("Session API", "is near", "Mail Relay", session, session.text, confidence=0.5),
        mention(first["Backup Guide"], "Redis", "RDS", confidence=0.8),
    )
    nodes, chunks = named["Session API"]
    others = [found for name, found in named.items() if name != "Session API"]
    return (((*nodes, *entities), chunks), *others, adr, garden), edges


def names(name: str, chunk: Chunk) -> Edge:
    """Make an edge from an entity to the document of *chunk*, which has its name."""
    return _edge(EdgeKind.NAMES, entity_id(name), chunk.doc, chunk, confidence=0.9)


def related(
    subject: str, predicate: str, object_: str, chunk: Chunk, text: str, *, confidence: float = 0.7
) -> Edge:
    """Make a statement that stands in a passage."""
    return _edge(
        EdgeKind.RELATED,
        entity_id(subject),
        entity_id(object_),
        chunk,
        confidence=confidence,
        predicate=predicate,
        text=text,
        read_in=chunk.id,
    )


def mention(chunk: Chunk, name: str, text: str, *, confidence: float = 0.9) -> Edge:
    """Make an edge from a passage to an entity that it calls *text*."""
    return _edge(
        EdgeKind.MENTIONS,
        chunk.id,
        entity_id(name),
        chunk,
        confidence=confidence,
        text=text,
        read_in=chunk.id,
    )


def _edge(
    kind: EdgeKind,
    src: str,
    dst: str,
    chunk: Chunk,
    *,
    confidence: float,
    predicate: str | None = None,
    text: str | None = None,
    read_in: str | None = None,
) -> Edge:
    return Edge(
        id=edge_id(kind, src, dst, predicate or ""),
        kind=kind,
        src=src,
        dst=dst,
        doc=chunk.doc,
        source=SOURCE,
        confidence=confidence,
        predicate=predicate,
        text=text,
        chunk=read_in,
    )


class CountingGraph:
    """A graph that counts what it is asked."""

    def __init__(self, graph: GraphReader) -> None:
        self._graph = graph
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        self.calls.append(name)
        return getattr(self._graph, name)

"""Edges of the graph."""

from dataclasses import dataclass, field
from enum import StrEnum

from schemas.ids import LATER, edge_id


class EdgeKind(StrEnum):
    """How two nodes are joined; docs/reference/graph.md says which kinds join which nodes."""

    CONTAINS = "contains"
    PARENT_OF = "parent_of"
    LINKS_TO = "links_to"
    EXPLAINED_BY = "explained_by"
    MATERIALIZED_FROM = "materialized_from"
    SIMILAR_TO = "similar_to"
    RELATES_TO = "relates_to"
    DEPENDS_ON = "depends_on"
    SUPERSEDES = "supersedes"
    MENTIONS = "mentions"
    NAMES = "names"
    RELATED = "related"
    ALIAS_OF = "alias_of"
    NEXT = "next"
    TRANSLATES = "translates"


NEAR_DUPLICATE = 0.95
"""From this score on a `similar_to` edge joins passages that say nearly the same (docs/graph.md)."""

FRONT_MATTER_KINDS = frozenset({EdgeKind.RELATES_TO, EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES})
"""Typed edges that a document's front matter states."""


class LinkPosition(StrEnum):
    """Where on the page a link stands."""

    NAV = "nav"
    HEADER = "header"
    BODY = "body"
    ASIDE = "aside"
    FOOTER = "footer"


class EvidenceRole(StrEnum):
    """What a chunk is to the tool that it explains."""

    DEFINES = "defines"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed edge; `doc` is the document that states it.

    `confidence` is 1.0 for structure, links and front matter. `count` is how often the page, or the chunk,
    repeats the same link. `chunk` and `text` are the chunk an edge was read from, where it was read from
    text, and the words of it that say so; `offset` is where in that text a link begins, in code points.
    `predicate` is how two entities are related, or a relation that front matter states under a key of its
    own. `role` and `reason` say of an `explained_by` edge what the chunk is to the tool, and by what that was
    told; `reason` marks a `similar_to` edge between near duplicates.
    """

    id: str
    kind: EdgeKind
    src: str
    dst: str
    doc: str
    source: str
    confidence: float = 1.0
    anchor_text: str | None = None
    position: LinkPosition | None = None
    fragment: str | None = None
    count: int = 1
    score: float | None = None
    chunk: str | None = None
    offset: int | None = field(default=None, metadata=LATER)
    text: str | None = None
    predicate: str | None = None
    role: EvidenceRole | None = None
    reason: str | None = None


def plain_edge(kind: EdgeKind, src: str, dst: str, *, doc: str, source: str) -> Edge:
    """Return an edge that its kind and its two ends say all about, under the id that follows from them."""
    return Edge(id=edge_id(kind, src, dst), kind=kind, src=src, dst=dst, doc=doc, source=source)

"""Which documents stand one hop apart: body links, typed edges, and titles that one says of another."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from indexes.ports import GraphReader
from retrieval.search.parallel import run_in_parallel
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, LinkPosition
from schemas.evidence import PathStep

_DIRECT = frozenset({EdgeKind.LINKS_TO, *FRONT_MATTER_KINDS})
_OUT = frozenset({*_DIRECT, EdgeKind.MENTIONS})
_INTO = frozenset({*_DIRECT, EdgeKind.NAMES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How one document leads to another: by one edge, or by a mention of its name and what has that name.

    `fragment` and `section` say where it lands; a way walked backwards lands on a whole document.
    """

    src: str
    dst: str
    edges: tuple[Edge, ...]
    fragment: str | None = None
    section: str | None = None

    @property
    def typed(self) -> bool:
        """Whether front matter states it."""
        return self.edges[0].kind in FRONT_MATTER_KINDS

    @property
    def steps(self) -> tuple[PathStep, ...]:
        """The edges as a citation shows them, each with the chunk that supports it."""
        return tuple(_step(edge) for edge in self.edges)

    @property
    def order(self) -> tuple[bool, str, str, str]:
        """Total order: typed edges first, then by kind, end and id."""
        return (not self.typed, self.edges[0].kind, self.dst, self.edges[0].id)


def _step(edge: Edge) -> PathStep:
    said_by = edge.src if edge.kind is EdgeKind.MENTIONS else None
    return PathStep(src=edge.src, kind=edge.kind.value, dst=edge.dst, chunk=edge.chunk or said_by)


def find_ways(graph: GraphReader, docs: Collection[str], chunks: Mapping[str, str]) -> tuple[Way, ...]:
    """Return all ways between *docs* and other documents, in both directions, in order.

    Four calls for any number of documents: edges out, edges in, and the far side of names on either.

    Args: chunks: chunks of *docs*, which say names, each with its document.
    """
    known = set(docs)
    out, into = run_in_parallel(
        [partial(graph.edges_from, [*docs, *chunks], kinds=_OUT), partial(graph.edges_to, docs, kinds=_INTO)]
    )
    said = [edge for edge in out if edge.kind is EdgeKind.MENTIONS]
    named = [edge for edge in into if edge.kind is EdgeKind.NAMES]
    to_the_named, to_who_says_it = run_in_parallel(
        [partial(_to_the_named, graph, said, chunks), partial(_to_who_says_it, graph, named)]
    )
    ways = [
        *(Way(src=edge.src, dst=edge.dst, edges=(edge,), fragment=edge.fragment) for edge in _direct(out)),
        *(Way(src=edge.dst, dst=edge.src, edges=(edge,)) for edge in _direct(into)),
        *to_the_named,
        *to_who_says_it,
    ]
    kept = (way for way in ways if way.src in known and way.src != way.dst)
    return tuple(sorted(kept, key=lambda way: way.order))


def _direct(edges: Iterable[Edge]) -> list[Edge]:
    """Navigation links put all pages one hop apart, so of links only those of the body lead on."""
    return [
        edge
        for edge in edges
        if edge.kind in FRONT_MATTER_KINDS
        or (edge.kind is EdgeKind.LINKS_TO and edge.position in {LinkPosition.BODY, None})
    ]


def _to_the_named(graph: GraphReader, said: Collection[Edge], chunks: Mapping[str, str]) -> list[Way]:
    """From a chunk over a name it says to the document, or the section, that has the name."""
    names = graph.edges_from(sorted({edge.dst for edge in said}), kinds={EdgeKind.NAMES}) if said else ()
    bearers: dict[str, list[Edge]] = {}
    for name in names:
        bearers.setdefault(name.src, []).append(name)
    return [
        Way(
            src=chunks[mention.src],
            dst=name.doc,
            edges=(mention, name),
            section=name.dst if name.dst != name.doc else None,
        )
        for mention in said
        for name in bearers.get(mention.dst, ())
    ]


def _to_who_says_it(graph: GraphReader, named: Collection[Edge]) -> list[Way]:
    """From a document over its name to the documents that say it; the name of a section alone is not its."""
    own = [edge for edge in named if edge.dst == edge.doc]
    mentions = graph.edges_to(sorted({edge.src for edge in own}), kinds={EdgeKind.MENTIONS}) if own else ()
    sayers: dict[str, list[Edge]] = {}
    for mention in mentions:
        sayers.setdefault(mention.dst, []).append(mention)
    return [
        Way(src=name.dst, dst=mention.doc, edges=(name, mention))
        for name in own
        for mention in sayers.get(name.src, ())
    ]

"""Activation from the best documents along the ways between documents (reference: spreading activation)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from indexes.ports import GraphReader
from retrieval.graph.surroundings import says_something
from retrieval.search.relevance import best_chunks
from retrieval.search.seeds import run_in_parallel
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind
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
    return [edge for edge in edges if edge.kind in _DIRECT and says_something(edge)]


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


ANCHORS = 3
"""Best documents that spread; from all seeds everything is at distance 0 and the graph says nothing."""
HOPS = 2
DECAY = 0.85
HUB_MAX = 20
FRONT_MAX = 5
"""Most activated documents, from which the second hop goes; what others reach scores too low to be shown."""
REACHED_MAX = 100
FOUND_MIN = 10
"""Documents found below which a share of them says nothing."""
TELLING, SILENT = 0.25, 0.4
"""Shares of the documents found that the graph reached: up to the first it tells them apart, from the second
on it does not. On passages of encyclopedias the share is .04 to .23, on sites .45 to 1, where R@10 falls by 7
points if activation counts all the same (measured: bench/RESULTS.md)."""
TELLS_MIN = 0.5
"""Weight from which roles and links are trusted; below it words, vectors and the cross-encoder decide."""
SAYING_MAX = 10
"""Best chunks of a document whose mentions are followed; a book has thousands.

With 25, 400 and 50 no figure of bench/retrieval is better, and a question over 100,000 chunks takes twice as
long (measured).
"""

Bases = Mapping[str, Mapping[str, float]]
"""Document > chunk > base."""
MeasureDocuments = Callable[[Collection[str]], Bases]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How strongly one document was reached, on which path from an anchor, and where in it that lands.

    A second query lands on a chunk, a link on a fragment, a name on a section; else all are None.
    """

    activation: float
    path: tuple[PathStep, ...]
    fragment: str | None = None
    section: str | None = None
    chunk: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The anchors with their first activation, and what was reached from them.

    `named` are the anchors that the question names by id. `ran` is False without a graph, and where the
    graph leads from the anchors nowhere else or nearly everywhere. `cut` counts neighbours beyond the cap.
    `weight`, in [0, 1], is how much it tells the documents that were found apart.
    """

    anchors: Mapping[str, float]
    named: frozenset[str] = frozenset()
    reached: Mapping[str, Reach] = field(default_factory=dict)
    ran: bool = False
    cut: int = 0
    weight: float = 1.0

    @property
    def tells(self) -> bool:
        """Whether it tells documents apart more than it reaches all alike."""
        return self.ran and self.weight >= TELLS_MIN

    def activation(self, doc: str) -> float:
        """How strongly an anchor or a reached document is activated."""
        reach = self.reached.get(doc)
        return max(self.anchors.get(doc, 0.0), reach.activation if reach else 0.0)

    def way_to(self, doc: str) -> Reach | None:
        """What led to a document; nothing leads to one that the question names."""
        return None if doc in self.named else self.reached.get(doc)


def choose_anchors(base: Mapping[str, float], named: Collection[str]) -> Spread:
    """Activate only the documents that the question names by id (1.0), else the three best by base."""
    if named:
        return Spread(anchors=dict.fromkeys(sorted(named), 1.0), named=frozenset(named))
    best = sorted((doc for doc in base if base[doc] > 0), key=lambda doc: (-round(base[doc], 6), doc))
    return Spread(anchors={doc: base[doc] for doc in best[:ANCHORS]})


def weigh_spread(spread: Spread, found: Collection[str]) -> Spread:
    """Let activation count by how much it tells the documents *found* apart.

    Where pages link to each other all over, most of what was found is reached, and that says nothing.
    What the question names by id always counts.
    """
    others = set(found) - spread.anchors.keys()
    if not spread.ran or spread.named or len(others) < FOUND_MIN:
        return spread
    share = len(others & spread.reached.keys()) / len(others)
    weight = min(1.0, max(0.0, (SILENT - share) / (SILENT - TELLING)))
    reached = {
        doc: replace(reach, activation=weight * reach.activation) for doc, reach in spread.reached.items()
    }
    return replace(spread, reached=reached if weight else {}, ran=weight > 0, weight=weight)


def spread_from(graph: GraphReader, start: Spread, *, measure: MeasureDocuments) -> Spread:
    """Follow ways two hops from the anchors of *start*, one batch of graph calls a hop.

    A neighbour gets `activation * .85 * (.5 + .5 * base)`, the largest over all ways to it, not the sum. Of a
    hub only the 20 neighbours with the best base count; typed edges are never capped, so a document named
    by id always shows them. *measure* gives the bases of documents that pass the query's filters; others
    are out.
    """
    wave = Wave(start=start, front=dict(start.anchors))
    for _ in range(HOPS):
        if wave.front:
            wave = _hop(graph, wave, measure)
    new = sum(doc not in start.anchors for doc in wave.reached)
    return replace(start, reached=wave.reached if new else {}, ran=new > 0, cut=wave.cut)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """What is activated so far, and the documents activated by the last hop, from which the next one goes."""

    start: Spread
    front: Mapping[str, float]
    reached: Mapping[str, Reach] = field(default_factory=dict)
    cut: int = 0

    def activation(self, doc: str) -> float:
        """How strongly a document is activated by now."""
        return replace(self.start, reached=self.reached).activation(doc)


def _hop(graph: GraphReader, wave: Wave, measure: MeasureDocuments) -> Wave:
    said_by = {
        chunk: doc
        for doc, base in measure(sorted(wave.front)).items()
        for chunk in best_chunks(base, limit=SAYING_MAX)
    }
    ways = find_ways(graph, sorted(wave.front), said_by)
    ends = tuple(dict.fromkeys(way.dst for way in ways))
    room = max(0, REACHED_MAX - len(wave.reached))
    bases = measure(ends[:room])
    base = {doc: max(bases[doc].values()) for doc in bases}
    activated: dict[str, Reach] = {}
    for way in _without_hubs(ways, base):
        activation = wave.front[way.src] * DECAY * (0.5 + 0.5 * base[way.dst])
        known = activated[way.dst].activation if way.dst in activated else wave.activation(way.dst)
        if round(activation, 6) > round(known, 6):
            activated[way.dst] = _reach(way, activation, wave.reached.get(way.src))
    return replace(
        wave,
        front={doc: activated[doc].activation for doc in _most_activated(activated)},
        reached={**wave.reached, **activated},
        cut=wave.cut + len(ends[room:]),
    )


def _most_activated(activated: Mapping[str, Reach]) -> list[str]:
    ranked = sorted(activated, key=lambda doc: (-round(activated[doc].activation, 6), doc))
    return sorted(ranked[:FRONT_MAX])


def _reach(way: Way, activation: float, before: Reach | None) -> Reach:
    path = (*(before.path if before else ()), *way.steps)
    return Reach(activation=activation, path=path, fragment=way.fragment, section=way.section)


def _without_hubs(ways: Collection[Way], base: Mapping[str, float]) -> list[Way]:
    """Keep of each document its typed edges and the ways to the 20 neighbours with the best base."""
    kept: list[Way] = []
    seen: dict[str, set[str]] = {}
    measured = (way for way in ways if way.dst in base)
    for way in sorted(
        measured, key=lambda way: (not way.typed, -round(base[way.dst], 6), way.dst, way.order)
    ):
        neighbours = seen.setdefault(way.src, set())
        if way.typed or way.dst in neighbours or len(neighbours) < HUB_MAX:
            neighbours.add(way.dst)
            kept.append(way)
    return kept

"""From the best documents along links and typed edges to what they point at, and what points at them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from indexes.ports import GraphReader
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, LinkPosition
from schemas.evidence import PathStep

ANCHORS = 3
"""Best documents that spread; from all seeds everything is at distance 0 and the graph says nothing."""
DECAY = 0.85
HUB_MAX = 20
REACHED_MAX = 400
SPARSE_BELOW = 3
_KINDS = frozenset({EdgeKind.LINKS_TO, *FRONT_MATTER_KINDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How strongly one document was reached, by which edge, and at which fragment of it."""

    activation: float
    edge: Edge
    fragment: str | None

    @property
    def path(self) -> tuple[PathStep, ...]:
        """The edge as a citation shows it, with the chunk that supports it."""
        return (
            PathStep(src=self.edge.src, kind=self.edge.kind.value, dst=self.edge.dst, chunk=self.edge.chunk),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The anchors with their first activation, and what was reached from them.

    `named` are the anchors that the question names by id. `ran` is False without a graph, and where the
    graph around the anchors is too sparse to tell anything. `cut` counts neighbours beyond the cap.
    """

    anchors: Mapping[str, float]
    named: frozenset[str] = frozenset()
    reached: Mapping[str, Reach] = field(default_factory=dict)
    ran: bool = False
    cut: int = 0

    def activation(self, doc: str) -> float:
        """How strongly an anchor or a reached document is lit."""
        return self.anchors[doc] if doc in self.anchors else self.reached[doc].activation

    def way_to(self, doc: str) -> Reach | None:
        """The edge that led to a document; none leads to one that the question names."""
        return None if doc in self.named else self.reached.get(doc)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One edge seen from the anchor it leaves or enters."""

    anchor: str
    doc: str
    edge: Edge

    @property
    def typed(self) -> bool:
        return self.edge.kind in FRONT_MATTER_KINDS

    @property
    def fragment(self) -> str | None:
        """Where the edge lands; an edge followed backwards lands on a whole document."""
        return self.edge.fragment if self.edge.dst == self.doc else None


def choose_anchors(base: Mapping[str, float], named: Collection[str]) -> Spread:
    """Light the documents that the question names by id (1.0) and no others, else the three best by base."""
    if named:
        return Spread(anchors=dict.fromkeys(sorted(named), 1.0), named=frozenset(named))
    best = sorted((doc for doc in base if base[doc] > 0), key=lambda doc: (-round(base[doc], 6), doc))
    return Spread(anchors={doc: base[doc] for doc in best[:ANCHORS]})


def spread_from(
    graph: GraphReader, start: Spread, *, measure: Callable[[Collection[str]], Mapping[str, float]]
) -> Spread:
    """Follow body links and typed edges one hop, both ways, from the anchors of *start*.

    A neighbour gets `activation * .85 * (.5 + .5 * base)`, the largest over all ways to it. Of a hub only
    the 20 neighbours with the best base count; typed edges are never capped, so a document named by id
    always shows them. *measure* gives the base of documents that pass the query's filters; others are out.
    """
    steps = _steps(graph, start.anchors)
    near = tuple(dict.fromkeys(step.doc for step in steps))[:REACHED_MAX]
    base = measure(near)
    reached: dict[str, Reach] = {}
    for step in _without_hubs((step for step in steps if step.doc in base), base):
        activation = start.anchors[step.anchor] * DECAY * (0.5 + 0.5 * base[step.doc])
        known = reached.get(step.doc)
        if known is None or round(activation, 6) > round(known.activation, 6):
            reached[step.doc] = Reach(activation=activation, edge=step.edge, fragment=step.fragment)
    new = sum(doc not in start.anchors for doc in reached)
    ran = new >= SPARSE_BELOW or (new > 0 and bool(start.named))
    cut = len({step.doc for step in steps}) - len(near)
    return replace(start, reached=reached if ran else {}, ran=ran, cut=cut)


def _steps(graph: GraphReader, anchors: Collection[str]) -> tuple[_Step, ...]:
    ids = sorted(anchors)
    out = [_Step(anchor=edge.src, doc=edge.dst, edge=edge) for edge in graph.edges_from(ids, kinds=_KINDS)]
    into = [_Step(anchor=edge.dst, doc=edge.src, edge=edge) for edge in graph.edges_to(ids, kinds=_KINDS)]
    steps = [step for step in out + into if step.anchor != step.doc and _carries(step.edge)]
    return tuple(sorted(steps, key=lambda step: (not step.typed, step.edge.kind, step.doc, step.edge.id)))


def _carries(edge: Edge) -> bool:
    """Navigation links put all pages one hop apart, so of links only those of the body spread."""
    return edge.kind is not EdgeKind.LINKS_TO or edge.position in {LinkPosition.BODY, None}


def _without_hubs(steps: Iterable[_Step], base: Mapping[str, float]) -> tuple[_Step, ...]:
    kept: list[_Step] = []
    seen: dict[str, set[str]] = {}
    ordered = sorted(
        steps, key=lambda step: (not step.typed, -round(base[step.doc], 6), step.doc, step.edge.id)
    )
    for step in ordered:
        neighbours = seen.setdefault(step.anchor, set())
        if step.typed or step.doc in neighbours or len(neighbours) < HUB_MAX:
            neighbours.add(step.doc)
            kept.append(step)
    return tuple(kept)

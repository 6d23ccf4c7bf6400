"""The best way through a subgraph from one seed to another: an evidence chain that is a real path."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from retrieval.wiki.subgraph import relation_of
from schemas.edges import Edge

NO_PATH = "No path joins two things of the question."
_MILLION = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Nodes from end to end, and the edge between each two, whichever way it points."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    def render(self, names: Mapping[str, str]) -> str:
        """Write `a --[predicate]--> b`, or `a <--[predicate]-- b` where the edge points back."""
        parts = [names.get(self.nodes[0], self.nodes[0])]
        for start, end, edge in zip(self.nodes, self.nodes[1:], self.edges, strict=False):
            relation = relation_of(edge)
            parts.append(f"--[{relation}]-->" if edge.src == start else f"<--[{relation}]--")
            parts.append(names.get(end, end))
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class _Way:
    confidence: Fraction
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def rank(self) -> tuple[Fraction, tuple[str, ...], tuple[str, ...]]:
        return (-self.confidence, self.nodes, tuple(edge.id for edge in self.edges))


def best_chain(seeds: Collection[str], edges: Collection[Edge], *, things: Mapping[str, str]) -> Chain | None:
    """Return the best path between two of *seeds* along *edges*; None where none joins any two.

    Fewest hops, then the greatest product of confidences, then the smallest ids. Products are exact, so
    that equal paths are equal and the order of multiplying decides nothing.

    Args: things: what each seed is or belongs to; no path is sought inside of one thing.
    """
    starts, beside = sorted(set(seeds)), _beside(edges)
    ways: list[_Way] = []
    for start in starts:
        goals = {goal for goal in starts if goal > start and things[goal] != things[start]}
        ways += _ways_from(start, beside, goals)
    if not ways:
        return None
    best = min(ways, key=lambda way: (len(way.edges), *way.rank))
    return Chain(nodes=best.nodes, edges=best.edges)


def _beside(edges: Iterable[Edge]) -> dict[str, list[tuple[str, Edge]]]:
    beside: dict[str, list[tuple[str, Edge]]] = {}
    for edge in edges:
        if edge.src != edge.dst:
            beside.setdefault(edge.src, []).append((edge.dst, edge))
            beside.setdefault(edge.dst, []).append((edge.src, edge))
    return beside


def _ways_from(
    start: str, beside: Mapping[str, list[tuple[str, Edge]]], goals: Collection[str]
) -> list[_Way]:
    """Return the best way of fewest hops to the goals that are nearest; all such goals are equally far."""
    front, seen = {start: _Way(Fraction(1), (start,), ())}, {start}
    while front:
        following: dict[str, _Way] = {}
        for node, way in front.items():
            for end, edge in beside.get(node, ()):
                if end in seen:
                    continue
                sure = Fraction(round(edge.confidence * _MILLION), _MILLION)
                longer = _Way(way.confidence * sure, (*way.nodes, end), (*way.edges, edge))
                if end not in following or longer.rank < following[end].rank:
                    following[end] = longer
        if reached := [following[goal] for goal in sorted(goals) if goal in following]:
            return reached
        seen.update(following)
        front = following
    return []

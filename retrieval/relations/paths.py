"""Paths between things, and what stands at the end of given steps, over edges that say something."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from indexes.ports import GraphReader
from retrieval.graph.surroundings import edges_at, says_something
from retrieval.relations.asked import EdgeDirection, Step
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind

TYPED_HOPS_MAX = 6
LOOSE_HOPS_MAX = 2
"""Hops over links and mentions: further, everything joins everything."""
FRONT_MAX = 500
"""Nodes from which a hop goes on."""
PATHS_MAX = 3
"""Paths of equal length that are given."""
ALL_THE_WAY_MAX = 5
HUB_MAX = 30
"""Links of one document: what has more is an index of the site, and joins no two things but itself to one."""

LOOSE_KINDS = frozenset({EdgeKind.LINKS_TO, EdgeKind.MENTIONS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """An edge on a path, and the documents or tools at its ends; `forward`: gone as it points.

    A chunk stands for its document, an entity for the document whose name it is.
    """

    edge: Edge
    src: str
    dst: str
    forward: bool

    @property
    def end(self) -> str:
        """Where the hop leads."""
        return self.dst if self.forward else self.src


Path = tuple[Hop, ...]


def shortest_paths(graph: GraphReader, starts: Collection[str], goals: Collection[str]) -> tuple[Path, ...]:
    """Return the shortest paths from a start to a goal over typed edges, at most 3; empty if none.

    Of equally short paths those come first that follow edges one way all along, then by kinds and ids.
    """
    found = _search(starts, goals, lambda front: _typed(graph, front), hops=TYPED_HOPS_MAX, one_way=False)
    return tuple(sorted(found, key=_path_order)[:PATHS_MAX])


def loose_paths(graph: GraphReader, starts: Collection[str], goals: Collection[str]) -> tuple[Path, ...]:
    """Return the shortest paths over typed edges, links and mentions of documents, all one way; at most 3."""
    for one, other in ((starts, goals), (goals, starts)):
        ahead = partial(_all_out, graph, starts=one, goals=other)
        found = _search(one, other, ahead, hops=LOOSE_HOPS_MAX, one_way=True)
        if found:
            return tuple(sorted(found, key=_path_order)[:PATHS_MAX])
    return ()


def follow_steps(
    graph: GraphReader, starts: Collection[str], steps: Iterable[Step], *, all_the_way: bool
) -> tuple[Path, ...]:
    """Return the paths that *steps* lead along from *starts*, in order; with *all_the_way* each repeated.

    A path never comes back to a node on it. To each end there are at most 3.
    """
    paths: list[Path] = [()]
    for step in steps:
        paths = _longer(graph, starts, paths, step)
        if all_the_way:
            paths = _on_and_on(graph, starts, paths, step)
    return tuple(sorted(paths, key=lambda path: (len(path), *_path_order(path))))


def predicates_around(graph: GraphReader, nodes: Collection[str]) -> frozenset[str]:
    """Return the relations under keys of their own that front matter states within two hops of *nodes*."""
    near = edges_at(graph, nodes, kinds=FRONT_MATTER_KINDS)
    ends = sorted({end for edge in near for end in (edge.src, edge.dst)} - set(nodes))[:FRONT_MAX]
    far = edges_at(graph, ends, kinds=FRONT_MATTER_KINDS) if ends else ()
    return frozenset(edge.predicate for edge in (*near, *far) if edge.predicate)


def _longer(graph: GraphReader, starts: Collection[str], paths: Collection[Path], step: Step) -> list[Path]:
    ends = sorted({path[-1].end if path else start for path in paths for start in starts})
    hops = _by_start(_hops(graph, ends[:FRONT_MAX], step))
    longer: dict[str, list[Path]] = {}
    for path in sorted(paths, key=_path_order):
        on = _on(path, starts)
        for start in [path[-1].end] if path else sorted(starts):
            for hop in hops.get(start, ()):
                if hop.end not in on and len(longer.get(hop.end, ())) < PATHS_MAX:
                    longer.setdefault(hop.end, []).append((*path, hop))
    return [path for end in sorted(longer) for path in longer[end]]


def _on_and_on(graph: GraphReader, starts: Collection[str], paths: list[Path], step: Step) -> list[Path]:
    found = {path[-1].end: path for path in reversed(paths)}
    front = list(found.values())
    for _ in range(ALL_THE_WAY_MAX):
        new = {path[-1].end: path for path in reversed(_longer(graph, starts, front, step))}
        front = [path for end, path in sorted(new.items()) if end not in found]
        if not front:
            break
        found.update((path[-1].end, path) for path in front)
    return list(found.values())


def _on(path: Path, starts: Collection[str]) -> set[str]:
    return {*starts, *(end for hop in path for end in (hop.src, hop.dst))}


def _by_start(hops: Iterable[Hop]) -> Mapping[str, list[Hop]]:
    found: dict[str, list[Hop]] = {}
    for hop in hops:
        found.setdefault(hop.src if hop.forward else hop.dst, []).append(hop)
    return found


def _hops(graph: GraphReader, ends: Collection[str], step: Step) -> list[Hop]:
    """Return the hops that a step allows from *ends*."""
    hops: list[Hop] = []
    if step.way is not EdgeDirection.INTO:
        hops += _out(graph, ends, step.kinds)
    if step.way is not EdgeDirection.OUT:
        hops += _into(graph, ends, step.kinds)
    wanted = step.predicates
    kept = [hop for hop in hops if not wanted or hop.edge.predicate in wanted]
    best: dict[tuple[str, str, bool, EdgeKind, str | None], Hop] = {}
    for hop in kept:
        best.setdefault((hop.src, hop.dst, hop.forward, hop.edge.kind, hop.edge.predicate), hop)
    return sorted(best.values(), key=_hop_order)


def _typed(graph: GraphReader, front: Collection[str]) -> list[Hop]:
    return _hops(graph, front, Step(kinds=FRONT_MATTER_KINDS, way=EdgeDirection.BOTH))


def _all_out(
    graph: GraphReader, front: Collection[str], *, starts: Collection[str], goals: Collection[str]
) -> list[Hop]:
    """Return the hops out of *front*; over the links of a hub none but those from a start to a goal."""
    hops = _hops(graph, front, Step(kinds=FRONT_MATTER_KINDS | LOOSE_KINDS, way=EdgeDirection.OUT))
    loose: dict[str, set[str]] = {}
    for hop in hops:
        if hop.edge.kind in LOOSE_KINDS:
            loose.setdefault(hop.src, set()).add(hop.dst)
    hubs = {src for src, ends in loose.items() if len(ends) > HUB_MAX}
    return [
        hop
        for hop in hops
        if hop.src not in hubs or hop.edge.kind not in LOOSE_KINDS or (hop.src in starts and hop.dst in goals)
    ]


def _out(graph: GraphReader, nodes: Collection[str], kinds: Collection[EdgeKind]) -> list[Hop]:
    direct = [kind for kind in kinds if kind is not EdgeKind.MENTIONS]
    edges = graph.edges_from(nodes, kinds=direct) if direct else ()
    hops = [Hop(edge=e, src=e.src, dst=_place(e), forward=True) for e in edges if _says_something(e)]
    if EdgeKind.MENTIONS in kinds:
        hops += _mentioned(graph, nodes)
    return [hop for hop in hops if hop.src != hop.dst]


def _into(graph: GraphReader, nodes: Collection[str], kinds: Collection[EdgeKind]) -> list[Hop]:
    direct = [kind for kind in kinds if kind not in {EdgeKind.MENTIONS, EdgeKind.EXPLAINED_BY}]
    edges = list(graph.edges_to(nodes, kinds=direct)) if direct else []
    hops = [Hop(edge=e, src=e.src, dst=e.dst, forward=False) for e in edges if _says_something(e)]
    if EdgeKind.EXPLAINED_BY in kinds:
        told = [edge for edge in graph.edges_of(nodes) if edge.kind is EdgeKind.EXPLAINED_BY]
        hops += [Hop(edge=edge, src=edge.src, dst=edge.doc, forward=False) for edge in told]
    if EdgeKind.MENTIONS in kinds:
        hops += _mentioning(graph, nodes)
    return [hop for hop in hops if hop.src != hop.dst]


def _place(edge: Edge) -> str:
    """A tool is explained by a chunk: what is shown is its document."""
    return edge.doc if edge.kind is EdgeKind.EXPLAINED_BY else edge.dst


def _mentioned(graph: GraphReader, docs: Collection[str]) -> list[Hop]:
    """From documents over the names that their chunks say to the documents of these names."""
    said = [edge for edge in graph.edges_of(docs) if edge.kind is EdgeKind.MENTIONS]
    names = graph.edges_from(sorted({edge.dst for edge in said}), kinds={EdgeKind.NAMES}) if said else ()
    homes = {edge.src: edge.dst for edge in reversed(names) if edge.dst == edge.doc}
    return [Hop(edge=e, src=e.doc, dst=homes[e.dst], forward=True) for e in said if e.dst in homes]


def _mentioning(graph: GraphReader, docs: Collection[str]) -> list[Hop]:
    names = [edge for edge in graph.edges_to(docs, kinds={EdgeKind.NAMES}) if edge.dst == edge.doc]
    homes = {edge.src: edge.dst for edge in names}
    said = graph.edges_to(sorted(homes), kinds={EdgeKind.MENTIONS}) if homes else ()
    return [Hop(edge=e, src=e.doc, dst=homes[e.dst], forward=False) for e in said]


def _says_something(edge: Edge) -> bool:
    """Links of a page that lists others stand in its text, and so in a chunk."""
    return says_something(edge) or edge.chunk is not None


def _search(
    starts: Collection[str],
    goals: Collection[str],
    hops_from: Callable[[Collection[str]], list[Hop]],
    *,
    hops: int,
    one_way: bool,
) -> list[Path]:
    """Return all shortest paths, breadth first; with *one_way* along hops as they point."""
    ways: dict[str, list[Path]] = {start: [()] for start in sorted(starts)}
    front = sorted(starts)
    for _ in range(hops):
        reached: dict[str, list[Path]] = {}
        for hop in hops_from(front):
            start = hop.src if hop.forward else hop.dst
            if hop.end not in ways and not (one_way and not hop.forward):
                longer = [(*path, hop) for path in ways.get(start, ())]
                reached.setdefault(hop.end, []).extend(longer[:PATHS_MAX])
        if found := [path for goal in sorted(set(goals)) for path in reached.get(goal, ())]:
            return found
        ways |= {node: sorted(found, key=_path_order)[:PATHS_MAX] for node, found in reached.items()}
        front = sorted(reached)[:FRONT_MAX]
        if not front:
            break
    return []


_RANK = {
    kind: place
    for place, kind in enumerate(
        (EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES, EdgeKind.RELATES_TO, EdgeKind.LINKS_TO, EdgeKind.MENTIONS)
    )
}


def _hop_order(hop: Hop) -> tuple[int, str, str, str]:
    return (_RANK.get(hop.edge.kind, len(_RANK)), hop.src, hop.dst, hop.edge.id)


def _path_order(path: Path) -> tuple[bool, list[int], list[str]]:
    turns = len({hop.forward for hop in path}) > 1
    return (turns, [_RANK.get(hop.edge.kind, len(_RANK)) for hop in path], [hop.edge.id for hop in path])

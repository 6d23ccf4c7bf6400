"""What the edges of the graph say to a question: paths between its things, and what stands around one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from indexes.ports import GraphReader
from retrieval.relations.asked import EdgeDirection, RelationAsked, Step, read_asked
from retrieval.relations.paths import Path, follow, loose_paths, predicates_around, shortest_paths
from retrieval.relations.things import NamedThing
from retrieval.relations.wording import say_nothing_found, say_unconnected
from schemas.edges import FRONT_MATTER_KINDS, EdgeKind
from schemas.nodes import Node, Page, PdfDoc

THINGS_MAX = 3
PATHS_SHOWN = 60
"""Paths around one thing that are told; of more it is said how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Paths that answer; where there are none, `nothing` says so of the documents in `about`.

    `leads`: relations are what the question is after; else they help where nothing else is found.
    `more`: how many paths there are besides.
    """

    paths: tuple[Path, ...] = ()
    more: int = 0
    nothing: str = ""
    about: tuple[str, ...] = ()
    leads: bool = True


def find_relations(graph: GraphReader, text: str, things: Collection[NamedThing]) -> tuple[Finding, ...]:
    """Return what edges say to *text*, which names *things*; empty where it asks for no relation.

    Raises: StoreUnavailable: the graph is gone.
    """
    named = tuple(things)[:THINGS_MAX]
    if not named:
        return ()
    nodes = sorted({node for one in named for node in one.nodes})
    asked = read_asked(text, [one.spans for one in named], predicates=predicates_around(graph, nodes))
    if asked is None:
        return ()
    if asked.shared:
        return tuple(_shared(graph, asked, one, other) for one, other in combinations(named, 2))
    if asked.joins:
        return tuple(_joined(graph, asked, one, other) for one, other in combinations(named, 2))
    return _around(graph, asked, named[0])


def _joined(graph: GraphReader, asked: RelationAsked, one: NamedThing, other: NamedThing) -> Finding:
    """Return the paths that the question asks after by kind, else the shortest typed ones, else links."""
    paths = _asked_between(graph, asked.steps, one, other) or shortest_paths(graph, one.nodes, other.nodes)
    if paths:
        return Finding(paths=paths, leads=asked.leads)
    loose = loose_paths(graph, one.nodes, other.nodes)
    own = one.has_id and other.has_id
    if loose:
        links = any(EdgeKind.LINKS_TO in step.kinds for step in asked.steps)
        return Finding(paths=loose, leads=asked.leads and (own or links))
    if not (own and asked.leads):
        return Finding(leads=False)
    return Finding(nothing=say_unconnected((one.name, other.name)), about=(one.nodes[0], other.nodes[0]))


def _asked_between(
    graph: GraphReader, steps: Sequence[Step], one: NamedThing, other: NamedThing
) -> tuple[Path, ...]:
    """Return the shortest paths from *one* to *other* by the kinds that the question names, either way."""
    for way in (EdgeDirection.OUT, EdgeDirection.INTO) if len(steps) == 1 else ():
        step = Step(kinds=steps[0].kinds, way=way, predicates=steps[0].predicates)
        paths = follow(graph, one.nodes, [step], all_the_way=True)
        if ending := [path for path in paths if path[-1].end in other.nodes]:
            return tuple(path for path in ending if len(path) == len(ending[0]))[:3]
    return ()


def _shared(graph: GraphReader, asked: RelationAsked, one: NamedThing, other: NamedThing) -> Finding:
    """Return what the same steps lead to from both."""
    here, there = (follow(graph, thing.nodes, asked.steps, all_the_way=False) for thing in (one, other))
    met = {path[-1].end for path in here if path} & {path[-1].end for path in there if path}
    paths = [path for path in (*here, *there) if path and path[-1].end in met]
    if paths or not (one.has_id and other.has_id and asked.leads):
        return Finding(paths=tuple(paths), leads=asked.leads)
    return Finding(
        nothing=f"{one.name} and {other.name} have nothing in common that way in the index.",
        about=(one.nodes[0], other.nodes[0]),
    )


def _around(graph: GraphReader, asked: RelationAsked, thing: NamedThing) -> tuple[Finding, ...]:
    """Return what stands around a thing, where that is what is asked: a policy also requires and explains."""
    if not asked.leads:
        return ()
    found = follow(graph, thing.nodes, asked.steps, all_the_way=asked.all_the_way)
    paths = _of_the_kind(graph, found, asked.wanted)
    if paths:
        return (Finding(paths=paths[:PATHS_SHOWN], more=max(0, len(paths) - PATHS_SHOWN)),)
    typed = all(step.kinds <= FRONT_MATTER_KINDS for step in asked.steps)
    if not (thing.has_id and typed):
        return ()
    return (Finding(nothing=say_nothing_found(thing.name, asked.steps), about=thing.nodes[:1]),)


def _of_the_kind(graph: GraphReader, paths: Sequence[Path], wanted: Collection[str]) -> tuple[Path, ...]:
    """Keep the paths to documents of the kind asked for, as "ADRs" says; all where none is of it."""
    if not wanted or not paths:
        return tuple(paths)
    ends = {node.id: node for node in graph.nodes(sorted({path[-1].end for path in paths}))}
    kept = [path for path in paths if _kinds_of(ends.get(path[-1].end)) & set(wanted)]
    return tuple(kept or paths)


def _kinds_of(node: Node | None) -> set[str]:
    if not isinstance(node, Page | PdfDoc):
        return set()
    prefix = (node.doc_id or "").split("-")[0] if "-" in (node.doc_id or "") else ""
    return {one.casefold() for one in (prefix, node.doc_type) if one}


def ends_of(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the documents and tools on all paths."""
    hops = [hop for one in findings for path in one.paths for hop in path]
    return tuple(sorted({end for hop in hops for end in (hop.src, hop.dst)}))

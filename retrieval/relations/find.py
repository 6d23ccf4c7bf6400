"""The things that a question names, the paths between them, and what stands around one."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from indexes.ports import ChunkReader, GraphReader, Vector
from retrieval.bundle.annotations import called
from retrieval.question.ids import BoundIds, bind_ids
from retrieval.question.route import is_entity_name
from retrieval.relations.asked import EdgeDirection, RelationAsked, Step, read_relations_asked
from retrieval.relations.paths import Path, follow_steps, loose_paths, predicates_around, shortest_paths
from retrieval.relations.wording import say_nothing_found, say_unconnected
from schemas.edges import FRONT_MATTER_KINDS, EdgeKind
from schemas.evidence import SearchField
from schemas.nodes import Node, Page, PdfDoc, Tool

NEAR = 20
"""Chunks of each field whose documents and tools may be named."""
HOMONYMS_MAX = 3
"""Documents of one title; a title that more have names none of them."""
_FIELDS = (SearchField.HEADING, SearchField.TEXT, SearchField.ANCHORS)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThing:
    """A document, or several of one name, or a tool; `spans` are where the question names it.

    `by_id`: by its own id, `has_id`: it has one.
    """

    name: str
    nodes: tuple[str, ...]
    spans: tuple[Span, ...]
    by_id: bool = False
    has_id: bool = False

    @property
    def start(self) -> int:
        """Where it is first named."""
        return self.spans[0][0]


def find_things(
    chunks: ChunkReader, graph: GraphReader, text: str, vector: Vector
) -> tuple[tuple[NamedThing, ...], BoundIds]:
    """Return the things that *text* names, in order of place, and what its ids are.

    Of names that overlap the longest counts. Raises: StoreUnavailable: a store is gone.
    """
    bound = bind_ids(chunks, text, vector)
    nodes = {node.id: node for node in graph.nodes(bound.all)} if bound.documents else {}
    by_id = [
        NamedThing(
            name=called(nodes[docs[0]]),
            nodes=docs,
            spans=tuple(name_places(token, text)),
            by_id=True,
            has_id=True,
        )
        for token, docs in bound.documents.items()
        if docs[0] in nodes
    ]
    taken = [span for one in by_id for span in one.spans]
    known = {node for one in by_id for node in one.nodes}
    by_name = [one for one in _by_name(chunks, graph, text, taken) if known.isdisjoint(one.nodes)]
    found = sorted(_merged([*by_id, *by_name]), key=lambda one: one.start)
    return tuple(found), bound


def _merged(things: Collection[NamedThing]) -> list[NamedThing]:
    """Make one of a thing that is named twice in different words."""
    merged: dict[tuple[str, ...], NamedThing] = {}
    for one in things:
        known = merged.get(one.nodes)
        spans = tuple(sorted({*one.spans, *(known.spans if known else ())}))
        if spans:
            merged[one.nodes] = replace(known or one, spans=spans)
    return list(merged.values())


def name_places(name: str, text: str) -> Iterator[Span]:
    """Yield where *text* says *name*, whatever stands between its words."""
    words = re.findall(r"\w+", name)
    pattern = r"(?<![\w-])" + r"\W+".join(map(re.escape, words)) + r"(?![\w-])"
    return (match.span() for match in re.finditer(pattern, text, re.IGNORECASE)) if words else iter(())


def _by_name(
    chunks: ChunkReader, graph: GraphReader, text: str, taken: Collection[Span]
) -> Iterator[NamedThing]:
    bearers: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    having_id: set[str] = set()
    for node in _near(chunks, graph, text):
        for name in _names(node):
            bearers.setdefault(name, set()).add(node.id)
            written.setdefault(node.id, called(node))
            if getattr(node, "doc_id", None):
                having_id.add(node.id)
    places: list[Span] = list(taken)
    for name in sorted(bearers, key=lambda one: (-len(one), one)):
        spans = [
            span
            for span in name_places(name, text)
            if _is_meant(name, text, span) and not any(span[0] < e and s < span[1] for s, e in places)
        ]
        ids = tuple(sorted(bearers[name]))
        if spans and len(ids) <= HOMONYMS_MAX:
            places += spans
            yield NamedThing(
                name=written[ids[0]], nodes=ids, spans=tuple(spans), has_id=having_id.issuperset(ids)
            )


def _is_meant(name: str, text: str, span: Span) -> bool:
    """Whether words of a question are a name: several, or one that is written as names and codes are."""
    said = text[span[0] : span[1]]
    if len(re.findall(r"\w+", name)) > 1 or re.search(r"[\d_.]|[a-z][A-Z]", said):
        return True
    quoted = text[max(0, span[0] - 1) : span[0]] in {"`", '"', "'", "“"}
    return quoted or (said[0].isupper() and bool(text[: span[0]].strip()))


def _names(node: Node) -> Iterator[str]:
    """Titles, without an id that begins them and without the site's name behind a dash; names of tools."""
    if isinstance(node, Tool):
        yield from (one for one in (node.name, *node.aliases) if is_entity_name(one))
    elif isinstance(node, Page | PdfDoc):
        title = node.title
        bare = re.sub(r"^[A-Z][A-Z0-9]{1,9}-\d{1,6}\W+", "", title)
        short = re.split(r"\s+[—–|]\s+", bare)[0]
        for one in dict.fromkeys((title, bare, short, *((node.doc_id,) if node.doc_id else ()))):
            if is_entity_name(one):
                yield " ".join(one.split())


def _near(chunks: ChunkReader, graph: GraphReader, text: str) -> tuple[Node, ...]:
    hits = {hit.chunk_id: hit.doc for one in _FIELDS for hit in chunks.search_text(one, text, top_k=NEAR)}
    into = graph.edges_to(sorted(hits), kinds={EdgeKind.EXPLAINED_BY}) if hits else ()
    return graph.nodes(sorted({*hits.values(), *(edge.src for edge in into)})) if hits else ()


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
    asked = read_relations_asked(
        text, [one.spans for one in named], predicates=predicates_around(graph, nodes)
    )
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
        paths = follow_steps(graph, one.nodes, [step], all_the_way=True)
        if ending := [path for path in paths if path[-1].end in other.nodes]:
            return tuple(path for path in ending if len(path) == len(ending[0]))[:3]
    return ()


def _shared(graph: GraphReader, asked: RelationAsked, one: NamedThing, other: NamedThing) -> Finding:
    """Return what the same steps lead to from both."""
    here, there = (follow_steps(graph, thing.nodes, asked.steps, all_the_way=False) for thing in (one, other))
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
    found = follow_steps(graph, thing.nodes, asked.steps, all_the_way=asked.all_the_way)
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

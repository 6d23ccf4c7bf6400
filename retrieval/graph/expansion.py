"""The chunks that expansion adds to the candidates: up, side, down, cross and tool, under caps."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from indexes.ports import ChunkReader, GraphReader
from retrieval.graph.surroundings import Surroundings, enclosing_part, look_around
from retrieval.question.words import f1, jaccard, stems
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.evidence import PathStep
from schemas.nodes import Chunk, PdfRegion, RegionType, Section

SIBLINGS_MAX, DETAILS_MAX, LINKS_MAX, TOOLS_MAX, SIMILAR_MAX = 3, 3, 3, 2, 2
OVERLAP_MIN = 0.2
ANCHOR_MIN = 0.3
NEAR_DUPLICATE = 0.95
PARENT, SIBLING, CHILD, BRIDGE = "parent", "sibling", "child", "bridge"
_DETAILS = frozenset({RegionType.TABLE, RegionType.FIGURE, RegionType.CODE})
_MENUS = frozenset({LinkPosition.NAV, LinkPosition.HEADER})
_TABLE_ROW = re.compile(r"^\s*\||\t", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionStep:
    """What a seed leads to: chunks of which the best by base is taken, or a document at a fragment."""

    role: str
    path: tuple[PathStep, ...]
    chunks: tuple[str, ...] = ()
    doc: str | None = None
    fragment: str | None = None
    limit: int = 1


def go_up(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """Chunk > section > parent section; the page itself is a summary and no evidence."""
    edge = around.above.get(enclosing_part(seed) or "")
    if edge and edge.src.startswith("section:"):
        yield ExpansionStep(role=PARENT, path=(_shown(edge),), chunks=around.chunks_of(edge.src))


def go_aside(around: Surroundings, seed: Chunk, query: str) -> Iterator[ExpansionStep]:
    """At most 3 parts under the same parent whose heading shares words with the query or the seed's.

    Shared enough is a Jaccard of .2, or a word that no other heading under that parent has.
    """
    own = enclosing_part(seed)
    edge = around.above.get(own or "")
    here = around.parts.get(own or "")
    if edge is None or not isinstance(here, Section):
        return
    others = [part for part in around.parts_of(edge.src) if isinstance(part, Section) and part.id != own]
    level = [part for part in others if part.level == here.level and part.heading]
    words = {part.id: stems(part.heading) for part in level}
    asked, named = stems(query), stems(here.heading)
    overlap = {part.id: max(jaccard(words[part.id], asked), jaccard(words[part.id], named)) for part in level}
    shared = [part for part in level if overlap[part.id] >= OVERLAP_MIN or _rare(part.id, words, asked)]
    for part in sorted(shared, key=lambda part: (-overlap[part.id], part.ordinal, part.id))[:SIBLINGS_MAX]:
        step = PathStep(src=edge.src, kind=edge.kind.value, dst=part.id)
        yield ExpansionStep(role=SIBLING, path=(step,), chunks=around.chunks_of(part.id))


def _rare(part: str, words: dict[str, frozenset[str]], asked: frozenset[str]) -> bool:
    shared = words[part] & asked
    return any(all(word not in words[other] or other == part for other in words) for word in shared)


def go_down(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """Tables, figures and code of the seed's section, of those below it, or of its PDF page; at most 3."""
    own = enclosing_part(seed)
    if own is None:
        return
    below = [own, *(part.id for part in around.parts_of(own))]
    edge = around.above.get(own)
    if seed.region_id and edge:
        regions = (part for part in around.parts_of(edge.src) if isinstance(part, PdfRegion))
        below = [region.id for region in regions if region.region_type in _DETAILS]
    chunks = tuple(chunk for part in below for chunk in around.chunks_of(part) if chunk != seed.id)
    if chunks:
        step = PathStep(src=own, kind=EdgeKind.CONTAINS.value, dst=chunks[0], chunk=seed.id)
        yield ExpansionStep(role=CHILD, path=(step,), chunks=chunks, limit=DETAILS_MAX)


def is_detail(chunk: Chunk) -> bool:
    """Whether a chunk contains code, a caption or rows of a table."""
    return bool(chunk.code_languages or chunk.captions or _TABLE_ROW.search(chunk.text))


def go_by_links(around: Surroundings, seed: Chunk, query: str) -> Iterator[ExpansionStep]:
    """At most 3 links of the seed's document whose text matches the query."""
    asked = stems(query)
    links = [edge for edge in around.leaving.get(seed.doc, ()) if edge.kind is EdgeKind.LINKS_TO]
    match = {edge.id: f1(stems(edge.anchor_text or ""), asked) for edge in links}
    good = [edge for edge in links if edge.dst != seed.doc and _leads(edge, match[edge.id])]
    best = {edge.dst: edge for edge in sorted(good, key=lambda edge: (match[edge.id], edge.id))}
    for edge in sorted(best.values(), key=lambda edge: (-match[edge.id], edge.id))[:LINKS_MAX]:
        yield ExpansionStep(role=BRIDGE, path=(_shown(edge),), doc=edge.dst, fragment=edge.fragment)


def go_to_similar(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """At most 2 chunks that say similar things, and not nearly the same."""
    alike = [edge for edge in around.leaving.get(seed.id, ()) if edge.kind is EdgeKind.SIMILAR_TO]
    other = [edge for edge in alike if (edge.score or 0.0) < NEAR_DUPLICATE]
    for edge in sorted(other, key=lambda edge: (-(edge.score or 0.0), edge.id))[:SIMILAR_MAX]:
        yield ExpansionStep(role=BRIDGE, path=(_shown(edge),), chunks=(edge.dst,))


def _leads(edge: Edge, match: float) -> bool:
    return match >= ANCHOR_MIN or (edge.position in _MENUS and match > 0)


def go_by_tool(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """From what explains a tool to the 2 best chunks that explain it too."""
    here = {seed.id, enclosing_part(seed)}
    for edge in (one for one in around.explained if one.dst in here):
        others = [one for one in around.leaving.get(edge.src, ()) if one.kind is EdgeKind.EXPLAINED_BY]
        ranked = sorted(others, key=lambda one: (-(one.score or one.confidence), one.id))
        for one in [one for one in ranked if one.dst not in here][:TOOLS_MAX]:
            chunks = (one.dst,) if one.dst.startswith("chunk:") else around.chunks_of(one.dst)
            yield ExpansionStep(role=BRIDGE, path=(_shown(edge), _shown(one)), chunks=chunks)


def _shown(edge: Edge) -> PathStep:
    return PathStep(src=edge.src, kind=edge.kind.value, dst=edge.dst, chunk=edge.chunk)


class GraphRule(StrEnum):
    """A rule of `retrieval.graph.expansion`, the spreading of activation, or the second queries."""

    PARENT = "parent"
    SIBLING = "sibling"
    DETAIL = "detail"
    LINK = "link"
    SIMILAR = "similar"
    TOOL = "tool"
    SPREAD = "spread"
    SECOND_QUERY = "second query"


ALL_RULES = frozenset(GraphRule)


PER_NODE = 5
Bases = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionOrigin:
    """How a chunk came to be a candidate without being found."""

    role: str
    path: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """Chunks by id with how they came; `dense` where only the seeds' own sections were looked at.

    `links` are those that the documents of the seeds have.
    """

    joined: Mapping[str, ExpansionOrigin] = field(default_factory=dict)
    links: tuple[Edge, ...] = ()
    dense: bool = False

    def with_ways(self, ways: Mapping[str, tuple[PathStep, ...]], *, role: str) -> "Expansion":
        """Let further chunks join in a role, by the way to each; those that had joined keep theirs."""
        more = {chunk: ExpansionOrigin(role=role, path=path) for chunk, path in ways.items()}
        return replace(self, joined={**more, **self.joined})


def expand_seeds(
    chunks: ChunkReader,
    graph: GraphReader,
    seeds: Collection[Chunk],
    *,
    query: str,
    wants_detail: bool,
    measure: Callable[[Collection[str]], Bases],
    rules: Collection[GraphRule] = ALL_RULES,
) -> Expansion:
    """Go up, aside, across, by tools and, where details are asked for, down from the best 30 *seeds*.

    At most 5 new chunks a seed. *measure* gives the bases of chunks that pass the query's filters; others
    do not join.
    """
    wanted = frozenset(rules) - (frozenset() if wants_detail else {GraphRule.DETAIL})
    around = look_around(graph, seeds)
    steps = {seed.id: tuple(_steps(around, seed, query, wanted)) for seed in around.seeds}
    known = {seed.id for seed in around.seeds}
    ids = sorted({chunk for found in steps.values() for step in found for chunk in step.chunks} - known)
    rows = {row.id: row for row in chunks.get(ids)}
    docs = {row.doc for row in rows.values()} | {s.doc for found in steps.values() for s in found if s.doc}
    base = {chunk: score for scores in measure(sorted(docs)).values() for chunk, score in scores.items()}
    linked = _linked(chunks, steps, measure)
    joined: dict[str, ExpansionOrigin] = {}
    for seed in around.seeds:
        new = (one for step in steps[seed.id] for one in _take(step, rows, base, linked))
        for chunk, step in [(chunk, step) for chunk, step in new if chunk not in known][:PER_NODE]:
            joined.setdefault(chunk, ExpansionOrigin(role=step.role, path=step.path))
    links = tuple(
        edge for edges in around.leaving.values() for edge in edges if edge.kind is EdgeKind.LINKS_TO
    )
    return Expansion(joined=joined, links=links, dense=around.dense)


def _steps(
    around: Surroundings, seed: Chunk, query: str, rules: Collection[GraphRule]
) -> Iterator[ExpansionStep]:
    ways: Mapping[GraphRule, Callable[[], Iterator[ExpansionStep]]] = {
        GraphRule.PARENT: lambda: go_up(around, seed),
        GraphRule.SIBLING: lambda: go_aside(around, seed, query),
        GraphRule.DETAIL: lambda: go_down(around, seed),
        GraphRule.LINK: lambda: go_by_links(around, seed, query),
        GraphRule.SIMILAR: lambda: go_to_similar(around, seed),
        GraphRule.TOOL: lambda: go_by_tool(around, seed),
    }
    for rule, go in ways.items():
        if rule in rules:
            yield from go()


def _take(
    step: ExpansionStep,
    rows: Mapping[str, Chunk],
    base: Mapping[str, float],
    linked: Mapping[ExpansionStep, str],
) -> list[tuple[str, ExpansionStep]]:
    """The best chunks of a step by base; of a link the chunk it lands on."""
    if step.doc:
        return [(linked[step], step)] if step in linked else []
    fit = [chunk for chunk in step.chunks if chunk in rows and chunk in base]
    if step.role == CHILD:
        fit = [chunk for chunk in fit if is_detail(rows[chunk])]
    best = sorted(fit, key=lambda chunk: (-round(base[chunk], 6), chunk))[: step.limit]
    return [(chunk, step) for chunk in best]


def _linked(
    chunks: ChunkReader,
    steps: Mapping[str, tuple[ExpansionStep, ...]],
    measure: Callable[[Collection[str]], Bases],
) -> dict[ExpansionStep, str]:
    """Where each link lands: at its fragment, else at the best chunk of the document."""
    links = [step for seed in sorted(steps) for step in steps[seed] if step.doc]
    bases = measure(sorted({step.doc for step in links if step.doc}))
    best = {
        doc: sorted(scores, key=lambda chunk: (-round(scores[chunk], 6), chunk))
        for doc, scores in bases.items()
    }
    near = sorted({chunk for found in best.values() for chunk in found[:PER_NODE]})
    rows = {row.id: row for row in chunks.get(near)}
    landed: dict[ExpansionStep, str] = {}
    for step in links:
        found = best.get(step.doc or "", [])
        at = [c for c in found if c in rows and step.fragment in {rows[c].fragment, *rows[c].fragments}]
        if found:
            landed[step] = (at if step.fragment and at else found)[0]
    return landed

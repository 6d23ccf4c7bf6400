"""The chunks that expansion adds to the candidates, under the query's filters and the caps."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from indexes.ports import ChunkReader, GraphReader
from retrieval.graph.directions import (
    CHILD,
    ExpansionStep,
    go_aside,
    go_by_links,
    go_by_tool,
    go_down,
    go_to_similar,
    go_up,
    is_detail,
)
from retrieval.graph.rules import ALL_RULES, GraphRule
from retrieval.graph.surroundings import Surroundings, look_around
from schemas.edges import Edge, EdgeKind
from schemas.evidence import PathStep
from schemas.nodes import Chunk

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

"""What the graph adds to what was found: surroundings, activation, second questions, and which are copies."""

from collections.abc import Collection
from dataclasses import dataclass, field

from indexes.ports import ChunkReader, Encoder, GraphReader
from retrieval.graph.expansion import ALL_RULES, Expansion, GraphRule, expand_seeds
from retrieval.graph.second_query import FollowUp
from retrieval.graph.spreading import Spread, choose_anchors, spread_from, weigh_spread
from retrieval.graph.surroundings import SEEDS
from retrieval.graph.tools import DEFINITION, ToolInScope, find_tools
from retrieval.question.route import Known, Route, names_things, wants_detail
from retrieval.search.relevance import Measure, best_chunks
from retrieval.search.seeds import EmbeddedQuery, Lists
from schemas.evidence import Hit
from schemas.nodes import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """What the chunk store found."""

    lists: Lists
    known: Known
    route: Route
    pool: tuple[Hit, ...]
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphResults:
    """What the graph added, and what was missing."""

    spread: Spread
    expansion: Expansion = field(default_factory=Expansion)
    sub_queries: tuple[str, ...] = ()
    tools: tuple[ToolInScope, ...] = ()
    degraded: frozenset[str] = frozenset()


def start_from(found: SearchResults) -> Spread:
    """Choose the documents that everything is reached from; what stands without a graph."""
    base = found.measure.documents({hit.doc for hit in found.pool})
    return choose_anchors(base, found.known.documents)


def reach_by_graph(
    chunks: ChunkReader,
    graph: GraphReader,
    encoder: Encoder,
    asked: EmbeddedQuery,
    found: SearchResults,
    *,
    rules: Collection[GraphRule] = ALL_RULES,
) -> GraphResults:
    """Expand the best seeds, spread from the anchors, and ask again by rule from what that activated.

    Links lead on from what a question names: one without a name spreads nothing (measured: bench/RESULTS.md).
    Where nothing spreads, or the question names its documents, there is no second question.
    """
    seeds = _best_seeds(chunks, found)
    expansion = expand_seeds(
        chunks,
        graph,
        seeds,
        query=asked.query.text,
        wants_detail=wants_detail(asked.query.text),
        measure=found.measure.of,
        rules=rules,
    )
    tools = find_tools(chunks, graph, asked, seeds, measure=found.measure.of)
    expansion = expansion.with_ways({one.chunk: one.path for one in tools if one.chunk}, role=DEFINITION)
    spread = start_from(found)
    if GraphRule.SPREAD in rules and (found.known.documents or names_things(asked.query.text)):
        spread = spread_from(graph, spread, measure=found.measure.of)
    spread = weigh_spread(spread, {hit.doc for hit in found.pool})
    if not spread.ran or spread.named or GraphRule.SECOND_QUERY not in rules:
        return GraphResults(spread=spread, expansion=expansion, tools=tools)
    follow_up = FollowUp(chunks=chunks, encoder=encoder, asked=asked, measure=found.measure)
    activated, sub_queries = follow_up.activate(spread)
    return GraphResults(spread=activated, expansion=expansion, sub_queries=sub_queries, tools=tools)


def _best_seeds(chunks: ChunkReader, found: SearchResults) -> tuple[Chunk, ...]:
    bases = found.measure.of({hit.doc for hit in found.pool})
    base = {hit.chunk_id: bases.get(hit.doc, {}).get(hit.chunk_id, 0.0) for hit in found.pool}
    best = best_chunks(base, limit=SEEDS)
    rows = {row.id: row for row in chunks.get(best)}
    return tuple(rows[chunk] for chunk in best if chunk in rows)

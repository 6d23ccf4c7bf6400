"""The walk of one query: route, seeds, base score, spread, score, selection, bundle (design 7)."""

from collections.abc import Collection
from dataclasses import dataclass, field

from indexes.ports import ChunkReader, Encoder, GraphReader, Reranker
from retrieval.bundle import build_bundle, number_evidence
from retrieval.candidates import score_candidates
from retrieval.catalogue import look_up
from retrieval.diagnostics import describe_walk
from retrieval.expand.expansion import Expansion, expand_seeds
from retrieval.expand.surroundings import SEEDS
from retrieval.follow_up import FollowUp
from retrieval.orientation import summarise_parents
from retrieval.policy import ALLOW_ALL, Policy, check_policy
from retrieval.relevance import Measure, best_chunks, lift_of, scale_of
from retrieval.rerank import DEPTH, leading_chunk, rerank_within_roles
from retrieval.route import Known, Route, route_of, wants_detail
from retrieval.score import Scored
from retrieval.seeds import Asked, Lists, SeedList, balance_pool, found_by_search, fuse_lists, gather_lists
from retrieval.selection import select_evidence
from retrieval.spread import Spread, choose_anchors, spread_from
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Hit, Query
from schemas.nodes import Chunk

GRAPH = "graph"


class Retriever:
    """Answers queries from one pinned generation; the same index and query give equal bundles, byte for byte.

    Without a graph, or when it fails on the way, the chunk store answers alone and the bundle says
    `degraded=("graph",)`. Holds no state of a query: threads may share it if its readers allow that.
    """

    def __init__(
        self,
        chunks: ChunkReader,
        graph: GraphReader | None,
        encoder: Encoder,
        *,
        generation: int,
        as_of: str,
        degraded: Collection[str] = (),
        reranker: Reranker | None = None,
        policy: Policy = ALLOW_ALL,
    ) -> None:
        self._chunks, self._graph, self._encoder = chunks, graph, encoder
        self._reranker, self._policy = reranker, policy
        self._generation, self._as_of = generation, as_of
        self._degraded = frozenset(degraded)

    def retrieve(self, query: Query) -> ContextBundle:
        """Give the evidence for *query*, best first; no answer is an empty bundle.

        Raises: QueryRefused: by the policy; FilterError: a filter names an unknown field;
        StoreUnavailable: the chunk store is gone.
        """
        check_policy(self._policy, query)
        asked = Asked(query=query, vector=self._encoder.encode_query(query.text))
        found = self._find(asked)
        reach = self._reach(asked, found)
        candidates = self._rerank(query, self._score(asked, found, reach))
        selection = select_evidence(candidates, top_k=query.top_k)
        evidence = number_evidence(selection.chosen, self._encoder.count_tokens, budget=query.token_budget)
        return build_bundle(
            query,
            evidence,
            summarise_parents(self._chunks, asked, evidence),
            route=found.route.value,
            generation=self._generation,
            as_of=self._as_of,
            degraded=tuple(sorted(self._degraded | reach.degraded)),
            diagnostics=describe_walk(
                query,
                lists=found.lists,
                known=found.known,
                spread=reach.spread,
                expansion=reach.expansion,
                sub_queries=reach.sub_queries,
                reranked=self._reranks(query),
                candidates=candidates,
                selection=selection,
                evidence=evidence,
            ),
        )

    def _find(self, asked: Asked) -> "_Found":
        lists = gather_lists(self._chunks, asked)
        headings, anchors = lists[SeedList.HEADING_BM25], lists[SeedList.ANCHOR_BM25]
        known = look_up(self._chunks, asked.query.text, asked.vector, headings, anchors)
        route = route_of(asked.query.text, known)
        return _Found(
            lists=lists,
            known=known,
            route=route,
            pool=balance_pool(fuse_lists(lists, route)),
            measure=Measure(self._chunks, asked, scale_of(lists), lift_of(route, lists, known)),
        )

    def _reach(self, asked: Asked, found: "_Found") -> "_Reached":
        base = found.measure.documents({hit.doc for hit in found.pool})
        start = choose_anchors(base, found.known.documents)
        if self._graph is None or not asked.query.use_graph:
            return _Reached(spread=start)
        try:
            return self._walk(self._graph, asked, found, start)
        except StoreUnavailable:
            return _Reached(spread=start, degraded=frozenset({GRAPH}))

    def _walk(self, graph: GraphReader, asked: Asked, found: "_Found", start: Spread) -> "_Reached":
        expansion = expand_seeds(
            self._chunks,
            graph,
            self._best_seeds(found),
            query=asked.query.text,
            wants_detail=wants_detail(asked.query.text),
            measure=found.measure.of,
        )
        spread = spread_from(graph, start, measure=found.measure.of)
        if not spread.ran or spread.named:
            return _Reached(spread=spread, expansion=expansion)
        follow_up = FollowUp(chunks=self._chunks, encoder=self._encoder, asked=asked, measure=found.measure)
        lit, sub_queries = follow_up.light(spread)
        return _Reached(spread=lit, expansion=expansion, sub_queries=sub_queries)

    def _best_seeds(self, found: "_Found") -> tuple[Chunk, ...]:
        bases = found.measure.of({hit.doc for hit in found.pool})
        base = {hit.chunk_id: bases.get(hit.doc, {}).get(hit.chunk_id, 0.0) for hit in found.pool}
        best = best_chunks(base, limit=SEEDS)
        rows = {row.id: row for row in self._chunks.get(best)}
        return tuple(rows[chunk] for chunk in best if chunk in rows)

    def _score(self, asked: Asked, found: "_Found", reach: "_Reached") -> tuple[Scored, ...]:
        return score_candidates(
            self._chunks,
            found.pool,
            found.measure,
            reach.spread,
            reach.expansion,
            found=found_by_search(found.lists),
            query=asked.query.text,
            as_of=self._as_of,
        )

    def _reranks(self, query: Query) -> bool:
        return query.rerank and self._reranker is not None

    def _rerank(self, query: Query, candidates: tuple[Scored, ...]) -> tuple[Scored, ...]:
        if not query.rerank or self._reranker is None:
            return candidates
        ids = {leading_chunk(one) for one in candidates[:DEPTH]} - {None}
        leading = {chunk.id: chunk for chunk in self._chunks.get(sorted(one for one in ids if one))}
        return rerank_within_roles(self._reranker, query.text, candidates, leading)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the chunk store found."""

    lists: Lists
    known: Known
    route: Route
    pool: tuple[Hit, ...]
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reached:
    """What the graph added, and what was missing."""

    spread: Spread
    expansion: Expansion = field(default_factory=Expansion)
    sub_queries: tuple[str, ...] = ()
    degraded: frozenset[str] = frozenset()

"""The walk of one query: policy, route, seeds, graph, score, rerank, selection, bundle (docs/querying.md)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.families.reading import NO_FAMILIES, Families
from indexes.ports import AuthorityReader, ChunkReader, Encoder, GraphReader, Reranker, TokenEncoder
from retrieval.bundle.build import build_bundle, number_evidence
from retrieval.bundle.diagnostics import describe_walk
from retrieval.bundle.names import ends_of_paths, name_paths, read_names
from retrieval.bundle.parent_summaries import summarise_parents
from retrieval.bundle.tool_plan import plan_tool
from retrieval.bundle.versions import note_versions, prefer_newest
from retrieval.graph.reach import GraphResults, SearchResults, reach_by_graph, start_from
from retrieval.graph.rules import ALL_RULES, GraphRule
from retrieval.question.catalogue import look_up
from retrieval.question.dates import date_filters
from retrieval.question.policy import ALLOW_ALL, Policy, check_policy
from retrieval.question.relationship import entities_of
from retrieval.question.route import Route, route_of
from retrieval.question.versions import bind_version
from retrieval.ranking.candidates import score_candidates
from retrieval.ranking.copies import find_copies, join_copies
from retrieval.ranking.cross_format_duplicates import find_duplicates
from retrieval.ranking.definitions import find_definitions
from retrieval.ranking.late import AMONG, max_similarities, most_similar, weigh_similarities
from retrieval.ranking.rerank import divide, leading_chunk, rerank_best
from retrieval.ranking.score import Scored
from retrieval.ranking.selection import select_evidence
from retrieval.search.pages import read_pages
from retrieval.search.relevance import Measure, lift_of, scale_of, telling_of
from retrieval.search.seeds import (
    NEAREST,
    EmbeddedQuery,
    SeedList,
    balance_pool,
    found_by_search,
    found_nearest,
    fuse_lists,
    gather_lists,
)
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Query, Scores
from schemas.settings import GRAPH_BOOST

GRAPH = "graph"
RERANK = "rerank"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """What a query brought: the bundle, all candidates in rank order, and which say nearly the same.

    `nearest` are the ids that selection alternates with.
    """

    query: Query
    bundle: ContextBundle
    candidates: tuple[Scored, ...]
    copies: Mapping[str, Collection[str]]
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """Candidates, best first; which of them are copies of which; ids of those nearest to the query."""

    candidates: tuple[Scored, ...]
    copies: Mapping[str, Collection[str]]
    nearest: tuple[str, ...]


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
        authority: AuthorityReader | None = None,
        degraded: Collection[str] = (),
        reranker: Reranker | None = None,
        policy: Policy = ALLOW_ALL,
        weights: Scores | None = None,
        rules: Collection[GraphRule] = ALL_RULES,
        families: Families = NO_FAMILIES,
        boost: float = GRAPH_BOOST,
    ) -> None:
        self._chunks, self._graph, self._encoder = chunks, graph, encoder
        self._reranker, self._policy = reranker, policy
        self._generation, self._as_of = generation, as_of
        self._authority, self._degraded = authority, frozenset(degraded)
        self._weights, self._rules = weights, rules
        self._families, self._boost = families, boost

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*, best first; no answer is an empty bundle.

        Raises: QueryRefused: by the policy; FilterError: a filter names an unknown field, or no manual has
        the version that is asked for; StoreUnavailable: the chunk store is gone.
        """
        return self.walk(query).bundle

    def walk(self, query: Query) -> RetrievalResult:
        """Return the evidence for *query* together with all that it was chosen from; raises as `retrieve`."""
        asked = self._embed(query)
        found = self._find(asked)
        reached = self._reach(asked, found)
        ranked = self._rank(asked, found, reached)
        return RetrievalResult(
            query=asked.query,
            bundle=self._assemble(asked, found, reached, ranked),
            candidates=ranked.candidates,
            copies=ranked.copies,
            nearest=ranked.nearest,
        )

    def _embed(self, query: Query) -> EmbeddedQuery:
        check_policy(self._policy, query)
        query = replace(
            query,
            filters=date_filters(query.filters, self._as_of),
            rerank=self._reranker is not None if query.rerank is None else query.rerank,
        )
        query = bind_version(query, self._families.manuals)
        return EmbeddedQuery(
            query=query,
            vector=self._encoder.encode_query(query.text),
            unrelated=getattr(self._encoder, "unrelated", 0.0),
        )

    def _rank(self, asked: EmbeddedQuery, found: SearchResults, reached: GraphResults) -> _Ranked:
        as_is = reached.spread.tells or found.route is Route.ID
        scored = self._score(asked, found, reached)
        similarity = {} if as_is else self._similarities(asked, scored)
        scored = weigh_similarities(scored, similarity)
        candidates = self._rerank(asked, scored, by_role=reached.spread.tells)
        candidates = prefer_newest(candidates, self._families.manuals)
        near = most_similar(similarity, limit=NEAREST) or found_nearest(found.lists)
        return _Ranked(
            candidates=candidates,
            copies=self._copies(asked.query, candidates),
            nearest=() if as_is else near,
        )

    def _assemble(
        self, asked: EmbeddedQuery, found: SearchResults, reached: GraphResults, ranked: _Ranked
    ) -> ContextBundle:
        query = asked.query
        selection = select_evidence(
            ranked.candidates,
            ranked.copies,
            top_k=query.top_k,
            definitions=find_definitions(ranked.candidates, entities_of(query.text, found.known.names)),
            of_tools=[one.chunk for one in reached.tools if one.chunk],
            nearest=ranked.nearest,
            named=found.known.documents,
            only_named=query.only_named,
            boost=self._boost,
        )
        evidence = self._named(
            number_evidence(selection.chosen, self._encoder.count_tokens, budget=query.token_budget)
        )
        evidence = note_versions(evidence, self._families.manuals, self._chunks)
        return build_bundle(
            query,
            evidence,
            summarise_parents(self._chunks, asked, evidence),
            route=found.route.value,
            generation=self._generation,
            as_of=self._as_of,
            degraded=tuple(sorted(self._degraded | reached.degraded | self._missing(query))),
            tool_plan=plan_tool(query, reached.tools, evidence, graph_read=self._reads_graph(query, reached)),
            diagnostics=describe_walk(
                query,
                found=found,
                reached=reached,
                reranked=self._reranks(query),
                candidates=ranked.candidates,
                selection=selection,
                evidence=evidence,
            ),
        )

    def _named(self, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Say what the ends of paths are called; a graph that went away meanwhile costs only that."""
        ends = ends_of_paths(evidence)
        if self._graph is None or not ends:
            return evidence
        try:
            return name_paths(evidence, read_names(self._graph, ends))
        except StoreUnavailable:
            return evidence

    def _find(self, asked: EmbeddedQuery) -> SearchResults:
        lists = gather_lists(self._chunks, asked)
        headings, anchors = lists[SeedList.HEADING_BM25], lists[SeedList.ANCHOR_BM25]
        known = look_up(self._chunks, asked.query.text, asked.vector, headings, anchors)
        route = route_of(asked.query.text, known)
        telling = telling_of(route, known)
        return SearchResults(
            lists=lists,
            known=known,
            route=route,
            pool=balance_pool(fuse_lists(lists, route, telling)),
            measure=Measure(
                self._chunks,
                asked,
                scale_of(lists, asked.unrelated),
                lift_of(route, lists, known),
                telling,
            ),
        )

    def _reach(self, asked: EmbeddedQuery, found: SearchResults) -> GraphResults:
        if self._graph is None or not asked.query.use_graph:
            return GraphResults(spread=start_from(found))
        try:
            return reach_by_graph(
                self._chunks,
                self._graph,
                self._encoder,
                asked,
                found,
                rules=self._rules,
            )
        except StoreUnavailable:
            return GraphResults(spread=start_from(found), degraded=frozenset({GRAPH}))

    def _reads_graph(self, query: Query, reached: GraphResults) -> bool:
        return self._graph is not None and query.use_graph and not reached.degraded

    def _score(self, asked: EmbeddedQuery, found: SearchResults, reached: GraphResults) -> tuple[Scored, ...]:
        return score_candidates(
            self._chunks,
            found.pool,
            found.measure,
            reached.spread,
            reached.expansion,
            found=found_by_search(found.lists),
            query=asked.query.text,
            as_of=self._as_of,
            authority=self._authority,
            weights=self._weights,
        )

    def _similarities(self, asked: EmbeddedQuery, scored: Sequence[Scored]) -> Mapping[str, float]:
        """Compare the best candidates token by token with the question, where the index has their vectors."""
        tokens = self._chunks.token_vectors([one.chunk.id for one in scored[:AMONG]])
        if not tokens or not isinstance(self._encoder, TokenEncoder):
            return {}
        return max_similarities(self._encoder.encode_query_tokens(asked.query.text), tokens)

    def _reranks(self, query: Query) -> bool:
        return bool(query.rerank) and self._reranker is not None

    def _missing(self, query: Query) -> frozenset[str]:
        return frozenset({RERANK} if query.rerank and self._reranker is None else ())

    def _rerank(
        self, asked: EmbeddedQuery, candidates: tuple[Scored, ...], *, by_role: bool
    ) -> tuple[Scored, ...]:
        if not asked.query.rerank or self._reranker is None:
            return candidates
        best, _ = divide(candidates, by_role=by_role)
        ids = sorted({chunk for one in best if (chunk := leading_chunk(one))})
        leading = {chunk.id: chunk for chunk in self._chunks.get(ids)}
        pages = read_pages(self._chunks, asked, [one.chunk for one in best])
        return rerank_best(
            self._reranker, asked.query.text, candidates, leading, pages=pages, by_role=by_role
        )

    def _copies(self, query: Query, candidates: tuple[Scored, ...]) -> Mapping[str, Collection[str]]:
        twins = find_duplicates(candidates)
        if self._graph is None or not query.use_graph:
            return twins
        try:
            return join_copies(find_copies(self._graph, candidates), twins)
        except StoreUnavailable:  # said in `degraded` already: the graph was asked before
            return twins

"""The walk of one query: policy, route, seeds, graph, score, rerank, selection, bundle (docs/querying.md)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from indexes.families import NO_FAMILIES, Families
from indexes.ports import AuthorityReader, ChunkReader, Encoder, GraphReader, Reranker, TokenEncoder
from retrieval.bundle.annotations import (
    ends_of_paths,
    name_paths,
    note_uses,
    note_versions,
    plan_tool,
    prefer_newest,
    read_names,
    summarise_parents,
)
from retrieval.bundle.build import GRAPH, build_bundle, number_evidence
from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.graph.reach import GraphResults, SearchResults, reach_by_graph, start_from
from retrieval.graph.spreading import Spread
from retrieval.question.catalogue import bind_version, look_up
from retrieval.question.dates import date_filters
from retrieval.question.query import ALLOW_ALL, Policy, check_policy
from retrieval.question.route import Route, entities_of, names_things, route_of
from retrieval.question.words import language_of
from retrieval.ranking.candidates import score_candidates
from retrieval.ranking.duplicates import find_copies, find_twins, join_copies
from retrieval.ranking.rerank import (
    AMONG,
    divide,
    leading_chunk,
    max_similarities,
    rerank_best,
    weigh_similarities,
)
from retrieval.ranking.score import Scored
from retrieval.ranking.selection import Selection, find_definitions, select_evidence
from retrieval.ranking.translations import (
    find_translations,
    keep_one_language,
    keep_one_page,
    read_families,
)
from retrieval.search.relevance import Measure, lift_of, scale_of, telling_of
from retrieval.search.seeds import (
    EmbeddedQuery,
    SeedList,
    balance_pool,
    found_by_search,
    found_nearest,
    fuse_lists,
    gather_lists,
    read_same_pages,
)
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Query, Scores
from schemas.settings import GRAPH_BOOST


def describe_walk(
    query: Query,
    *,
    found: SearchResults,
    reached: GraphResults,
    reranked: bool,
    candidates: Sized,
    selection: Selection,
    evidence: tuple[Evidence, ...],
) -> dict[str, Any]:
    """Return the counts of each step and a note for each departure from the full walk."""
    spread, known = reached.spread, found.known
    return {
        "seeds": {name.value: len(hits) for name, hits in found.lists.items()},
        "codes": {code: len(holders) for code, holders in known.holders.items()},
        "named_documents": list(known.documents),
        "unbound": list(known.unbound),
        "anchors": sorted(spread.anchors),
        "reached": len(spread.reached),
        "expanded": dict(sorted(Counter(one.role for one in reached.expansion.joined.values()).items())),
        "sub_queries": list(reached.sub_queries),
        "candidates": len(candidates),
        "relaxed": selection.relaxed,
        "shortened": sum(one.chunk.text != _text_of(one.chunk.id, evidence) for one in selection.chosen),
        "notes": _notes(query, spread, selection, evidence, reranked=reranked, dense=reached.expansion.dense),
    }


def _text_of(chunk_id: str, evidence: tuple[Evidence, ...]) -> str | None:
    return next((one.text for one in evidence if one.chunk_id == chunk_id), None)


def _notes(
    query: Query,
    spread: Spread,
    selection: Selection,
    evidence: tuple[Evidence, ...],
    *,
    reranked: bool,
    dense: bool,
) -> list[str]:
    dropped = len(selection.chosen) - len(evidence)
    silent, named = query.use_graph and not spread.ran and spread.weight > 0, names_things(query.text)
    return [
        note
        for applies, note in (
            (query.rerank and not reranked, "rerank: unavailable; the order is the blend's"),
            (
                silent and not named,
                "the question names nothing that links lead on from: graph counts 0",
            ),
            (silent and named, "too few links around the best documents: graph counts 0"),
            (spread.weight == 0, "links lead nearly everywhere from the best documents: graph counts 0"),
            (dense, "too much around the best passages: only their own sections were looked at"),
            (spread.cut > 0, f"{spread.cut} linked documents beyond the cap were not looked at"),
            (selection.relaxed > 0, f"caps lifted for {selection.relaxed} passages"),
            (dropped > 0, f"{dropped} passages dropped by the token budget"),
        )
        if applies
    ]


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
    """Candidates, best first; which of them are copies of which; ids that selection alternates with."""

    candidates: tuple[Scored, ...]
    copies: Mapping[str, Collection[str]]
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Answers queries from one pinned generation; the same index and query give equal bundles, byte for byte.

    Without a graph, or when it fails on the way, the chunk store answers alone and the bundle says
    `degraded=("graph",)`. Holds no state of a query: threads may share it if its readers allow that.
    `language` is that of whoever asks, where one question brings others; else each tells its own.
    """

    chunks: ChunkReader
    graph: GraphReader | None
    encoder: Encoder
    _: KW_ONLY
    generation: int
    as_of: str
    authority: AuthorityReader | None = None
    degraded: Collection[str] = ()
    reranker: Reranker | None = None
    policy: Policy = ALLOW_ALL
    weights: Scores | None = None
    rules: Collection[GraphRule] = ALL_RULES
    families: Families = NO_FAMILIES
    boost: float = GRAPH_BOOST
    language: str | None = None

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
        check_policy(self.policy, query)
        query = replace(
            query,
            filters=date_filters(query.filters, self.as_of),
            rerank=self.reranker is not None if query.rerank is None else query.rerank,
        )
        query = bind_version(query, self.families.manuals)
        return EmbeddedQuery(
            query=query,
            vector=self.encoder.encode_query(query.text),
            unrelated=getattr(self.encoder, "unrelated", 0.0),
        )

    def _rank(self, asked: EmbeddedQuery, found: SearchResults, reached: GraphResults) -> _Ranked:
        scored = self._score(asked, found, reached)
        if not reached.spread.tells and found.route is not Route.ID:
            scored = weigh_similarities(scored, self._similarities(asked, scored))
        candidates = self._rerank(asked, scored, by_role=reached.spread.tells)
        candidates = prefer_newest(candidates, self.families.manuals)
        candidates = self._in_one_language(asked.query, candidates)
        return _Ranked(
            candidates=candidates,
            copies=self._copies(asked.query, candidates),
            nearest=self._nearest(asked.query, found, reached),
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
            named=found.known.documents,
            only_named=query.only_named,
            by_page=query.by_page,
            nearest=ranked.nearest,
            boost=self.boost,
        )
        evidence = self._named(
            number_evidence(selection.chosen, self.encoder.count_tokens, budget=query.token_budget)
        )
        evidence = note_versions(evidence, self.families.manuals, self.chunks)
        evidence = note_uses(evidence, self.graph)
        return build_bundle(
            query,
            evidence,
            summarise_parents(self.chunks, asked, evidence),
            route=found.route.value,
            generation=self.generation,
            as_of=self.as_of,
            degraded=tuple(sorted({*self.degraded, *reached.degraded, *self._missing(query)})),
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
        if self.graph is None or not ends:
            return evidence
        try:
            return name_paths(evidence, read_names(self.graph, ends))
        except StoreUnavailable:
            return evidence

    def _find(self, asked: EmbeddedQuery) -> SearchResults:
        lists = gather_lists(self.chunks, asked)
        headings, anchors = lists[SeedList.HEADING_BM25], lists[SeedList.ANCHOR_BM25]
        known = look_up(self.chunks, asked.query.text, asked.vector, headings, anchors)
        route = route_of(asked.query.text, known)
        telling = telling_of(route, known)
        return SearchResults(
            lists=lists,
            known=known,
            route=route,
            pool=balance_pool(fuse_lists(lists, route, telling)),
            measure=Measure(
                self.chunks,
                asked,
                scale_of(lists, asked),
                lift_of(route, lists, known),
                telling,
            ),
        )

    def _reach(self, asked: EmbeddedQuery, found: SearchResults) -> GraphResults:
        if self.graph is None or not asked.query.use_graph:
            return GraphResults(spread=start_from(found))
        try:
            return reach_by_graph(
                self.chunks,
                self.graph,
                self.encoder,
                asked,
                found,
                rules=self.rules,
            )
        except StoreUnavailable:
            return GraphResults(spread=start_from(found), degraded=frozenset({GRAPH}))

    def _reads_graph(self, query: Query, reached: GraphResults) -> bool:
        return self.graph is not None and query.use_graph and not reached.degraded

    def _score(self, asked: EmbeddedQuery, found: SearchResults, reached: GraphResults) -> tuple[Scored, ...]:
        return score_candidates(
            self.chunks,
            found.pool,
            found.measure,
            reached.spread,
            reached.expansion,
            found=found_by_search(found.lists),
            query=asked.query.text,
            as_of=self.as_of,
            authority=self.authority,
            weights=self.weights,
        )

    def _similarities(self, asked: EmbeddedQuery, scored: Sequence[Scored]) -> Mapping[str, float]:
        """Compare the best candidates token by token with the question, where the index has their vectors."""
        tokens = self.chunks.token_vectors([one.chunk.id for one in scored[:AMONG]])
        if not tokens or not isinstance(self.encoder, TokenEncoder):
            return {}
        return max_similarities(self.encoder.encode_query_tokens(asked.query.text), tokens)

    def _reranks(self, query: Query) -> bool:
        return bool(query.rerank) and self.reranker is not None

    def _nearest(self, query: Query, found: SearchResults, reached: GraphResults) -> tuple[str, ...]:
        """What the order alternates with where the graph tells nothing apart: PDFs, or all if reranked."""
        if reached.spread.tells or found.route is Route.ID:
            return ()
        return found_nearest(found.lists, of_pdfs=not self._reranks(query))

    def _missing(self, query: Query) -> frozenset[str]:
        return frozenset({RERANK} if query.rerank and self.reranker is None else ())

    def _rerank(
        self, asked: EmbeddedQuery, candidates: tuple[Scored, ...], *, by_role: bool
    ) -> tuple[Scored, ...]:
        if not asked.query.rerank or self.reranker is None:
            return candidates
        best, _ = divide(candidates, by_role=by_role)
        ids = sorted({chunk for one in best if (chunk := leading_chunk(one))})
        leading = {chunk.id: chunk for chunk in self.chunks.get(ids)}
        pages = read_same_pages(self.chunks, asked, [one.chunk for one in best])
        return rerank_best(self.reranker, asked.query.text, candidates, leading, pages=pages, by_role=by_role)

    def _in_one_language(self, query: Query, candidates: tuple[Scored, ...]) -> tuple[Scored, ...]:
        """Say nothing in two languages, unless the reader asks for languages by name."""
        if self.graph is None or not query.use_graph or any(one.field == "lang" for one in query.filters):
            return candidates
        try:
            families = read_families(self.graph, candidates)
        except StoreUnavailable:  # said in `degraded` already: the graph was asked before
            return candidates
        if not families:
            return candidates
        language = self.language or language_of(query.text)
        by_sense = bool(getattr(self.encoder, "joins_languages", False))
        same = find_translations(self.chunks, families, by_sense=by_sense)
        kept = keep_one_language(candidates, same, language)
        return keep_one_page(kept, families, language) if query.by_page else kept

    def _copies(self, query: Query, candidates: tuple[Scored, ...]) -> Mapping[str, Collection[str]]:
        twins = find_twins(candidates)
        if self.graph is None or not query.use_graph:
            return twins
        try:
            return join_copies(find_copies(self.graph, candidates), twins)
        except StoreUnavailable:  # said in `degraded` already: the graph was asked before
            return twins

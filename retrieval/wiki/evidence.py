"""The graph's answer to a question, with its proof: seeds, subgraph, documents, an evidence chain."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from indexes.ports import ChunkReader, Encoder, GraphReader
from retrieval.bundle.annotations import node_names
from retrieval.graph.surroundings import chunk_behind
from retrieval.question.catalogue import look_up
from retrieval.question.route import Known, Route
from retrieval.question.words import STOP_WORDS, content_words, fold, full_stems
from retrieval.search.seeds import EmbeddedQuery, SeedList, fuse_lists, gather_lists
from retrieval.wiki.subgraph import (
    EMPTY,
    NO_PATH,
    Chain,
    Subgraph,
    best_chain,
    node_label,
    read_subgraph,
    to_edge_record,
    to_subgraph_record,
)
from schemas.edges import EdgeKind
from schemas.evidence import Query
from schemas.nodes import Chunk, Node, Page, PdfDoc, Section, is_document
from schemas.records import Record

PHRASE_WORDS_MAX = 5

_TOKEN = re.compile(r"--?[a-z][\w-]*(?<!-)|\w+(?:[-.'’/_:]+\w+)*|[^\w\s]", re.IGNORECASE)
_WORD = re.compile(r"-{0,2}\w")
_VERBS = frozenset(
    re.findall(
        r"\w+",
        """happen happens happened mean means explain describe tell show list name define give find work works
        cause causes caused need needs use uses used make makes made get gets go goes say says come comes
        take takes keep keeps relate relates related connect connects connected depend depends differ differs
        become becomes call calls called run runs set sets lead leads affect affects between about after
        before during when while without not no any all some other than also if then up out over under""",
    )
)
"""Words that stand between nouns and belong to no name; they are keywords all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """`phrases` are runs of at least two words; `keywords` single words, in order, each once."""

    phrases: tuple[str, ...]
    keywords: tuple[str, ...]


def parse_query(text: str) -> QueryTerms:
    """Read a question; a compound such as `max_wal_size`, `GOV-0017` or `write-ahead` is one word.

    A phrase is a run of words that no stop word, verb of a short list or punctuation breaks, five at most.
    Where a question is made of stop words alone, these are its keywords.

    >>> parse_query("Why does a memory leak cause the System Crash?").phrases
    ('memory leak', 'system crash')
    """
    runs: list[list[str]] = [[]]
    keywords: dict[str, None] = {}
    for token in (match[0].lower() for match in _TOKEN.finditer(text)):
        is_word = bool(_WORD.match(token)) and token not in STOP_WORDS
        if is_word:
            keywords[token] = None
        if is_word and token not in _VERBS:
            runs[-1].append(token)
        else:
            runs.append([])
    phrases = dict.fromkeys(" ".join(run[:PHRASE_WORDS_MAX]) for run in runs if len(run) > 1)
    return QueryTerms(
        phrases=tuple(phrases), keywords=tuple(keywords) or tuple(dict.fromkeys(content_words(text)))
    )


SEEDS_MAX = 10
PASSAGES = 3
NEAR = 20
"""Passages whose documents, sections, entities and tools are asked for their names."""
HALF = 0.5

_BY_WORDS = (SeedList.TEXT_BM25, SeedList.HEADING_BM25, SeedList.ANCHOR_BM25, SeedList.CODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Ids of nodes, at most ten together: `named` by the question, and `passages` that share its words.

    `chunks` are the passages that the search found, best first, whether they are seeds or not.
    """

    named: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All seeds."""
        return tuple(dict.fromkeys((*self.named, *self.passages)))


def find_seeds(
    chunks: ChunkReader, graph: GraphReader, encoder: Encoder, query: str, terms: QueryTerms
) -> Seeds:
    """Look for the whole question, then for its single keywords; nothing found is no seeds, and no error.

    Of the whole question: nodes whose name, or own id, stands in it, and the best three passages that have at
    least half of its keywords. Of a keyword: nodes whose name has it, else the best passage that does.
    """
    hits, known = _search(chunks, encoder, query)
    whole = _of_question(graph, hits, known, terms)
    if whole.ids:
        return whole
    return _of_keywords(chunks, graph, encoder, terms)


def _of_question(graph: GraphReader, hits: tuple[Chunk, ...], known: Known, terms: QueryTerms) -> Seeds:
    asked = full_stems(" ".join(terms.keywords))
    nodes = _near(graph, hits, known.documents)
    spoken = [node for node in nodes if any(name and name <= asked for name in _names(node))]
    wholes = {(node.doc, name) for node in spoken if isinstance(node, Page | PdfDoc) for name in _names(node)}
    spoken = [node for node in spoken if not _is_top(node, wholes)]
    own_id = [node.id for node in nodes if node.id in known.documents]
    phrases = [full_stems(phrase) for phrase in terms.phrases]
    ranked = sorted(spoken, key=lambda node: (_is_none(node, phrases), -max(_said(node, asked)), node.id))
    named = tuple(dict.fromkeys((*own_id, *(node.id for node in ranked))))
    fitting = [hit.id for hit in hits if _share(asked, _words(hit)) >= HALF]
    passages = tuple(fitting[:PASSAGES])
    return Seeds(named=named[: SEEDS_MAX - len(passages)], passages=passages, chunks=hits)


def _of_keywords(chunks: ChunkReader, graph: GraphReader, encoder: Encoder, terms: QueryTerms) -> Seeds:
    named: dict[str, None] = {}
    passages: dict[str, None] = {}
    found: dict[str, Chunk] = {}
    for keyword in terms.keywords[:SEEDS_MAX]:
        hits, _ = _search(chunks, encoder, keyword)
        found.update((hit.id, hit) for hit in hits)
        wanted = full_stems(keyword)
        bearing = [node.id for node in _near(graph, hits) if any(wanted <= name for name in _names(node))]
        named.update(dict.fromkeys(sorted(bearing)))
        if not bearing:
            passages.update(dict.fromkeys(hit.id for hit in hits[:1] if wanted <= _words(hit)))
    kept = tuple(named)[:SEEDS_MAX]
    return Seeds(
        named=kept, passages=tuple(passages)[: SEEDS_MAX - len(kept)], chunks=tuple(found.values())[:NEAR]
    )


def _search(chunks: ChunkReader, encoder: Encoder, text: str) -> tuple[tuple[Chunk, ...], Known]:
    """Return the best 20 passages that share a word with *text*, and what the catalogue knows of it."""
    vector = encoder.encode_query(text)
    lists = gather_lists(chunks, EmbeddedQuery(query=Query(text=text), vector=vector))
    known = look_up(chunks, text, vector, lists[SeedList.HEADING_BM25], lists[SeedList.ANCHOR_BM25])
    sharing = {hit.chunk_id for name in _BY_WORDS for hit in lists[name]}
    ranked = [hit.chunk_id for hit in fuse_lists(lists, Route.PLAIN) if hit.chunk_id in sharing][:NEAR]
    rows = {chunk.id: chunk for chunk in chunks.get(ranked)} if ranked else {}
    return tuple(rows[chunk] for chunk in ranked if chunk in rows), known


def _near(graph: GraphReader, hits: Collection[Chunk], documents: Collection[str] = ()) -> tuple[Node, ...]:
    """Return *documents*, and what has a name around chunks: documents, sections, entities, tools; by id."""
    places = sorted({*documents, *(place for hit in hits for place in (hit.id, hit.doc, *hit.parent_ids))})
    if not places:
        return ()
    out = graph.edges_from(places, kinds={EdgeKind.MENTIONS})
    into = graph.edges_to(places, kinds={EdgeKind.NAMES, EdgeKind.EXPLAINED_BY})
    return graph.nodes(sorted({*places, *(edge.dst for edge in out), *(edge.src for edge in into)}))


def _names(node: Node) -> tuple[frozenset[str], ...]:
    return tuple(map(full_stems, node_names(node)))


def _is_top(node: Node, wholes: Collection[tuple[str, frozenset[str]]]) -> bool:
    """Whether a section has the very name of its document or chapter, which is a seed already."""
    return isinstance(node, Section) and any((node.doc, name) in wholes for name in _names(node))


def _is_none(node: Node, phrases: Collection[frozenset[str]]) -> bool:
    """Whether a node is called by no whole phrase of the question; those that are come first."""
    return not any(name in phrases for name in _names(node))


def _said(node: Node, asked: frozenset[str]) -> Iterable[int]:
    return [len(name) for name in _names(node) if name <= asked]


def _words(chunk: Chunk) -> frozenset[str]:
    return full_stems(" ".join((*chunk.heading_path, *chunk.codes, chunk.text)))


def _share(wanted: frozenset[str], there: Collection[str] | Mapping[str, object]) -> float:
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0


NOTHING_FOUND = "No relevant entities found."


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEvidence:
    """What the graph has for a question; `chunks` are the passages behind edges and seeds, in order.

    Those behind the chain come first, then seeds, then what the search found of the rest, then by id.
    `titles` are those of their documents, `names` what the nodes are called.
    """

    query: str
    seeds: Seeds
    subgraph: Subgraph
    chain: Chain | None
    chunks: tuple[Chunk, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_chain(self) -> tuple[Chunk, ...]:
        """The passages behind the chain's edges, in its order."""
        behind = {chunk_behind(edge) for edge in self.chain.edges} if self.chain else set()
        return tuple(chunk for chunk in self.chunks if chunk.id in behind)

    @property
    def is_asked_for(self) -> bool:
        """Whether the chain joins two things that the question names."""
        return self.chain is not None and {self.chain.nodes[0], self.chain.nodes[-1]} <= set(self.seeds.named)

    @property
    def chain_line(self) -> str:
        """The chain in one line, or why there is none."""
        if not self.subgraph.nodes:
            return NOTHING_FOUND
        return self.chain.render(self.names) if self.chain else NO_PATH

    def to_record(self) -> Record:
        """Return query, subgraph, supporting documents and chain line, and as `chain` its edges in order."""
        return {
            "query": self.query,
            "subgraph": to_subgraph_record(self.subgraph, {chunk.id: chunk for chunk in self.chunks}),
            "supporting_documents": documents_record(
                [(chunk.doc, chunk.id, chunk.text) for chunk in self.chunks], self.titles
            ),
            "evidence_chain": self.chain_line,
            "chain": [to_edge_record(edge) for edge in self.chain.edges] if self.chain else [],
        }


def gather_evidence(chunks: ChunkReader, graph: GraphReader, encoder: Encoder, query: str) -> GraphEvidence:
    """Walk from the question's seeds and give what was found with its sources; nothing found is empty.

    Raises: StoreUnavailable: a store does not answer.
    """
    seeds = find_seeds(chunks, graph, encoder, query, parse_query(query))
    subgraph = read_subgraph(graph, seeds.ids) if seeds.ids else EMPTY
    titles = _titles(graph, subgraph)
    chain = _chain(seeds, subgraph, titles)
    passages = _passages(chunks, seeds, subgraph, chain)
    texts = {chunk.id: chunk for chunk in passages}
    return GraphEvidence(
        query=query,
        seeds=seeds,
        subgraph=subgraph,
        chain=chain,
        chunks=passages,
        titles=titles,
        names={node.id: node_label(node, texts.get(node.id)) for node in subgraph.nodes},
    )


def _titles(graph: GraphReader, subgraph: Subgraph) -> Mapping[str, str]:
    docs = {*(node.doc for node in subgraph.nodes), *(edge.doc for edge in subgraph.edges)}
    found = graph.nodes(sorted(docs)) if docs else ()
    return {node.id: node.title for node in found if is_document(node)}


def _chain(seeds: Seeds, subgraph: Subgraph, titles: Mapping[str, str]) -> Chain | None:
    """Return the best path between two things that the question names, else between any two of the seeds.

    A document, its parts and the entity of its title are one thing: that a page has a section proves nothing.
    """
    things = {node.id: fold(titles.get(node.doc, node_label(node))) for node in subgraph.nodes}
    named = [seed for seed in subgraph.seeds if seed in seeds.named]
    joined = best_chain(named, subgraph.edges, things=things)
    return joined or best_chain(subgraph.seeds, subgraph.edges, things=things)


def _passages(
    chunks: ChunkReader, seeds: Seeds, subgraph: Subgraph, chain: Chain | None
) -> tuple[Chunk, ...]:
    behind = {chunk for edge in subgraph.edges if (chunk := chunk_behind(edge))}
    wanted = behind | {node for node in subgraph.hops if node.startswith("chunk:")}
    found = {chunk.id: chunk for chunk in chunks.get(sorted(wanted))} if wanted else {}
    first = [chunk for edge in (chain.edges if chain else ()) if (chunk := chunk_behind(edge))]
    order = (*first, *seeds.passages, *(chunk.id for chunk in seeds.chunks), *sorted(found))
    return tuple(found[chunk] for chunk in dict.fromkeys(order) if chunk in found)


def documents_record(passages: Iterable[tuple[str, str, str]], titles: Mapping[str, str]) -> list[Record]:
    """Return (document, chunk id, text) grouped by document, in the order in which they come."""
    grouped: dict[str, list[Record]] = {}
    for doc, chunk, text in passages:
        grouped.setdefault(doc, []).append({"chunk_id": chunk, "text": text})
    return [
        {"doc_id": doc, "doc_title": titles.get(doc, doc), "supporting_chunks": supporting}
        for doc, supporting in grouped.items()
    ]

"""The graph's answer to a question, with what proves it: subgraph, documents, and a chain of evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from indexes.ports import ChunkReader, Encoder, GraphReader
from retrieval.question.words import fold
from retrieval.wiki.chain import NO_PATH, Chain, best_chain
from retrieval.wiki.seeds import Seeds, find_seeds
from retrieval.wiki.subgraph import (
    EMPTY,
    MIN_CONFIDENCE,
    Subgraph,
    chunk_of,
    expand_seeds,
    name_of,
    to_edge_record,
    to_subgraph_record,
)
from retrieval.wiki.terms import parse_query
from schemas.nodes import Chunk, is_document
from schemas.records import Record

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
        behind = {chunk_of(edge) for edge in self.chain.edges} if self.chain else set()
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


def gather_evidence(
    chunks: ChunkReader,
    graph: GraphReader,
    encoder: Encoder,
    query: str,
    *,
    min_confidence: float = MIN_CONFIDENCE,
) -> GraphEvidence:
    """Walk from the question's seeds and give what was found with its sources; nothing found is empty.

    Raises: StoreUnavailable: a store does not answer.
    """
    seeds = find_seeds(chunks, graph, encoder, query, parse_query(query))
    subgraph = expand_seeds(graph, seeds.ids, min_confidence=min_confidence) if seeds.ids else EMPTY
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
        names={node.id: name_of(node, texts.get(node.id)) for node in subgraph.nodes},
    )


def _titles(graph: GraphReader, subgraph: Subgraph) -> Mapping[str, str]:
    docs = {*(node.doc for node in subgraph.nodes), *(edge.doc for edge in subgraph.edges)}
    found = graph.nodes(sorted(docs)) if docs else ()
    return {node.id: node.title for node in found if is_document(node)}


def _chain(seeds: Seeds, subgraph: Subgraph, titles: Mapping[str, str]) -> Chain | None:
    """Return the best path between two things that the question names, else between any two of the seeds.

    A document, its parts and the entity of its title are one thing: that a page has a section proves nothing.
    """
    things = {node.id: fold(titles.get(node.doc, name_of(node))) for node in subgraph.nodes}
    named = [seed for seed in subgraph.seeds if seed in seeds.named]
    joined = best_chain(named, subgraph.edges, things=things)
    return joined or best_chain(subgraph.seeds, subgraph.edges, things=things)


def _passages(
    chunks: ChunkReader, seeds: Seeds, subgraph: Subgraph, chain: Chain | None
) -> tuple[Chunk, ...]:
    behind = {chunk for edge in subgraph.edges if (chunk := chunk_of(edge))}
    wanted = behind | {node for node in subgraph.hops if node.startswith("chunk:")}
    found = {chunk.id: chunk for chunk in chunks.get(sorted(wanted))} if wanted else {}
    first = [chunk for edge in (chain.edges if chain else ()) if (chunk := chunk_of(edge))]
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

"""Where in the graph a question begins: what it names, and the passages that share its words."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from indexes.ports import ChunkReader, Encoder, GraphReader
from retrieval.question.catalogue import look_up
from retrieval.question.route import Known, Route
from retrieval.search.seeds import EmbeddedQuery, SeedList, fuse_lists, gather_lists
from retrieval.wiki.terms import QueryTerms
from retrieval.wiki.words import stems
from schemas.edges import EdgeKind
from schemas.evidence import Query
from schemas.nodes import Chunk, Entity, Node, Page, PdfDoc, Section, Tool

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
    asked = stems(" ".join(terms.keywords))
    nodes = _near(graph, hits, known.documents)
    spoken = [node for node in nodes if any(name and name <= asked for name in _names(node))]
    wholes = {(node.doc, name) for node in spoken if isinstance(node, Page | PdfDoc) for name in _names(node)}
    spoken = [node for node in spoken if not _is_top(node, wholes)]
    own_id = [node.id for node in nodes if node.id in known.documents]
    phrases = [stems(phrase) for phrase in terms.phrases]
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
        wanted = stems(keyword)
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
    return tuple(stems(name) for name in _written(node) if name.strip())


def _written(node: Node) -> tuple[str, ...]:
    match node:
        case Page() | PdfDoc():
            return (node.title, node.doc_id or "")
        case Section():
            return (node.heading,)
        case Tool() | Entity():
            return (node.name, *node.aliases)
        case _:
            return ()


def _is_top(node: Node, wholes: Collection[tuple[str, frozenset[str]]]) -> bool:
    """Whether a section has the very name of its document or chapter, which is a seed already."""
    return isinstance(node, Section) and any((node.doc, name) in wholes for name in _names(node))


def _is_none(node: Node, phrases: Collection[frozenset[str]]) -> bool:
    """Whether a node is called by no whole phrase of the question; those that are come first."""
    return not any(name in phrases for name in _names(node))


def _said(node: Node, asked: frozenset[str]) -> Iterable[int]:
    return [len(name) for name in _names(node) if name <= asked]


def _words(chunk: Chunk) -> frozenset[str]:
    return stems(" ".join((*chunk.heading_path, *chunk.codes, chunk.text)))


def _share(wanted: frozenset[str], there: Collection[str] | Mapping[str, object]) -> float:
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0

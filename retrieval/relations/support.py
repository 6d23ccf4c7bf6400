"""The passage behind each edge of a path: where it was read, or what its document says of the other end."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from indexes.filters import passes
from indexes.ports import ChunkReader
from retrieval.graph.second_query import split_sentences
from retrieval.question.words import fold
from retrieval.relations.paths import Hop
from schemas.edges import Edge
from schemas.evidence import Condition, Filter, SearchField
from schemas.nodes import Chunk

QUOTE_MAX = 300
_LOOK_UP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The chunk behind an edge, and its sentence that names the other end, empty where none does."""

    chunk: Chunk
    quote: str = ""


def find_support(
    chunks: ChunkReader,
    hops: Collection[Hop],
    names: Mapping[str, str],
    filters: tuple[Condition, ...],
) -> Mapping[str, Support]:
    """Return by edge what stands behind it, for edges that the filters leave something of.

    Front matter is in no passage: its edge stands at the passage of its document that names the other end,
    else at the first. Raises: StoreUnavailable: the store is gone.
    """
    read_in = {chunk for hop in hops if (chunk := read_from(hop.edge))}
    docs = sorted({hop.edge.doc for hop in hops if read_from(hop.edge) is None})
    by_id = {chunk.id: chunk for chunk in chunks.get(sorted(read_in))} if read_in else {}
    of_doc = _of_documents(chunks, docs, [names[hop.dst] for hop in hops])
    found = {hop.edge.id: _behind(hop, by_id, of_doc, names, filters) for hop in hops}
    return {edge: support for edge, support in found.items() if support}


def read_from(edge: Edge) -> str | None:
    """Return the chunk that an edge was read from; None for front matter, and for links that name none."""
    return edge.chunk or next((end for end in (edge.src, edge.dst) if end.startswith("chunk:")), None)


def _of_documents(
    chunks: ChunkReader, docs: Collection[str], names: Collection[str]
) -> dict[str, list[Chunk]]:
    """Return chunks of documents in reading order; of a PDF, which may have thousands, those with names."""
    pages = [doc for doc in docs if not doc.startswith("pdf")]
    found = list(chunks.of_documents(pages)) if pages else []
    if pdfs := [doc for doc in docs if doc.startswith("pdf")]:
        only = (Filter(field="doc", values=tuple(pdfs)),)
        text = " ".join(sorted(set(names)))
        hits = chunks.search_text(SearchField.TEXT, text, top_k=_LOOK_UP, filters=only)
        found += chunks.get([hit.chunk_id for hit in hits])
    by_doc: dict[str, list[Chunk]] = {}
    for chunk in sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        by_doc.setdefault(chunk.doc, []).append(chunk)
    return by_doc


def _behind(
    hop: Hop,
    by_id: Mapping[str, Chunk],
    of_doc: Mapping[str, list[Chunk]],
    names: Mapping[str, str],
    filters: tuple[Condition, ...],
) -> Support | None:
    wanted = [words for words in (hop.edge.text, hop.edge.anchor_text, names[hop.dst]) if words]
    read_in = read_from(hop.edge)
    listed = of_doc.get(hop.edge.doc, []) if read_in is None else [by_id[read_in]] if read_in in by_id else []
    passing = [chunk for chunk in listed if passes(chunk, filters)]
    for words in wanted:
        for chunk in passing:
            if quote := _quote(chunk.text, words):
                return Support(chunk=chunk, quote=quote)
    return Support(chunk=passing[0]) if passing else None


def _quote(text: str, words: str) -> str:
    """Return the first sentence with *words* as words of their own; its first words where it is long."""
    folded = f" {fold(words)} "
    sentences: Iterable[str] = (one for one in split_sentences(text) if folded in f" {fold(one)} ")
    sentence = " ".join(next(iter(sentences), "").split())
    return sentence if len(sentence) <= QUOTE_MAX else f"{sentence[:QUOTE_MAX].rsplit(' ', 1)[0]} ..."

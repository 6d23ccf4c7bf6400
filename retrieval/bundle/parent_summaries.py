"""Parent documents of the evidence: where each stands and what it is about, in one sentence."""

from collections.abc import Collection, Mapping

from indexes.ports import ChunkReader
from retrieval.graph.second_query import split_sentences
from retrieval.search.seeds import EmbeddedQuery
from schemas.evidence import Evidence, Filter, SearchField, Summary
from schemas.nodes import Chunk, DocumentKind, page_of

SUMMARIES_MAX = 6
GIST_WORDS = 30
_FIRST_PAGES = ("1", "2")
_FIRST_PAGE_CHUNKS = 200


def summarise_parents(
    chunks: ChunkReader, asked: EmbeddedQuery, evidence: Collection[Evidence]
) -> tuple[Summary, ...]:
    """Return the documents of the best evidence, in its order, each with its trail and a gist; at most 6.

    A PDF is followed by the page that its best passage stands on, a book by the chapter.
    """
    best = {one.doc: one for one in reversed(tuple(evidence))}
    docs = tuple(dict.fromkeys(one.doc for one in evidence))[:SUMMARIES_MAX]
    pages = [doc for doc in docs if best[doc].kind != DocumentKind.PDF]
    pdfs = {doc: place.page for doc in docs if (place := best[doc].pdf)}
    found = (*chunks.of_documents(pages), *_pages_of_pdfs(chunks, asked, pdfs))
    lead = _first_of_each(found)
    summaries: list[Summary] = []
    for doc in (one for one in docs if one in lead):
        summaries.append(summarise(lead[doc]))
        on_page = [chunk for chunk in found if chunk.doc == doc and chunk.page_no == pdfs.get(doc, -1)]
        if on_page:
            summaries.append(
                _summarise_page(min(on_page, key=lambda chunk: (chunk.ordinal, chunk.id)), lead[doc])
            )
        chapter = next((page_of(chunk) for chunk in found if chunk.id == best[doc].chunk_id), doc)
        if chapter != doc and doc not in pdfs:
            in_chapter = (chunk for chunk in found if page_of(chunk) == chapter)
            first = min(in_chapter, key=lambda chunk: (chunk.ordinal, chunk.id))
            summaries.append(_summarise_chapter(chapter, first, lead[doc]))
    return tuple(summaries)


def _pages_of_pdfs(chunks: ChunkReader, asked: EmbeddedQuery, pdfs: Mapping[str, int]) -> tuple[Chunk, ...]:
    """A PDF may have thousands of chunks; its lead stands on its first pages."""
    if not pdfs:
        return ()
    numbers = {*_FIRST_PAGES, *map(str, pdfs.values())}
    only = (
        Filter(field="doc", values=tuple(sorted(pdfs))),
        Filter(field="page_no", values=tuple(sorted(numbers))),
    )
    hits = chunks.search_vector(SearchField.TEXT, asked.vector, top_k=_FIRST_PAGE_CHUNKS, filters=only)
    return chunks.get([hit.chunk_id for hit in hits])


def _summarise_page(first: Chunk, lead: Chunk) -> Summary:
    """Return the page of a PDF that *first* opens, below its document."""
    node = next((one for one in first.parent_ids if one.startswith("pdfpage:")), first.doc)
    trail = (*summarise(lead).breadcrumbs, f"p. {first.page_no}")
    return Summary(node=node, breadcrumbs=trail, gist=gist_of(first.text))


def _summarise_chapter(node: str, first: Chunk, lead: Chunk) -> Summary:
    """Return the chapter that *first* opens, below its book."""
    trail = (*summarise(lead).breadcrumbs, *first.heading_path[:1])
    return Summary(node=node, breadcrumbs=trail, gist=gist_of(first.text))


def _first_of_each(found: Collection[Chunk]) -> dict[str, Chunk]:
    first: dict[str, Chunk] = {}
    for chunk in sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        first.setdefault(chunk.doc, chunk)
    return first


def summarise(lead: Chunk) -> Summary:
    """Return the document that *lead* opens: its trail, or what it is called, and the gist of *lead*."""
    name = lead.heading_path[:1] or tuple(filter(None, (lead.file_id or lead.file_path or lead.url,)))
    return Summary(node=lead.doc, breadcrumbs=lead.breadcrumbs or name, gist=gist_of(lead.text))


def gist_of(text: str) -> str:
    """Return the first sentence in one line, at most 30 words; an ellipsis says that it was longer."""
    words = next(iter(split_sentences(text)), "").split()
    return " ".join(words[:GIST_WORDS]) + ("…" if len(words) > GIST_WORDS else "")

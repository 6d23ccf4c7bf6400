"""Parent documents of the evidence: where each stands and what it is about, in one sentence."""

import re
from collections.abc import Collection

from indexes.ports import ChunkReader
from retrieval.seeds import Asked
from schemas.evidence import Evidence, Filter, SearchField, Summary
from schemas.nodes import Chunk, DocumentKind

SUMMARIES_MAX = 6
GIST_WORDS = 30
_FIRST_PAGES = ("1", "2")
_FIRST_PAGE_CHUNKS = 100
_SENTENCE = re.compile(r".+?[.!?…][\"'”’)\]]*(?=\s|$)", re.DOTALL)


def summarise_parents(
    chunks: ChunkReader, asked: Asked, evidence: Collection[Evidence]
) -> tuple[Summary, ...]:
    """Give the documents of the best evidence, in its order, each with its trail and a gist; at most 6."""
    kinds = {one.doc: one.kind for one in reversed(tuple(evidence))}
    docs = tuple(dict.fromkeys(one.doc for one in evidence))[:SUMMARIES_MAX]
    pages = [doc for doc in docs if kinds[doc] is not DocumentKind.PDF]
    pdfs = [doc for doc in docs if kinds[doc] is DocumentKind.PDF]
    lead = _first_of_each((*chunks.of_documents(pages), *_first_pages(chunks, asked, pdfs)))
    return tuple(summarise(lead[doc]) for doc in docs if doc in lead)


def _first_pages(chunks: ChunkReader, asked: Asked, pdfs: Collection[str]) -> tuple[Chunk, ...]:
    """A PDF may have thousands of chunks; its lead stands on its first pages."""
    if not pdfs:
        return ()
    only = (Filter(field="doc", values=tuple(sorted(pdfs))), Filter(field="page_no", values=_FIRST_PAGES))
    hits = chunks.search_vector(SearchField.TEXT, asked.vector, top_k=_FIRST_PAGE_CHUNKS, filters=only)
    return chunks.get([hit.chunk_id for hit in hits])


def _first_of_each(found: Collection[Chunk]) -> dict[str, Chunk]:
    first: dict[str, Chunk] = {}
    for chunk in sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        first.setdefault(chunk.doc, chunk)
    return first


def summarise(lead: Chunk) -> Summary:
    """Give the document that *lead* opens: its trail, or what it is called, and the gist of *lead*."""
    name = lead.heading_path[:1] or tuple(filter(None, (lead.file_id or lead.file_path or lead.url,)))
    return Summary(node=lead.doc, breadcrumbs=lead.breadcrumbs or name, gist=gist_of(lead.text))


def gist_of(text: str) -> str:
    """Give the first sentence in one line, at most 30 words; an ellipsis says that it was longer."""
    line = " ".join(text.split())
    match = _SENTENCE.match(line)
    words = (match[0] if match else line).split()
    return " ".join(words[:GIST_WORDS]) + ("…" if len(words) > GIST_WORDS else "")

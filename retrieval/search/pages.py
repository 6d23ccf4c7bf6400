"""What else stands on the page of a chunk of a PDF."""

from collections.abc import Collection, Mapping

from indexes.ports import ChunkReader
from retrieval.search.seeds import EmbeddedQuery
from schemas.evidence import Filter, SearchField
from schemas.nodes import Chunk

ON_PAGES_MAX = 2000


def read_pages(chunks: ChunkReader, asked: EmbeddedQuery, found: Collection[Chunk]) -> Mapping[str, str]:
    """Return by chunk the rest of its page: what follows it, then what comes before; one search for all.

    Chunks that stand in no PDF are left out, and what the filters of the query leave out is no rest.
    """
    wanted = {(one.doc, one.page_no): one for one in found if one.page_no}
    if not wanted:
        return {}
    only = (
        Filter(field="doc", values=tuple(sorted({doc for doc, _ in wanted}))),
        Filter(field="page_no", values=tuple(sorted({str(page) for _, page in wanted}))),
    )
    hits = asked.dense(chunks, SearchField.TEXT, top_k=ON_PAGES_MAX, only=only)
    on_pages: dict[tuple[str, int | None], list[Chunk]] = {}
    for chunk in chunks.get([hit.chunk_id for hit in hits]):
        on_pages.setdefault((chunk.doc, chunk.page_no), []).append(chunk)
    return {one.id: _rest(one, on_pages.get(place, [])) for place, one in sorted(wanted.items())}


def _rest(chunk: Chunk, page: Collection[Chunk]) -> str:
    ordered = sorted(page, key=lambda one: (one.ordinal, one.id))
    later = [one.text for one in ordered if one.ordinal > chunk.ordinal]
    earlier = [one.text for one in ordered if one.ordinal < chunk.ordinal]
    return "\n".join((*later, *earlier))

"""Which names in a question the index knows: document ids, codes, titles and headings."""

from collections.abc import Collection, Mapping

from indexes.ports import ChunkReader, Vector
from retrieval.question.ids import bind_ids
from retrieval.question.route import Known
from retrieval.question.words import code_prefix, code_tokens, fold
from schemas.evidence import Hit, SearchField
from schemas.nodes import Chunk

_HOLDERS = 200
_NAME_WORDS_MAX = 12


def look_up(
    chunks: ChunkReader, text: str, vector: Vector, headings: Collection[Hit], anchors: Collection[Hit]
) -> Known:
    """Ask the chunk store which ids, codes and names of *text* it contains, whatever the filters.

    An id-shaped token (`GOV-0017`, `UTF-8`) is known only as some document's own id: standards are
    written the same way, and half of a site may mention them.
    """
    bound = bind_ids(chunks, text, vector)
    documents = bound.all
    codes = [token for token in code_tokens(text) if documents or code_prefix(token) is None]
    held = {code: chunks.search_text(SearchField.CODES, code, top_k=_HOLDERS) for code in codes}
    near = [hit.chunk_id for hits in (headings, anchors) for hit in tuple(hits)[:10]]
    names = {name for chunk in chunks.get(sorted(set(near))) for name in _names(chunk)}
    whole = f" {fold(text)} "
    holders = {code: tuple(hit.chunk_id for hit in hits) for code, hits in held.items() if hits}
    return Known(
        holders=holders,
        documents=documents,
        unbound=bound.problems,
        is_name=len(text.split()) <= _NAME_WORDS_MAX and fold(text) in names,
        names=tuple(sorted(name for name in names if name and f" {name} " in whole)),
    )


def _names(chunk: Chunk) -> set[str]:
    return {fold(name) for name in (*chunk.heading_path[-1:], *chunk.breadcrumbs[-1:], *chunk.anchor_texts)}


def codes_to_search(text: str) -> str:
    """What to look for in the `codes` column: ids first, then the other codes; empty if there are none."""
    prefixes: Mapping[str, None] = dict.fromkeys(
        part for token in code_tokens(text) for part in (token, code_prefix(token)) if part
    )
    return " ".join(prefixes)

"""`verify --deep`: is each chunk found by its own words and its own vector, and does the ledger say of each
parsed document what it says?
"""

import re
from collections.abc import Callable, Iterator, Sequence

from flows.run.batches import cut
from flows.run.fragments import load_fragment
from flows.run.index import Index
from indexes.ports import ChunkReader, Vector
from indexes.publish.files import Damage
from indexes.publish.generation import load_generation
from indexes.stores.ledger.fragment_rows import damaged_fragment_rows
from ingest.link.naming import names_of
from runtime.progress import StageProgress
from schemas.errors import DamageFound
from schemas.evidence import Hit, SearchField
from schemas.nodes import Chunk

_PAGE = 200
_FIRST, _WIDER = 10, 20
"""Hits that are asked for first, and by how many times more where a chunk is not among them: others may say
the same, as a footer does, and all of them come before it by id."""

_OWN_SCORE = 0.999
_WORD = re.compile(r"(?<!\S)[^\W\d_]{4,12}(?!\S)")
"""As in indexes/verify/compare.py, without the shortest, which search leaves out in some languages."""

Search = Callable[[int], Sequence[Hit]]


def search_damage(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    """Yield the chunks that search does not find, and documents of which the ledger says something else."""
    reader = index.chunks.at(generation)
    total = sum(load_generation(index.layout, generation).totals().get("chunks", {}).values())
    for chunk, vector in progress.over("search", _with_vectors(reader), total=total):
        yield from _not_found(reader, chunk, vector, total)
    yield from _ledger_rows(index, generation, progress)


def _with_vectors(reader: ChunkReader) -> Iterator[tuple[Chunk, Vector]]:
    for part in cut(list(reader.scan()), _PAGE):
        vectors = reader.vectors([chunk.id for chunk in part])
        yield from ((chunk, vectors[chunk.id].text) for chunk in part)


def _not_found(reader: ChunkReader, chunk: Chunk, vector: Vector, total: int) -> Iterator[Damage]:
    def by_vector(top_k: int) -> Sequence[Hit]:
        return reader.search_vector(SearchField.TEXT, vector, top_k=top_k)

    hit = _find(chunk.id, by_vector, total)
    if hit is None or hit.score < _OWN_SCORE:
        yield chunk.id, "chunk is not found by its own vector"
    words = own_words(chunk.text)
    if not words:
        return

    def by_words(top_k: int) -> Sequence[Hit]:
        return reader.search_text(SearchField.TEXT, " ".join(words), top_k=top_k)

    if _find(chunk.id, by_words, total) is None:
        yield chunk.id, f"chunk is not found by its own words: {' '.join(words)}"


def own_words(text: str) -> tuple[str, ...]:
    """Choose three words of a text that search can hold, the longest ones; fewer where it has no more."""
    words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
    return tuple(words[:3])


def _find(id_: str, search: Search, total: int) -> Hit | None:
    """Look for a chunk among ever more hits, up to all there are."""
    top_k = _FIRST
    while True:
        hits = search(top_k)
        found = next((hit for hit in hits if hit.chunk_id == id_), None)
        if found is not None or len(hits) < top_k or top_k >= total:
            return found
        top_k = min(total, top_k * _WIDER)


def _ledger_rows(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    live = {one.fragment_sha: one.uri for one in index.ledger.generations.live(generation).values()}
    for part in cut(sorted(live.keys() - {""}), _PAGE):
        fragments = {}
        for sha in progress.over("ledger", part, total=len(part)):
            try:
                fragment = load_fragment(index, sha)
            except DamageFound:
                continue  # told by whoever compares the parsed documents
            fragments[sha] = (fragment, names_of(fragment))
        for sha in sorted(damaged_fragment_rows(index.ledger, fragments)):
            yield live[sha], "what the ledger knows of its links or names is not what it says"

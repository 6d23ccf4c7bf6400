"""What everything is held against: plain searches over the texts of the same chunks."""

from collections.abc import Mapping, Sequence

from bench.questions.asking import TOP_K, OpenedSet, Search
from schemas.evidence import Hit, SearchField

DEPTH = 200
RRF_K = 60


def plain_searches(opened: OpenedSet, *, top_k: int = TOP_K) -> Mapping[str, Search]:
    """Return BM25 alone, dense alone, both by reciprocal ranks, and both by a sum of shares, by name."""
    chunks, encoder = opened.readers.chunks, opened.readers.encoder
    kept: dict[str, tuple[Sequence[Hit], Sequence[Hit]]] = {}

    def lists(text: str) -> tuple[Sequence[Hit], Sequence[Hit]]:
        if text not in kept:
            vector = encoder.encode_query(text)
            kept[text] = (
                chunks.search_text(SearchField.TEXT, text, top_k=DEPTH),
                chunks.search_vector(SearchField.TEXT, vector, top_k=DEPTH),
            )
        return kept[text]

    return {
        "BM25": lambda text: [hit.chunk_id for hit in lists(text)[0][:top_k]],
        "dense": lambda text: [hit.chunk_id for hit in lists(text)[1][:top_k]],
        "RRF": lambda text: fuse([by_rank(one) for one in lists(text)])[:top_k],
        "linear": lambda text: fuse([by_share(one) for one in lists(text)])[:top_k],
    }


def by_rank(hits: Sequence[Hit]) -> dict[str, float]:
    """Score a hit by its place, `1 / (60 + rank)` (Cormack, Clarke, Buettcher, SIGIR 2009)."""
    return {hit.chunk_id: 1 / (RRF_K + rank) for rank, hit in enumerate(hits, start=1)}


def by_share(hits: Sequence[Hit]) -> dict[str, float]:
    """Score a hit by its share of the best score of its list."""
    top = max((hit.score for hit in hits), default=0.0)
    return {hit.chunk_id: max(0.0, hit.score) / top for hit in hits} if top > 0 else {}


def fuse(lists: Sequence[Mapping[str, float]]) -> list[str]:
    """Add up what chunks have in all lists; the best first, by (-score, id)."""
    total: dict[str, float] = {}
    for one in lists:
        for chunk, score in one.items():
            total[chunk] = total.get(chunk, 0.0) + score
    return sorted(total, key=lambda chunk: (-round(total[chunk], 6), chunk))

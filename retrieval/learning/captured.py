"""A question's candidates with the parts of their scores, kept, so that other weights cost no retrieval."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from retrieval.learning.questions import KnownQuestion
from retrieval.ranking.score import Scored, blend
from retrieval.ranking.selection import select_evidence
from retrieval.retriever import RetrievalResult
from schemas.evidence import Query, Scores
from schemas.nodes import Chunk

TOP_K = 12
"""As many chunks as a bundle contains, so that ten documents fit among them."""
LOOKED_AT = 60
"""Best candidates that are offered to the selection first; all are where these do not fill it, or where it
alternates with what is nearest, which may stand anywhere."""

PARTS = tuple(one.name for one in fields(Scores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What a question found, and the key of the document each candidate counts for."""

    question: KnownQuestion
    candidates: tuple[Scored, ...]
    copies: Mapping[str, Collection[str]]
    keys: Mapping[str, str]
    nearest: tuple[str, ...] = ()

    def rank_documents(self, weights: Scores) -> tuple[str, ...]:
        """Return the documents of the evidence under other weights, in rank order; gold by its own name."""
        ranked = sorted(self.candidates, key=lambda one: (-blend(one.scores, weights), one.chunk.id))
        few = () if self.nearest else self._select(ranked[:LOOKED_AT])
        chosen = few or self._select(ranked) or ()
        return tuple(dict.fromkeys(self.keys[one.chunk.id] for one in chosen))

    def _select(self, ranked: list[Scored]) -> tuple[Scored, ...] | None:
        """Select as a retriever does; None where a longer list might give others."""
        placed = [replace(one, place=place) for place, one in enumerate(ranked)]
        selection = select_evidence(placed, self.copies, top_k=TOP_K, nearest=self.nearest)
        whole = len(ranked) == len(self.candidates)
        sure = len(selection.chosen) == TOP_K and selection.relaxed == 0
        return selection.chosen if whole or sure else None


def capture(question: KnownQuestion, walk: Callable[[Query], RetrievalResult]) -> Captured:
    """Retrieve once for *question* and keep everything its score is blended from."""
    found = walk(Query(text=question.text, top_k=TOP_K))
    keys = {one.chunk.id: _key(one.chunk, question.gold) for one in found.candidates}
    return Captured(
        question=question,
        candidates=found.candidates,
        copies=found.copies,
        keys=keys,
        nearest=found.nearest,
    )


def _key(chunk: Chunk, gold: Collection[str]) -> str:
    """Return the gold that names a chunk's document, else the document; its page where gold are pages."""
    named = [name for name in names_of(chunk) if name in gold]
    if named:
        return named[0]
    by_page = chunk.page_no is not None and any("#page=" in one for one in gold)
    return f"{chunk.doc}#page={chunk.page_no}" if by_page else chunk.doc


def names_of(chunk: Chunk) -> Iterator[str]:
    """Yield the names by which gold may mean the document of a chunk, or its page of a PDF."""
    path = chunk.file_path or ""
    for name in (chunk.doc, chunk.doc_id, chunk.url, path, path.rpartition("/")[2], chunk.file_id):
        if name:
            yield name
            yield f"{name}#page={chunk.page_no}"

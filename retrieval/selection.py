"""Which candidates become evidence, and in which order: caps first, then the total order of the scores."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from retrieval.score import Scored
from schemas.ids import normalise_text
from schemas.nodes import Chunk

PER_SECTION = 2
PER_DOCUMENT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Evidence in rank order; the last `relaxed` of it only fitted once a cap was lifted."""

    chosen: tuple[Scored, ...]
    relaxed: int


def select_evidence(candidates: Collection[Scored], *, top_k: int) -> Selection:
    """Cut one fixed order after *top_k*, so that a larger `top_k` only appends.

    The order: what fits at most 2 a section and 3 a page or file; then what breaks only the page cap;
    then the rest; each by (-score, id). A passage equal word for word to a better one is left out.
    """
    rest = _without_repeats(sorted(candidates, key=lambda one: one.rank_key))
    seen: Counter[str] = Counter()
    fits, rest = _split(rest, seen, per_document=PER_DOCUMENT, per_section=PER_SECTION)
    many_a_page, rest = _split(rest, seen, per_document=len(candidates), per_section=PER_SECTION)
    chosen = (fits + many_a_page + rest)[:top_k]
    return Selection(chosen=tuple(chosen), relaxed=max(0, len(chosen) - len(fits)))


def _split(
    ranked: list[Scored], seen: Counter[str], *, per_document: int, per_section: int
) -> tuple[list[Scored], list[Scored]]:
    """Take in order what both caps allow, counting into *seen*; give the taken and the others."""
    taken: list[Scored] = []
    others: list[Scored] = []
    for one in ranked:
        document, section = one.chunk.doc, _section_key(one.chunk)
        if seen[document] < per_document and (section is None or seen[section] < per_section):
            seen.update([document] if section is None else [document, section])
            taken.append(one)
        else:
            others.append(one)
    return taken, others


def _section_key(chunk: Chunk) -> str | None:
    """A section's id, else document and headings; None for a PDF page without headings."""
    if chunk.section_id is not None:
        return chunk.section_id
    return "\x1f".join((chunk.doc, *chunk.heading_path)) if chunk.heading_path else None


def _without_repeats(ranked: Collection[Scored]) -> list[Scored]:
    first: dict[str, Scored] = {}
    for one in ranked:
        first.setdefault(normalise_text(one.chunk.text), one)
    return list(first.values())

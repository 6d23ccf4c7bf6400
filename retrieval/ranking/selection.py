"""Which candidates become evidence, and in which order: caps first, then the total order of the scores."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.ranking.score import Scored
from schemas.ids import normalise_text
from schemas.nodes import Chunk, page_of

PER_SECTION = 2
PER_PAGE = 3
TOOL_PLACE, DEFINITION_PLACE = 1, 5
"""Places, from 0, at which what defines a tool in scope, and what defines a name, stand at the latest: within
the smallest bundle, and without pushing the best chunk or the best five aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Evidence in rank order; `relaxed` of it only fitted once a cap was lifted."""

    chosen: tuple[Scored, ...]
    relaxed: int


def select_evidence(
    candidates: Collection[Scored],
    copies: Mapping[str, Collection[str]] | None = None,
    *,
    top_k: int,
    definitions: Sequence[str] = (),
    of_tools: Sequence[str] = (),
) -> Selection:
    """Cut one fixed order after *top_k*, so that a larger `top_k` only appends.

    The order: what fits at most 2 a section and 3 a page, which is one of a PDF, a chapter of a book, else a
    file or an address; then what breaks only the page cap; then the rest; each by (place, -score, id); and
    then pages that are no content. A chunk equal word for word to a better one, or one of its *copies* by id,
    is left out. The *definitions* that fit stand at the 6th place at the latest, those *of_tools*, whatever
    the caps, at the 2nd.
    """
    ranked = _without_repeats(sorted(candidates, key=lambda one: one.rank_key), copies or {})
    rest, last = [one for one in ranked if not one.is_last], [one for one in ranked if one.is_last]
    seen: Counter[str] = Counter()
    fits, rest = _split(rest, seen, per_page=PER_PAGE, per_section=PER_SECTION)
    many_a_page, rest = _split(rest, seen, per_page=len(candidates), per_section=PER_SECTION)
    fitting = {one.chunk.id for one in fits}
    ordered = _raise(_raise(fits, definitions, DEFINITION_PLACE) + many_a_page + rest, of_tools, TOOL_PLACE)
    chosen = tuple((ordered + last)[:top_k])
    relaxed = sum(one.chunk.id not in fitting and not one.is_last for one in chosen)
    return Selection(chosen=chosen, relaxed=relaxed)


def _raise(ranked: list[Scored], chunks: Sequence[str], place: int) -> list[Scored]:
    """Move *chunks* up to the places from *place* on; those that are not there, or better, stay."""
    ordered = list(ranked)
    for latest, chunk in enumerate(chunks, start=place):
        at = next((at for at, one in enumerate(ordered) if one.chunk.id == chunk), -1)
        if at > latest:
            ordered.insert(latest, ordered.pop(at))
    return ordered


def _split(
    ranked: list[Scored], seen: Counter[str], *, per_page: int, per_section: int
) -> tuple[list[Scored], list[Scored]]:
    """Take in order what both caps allow, counting into *seen*; give the taken and the others."""
    taken: list[Scored] = []
    others: list[Scored] = []
    for one in ranked:
        page, section = _page_key(one.chunk), _section_key(one.chunk)
        if seen[page] < per_page and (section is None or seen[section] < per_section):
            seen.update([page] if section is None else [page, section])
            taken.append(one)
        else:
            others.append(one)
    return taken, others


def _page_key(chunk: Chunk) -> str:
    """A document, or one page of it: a PDF has hundreds, and an answer may stand on four of them."""
    return page_of(chunk) if chunk.page_no is None else f"{chunk.doc}\x1f{chunk.page_no}"


def _section_key(chunk: Chunk) -> str | None:
    """A section's id, else page and headings; None for a PDF page without headings."""
    if chunk.section_id is not None:
        return chunk.section_id
    return "\x1f".join((_page_key(chunk), *chunk.heading_path)) if chunk.heading_path else None


def _without_repeats(ranked: Collection[Scored], copies: Mapping[str, Collection[str]]) -> list[Scored]:
    kept: list[Scored] = []
    said: set[str] = set()
    repeated: set[str] = set()
    for one in ranked:
        text = normalise_text(one.chunk.text)
        if text not in said and one.chunk.id not in repeated:
            kept.append(one)
            said.add(text)
            repeated.update(copies.get(one.chunk.id, ()))
    return kept

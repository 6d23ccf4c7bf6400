"""Which candidates become evidence, and in which order: by score, and less what a section says more."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from retrieval.ranking.named import merge_by_id, order_neighbours
from retrieval.ranking.score import Scored
from schemas.ids import normalise_text
from schemas.nodes import Chunk, page_of
from schemas.settings import GRAPH_BOOST

PER_SECTION = 2
PER_PAGE = 3
CROWDED = 0.9
"""Where caps gave way only at the end, they cut what several chunks of a page answer together."""
TOOL_PLACE, DEFINITION_PLACE = 1, 5
"""Places, from 0, at which what defines a tool in scope, and what defines a name, stand at the latest: within
the smallest bundle, and without pushing the best chunk or the best five aside."""
NEAREST_PLACE = 3
"""Place, from 0, from which on every second one is for the chunk nearest by vector: what says it in other
words stands low in every sum of words and sense (measured on six manuals: R@10 82.9 without, 86.8 so)."""


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
    nearest: Sequence[str] = (),
    named: Collection[str] = (),
    only_named: bool = False,
    boost: float = GRAPH_BOOST,
) -> Selection:
    """Cut one fixed order after *top_k*, so that a larger `top_k` only appends.

    The order is greedy, by (-worth, rank). A chunk is worth its score, or what stood at its place where a
    reranker gave it one; each beyond 2 of its section or 3 of its page, which is one of a PDF, a chapter of a
    book, else a file or an address, is worth `CROWDED` of that once more. Pages of no content come last.
    A chunk equal word for word to a better one, or one of its *copies* by id, is left out;
    where the better one is of a PDF, a page that says all of it stands at its place. From the 4th place
    on the order alternates with the *nearest*, best first; none are given where the graph leads to what says
    it in other words. The *definitions* within the caps stand at the 6th place at the latest, those
    *of_tools*, whatever the caps, at the 2nd.

    Into what is cut come the documents that typed edges join to the *named* ones, as `merge_by_id` has it;
    *only_named*: of the order nothing but the named documents themselves.
    """
    ranked = _without_repeats(sorted(candidates, key=lambda one: one.rank_key), copies or {})
    rest, last = [one for one in ranked if not one.is_last], [one for one in ranked if one.is_last]
    ordered, crowded = _spread_out(rest)
    ordered = _alternate(ordered, nearest)
    fitting = [chunk for chunk in definitions if chunk not in crowded]
    ordered = _raise(_raise(ordered, fitting, DEFINITION_PLACE), of_tools, TOOL_PLACE)
    ordered += last
    found = [one for one in ordered if one.chunk.doc in named] if only_named else ordered
    chosen = merge_by_id(found, order_neighbours(ordered, named), boost=boost, top_k=top_k)
    return Selection(chosen=chosen, relaxed=sum(one.chunk.id in crowded for one in chosen))


def _spread_out(ranked: Sequence[Scored]) -> tuple[list[Scored], frozenset[str]]:
    """Return *ranked* in greedy order, and the ids of those beyond a cap when they were taken."""
    worth = sorted((one.score for one in ranked), reverse=True)
    waiting = [(-worth[rank], rank, 0) for rank in range(len(ranked))]
    seen: Counter[str] = Counter()
    ordered: list[Scored] = []
    crowded: set[str] = set()
    while waiting:
        _, rank, counted = heappop(waiting)
        one, beyond = ranked[rank], _beyond(ranked[rank].chunk, seen)
        if beyond > counted:
            # What a chunk is worth only falls, so that it is enough to look again at the one that leads.
            heappush(waiting, (-round(worth[rank] * CROWDED**beyond, 6), rank, beyond))
            continue
        if beyond:
            crowded.add(one.chunk.id)
        seen.update(_places(one.chunk))
        ordered.append(one)
    return ordered, frozenset(crowded)


def _alternate(ordered: list[Scored], nearest: Sequence[str]) -> list[Scored]:
    """Give every second place from the 4th on to the best of *nearest* that has none yet."""
    waiting = {one.chunk.id: one for one in ordered[NEAREST_PLACE:]}
    near = iter([waiting[chunk] for chunk in nearest if chunk in waiting])
    others = iter(ordered[NEAREST_PLACE:])
    mixed: dict[str, Scored] = {}
    while len(mixed) < len(waiting):
        for turn in (near, others):
            one = next((one for one in turn if one.chunk.id not in mixed), None)
            if one is not None:
                mixed[one.chunk.id] = one
    return [*ordered[:NEAREST_PLACE], *mixed.values()]


def _beyond(chunk: Chunk, seen: Counter[str]) -> int:
    """How many chunks too many of its section or page are there, this one counted."""
    section = _section_key(chunk)
    of_section = seen[section] + 1 - PER_SECTION if section else 0
    return max(0, of_section, seen[_page_key(chunk)] + 1 - PER_PAGE)


def _places(chunk: Chunk) -> list[str]:
    section = _section_key(chunk)
    return [_page_key(chunk), *([section] if section else [])]


def _raise(ranked: list[Scored], chunks: Sequence[str], place: int) -> list[Scored]:
    """Move *chunks* up to the places from *place* on; those that are not there, or better, stay."""
    ordered = list(ranked)
    for latest, chunk in enumerate(chunks, start=place):
        at = next((at for at, one in enumerate(ordered) if one.chunk.id == chunk), -1)
        if at > latest:
            ordered.insert(latest, ordered.pop(at))
    return ordered


def _page_key(chunk: Chunk) -> str:
    """A document, or one page of it: a PDF has hundreds, and an answer may stand on four of them."""
    return page_of(chunk) if chunk.page_no is None else f"{chunk.doc}\x1f{chunk.page_no}"


def _section_key(chunk: Chunk) -> str | None:
    """A section's id, else page and headings; None for a PDF page without headings."""
    if chunk.section_id is not None:
        return chunk.section_id
    return "\x1f".join((_page_key(chunk), *chunk.heading_path)) if chunk.heading_path else None


def _without_repeats(ranked: Sequence[Scored], copies: Mapping[str, Collection[str]]) -> list[Scored]:
    kept: list[Scored] = []
    said: set[str] = set()
    repeated: set[str] = set()
    pages = _pages_of(ranked, copies)
    for one in ranked:
        text = normalise_text(one.chunk.text)
        if text in said or one.chunk.id in repeated:
            continue
        page = pages.get(one.chunk.id)
        best = one if page is None or page.chunk.id in repeated else _at_place_of(one, page)
        kept.append(best)
        said.update((text, normalise_text(best.chunk.text)))
        repeated.update(copies.get(best.chunk.id, ()), (one.chunk.id, best.chunk.id))
    return kept


def _at_place_of(one: Scored, page: Scored) -> Scored:
    """Give the page the score of the place that it takes, so that scores fall as places do."""
    return replace(page, lift=page.lift + max(0.0, one.score - page.score))


def _pages_of(ranked: Sequence[Scored], copies: Mapping[str, Collection[str]]) -> Mapping[str, Scored]:
    """For what a PDF says, the best page that says all of it: a page opens at the passage, on any screen."""
    by_id: dict[str, Scored] = {}
    by_text: dict[str, Scored] = {}
    for one in ranked:
        if one.chunk.page_no is None:
            by_text.setdefault(normalise_text(one.chunk.text), one)
            for copy in sorted(copies.get(one.chunk.id, ())):
                by_id.setdefault(copy, one)
    return {
        one.chunk.id: page
        for one in ranked
        if one.chunk.page_no is not None
        and (page := by_id.get(one.chunk.id) or by_text.get(normalise_text(one.chunk.text)))
        and (page.is_last, page.chunk.version) == (one.is_last, one.chunk.version)
    }

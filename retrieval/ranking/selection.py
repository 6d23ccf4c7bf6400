"""Which candidates become evidence, and in which order: by score, and less what a section says more."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from retrieval.question.words import fold
from retrieval.ranking.score import Scored
from schemas.edges import FRONT_MATTER_KINDS
from schemas.evidence import Origin, PathStep
from schemas.ids import normalise_text
from schemas.nodes import Chunk, page_of
from schemas.settings import GRAPH_BOOST


def order_neighbours(ordered: Iterable[Scored], named: Collection[str]) -> tuple[Scored, ...]:
    """Return the best passage of each document that a typed edge joins to a named one, by edge kind, id."""
    best: dict[str, Scored] = {}
    for one in ordered:
        if len(one.path) == 1 and _joins(one.path[0], named) and one.chunk.doc not in named:
            best.setdefault(one.chunk.doc, one)
    return tuple(sorted(best.values(), key=lambda one: (one.path[0].kind, one.chunk.doc)))


def _joins(step: PathStep, named: Collection[str]) -> bool:
    return step.kind in FRONT_MATTER_KINDS and (step.src in named or step.dst in named)


def merge_by_id(
    found: Sequence[Scored], neighbours: Sequence[Scored], *, boost: float, top_k: int
) -> tuple[Scored, ...]:
    """Keep the order of *found*, in which only neighbours rise, by *boost*; the other neighbours follow.

    A neighbour passes those right above it that score less, and that no reranker has placed: the order is not
    of scores alone. One that is in *found* is there once as a neighbour, at its best passage; further ones of
    it stay what was found. Neighbours without a place there have up to half of the places.
    """
    by_doc = {one.chunk.doc: one for one in neighbours}
    lifted: list[Scored] = []
    best: dict[str, Scored] = {}
    for one in found[:top_k]:
        neighbour = by_doc.get(one.chunk.doc) if one.chunk.doc not in best else None
        if neighbour is None:
            lifted.append(one)
            continue
        source = one.source if one.source is Origin.GRAPH else Origin.BOTH
        joined = replace(one, source=source, lift=boost, path=neighbour.path, role=neighbour.role)
        best[one.chunk.doc] = joined
        at = len(lifted)
        while at and lifted[at - 1].score < joined.score and lifted[at - 1].place == joined.place:
            at -= 1
        lifted.insert(at, joined)
    kept, follow = lifted, list(neighbours)
    for reserved in range(top_k // 2 + 1):
        kept = lifted[: top_k - reserved]
        there = {one.chunk.doc for one in kept}
        follow = [one for one in neighbours if one.chunk.doc not in there][: top_k // 2]
        if len(follow) <= reserved:
            break
    return (*kept, *(best.get(one.chunk.doc) or replace(one, source=Origin.GRAPH) for one in follow))


PER_SECTION = 2
PER_PAGE = 3
CROWDED = 0.97
"""Where caps gave way only at the end, they cut what several chunks of a page answer together; .9 still did
(three manuals: R@10 69.2 with .9, 70.8 with .97, 71.7 without caps)."""
NEAREST_PLACE = 3
"""Place, from 0, from which on every second one is for the chunk nearest by vector, in PDFs and after
a cross-encoder: of a page of a PDF the best chunk is one, and what holds the answer may be another."""
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
    named: Collection[str] = (),
    only_named: bool = False,
    by_page: bool = False,
    nearest: Sequence[str] = (),
    boost: float = GRAPH_BOOST,
) -> Selection:
    """Cut one fixed order after *top_k*, so that a larger `top_k` only appends.

    The order is greedy, by (-worth, rank). A chunk is worth its score, or what stood at its place where a
    reranker gave it one; each beyond 2 of its section or 3 of its page, which is one of a PDF, a chapter of a
    book, else a file or an address, is worth `CROWDED` of that once more. Pages of no content come last.
    A chunk equal word for word to a better one, or one of its *copies* by id, is left out;
    where the better one is of a PDF, a page that says all of it stands at its place. The *definitions* within
    the caps stand at the 6th place at the latest, those *of_tools*, whatever the caps, at the 2nd. From the
    4th place on the order alternates with the *nearest*, best first.

    Into what is cut come the documents that typed edges join to the *named* ones, as `merge_by_id` has it;
    *only_named*: of the order nothing but the named documents themselves. *by_page*: the order is that of
    pages, each with its best passage (`_order_pages`).
    """
    ranked = _without_repeats(sorted(candidates, key=lambda one: one.rank_key), copies or {})
    if by_page:
        ordered, crowded = _order_pages(ranked), frozenset[str]()
    else:
        ordered, crowded = _order_passages(ranked, definitions, of_tools, nearest)
    found = [one for one in ordered if one.chunk.doc in named] if only_named else ordered
    chosen = merge_by_id(found, order_neighbours(ordered, named), boost=boost, top_k=top_k)
    return Selection(chosen=chosen, relaxed=sum(one.chunk.id in crowded for one in chosen))


def _order_passages(
    ranked: Sequence[Scored], definitions: Sequence[str], of_tools: Sequence[str], nearest: Sequence[str]
) -> tuple[list[Scored], frozenset[str]]:
    rest, last = [one for one in ranked if not one.is_last], [one for one in ranked if one.is_last]
    ordered, crowded = _spread_out(rest)
    fitting = [chunk for chunk in definitions if chunk not in crowded]
    ordered = _raise(_alternate(ordered, nearest), fitting, DEFINITION_PLACE)
    return _raise(ordered, of_tools, TOOL_PLACE) + last, crowded


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


PASSAGES = 80
"""Passages that speak for their pages, the best."""
DECAY = 0.75
"""What the next passage of a page counts, of what the one before it does. A page that answers has several
passages about it, one that mentions it has one."""


def _order_pages(ranked: Sequence[Scored]) -> list[Scored]:
    """Return the best passage of each page, the pages by the sum of what their passages add.

    A passage adds the square of its score, or of the score that stood where a reranker placed it: many weak
    ones pass no good one (measured: bench/RESULTS.md). Pages of no content come last; one page of a PDF is a
    page.
    """
    worth = sorted((one.score for one in ranked), reverse=True)
    best: dict[str, Scored] = {}
    added: dict[str, list[float]] = defaultdict(list)
    for place, one in enumerate(ranked):
        page = _page_key(one.chunk)
        best.setdefault(page, one)
        if place < PASSAGES:
            added[page].append(worth[place] ** 2 * DECAY ** len(added[page]))
    return sorted(best.values(), key=lambda one: (one.is_last, -round(sum(added[_page_key(one.chunk)]), 6)))


DEFINITIONS_MAX = 2
_SAYS_WHAT_IT_IS = re.compile(r" (?:\S+ ){0,4}?(?:is|are|was|were|means|denotes|refers to|stands for) ")


def find_definitions(ranked: Iterable[Scored], names: Collection[str]) -> tuple[str, ...]:
    """Return the best candidate for each of *names*, at most 2, in rank order.

    Args: names: what the question names, as `entities_of` gives it.
    """
    open_ = {folded for name in names if (folded := fold(name))}
    found: list[str] = []
    for one in ranked:
        defined = {name for name in open_ if defines(one.chunk, name)}
        if defined:
            found.append(one.chunk.id)
            open_ -= defined
        if not open_ or len(found) == DEFINITIONS_MAX:
            break
    return tuple(found)


def defines(chunk: Chunk, name: str) -> bool:
    """Whether a chunk stands under the folded *name* as its heading, or begins by saying what that is."""
    headings = (*chunk.heading_path[-1:], *chunk.breadcrumbs[-1:])
    if name in map(fold, headings):
        return True
    start = f"{fold(chunk.text[: 10 * len(name) + 200])} "
    for lead in (name, f"the {name}", f"a {name}", f"an {name}"):
        if start.startswith(f"{lead} "):
            return bool(_SAYS_WHAT_IT_IS.match(start, len(lead)))
    return False

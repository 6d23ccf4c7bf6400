"""Whether a page may be trusted: what it rests on is as it was, and nothing current says otherwise."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from indexes.ports import ChunkReader
from retrieval.question.words import fold
from retrieval.wiki.page import AnswerSet, Contradiction, Fact, PageStatus, WikiPage
from retrieval.wiki.ranges import asks_for_set

SINGLE_VALUED = frozenset(
    {
        *("born in", "born on", "died in", "died on", "founded in", "founded on", "built in", "capital of"),
        *("located in", "based in", "headquartered in", "owned by", "maintained by", "led by", "operated by"),
        *("replaced by", "superseded by", "managed by", "succeeded by", "owner", "maintainer", "status"),
        *("version of", "released in", "released on", "published in", "published on", "set to", "kept in"),
    }
)
"""Predicates with one value at a time; a person may be the author of two books and is born once."""

FactsByKey = Mapping[tuple[str, str], Collection[tuple[str, Fact]]]
"""Pages and facts by the folded subject and the bare predicate that they share."""

Sets = Mapping[tuple[str, ...], AnswerSet]
"""Sets as they are now, by what they are sets of."""

_AUXILIARY = re.compile(r"^(?:(?:is|are|was|were|be|been|has|have|had|the|an?|now|also|then)\s+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What was found of a page: `stale` are chunks that it rests on and that are gone or changed.

    `moved` says of each set that it ranges over and that is another now what changed; `unread` says that a
    set cannot be read, so that nothing tells.
    """

    stale: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]
    moved: tuple[str, ...] = ()
    unread: bool = False

    @property
    def is_stale(self) -> bool:
        """Whether anything that it rests on is not as it was."""
        return bool(self.stale or self.moved)

    @property
    def status(self) -> PageStatus:
        """Stale counts before contradicted: what it says is old either way."""
        if self.is_stale:
            return PageStatus.STALE
        return PageStatus.CONTRADICTED if self.contradictions else PageStatus.CURRENT


def current_hashes(chunks: ChunkReader, pages: Iterable[WikiPage]) -> Mapping[str, str]:
    """Return the content hash of every chunk that *pages* speak of and the index has, in one call."""
    ids = {chunk for page in pages for chunk in (*page.rests_on, *(one.chunk for one in page.contradictions))}
    found = chunks.get(sorted(ids - {""})) if ids - {""} else ()
    return {chunk.id: chunk.content_hash for chunk in found}


def weigh_pages(
    pages: Collection[WikiPage], hashes: Mapping[str, str], sets: Sets = MappingProxyType({})
) -> dict[str, Trust]:
    """Return for each page, by `category/slug`, what is stale and what contradicts it, in order.

    A contradiction is open while both sides are current: the flagged ones whose chunk is still there and
    whose statement the page still makes, and those between two pages of which neither is stale.
    """
    stale = {
        page.ref: tuple(chunk for chunk, was in page.rests_on.items() if hashes.get(chunk) != was)
        for page in pages
    }
    moved = {page.ref: _moved(page, sets) for page in pages}
    current = {page.ref for page in pages if not (stale[page.ref] or moved[page.ref]) and page.rests_on}
    said = said_by((page.ref, fact) for page in pages if page.ref in current for fact in page.facts)
    trust = {}
    for page in pages:
        flagged = [one for one in page.contradictions if one.chunk in hashes and _is_made(one, page)]
        between = contradict(page.facts, said, besides=page.ref) if page.ref in current else ()
        trust[page.ref] = Trust(
            stale=stale[page.ref],
            contradictions=tuple(dict.fromkeys((*flagged, *between))),
            moved=moved[page.ref],
            unread=any(one.key not in sets for one in page.ranges_over),
        )
    return trust


def _moved(page: WikiPage, sets: Sets) -> tuple[str, ...]:
    """Say which sets of a page are others now; one that was filed without its set may be old already."""
    if page.filed_sha256 and not page.ranges_over and asks_for_set(page.query):
        return ("filed without the set that its question ranges over",)
    return tuple(
        one.changed_to(sets[one.key])
        for one in page.ranges_over
        if one.key in sets and sets[one.key].sha256 != one.sha256
    )


def _is_made(flag: Contradiction, page: WikiPage) -> bool:
    """Whether a page still says what a flag on it says it does: a person may have settled it."""
    side = (fold(flag.subject), flag.predicate, fold(flag.object))
    return side in {(fold(fact.subject), fact.predicate, fold(fact.object)) for fact in page.facts}


def contradicted_by(
    facts: Iterable[Fact], pages: Collection[WikiPage], trust: Mapping[str, Trust]
) -> dict[str, Trust]:
    """Return the pages that new evidence contradicts, with all that does; a stale page is no side of it."""
    said = said_by(("", fact) for fact in facts)
    found: dict[str, Trust] = {}
    for page in pages:
        known = trust[page.ref]
        if not known.is_stale and (new := contradict(page.facts, said)):
            flags = tuple(dict.fromkeys((*known.contradictions, *new)))
            found[page.ref] = replace(known, contradictions=flags)
    return found


def said_by(statements: Iterable[tuple[str, Fact]]) -> FactsByKey:
    """Order facts, each with the page that it is of, by subject and predicate; those of several values go.

    New evidence is of no page: its page is an empty text.
    """
    said: dict[tuple[str, str], list[tuple[str, Fact]]] = {}
    for page, fact in statements:
        if predicate := single(fact.predicate):
            said.setdefault((fold(fact.subject), predicate), []).append((page, fact))
    return said


def contradict(
    facts: Iterable[Fact], said: FactsByKey, *, besides: str | None = None
) -> tuple[Contradiction, ...]:
    """Return where *said* has another object of a subject's single-valued predicate, each once, in order.

    Args: besides: a page whose own statements do not count.
    """
    found = [
        Contradiction(
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            other=other.object,
            chunk=other.chunk,
            page=page,
        )
        for fact in facts
        for page, other in said.get((fold(fact.subject), single(fact.predicate)), ())
        if page != besides and _same_subject(fact, other) and not _same_object(fact, other)
    ]
    return tuple(dict.fromkeys(found))


def single(predicate: str) -> str:
    """Return a predicate without its auxiliaries if it has one value at a time, else an empty text."""
    bare = _AUXILIARY.sub("", " ".join(predicate.casefold().replace("_", " ").split()))
    return bare if bare in SINGLE_VALUED else ""


def _same_subject(one: Fact, other: Fact) -> bool:
    """Equal names are one thing unless the graph tells them apart."""
    return not (one.subject_id and other.subject_id) or one.subject_id == other.subject_id


def _same_object(one: Fact, other: Fact) -> bool:
    if one.object_id and one.object_id == other.object_id:
        return True
    return fold(one.object) == fold(other.object)

"""Whether a page may be trusted: what it rests on is as it was, and nothing current says otherwise."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from indexes.ports import ChunkReader
from retrieval.wiki.page import Contradiction, Fact, PageStatus, WikiPage
from retrieval.words import fold

SINGLE_VALUED = frozenset(
    {
        *("born in", "born on", "died in", "died on", "founded in", "founded on", "built in", "capital of"),
        *("located in", "based in", "headquartered in", "owned by", "maintained by", "led by", "operated by"),
        *("replaced by", "superseded by", "managed by", "succeeded by", "owner", "maintainer", "status"),
        *("version of", "released in", "released on", "published in", "published on", "set to", "kept in"),
    }
)
"""Predicates with one value at a time; a person may be the author of two books and is born once."""

_AUXILIARY = re.compile(r"^(?:(?:is|are|was|were|be|been|has|have|had|the|an?|now|also|then)\s+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What was found of a page: `stale` are chunks that it rests on and that are gone or changed."""

    stale: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def status(self) -> PageStatus:
        """Stale counts before contradicted: what it says is old either way."""
        if self.stale:
            return PageStatus.STALE
        return PageStatus.CONTRADICTED if self.contradictions else PageStatus.CURRENT


def current_hashes(chunks: ChunkReader, pages: Iterable[WikiPage]) -> Mapping[str, str]:
    """Give the content hash of every chunk that *pages* speak of and the index has, in one call."""
    ids = {chunk for page in pages for chunk in (*page.rests_on, *(one.chunk for one in page.contradictions))}
    found = chunks.get(sorted(ids - {""})) if ids - {""} else ()
    return {chunk.id: chunk.content_hash for chunk in found}


def weigh_pages(pages: Collection[WikiPage], hashes: Mapping[str, str]) -> dict[str, Trust]:
    """Give for each page, by `category/slug`, what is stale and what contradicts it, in order.

    A contradiction is open while both sides are current: the flagged ones whose chunk is still there, and
    those between two pages of which neither is stale.
    """
    stale = {
        page.ref: tuple(chunk for chunk, was in page.rests_on.items() if hashes.get(chunk) != was)
        for page in pages
    }
    current = [page for page in pages if not stale[page.ref] and page.rests_on]
    trust = {}
    for page in pages:
        flagged = [one for one in page.contradictions if one.chunk in hashes]
        others = [other for other in current if other.ref != page.ref] if page in current else []
        between = [found for other in others for found in contradict(page.facts, other.facts, page=other.ref)]
        trust[page.ref] = Trust(
            stale=stale[page.ref], contradictions=tuple(dict.fromkeys((*flagged, *between)))
        )
    return trust


def contradict(
    facts: Iterable[Fact],
    others: Iterable[Fact],
    *,
    page: str = "",
    single_valued: Collection[str] = SINGLE_VALUED,
) -> tuple[Contradiction, ...]:
    """Give where *others* state another object of a subject's single-valued predicate, each once, in order.

    Args: page: the page that *others* are of, empty where they are new evidence.
    """
    said: dict[tuple[str, str], list[Fact]] = {}
    for other in others:
        said.setdefault((fold(other.subject), single(other.predicate, single_valued)), []).append(other)
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
        if (predicate := single(fact.predicate, single_valued))
        for other in said.get((fold(fact.subject), predicate), ())
        if _same_subject(fact, other) and not _same_object(fact, other)
    ]
    return tuple(dict.fromkeys(found))


def single(predicate: str, single_valued: Collection[str] = SINGLE_VALUED) -> str:
    """Give a predicate without its auxiliaries if it has one value at a time, else an empty text."""
    bare = _AUXILIARY.sub("", " ".join(predicate.casefold().replace("_", " ").split()))
    return bare if bare in single_valued else ""


def _same_subject(one: Fact, other: Fact) -> bool:
    """Equal names are one thing unless the graph tells them apart."""
    return not (one.subject_id and other.subject_id) or one.subject_id == other.subject_id


def _same_object(one: Fact, other: Fact) -> bool:
    if one.object_id and one.object_id == other.object_id:
        return True
    return fold(one.object) == fold(other.object)

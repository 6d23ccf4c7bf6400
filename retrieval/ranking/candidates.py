"""Found and reached chunks side by side, each scored and with the way it came."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from indexes.ports import AuthorityReader, ChunkReader
from retrieval.graph.expansion import Expansion, ExpansionOrigin
from retrieval.graph.spreading import Reach, Spread
from retrieval.graph.tools import DEFINITION
from retrieval.question.words import content_words, stems
from retrieval.ranking.score import (
    SAME_PAGE,
    SAME_SECTION,
    Scored,
    normalise,
    round_parts,
    score_freshness,
    score_text,
)
from retrieval.search.relevance import Base, Measure, best_chunks
from schemas.edges import Edge, LinkPosition
from schemas.evidence import Hit, Origin, Scores
from schemas.nodes import Chunk, PageKind

POSITION_WEIGHTS: Mapping[LinkPosition, float] = {
    LinkPosition.NAV: 1.0,
    LinkPosition.HEADER: 0.9,
    LinkPosition.BODY: 0.6,
    LinkPosition.ASIDE: 0.3,
    LinkPosition.FOOTER: 0.1,
}
"""As links count for authority (docs/graph.md)."""
OUTGOING = 0.5
_SAYS_NOTHING = frozenset({"here", "more", "next", "previous"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorHits:
    """The words of a question with what each is worth, and the links seen around its candidates.

    A link into a chunk whose edge was not read counts as one of a body.
    """

    asked: frozenset[str] = frozenset()
    worth: Mapping[str, float] = field(default_factory=dict)
    unseen: float = 1.0
    into: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    out_of: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)

    def of(self, chunk: Chunk) -> float:
        """Return the best F1, in [0, 1], of any link text, weighed by position; 0 for "here" and the like."""
        if not chunk.anchor_texts and chunk.doc not in self.into and chunk.id not in self.out_of:
            return 0.0
        landing = [edge for edge in self.into.get(chunk.doc, ()) if lands_on(edge, chunk)]
        seen = {edge.anchor_text for edge in landing}
        hits = [self._f1(text) * _weight(None) for text in chunk.anchor_texts if text not in seen]
        hits += [self._f1(edge.anchor_text or "") * _weight(edge) for edge in landing]
        hits += [
            self._f1(edge.anchor_text or "") * _weight(edge) * OUTGOING
            for edge in self.out_of.get(chunk.id, ())
        ]
        return max(hits, default=0.0)

    def _f1(self, text: str) -> float:
        words = frozenset(content_words(text)) - _SAYS_NOTHING
        shared, total = self._sum(words & self.asked), self._sum(words) + self._sum(self.asked)
        return 2 * shared / total if total > 0 else 0.0

    def _sum(self, words: Iterable[str]) -> float:
        return math.fsum(self.worth.get(word, self.unseen) for word in sorted(words))


def weigh_anchors(query: str, rows: Collection[Chunk], links: Collection[Edge]) -> AnchorHits:
    """Weigh words by `ln(1 + N/n)`, of the N candidates n having the word in headings or link texts.

    A word that every page of a site has in its headings so says little, and one that no candidate has most.
    """
    into: dict[str, list[Edge]] = {}
    out_of: dict[str, list[Edge]] = {}
    for edge in sorted(links, key=lambda edge: edge.id):
        into.setdefault(edge.dst, []).append(edge)
        if edge.chunk:
            out_of.setdefault(edge.chunk, []).append(edge)
    held = Counter(word for row in rows for word in _words(row))
    return AnchorHits(
        asked=frozenset(content_words(query)),
        worth={word: math.log(1 + len(rows) / held[word]) for word in held},
        unseen=math.log(1 + max(1, len(rows))),
        into={key: tuple(found) for key, found in into.items()},
        out_of={key: tuple(found) for key, found in out_of.items()},
    )


def _words(row: Chunk) -> set[str]:
    return {word for text in (*row.heading_path, *row.anchor_texts) for word in content_words(text)}


def lands_on(edge: Edge, chunk: Chunk) -> bool:
    """Whether a link leads to this chunk: by its fragment, or to the beginning of the document."""
    if edge.fragment:
        return edge.fragment in {chunk.fragment, *chunk.fragments, f"page={chunk.page_no}"}
    return chunk.ordinal == 0


def _weight(edge: Edge | None) -> float:
    position = edge.position if edge else None
    return POSITION_WEIGHTS[position or LinkPosition.BODY]


_CHANGES = re.compile(
    r"\d\.\d|\b(?:19|20)\d\d\b"
    r"|\b(?:version|release|chang|new\b|news\b|added|adds|remov|deprecat|since|fixe[ds]|upgrad|updat|migrat"
    r"|histor|introduc|backport|obsolete|renamed|when\b)",
    re.IGNORECASE,
)
"""What a question about changes says: a version, a year, or a word of changing."""
_QUOTED = re.compile(r"[\"'“‘«`]([^\"'“”‘’«»`\n]{3,200})[\"'”’»`]")
_COMMAND = re.compile(r"\s*[^\sA-Z].*[^.\s]\s*$")
"""A line that neither begins nor ends as sentences do."""


def asks_for_changes(question: str) -> bool:
    """Whether a list of changes may be what answers a question."""
    return _CHANGES.search(question) is not None


def is_cited_last(kind: PageKind, *, changes_asked: bool) -> bool:
    """Whether a page of this kind stands after all content."""
    return kind is not PageKind.CONTENT and not (kind is PageKind.CHANGES and changes_asked)


def only_asks(chunk: Chunk, asked: frozenset[str]) -> bool:
    """Whether most of these stems of a question stand in a passage only where a line of code asks it, as in
    `curl -d '{"query": "how do I rotate the signing key"}'`.
    """
    lines = chunk.text.splitlines()
    others = [line for line in lines if not _asks(line, asked)]
    if len(others) == len(lines):
        return False
    return 2 * len(asked & stems(" ".join((*chunk.heading_path, *others)))) < len(asked)


def _asks(line: str, asked: frozenset[str]) -> bool:
    quoted = (stems(match[1]) for match in _QUOTED.finditer(line))
    return any(len(one) > 1 and one <= asked for one in quoted) and bool(_COMMAND.match(line))


CHUNKS_PER_DOCUMENT = 8
LANDING_MAX = 30
ACTIVATED_MAX = 100
"""Reached documents that compete, the most activated; a bundle shows 50 chunks at most."""

Bases = Mapping[str, Base]


@dataclass(frozen=True, slots=True, kw_only=True)
class Activated:
    """What a chunk received of its document's activation, and by which edge, if by one."""

    activation: float
    reach: Reach | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that is known when chunks are scored: who was found, who was reached, what is near an anchor.

    `joined` are chunks that expansion alone brought, and those that define a tool in scope; `changes_asked`:
    a list of changes may answer.
    """

    anchors: AnchorHits
    as_of: str
    found: frozenset[str]
    bases: Bases
    spread: Spread
    activated: Mapping[str, Activated]
    graph: Mapping[str, float]
    anchor_sections: frozenset[str]
    authority: Mapping[str, float]
    joined: Mapping[str, ExpansionOrigin]
    weights: Scores | None = None
    changes_asked: bool = False
    asked: frozenset[str] = frozenset()

    def score(self, chunk: Chunk) -> Scored:
        """Score one chunk, part by part."""
        base = self.bases.get(chunk.doc, {}).get(chunk.id, 0.0)
        activated, joined = self.activated.get(chunk.id), self.joined.get(chunk.id)
        reach = activated.reach if activated else None
        parts = Scores(
            text=score_text(
                base, self._activation(chunk, base), spread_ran=self.spread.ran, weight=self.spread.weight
            ),
            graph=min(1.0, self.graph.get(chunk.id, 0.0) + self._nearness(chunk)),
            anchor=self.anchors.of(chunk),
            authority=self.authority.get(chunk.doc, 0.0),
            freshness=score_freshness(chunk.last_modified or chunk.changed_at, self.as_of),
        )
        found = Origin.BOTH if chunk.id in self.found else Origin.GRAPH
        return Scored(
            chunk=chunk,
            scores=round_parts(parts),
            source=found if reach or joined else Origin.VECTOR,
            role=joined.role if joined else self._role(chunk, reach),
            path=joined.path if joined else reach.path if reach else (),
            weights=self.weights,
            is_last=is_cited_last(chunk.page_kind, changes_asked=self.changes_asked)
            or only_asks(chunk, self.asked),
        )

    def _role(self, chunk: Chunk, reach: Reach | None) -> str:
        if chunk.doc in self.spread.anchors:
            return "anchor"
        return "bridge" if reach else "rest"

    def _activation(self, chunk: Chunk, base: float) -> float | None:
        activated = self.activated.get(chunk.id)
        if activated:
            return activated.activation
        return base if chunk.doc in self.spread.anchors or chunk.id in self.joined else None

    def _nearness(self, chunk: Chunk) -> float:
        if not self.spread.ran:
            return 0.0
        if chunk.section_id in self.anchor_sections:
            return SAME_SECTION
        return SAME_PAGE if chunk.doc in self.spread.anchors else 0.0


def score_candidates(
    chunks: ChunkReader,
    pool: Collection[Hit],
    measure: Measure,
    spread: Spread,
    expansion: Expansion,
    *,
    found: frozenset[str],
    query: str,
    as_of: str,
    authority: AuthorityReader | None = None,
    weights: Scores | None = None,
) -> tuple[Scored, ...]:
    """Score the pool and the chunks on which activation lands, in rank order.

    Args: found: what a plain search would show; the rest of what the graph reached is the graph's alone.
    weights: of a tuned blend, None for the default.
    """
    bases = measure.of({hit.doc for hit in pool} | set(spread.anchors) | set(spread.reached))
    landing = _landing(bases, spread)
    pooled = {hit.chunk_id for hit in pool}
    wanted = pooled | expansion.joined.keys() | {chunk for ids in landing.values() for chunk in ids}
    rows = {chunk.id: chunk for chunk in chunks.get(sorted(wanted))}
    bases = {**bases, **measure.of({row.doc for row in rows.values()})}
    activated = _activate(bases, spread, landing, rows)
    candidates = Candidates(
        # Where pages link all over, what a link says lifts whoever has many: hit@1 .9 lower on six manuals.
        anchors=weigh_anchors(query, tuple(rows.values()), expansion.links if spread.tells else ()),
        as_of=as_of,
        found=found,
        bases=bases,
        spread=spread,
        activated=activated,
        graph=normalise({chunk: one.activation for chunk, one in activated.items()}) if spread.ran else {},
        anchor_sections=_anchor_sections(bases, spread, rows),
        authority=authority.of({row.doc for row in rows.values()}) if authority else {},
        joined={
            chunk: way
            for chunk, way in expansion.joined.items()
            if way.role == DEFINITION or chunk not in pooled | activated.keys()
        },
        weights=weights,
        changes_asked=asks_for_changes(query),
        asked=stems(query),
    )
    kept = pooled | activated.keys() | expansion.joined.keys()
    scored = (candidates.score(row) for row in rows.values() if row.id in kept)
    return tuple(sorted(scored, key=lambda one: one.rank_key))


def _landing(bases: Bases, spread: Spread) -> dict[str, tuple[str, ...]]:
    """Chunks on which activation may land: more of a document where the way to it names a place in it.

    Where nothing spread, only documents named by id are activated.
    """
    best = sorted(spread.reached, key=lambda doc: (-round(spread.activation(doc), 6), doc))[:ACTIVATED_MAX]
    docs = {*spread.anchors, *best} if spread.ran else spread.named
    return {
        doc: best_chunks(bases[doc], limit=LANDING_MAX if _lands(spread, doc) else CHUNKS_PER_DOCUMENT)
        for doc in sorted(docs)
        if doc in bases
    }


def _lands(spread: Spread, doc: str) -> Reach | None:
    """The way to a document where it names a place in it; an anchor is where it is by itself."""
    reach = spread.reached.get(doc) if doc not in spread.anchors else None
    return reach if reach and (reach.fragment or reach.section or reach.chunk) else None


def _activate(
    bases: Bases, spread: Spread, landing: Mapping[str, tuple[str, ...]], rows: Mapping[str, Chunk]
) -> dict[str, Activated]:
    """Return a document's activation to the place the way to it names, else to its best chunks by base.

    Each gets less in the measure of its base, or all would tie.
    """
    activated: dict[str, Activated] = {}
    for doc, ids in landing.items():
        reach = _lands(spread, doc)
        there = tuple(chunk for chunk in ids if reach and chunk in rows and _stands_at(rows[chunk], reach))
        targets = (there or ids)[:CHUNKS_PER_DOCUMENT]
        best = bases[doc][targets[0]]
        for chunk in targets:
            share = bases[doc][chunk] / best if best > 0 else 1.0
            activated[chunk] = Activated(activation=spread.activation(doc) * share, reach=spread.way_to(doc))
    return activated


def _stands_at(chunk: Chunk, reach: Reach) -> bool:
    return (
        chunk.id == reach.chunk
        or (reach.section is not None and chunk.section_id == reach.section)
        or (reach.fragment or "") in {chunk.fragment, *chunk.fragments, f"page={chunk.page_no}"}
    )


def _anchor_sections(bases: Bases, spread: Spread, rows: Mapping[str, Chunk]) -> frozenset[str]:
    best = [best_chunks(bases[doc], limit=1)[0] for doc in spread.anchors if doc in bases]
    sections = {rows[chunk].section_id for chunk in best if chunk in rows}
    return frozenset(section for section in sections if section)

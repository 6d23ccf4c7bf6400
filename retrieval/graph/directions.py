"""Up, side, down, cross and tool: which chunks around a seed join the candidates, each a pure decision."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.graph.surroundings import Surroundings, part_of
from retrieval.question.title_words import f1, jaccard, stems
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.evidence import PathStep
from schemas.nodes import Chunk, PdfRegion, RegionType, Section

SIBLINGS_MAX, DETAILS_MAX, LINKS_MAX, TOOLS_MAX, SIMILAR_MAX = 3, 3, 3, 2, 2
OVERLAP_MIN = 0.2
ANCHOR_MIN = 0.3
NEAR_DUPLICATE = 0.95
PARENT, SIBLING, CHILD, BRIDGE = "parent", "sibling", "child", "bridge"
_DETAILS = frozenset({RegionType.TABLE, RegionType.FIGURE, RegionType.CODE})
_MENUS = frozenset({LinkPosition.NAV, LinkPosition.HEADER})
_TABLE_ROW = re.compile(r"^\s*\||\t", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionStep:
    """What a seed leads to: chunks of which the best by base is taken, or a document at a fragment."""

    role: str
    path: tuple[PathStep, ...]
    chunks: tuple[str, ...] = ()
    doc: str | None = None
    fragment: str | None = None
    limit: int = 1


def go_up(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """Chunk > section > parent section; the page itself is a summary and no evidence."""
    edge = around.above.get(part_of(seed) or "")
    if edge and edge.src.startswith("section:"):
        yield ExpansionStep(role=PARENT, path=(_shown(edge),), chunks=around.chunks_of(edge.src))


def go_aside(around: Surroundings, seed: Chunk, query: str) -> Iterator[ExpansionStep]:
    """At most 3 parts under the same parent whose heading shares words with the query or the seed's.

    Shared enough is a Jaccard of .2, or a word that no other heading under that parent has.
    """
    own = part_of(seed)
    edge = around.above.get(own or "")
    here = around.parts.get(own or "")
    if edge is None or not isinstance(here, Section):
        return
    others = [part for part in around.parts_of(edge.src) if isinstance(part, Section) and part.id != own]
    level = [part for part in others if part.level == here.level and part.heading]
    words = {part.id: stems(part.heading) for part in level}
    asked, named = stems(query), stems(here.heading)
    overlap = {part.id: max(jaccard(words[part.id], asked), jaccard(words[part.id], named)) for part in level}
    shared = [part for part in level if overlap[part.id] >= OVERLAP_MIN or _rare(part.id, words, asked)]
    for part in sorted(shared, key=lambda part: (-overlap[part.id], part.ordinal, part.id))[:SIBLINGS_MAX]:
        step = PathStep(src=edge.src, kind=edge.kind.value, dst=part.id)
        yield ExpansionStep(role=SIBLING, path=(step,), chunks=around.chunks_of(part.id))


def _rare(part: str, words: dict[str, frozenset[str]], asked: frozenset[str]) -> bool:
    others = frozenset().union(*(words[other] for other in words if other != part))
    return bool((words[part] & asked) - others)


def go_down(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """Tables, figures and code of the seed's section, of those below it, or of its PDF page; at most 3."""
    own = part_of(seed)
    if own is None:
        return
    below = [own, *(part.id for part in around.parts_of(own))]
    edge = around.above.get(own)
    if seed.region_id and edge:
        regions = (part for part in around.parts_of(edge.src) if isinstance(part, PdfRegion))
        below = [region.id for region in regions if region.region_type in _DETAILS]
    chunks = tuple(chunk for part in below for chunk in around.chunks_of(part) if chunk != seed.id)
    if chunks:
        step = PathStep(src=own, kind=EdgeKind.CONTAINS.value, dst=chunks[0], chunk=seed.id)
        yield ExpansionStep(role=CHILD, path=(step,), chunks=chunks, limit=DETAILS_MAX)


def is_detail(chunk: Chunk) -> bool:
    """Whether a chunk contains code, a caption or rows of a table."""
    return bool(chunk.code_languages or chunk.captions or _TABLE_ROW.search(chunk.text))


def go_by_links(around: Surroundings, seed: Chunk, query: str) -> Iterator[ExpansionStep]:
    """At most 3 links of the seed's document whose text matches the query."""
    asked = stems(query)
    links = [edge for edge in around.leaving.get(seed.doc, ()) if edge.kind is EdgeKind.LINKS_TO]
    match = {edge.id: f1(stems(edge.anchor_text or ""), asked) for edge in links}
    good = [edge for edge in links if edge.dst != seed.doc and _leads(edge, match[edge.id])]
    best = {edge.dst: edge for edge in sorted(good, key=lambda edge: (match[edge.id], edge.id))}
    for edge in sorted(best.values(), key=lambda edge: (-match[edge.id], edge.id))[:LINKS_MAX]:
        yield ExpansionStep(role=BRIDGE, path=(_shown(edge),), doc=edge.dst, fragment=edge.fragment)


def go_to_similar(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """At most 2 chunks that say similar things, and not nearly the same."""
    alike = [edge for edge in around.leaving.get(seed.id, ()) if edge.kind is EdgeKind.SIMILAR_TO]
    other = [edge for edge in alike if (edge.score or 0.0) < NEAR_DUPLICATE]
    for edge in sorted(other, key=lambda edge: (-(edge.score or 0.0), edge.id))[:SIMILAR_MAX]:
        yield ExpansionStep(role=BRIDGE, path=(_shown(edge),), chunks=(edge.dst,))


def _leads(edge: Edge, match: float) -> bool:
    return match >= ANCHOR_MIN or (edge.position in _MENUS and match > 0)


def go_by_tool(around: Surroundings, seed: Chunk) -> Iterator[ExpansionStep]:
    """From what explains a tool to the 2 best chunks that explain it too."""
    here = {seed.id, part_of(seed)}
    for edge in (one for one in around.explained if one.dst in here):
        others = [one for one in around.leaving.get(edge.src, ()) if one.kind is EdgeKind.EXPLAINED_BY]
        ranked = sorted(others, key=lambda one: (-(one.score or one.confidence), one.id))
        for one in [one for one in ranked if one.dst not in here][:TOOLS_MAX]:
            chunks = (one.dst,) if one.dst.startswith("chunk:") else around.chunks_of(one.dst)
            yield ExpansionStep(role=BRIDGE, path=(_shown(edge), _shown(one)), chunks=chunks)


def _shown(edge: Edge) -> PathStep:
    return PathStep(src=edge.src, kind=edge.kind.value, dst=edge.dst, chunk=edge.chunk)

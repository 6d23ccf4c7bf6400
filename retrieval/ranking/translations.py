"""Passages that say the same in several languages: of a page and its translations one is enough.

Pages are translations of each other where both say so (`hreflang`, the edge `translates`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby

import numpy as np

from indexes.ports import ChunkReader, GraphReader
from retrieval.question.words import primary_language
from retrieval.ranking.score import Scored
from schemas.edges import EdgeKind
from schemas.nodes import Chunk

Families = tuple[frozenset[str], ...]
Pairs = frozenset[tuple[str, str]]


def read_families(graph: GraphReader, ranked: Collection[Scored]) -> Families:
    """Return the documents of candidates that are translations of each other, two or more together.

    Candidates in one language have none, and the graph is not asked. Two that only a third one names are of
    one family, too.
    """
    docs = frozenset(one.chunk.doc for one in ranked)
    if len({one.chunk.lang for one in ranked}) < 2:
        return ()
    stated = _stated(graph, docs)
    stated |= _stated(graph, frozenset(dst for _, dst in stated) - docs)
    family: dict[str, frozenset[str]] = {}
    for src, dst in sorted(stated):
        if (dst, src) in stated:
            joined = family.get(src, frozenset({src})) | family.get(dst, frozenset({dst}))
            family |= dict.fromkeys(joined, joined)
    found = {one & docs for one in family.values()}
    return tuple(sorted((one for one in found if len(one) > 1), key=sorted))


def _stated(graph: GraphReader, docs: frozenset[str]) -> frozenset[tuple[str, str]]:
    edges = graph.edges_from(sorted(docs), kinds={EdgeKind.TRANSLATES}) if docs else ()
    return frozenset((edge.src, edge.dst) for edge in edges)


def find_translations(
    chunks: ChunkReader, families: Families, *, by_sense: bool
) -> Mapping[str, frozenset[str]]:
    """Return for each passage of *families* its counterparts in the other languages.

    They stand at the same place, where two pages have the same outline. Where they have not, as when one has
    a section that is not translated yet, they are the nearest to each other, *by_sense*: where the encoder
    puts translations side by side; else they are not told.
    """
    rows = chunks.of_documents(sorted(doc for family in families for doc in family))
    by_doc = {doc: list(of_doc) for doc, of_doc in groupby(rows, key=lambda one: one.doc)}
    found: dict[str, set[str]] = {}
    for family in families:
        for ours, theirs in combinations([by_doc[doc] for doc in sorted(family) if doc in by_doc], 2):
            # Pages for two countries of one language differ in what they say: prices, terms, law.
            if primary_language(ours[0].lang) == primary_language(theirs[0].lang):
                continue
            same = match_places(ours, theirs)
            if same is None:
                same = _match_nearest(chunks, ours, theirs) if by_sense else frozenset()
            for one, other in same:
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
    return {chunk: frozenset(found[chunk]) for chunk in sorted(found)}


def match_places(ours: Sequence[Chunk], theirs: Sequence[Chunk]) -> Pairs | None:
    """Pair the passages of two documents by section and place in it; None where their outlines differ.

    A section may be cut into more passages in one language than in another: each is paired with those that
    have its middle, so that what is left out is said by what stays.
    """
    sections, others = _sections(ours), _sections(theirs)
    if [len(one[0].heading_path) for one in sections] != [len(one[0].heading_path) for one in others]:
        return None
    pairs = (pair for one, other in zip(sections, others, strict=True) for pair in _abreast(one, other))
    return frozenset(pairs)


def _sections(ordered: Sequence[Chunk]) -> list[list[Chunk]]:
    return [list(one) for _, one in groupby(ordered, key=lambda one: (one.section_id, one.heading_path))]


def _abreast(ours: Sequence[Chunk], theirs: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    for at, one in enumerate(ours):
        yield one.id, theirs[(2 * at + 1) * len(theirs) // (2 * len(ours))].id
    for at, one in enumerate(theirs):
        yield ours[(2 * at + 1) * len(ours) // (2 * len(theirs))].id, one.id


def _match_nearest(chunks: ChunkReader, ours: Sequence[Chunk], theirs: Sequence[Chunk]) -> Pairs:
    vectors = {
        chunk: vector
        for ids, several in chunks.text_vectors([one.id for one in (*ours, *theirs)])
        for chunk, vector in zip(ids, several, strict=True)
    }
    left, right = ([one.id for one in side if one.id in vectors] for side in (ours, theirs))
    if not left or not right:
        return frozenset()
    cosines = np.stack([vectors[one] for one in left]) @ np.stack([vectors[one] for one in right]).T
    forth, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    return frozenset((left[at], right[to]) for at, to in enumerate(forth) if back[to] == at)


def keep_one_language(
    candidates: Sequence[Scored], same: Mapping[str, Collection[str]], language: str | None
) -> tuple[Scored, ...]:
    """Let of passages that say the same in several languages one stand for all, at the place of the best.

    It is the best in the *language* of the question, else the best.
    """
    kept: list[Scored] = []
    said: set[str] = set()
    for best in candidates:
        if best.chunk.id in said:
            continue
        alike = [one for one in candidates if one.chunk.id in same.get(best.chunk.id, ())]
        own = (one for one in (best, *alike) if _is_in(one, language) and one.chunk.id not in said)
        one = next(own, best)
        said |= {best.chunk.id, one.chunk.id, *same.get(best.chunk.id, ()), *same.get(one.chunk.id, ())}
        kept.append(one if one is best else replace(best, chunk=one.chunk))
    return tuple(kept)


def keep_one_page(
    candidates: Sequence[Scored], families: Families, language: str | None
) -> tuple[Scored, ...]:
    """Drop of pages that are translations of each other those in other languages than the best one has.

    That is the best in *language*, else the best.
    """
    dropped: set[str] = set()
    for family in families:
        ours = [one for one in candidates if one.chunk.doc in family]
        best = next((one for one in ours if _is_in(one, language)), ours[0])
        own = primary_language(best.chunk.lang)
        dropped |= {one.chunk.doc for one in ours if primary_language(one.chunk.lang) != own}
    return tuple(one for one in candidates if one.chunk.doc not in dropped)


def _is_in(one: Scored, language: str | None) -> bool:
    return language is not None and primary_language(one.chunk.lang) == language

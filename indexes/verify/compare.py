"""Staged stores against the plan, before any reader sees them."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from indexes.ports import ChunkReader, GraphReader
from indexes.write.apply import StagedState
from indexes.write.outbox import Plan
from schemas.changes import Counts, RowChanges
from schemas.errors import DamageFound
from schemas.evidence import SearchField
from schemas.nodes import Chunk

SAMPLES_PER_PAYLOAD = 3

_WORD = re.compile(r"(?<!\S)[^\W\d_]{3,12}(?!\S)")
"""Words between spaces: what stands beside punctuation or a combining accent may be cut otherwise there.

Twelve letters at most, since full text drops terms of 40 bytes and more.
"""

T = TypeVar("T")


def check_counts(staged: StagedState, expected: Counts) -> None:
    """Compare rows per kind with what the plan adds up to.

    Raises: DamageFound: a table contains more or fewer rows of a kind than planned.
    """
    for table, state in staged.named().items():
        held = {kind: number for kind, number in state.counts.items() if number}
        planned = dict(expected.get(table, {}))
        if held != planned:
            raise DamageFound(f"holds {held}, the plan says {planned}", subject=table)


def check_rows(plan: Plan, *, chunks: ChunkReader, graph: GraphReader) -> None:
    """Read sampled rows back and look each sampled chunk up by its own vector and its own words.

    Raises: DamageFound: a row is missing, differs, survived its deletion, or is not found by search.
    """
    for part in plan:
        _check_upserts(part, chunks=chunks, graph=graph)
        _check_deletes(part, chunks=chunks, graph=graph)
    _check_search(_first(chunk for part in plan for chunk in part.chunks), chunks)


def _check_upserts(part: RowChanges, *, chunks: ChunkReader, graph: GraphReader) -> None:
    nodes = {node.id: node for node in _sample(part.nodes)}
    for node in graph.nodes(nodes.keys()):
        if nodes.pop(node.id) != node:
            raise DamageFound("stored node differs from the plan", subject=node.id)
    rows = {chunk.id: chunk for chunk in _sample(part.chunks)}
    for chunk in chunks.get(rows.keys()):
        if rows.pop(chunk.id) != chunk:
            raise DamageFound("stored chunk differs from the plan", subject=chunk.id)
    edges = {edge.id: edge for edge in _sample(part.edges)}
    for edge in graph.edges_from({edge.src for edge in edges.values()}):
        if edge.id in edges and edges.pop(edge.id) != edge:
            raise DamageFound("stored edge differs from the plan", subject=edge.id)
    for missing in (*nodes, *rows, *edges):
        raise DamageFound("planned row is not in the store", subject=missing)


def _check_deletes(part: RowChanges, *, chunks: ChunkReader, graph: GraphReader) -> None:
    for chunk in chunks.get(_sample(part.chunk_deletes)):
        raise DamageFound("deleted chunk is still there", subject=chunk.id)
    anew = {node.id for node in part.nodes}
    for node in graph.nodes(_sample(tuple(id_ for id_ in part.node_deletes if id_ not in anew))):
        raise DamageFound("deleted node is still there", subject=node.id)


def _check_search(chunk: Chunk | None, chunks: ChunkReader) -> None:
    if chunk is None:
        return
    vector = chunks.vectors([chunk.id])[chunk.id].text
    hits = chunks.search_vector(SearchField.TEXT, vector, top_k=5)
    if not hits or hits[0].score < 0.999:
        raise DamageFound("not found by its own vector", subject=chunk.id)
    words = sorted(_WORD.findall(chunk.text), key=len)[-3:]
    if words and not chunks.search_text(SearchField.TEXT, " ".join(words), top_k=5):
        raise DamageFound(f"nothing found by its words {words}", subject=chunk.id)


def _sample(rows: tuple[T, ...]) -> tuple[T, ...]:
    step = max(1, len(rows) // SAMPLES_PER_PAYLOAD)
    return rows[::step][:SAMPLES_PER_PAYLOAD]


def _first(chunks: Iterable[Chunk]) -> Chunk | None:
    iterator: Iterator[Chunk] = iter(chunks)
    return next(iterator, None)

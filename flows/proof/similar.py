"""`similar_to` edges decided again from the vectors that the store has, against those of the graph."""

from collections.abc import Collection, Iterator

import numpy as np

from flows.proof.compare import Deviation
from flows.proof.scratch import Scratch
from flows.run.batches import cut
from flows.run.index import unrelated_in
from indexes.embed.screen import open_screen
from indexes.embed.unrelated import least_cosine
from indexes.embed.weights import model_key
from ingest.link.chunk_columns import columns_of, joined
from ingest.link.nearest import SCALE
from ingest.link.similar_to import held_rows, rows_of
from ingest.link.similarity import Rule, compare_chunks, nothing_similar
from schemas.edges import EdgeKind

_CHUNKS = 5_000


def compare_similar(scratch: Scratch, docs: Collection[str]) -> Iterator[Deviation]:
    """Yield the chunks of *docs* whose nearest are others than the graph says; all chunks are looked at."""
    store = scratch.held.chunks.at(scratch.generation)
    chunks = list(store.scan())
    columns = joined(columns_of(part) for part in cut(chunks, _CHUNKS))
    rule = _rule(scratch)
    similarity = compare_chunks(
        nothing_similar(rule), columns, rule=rule, vectors=store.text_vectors, screen=open_screen
    ).similarity
    wanted = {chunk.id: chunk.doc for chunk in chunks if chunk.doc in docs}
    places = np.flatnonzero(np.isin(columns.ids, np.array([id_.encode() for id_ in wanted], np.bytes_)))
    derived = rows_of(similarity, places)
    graph = scratch.held.graph.at(scratch.generation)
    held = held_rows(graph.edges_from(wanted, kinds=[EdgeKind.SIMILAR_TO]))
    for src, doc in sorted(wanted.items()):
        has, gives = (rows.get(src, ("", "", {}))[2] for rows in (held, derived))
        if has != gives:
            yield Deviation(table="edges", id=src, doc=doc, what=_what(dict(has), dict(gives)))


def _what(has: dict[str, int], gives: dict[str, int]) -> str:
    lacks, extra = sorted(gives.keys() - has.keys()), sorted(has.keys() - gives.keys())
    scored = sorted(end for end in has.keys() & gives.keys() if has[end] != gives[end])
    parts = (("lacks", lacks), ("should not lead to", extra), ("has another score to", scored))
    said = [f"{verb} {', '.join(ends[:2])}" for verb, ends in parts if ends]
    return f"similar_to: {'; '.join(said)}"


def _rule(scratch: Scratch) -> Rule:
    settings, model = scratch.index.settings, scratch.resources.model
    least = round(least_cosine(settings.similar_score, unrelated_in(scratch.index, model)) * SCALE)
    return Rule(count=settings.similar_count, least=least, model=model_key(model))

"""Readers of a generation within the run that makes it, before there is a manifest to open it by."""

from flows.run.index import Index
from flows.run.local_folder import fetch_encoder
from flows.run.planned_families import planned_families
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.families.reading import Families
from indexes.places import is_in_bucket
from indexes.publish.generation import load_generation
from indexes.rerank import OnnxReranker, locate_reranker
from indexes.tuning import load_weights
from indexes.wiring import Readers
from schemas.errors import ConfigError
from schemas.families import SourceFamily


def readers_at(index: Index, number: int, as_of: str, *, base: int) -> Readers:
    """Open a generation, published or not, as readers would, but for its authority: that is of *base*."""
    space, chunks = index.chunks.space(number), index.chunks.at(number)
    folder = index.local / space.encoder
    if is_in_bucket(index.layout.root):
        fetch_encoder(index.layout.root / space.encoder, folder)
    return Readers(
        index=index.layout.root,
        manifest=index.manifest,
        generation=number,
        as_of=as_of,
        chunks=chunks,
        graph=index.graph.at(number),
        authority=index.authority.at(base),
        encoder=OnnxEncoder(folder),
        reranker=_reranker(),
        weights=load_weights(index.layout.root),
        families=Families(families_at(index, number), chunks),
    )


def families_at(index: Index, number: int) -> tuple[SourceFamily, ...]:
    """Which sources have versions of a manual, by the plan of a generation, else by its manifest."""
    row = index.ledger.generations.get(number)
    if row is None or not row.details:
        return load_generation(index.layout, number).families
    return planned_families(row.details)


def _reranker() -> OnnxReranker | None:
    try:
        return OnnxReranker(locate_reranker())
    except ConfigError:
        return None

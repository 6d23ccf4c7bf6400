"""Readers of a generation within the run that makes it, before there is a manifest to open it by."""

from flows.run.index import Index
from flows.run.local_folder import fetch_encoder
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.places import is_in_bucket
from indexes.rerank import OnnxReranker, locate_reranker
from indexes.tuning import load_weights
from indexes.wiring import Readers
from schemas.errors import ConfigError


def readers_at(index: Index, number: int, as_of: str, *, base: int) -> Readers:
    """Open a generation, published or not, as readers would, but for its authority: that is of *base*."""
    space = index.chunks.space(number)
    folder = index.local / space.encoder
    if is_in_bucket(index.layout.root):
        fetch_encoder(index.layout.root / space.encoder, folder)
    return Readers(
        index=index.layout.root,
        manifest=index.manifest,
        generation=number,
        as_of=as_of,
        chunks=index.chunks.at(number),
        graph=index.graph.at(number),
        authority=index.authority.at(base),
        encoder=OnnxEncoder(folder),
        reranker=_reranker(),
        weights=load_weights(index.layout.root),
    )


def _reranker() -> OnnxReranker | None:
    try:
        return OnnxReranker(locate_reranker())
    except ConfigError:
        return None

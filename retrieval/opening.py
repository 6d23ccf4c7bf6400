"""From opened readers to the retriever over them."""

from indexes.wiring import Readers
from retrieval.retriever import Retriever


def build_retriever(readers: Readers) -> Retriever:
    """Give the retriever over the one generation that *readers* see."""
    return Retriever(
        readers.chunks,
        readers.graph,
        readers.encoder,
        generation=readers.generation,
        as_of=readers.as_of,
        authority=readers.authority,
        degraded=readers.degraded,
        reranker=readers.reranker,
        weights=readers.weights,
    )

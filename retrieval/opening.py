"""From opened readers to the retriever over them."""

from indexes.wiring import Readers
from retrieval.question.policy import ALLOW_ALL, Policy
from retrieval.retriever import Retriever


def build_retriever(
    readers: Readers, *, policy: Policy = ALLOW_ALL, second_queries: bool = True
) -> Retriever:
    """Return the retriever over the one generation that *readers* see; *policy* is asked before each query.

    Without *second_queries* it asks the stores once, which is quicker and misses what takes several hops.
    """
    return Retriever(
        readers.chunks,
        readers.graph,
        readers.encoder,
        generation=readers.generation,
        as_of=readers.as_of,
        authority=readers.authority,
        degraded=readers.degraded,
        reranker=readers.reranker,
        policy=policy,
        weights=readers.weights,
        second_queries=second_queries,
    )

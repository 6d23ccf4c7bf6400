"""From opened readers to the retriever over them."""

from collections.abc import Collection

from indexes.wiring import Readers
from retrieval.graph.rules import ALL_RULES, GraphRule
from retrieval.question.policy import ALLOW_ALL, Policy
from retrieval.retriever import Retriever


def build_retriever(
    readers: Readers, *, policy: Policy = ALLOW_ALL, rules: Collection[GraphRule] = ALL_RULES
) -> Retriever:
    """Return the retriever over the one generation that *readers* see; *policy* is asked before each query.

    Of the graph only *rules* are followed; without the second queries it asks the stores once.
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
        rules=rules,
        families=readers.families,
        boost=readers.graph_boost,
    )

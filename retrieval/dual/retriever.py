"""Two channels for one question: passages by search, and what the graph says around its entities.

Source: seed 004; where it is departed from, the options say so.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from retrieval.bundle.build import cite
from retrieval.bundle.token_budget import CountTokens
from retrieval.dual.graph_channel import GraphFindings, GraphRetriever
from retrieval.dual.merge import choose_contexts, fit_contexts, to_evidence
from retrieval.dual.options import RECIPE, DualOptions
from retrieval.question.dates import date_filters
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query

GRAPH = "graph"

Log = Callable[[str], None]
"""Hears of each step as it is done; who listens knows the time."""


class SemanticRetriever(Protocol):
    """Finds passages: a Retriever, or one that follows its index."""

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*."""


def log_nothing(_message: str) -> None:
    """Say nothing."""


class DualRetriever:
    """Answers with passages first and graph contexts after them; a graph that fails costs only the latter.

    Args: graph: None where there is none, which the passages' own bundle says. log: gets a line per channel.
    warn: gets a line where the graph fails.
    """

    def __init__(
        self,
        passages: SemanticRetriever,
        graph: GraphRetriever | None,
        count_tokens: CountTokens,
        *,
        options: DualOptions = RECIPE,
        log: Log = log_nothing,
        warn: Log = log_nothing,
    ) -> None:
        self._passages, self._graph = passages, graph
        self._count_tokens, self._options = count_tokens, options
        self._log, self._warn = log, warn

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the bundle of the passages, and behind them what fits of the graph's into its budget.

        Raises: what the retriever of passages raises.
        """
        bundle = self._passages.retrieve(query)
        self._log(f"passages: {len(bundle.evidence)}")
        if self._graph is None or not query.use_graph:
            return bundle
        try:
            found = self._graph.find(_dated(query, bundle), bundle.evidence)
        except StoreUnavailable as error:
            self._warn(f"answering without the graph: {error}")
            return replace(bundle, degraded=tuple(sorted({*bundle.degraded, GRAPH})))
        self._log(f"graph: {', '.join(found.known) or 'no entity'}, {len(found.contexts)} contexts")
        return self._merge(query, bundle, found)

    def _merge(self, query: Query, bundle: ContextBundle, found: GraphFindings) -> ContextBundle:
        chosen = choose_contexts(bundle.evidence, found.contexts, per_semantic=self._options.per_semantic)
        room = query.token_budget - sum(self._count_tokens(one.text) for one in bundle.evidence)
        kept = fit_contexts(chosen, (self._count_tokens(one.text) for one in chosen), room=room)
        added = to_evidence(kept, after=len(bundle.evidence))
        return replace(
            bundle,
            evidence=(*bundle.evidence, *added),
            citations=(*bundle.citations, *(cite(one) for one in added)),
            diagnostics={**bundle.diagnostics, "dual": _describe(found, len(chosen), len(kept))},
        )


def _dated(query: Query, bundle: ContextBundle) -> Query:
    """Let ages in filters count back from the generation that the passages are of."""
    return replace(query, filters=date_filters(query.filters, bundle.as_of))


def _describe(found: GraphFindings, chosen: int, kept: int) -> dict[str, Any]:
    return {
        "entities": list(found.entities),
        "known": list(found.known),
        "depth": found.depth,
        "contexts": len(found.contexts),
        "already_said_or_beyond_the_cap": len(found.contexts) - chosen,
        "beyond_the_budget": chosen - kept,
        "shown": kept,
    }
